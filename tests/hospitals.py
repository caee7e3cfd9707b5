"""Hospitals that may not share: each has patients of its own, and a secret that its pseudonyms are made with."""

import numpy as np

from commands import demur
from demur.summaries.pseudonyms import pseudonym
from sharded import table

SALT = "a secret of one site alone"
NAMES = ("bergen", "oslo", "tromso")
HOW = {"confidence": "sure", "resamples": 20, "seed": 7, "created_at": "2026-01-31T12:00:00Z"}


def summarize(site, *words):
    how = ("--column", "cluster=user", "--confidence", "sure", *words)
    outcome = demur(site, "summarize", "visits.csv", *how, "-o", "run.sum")
    assert outcome.returncode == 0, outcome.stderr


def hospitals(folder, rows, borders, *words):
    """Rows by who has which clusters, as a summary at each site; and all of them as one table of pseudonyms."""
    users = sorted({row["user"] for row in rows})
    where = {user: NAMES[int(np.searchsorted(borders, place, side="right"))] for place, user in enumerate(users)}
    for name in NAMES:
        (folder / name).mkdir(parents=True)
        table(folder / name / "visits.csv", [row for row in rows if where[row["user"]] == name])
        (folder / name / "salt.txt").write_text(f"{SALT} {name}\n")
        summarize(folder / name, "--site", name, "--salt", "salt.txt", *words)
    named = [
        {**row, "user": pseudonym(row["user"], name := where[row["user"]], f"{SALT} {name}".encode())} for row in rows
    ]
    return table(folder / "all.csv", named)
