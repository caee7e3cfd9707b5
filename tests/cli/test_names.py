"""Names and ids are data: systems, modes, criteria, items, participants and posts of any spelling change no number."""

import csv
import json
import random
from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from awkward import IDS, NAMES
from commands import demur
from demur import Group, Minus, load
from installation import needs
from runs import experiment, participant, run, written

FLAGS = ("--seed", "1", "--bootstrap-resamples", "8", "--quiet", "--output", "m.json", "--report", "m.html")
# Beside the names written out here: one example by default, two in the slow tests.
few = settings(
    max_examples=max(1, settings.default.max_examples // 30),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def several(names, count):
    """Distinct names in their order, not all of them numbers: numbers would be sorted in another way."""
    chosen = st.lists(names, min_size=count, max_size=count, unique=True)
    return chosen.filter(lambda texts: not all(text.isdigit() for text in texts)).map(sorted)


def called(folder, *words):
    done = demur(folder, *words)
    assert (done.returncode, done.stderr) == (0, ""), (words, done)
    return done.stdout


def renamed(key, systems, levels):
    """A key of the plain evaluation with the names of the other."""
    group = key.group and Group(key.group.name, levels.get(key.group.level, key.group.level))
    minus = key.minus and Minus(key.minus.column, systems[key.minus.value])
    return replace(key, system=systems[key.system], group=group, minus=minus)


def numbers(row):
    return [repr(getattr(row, field.name)) for field in fields(row) if field.name not in ("key", "evidence")]


def check_same(plain, other, systems, levels=None):
    """Every number of the plain evaluation is that of the other, under its own key."""
    assert len(plain) == len(other) > 50
    for row in plain:
        assert numbers(other[renamed(row.key, systems, levels or {})]) == numbers(row)


def check_shown_and_audited(folder, data, *options):
    call = ("audit", *(word for path in data for word in ("--data", path)), "--reported", "m.json", "--json")
    found = json.loads(called(folder, *call, *options))
    assert found["counts"]["differs"] == 0
    assert (folder / "m.html").stat().st_size > 10_000


@needs("retrieval")
@pytest.mark.slow
def test_a_system_named_as_another_begins_keeps_its_own_intervals(tmp_path):
    ranked = [("g|x" if post % 2 else "x|g", "g|x" if post == 0 else "x|g") for post in range(10)]
    rows = [f"{post},A,g,{one},{other}" for post, (one, other) in enumerate(ranked)]
    head = "post_id,criterion_id,gold_ids,bge_topk,bge/large_topk"
    written(tmp_path, "\n".join([head, *rows]) + "\n", "q.csv")
    options = ("retrieval", "--data", "q.csv", "--k", "1", "--seed", "1", "--bootstrap-resamples", "200", "--quiet")
    called(tmp_path, *options, "--system", "bge=bge_topk", "--output", "alone.json")
    called(tmp_path, *options, "--output", "both.json")
    alone, both = load(tmp_path / "alone.json"), load(tmp_path / "both.json")
    assert both.systems == ("bge", "bge/large")
    recall = both.one(system="bge", quantity="recall@1", among="with_gold", group=None)
    assert recall.value == 0.5
    assert recall.recommended.low < 0.5 < recall.recommended.high
    for row in alone:
        assert numbers(both[row.key]) == numbers(row)


@pytest.fixture(scope="module")
def answers():
    rng = random.Random(1)
    return [(rng.randrange(3), rng.choice([0, 1, 2, ""]), rng.choice([0, 1, 2, ""]), rng.random()) for _ in range(12)]


def evaluate_tables(folder, answers, systems, items, people):
    folder.mkdir(exist_ok=True)
    for number, _ in enumerate(systems):
        with (folder / f"{number}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["cluster", "item", "truth", "prediction", "sure"])
            places = [(who, item) for who in people for item in items]
            rows.writerows([*place, given[0], given[1 + number], given[3]] for place, given in zip(places, answers))
    files = [word for number, name in enumerate(systems) for word in ("--input", f"{name}={number}.csv")]
    called(folder, "evaluate", *files, "--instrument", "none", "--loss", "abs", "--confidence", "sure", *FLAGS)
    return load(folder / "m.json")


@pytest.fixture(scope="module")
def plain_tables(tmp_path_factory, answers):
    return evaluate_tables(tmp_path_factory.mktemp("tables"), answers, ["s", "t"], ["i", "j"], [*"abcdef"])


@pytest.mark.slow
@few
@given(several(NAMES, 2), several(IDS, 2), several(IDS, 6))
@example(["bge", "bge/large"], ["a", "a=b"], ["1", "1/1", "1:1", "1@1", "one two", 'one"two'])
def test_systems_items_and_participants_of_long_tables(tmp_path, answers, plain_tables, systems, items, people):
    found = evaluate_tables(tmp_path / "other", answers, systems, items, people)
    check_same(plain_tables, found, dict(zip("st", systems)), dict(zip("ij", items)))
    assert found.systems == tuple(systems)
    folder = tmp_path / "other"
    check_shown_and_audited(folder, ["0.csv", "1.csv"], "--instrument", "none")
    table = [*csv.DictReader(called(folder, "table", "m.json", "--format", "csv").splitlines())]
    assert len(table) > 20
    called(folder, "table", "m.json", "--format", "latex")
    called(folder, "report", "m.json", "--output", "again.html")


def evaluate_modes(folder, names):
    folder.mkdir(exist_ok=True)
    each = [
        experiment(*(participant(who, {"Sleep": (who * n) % 4}) for who in range(6)), mode=name)
        for n, name in enumerate(names)
    ]
    written(folder, run(*each))
    words = [word for name in names for word in ("--input", "run.json", "--mode", name)]
    called(folder, "evaluate", *words, "--confidence", "llm", *FLAGS)
    return load(folder / "m.json")


@pytest.fixture(scope="module")
def plain_modes(tmp_path_factory):
    return evaluate_modes(tmp_path_factory.mktemp("modes"), [*"abc"])


@few
@given(several(IDS, 3))
@example(["few", "few/shot", "few=shot"])
@pytest.mark.slow
def test_modes_of_a_run_file(tmp_path, plain_modes, modes):
    found = evaluate_modes(tmp_path / "other", modes)
    assert found.systems == tuple(modes)
    check_same(plain_modes, found, dict(zip("abc", modes)))
    check_shown_and_audited(tmp_path / "other", ["run.json"])


def evaluate_queries(folder, systems, criteria, posts):
    folder.mkdir(exist_ok=True)
    rng = random.Random(1)
    with (folder / "q.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["post_id", "criterion_id", "gold_ids", "prob", *(f"{name}_topk" for name in systems)])
        for post in posts:
            for criterion in criteria:
                lists = ["|".join(rng.sample(["g", "h", "x"], 3)) for _ in systems]
                rows.writerow([post, criterion, rng.choice(["", "g", "g|h"]), rng.randint(0, 4) / 4, *lists])
    called(folder, "retrieval", "--data", "q.csv", "--k", "1,3", *FLAGS)
    return load(folder / "m.json")


@pytest.fixture(scope="module")
def plain_queries(tmp_path_factory):
    return evaluate_queries(tmp_path_factory.mktemp("queries"), ["s", "t"], ["A", "B"], [*"abcde"])


@few
@given(several(IDS, 2), several(IDS, 2), several(IDS, 5))
@example(["bge", "bge/large"], ["A", "A.1"], ["1", "1/1", "1:1", "1@1", "one two"])
@needs("retrieval")
@pytest.mark.slow
def test_systems_criteria_and_posts_of_retrieval(tmp_path, plain_queries, systems, criteria, posts):
    found = evaluate_queries(tmp_path / "other", systems, criteria, posts)
    check_same(plain_queries, found, dict(zip("st", systems)), dict(zip("AB", criteria)))
    check_shown_and_audited(tmp_path / "other", ["q.csv"])
