"""Files with something wrong somewhere: bytes or structure, at random."""

import copy
import json


def damaged(rng, content):
    """A run file with some bytes or some of its structure changed."""
    if rng.random() < 0.5:
        return damaged_bytes(rng, json.dumps(content).encode())
    changed_one = copy.deepcopy(content)
    for _ in range(rng.choice([1, 1, 3])):
        damage(rng, changed_one)
    return json.dumps(changed_one)


def damaged_bytes(rng, content):
    """Some bytes changed, removed, added or repeated."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        place = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[place] = rng.randrange(256)
        elif kind == 1:
            del data[place : place + rng.randint(1, 40)]
        elif kind == 2:
            data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 5)))
        else:
            data[place:place] = data[max(0, place - 60) : place]
    return bytes(data)


JUNK = [None, True, -1, 7, 1.5, 1e308, "", "x", [], {}, [[]], {"a": None}, 10**30, "300", 2**63, "\ud800", -0.0]
JUNK += [10**400, -(10**400), 5e-324, 2**64, "x" * 5000, "\u0660", "1_0", "nan", "1e999", "\x1b[31m", "\u202e", "a\nb"]


def damage(rng, place):
    """Change, remove or add one member somewhere in nested lists and objects."""
    while True:
        keys = [*place] if isinstance(place, dict) else [*range(len(place))]
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.85:
            place = place[key]
            continue
        kind = rng.randrange(3)
        if kind == 0:
            place[key] = copy.deepcopy(rng.choice(JUNK))
        elif kind == 1:
            del place[key]
        elif isinstance(place, dict):
            place[rng.choice(["success", "mode", "results", "Sleep", "x"])] = copy.deepcopy(rng.choice(JUNK))
        else:
            place.append(copy.deepcopy(place[key]))
        return


def damage_rows(rng, content):
    """Take rows or a column out of the table of estimates, or set a cell of a column; other content stays as it is."""
    rows = content.get("estimates") if isinstance(content, dict) else None
    if not isinstance(rows, dict) or not all(isinstance(column, list) and column for column in rows.values()):
        return
    size = min(map(len, rows.values()))
    start, column = rng.randrange(size), rng.choice([*rows])
    taken = range(start, rng.choice([start + 1, start + 3, size]))
    kind = rng.randrange(4)
    if kind == 0:
        del rows[column]
    elif kind == 1:
        rows[column][start] = copy.deepcopy(rng.choice(JUNK))
    elif kind == 2:
        of = rows[column][start]
        kept = [index for index in range(size) if rows[column][index] != of]
        rows.update({name: [cells[index] for index in kept] for name, cells in rows.items()})
    else:
        rows.update(
            {name: [cell for index, cell in enumerate(cells) if index not in taken] for name, cells in rows.items()}
        )
