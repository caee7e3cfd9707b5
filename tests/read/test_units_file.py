"""Files of units, as `demur import` writes them: the header says what is in them."""

import json
from fractions import Fraction

import pytest

from commands import demur
from demur import TableOptions, UserError, load, read_table
from runs import written

HEADER = {
    "demur_units": 1,
    "source": {"format": "inspect", "run_id": "r1", "sha256": "0" * 64},
    "mapping": {"item": "id", "loss": "1 - scores.exact.value", "score_range": "0:1"},
    "counts": {"rows": 4, "answered": 2, "abstained": 1, "failed": 1, "by_rule": {}},
}
UNITS = [
    ("doc0", "q0", 1, 0.5, "ok", {"sure": 0.9, "score": 3}),
    ("doc0", "q1", 1, None, "ok", {"sure": 0.2}),
    ("doc1", "q2", 1, 1, "ok", {"sure": 0.4, "score": None}),
    ("doc1", "q3", 1, None, "failed", {}),
]


def units_file(folder, units=UNITS, name="units.jsonl", **header):
    members = ("cluster", "item", "repeat", "loss", "status", "signals")
    lines = [HEADER | header]
    lines += [dict(zip(members, unit, strict=True)) | {"groups": {"lang": "fr"}, "cause": "error"} for unit in units]
    return written(folder, "\n".join(map(json.dumps, lines)) + "\n", name)


def test_the_units_are_those_of_the_file(tmp_path):
    items = read_table(units_file(tmp_path))
    assert items.unit_names == [("doc0", "q0"), ("doc0", "q1"), ("doc1", "q2")]
    assert items.answered.tolist() == [True, False, True]
    assert [Fraction(int(each), items.losses.divisor) for each in items.losses.numerators] == [Fraction(1, 2), 0, 1]
    assert items.failed_units.names == (("doc1", "q3"),)
    assert items.failed_units.by_cause == {"error": 1}
    assert [*items.signals] == ["sure", "score"]
    assert (items.source.run_id, items.independent, items.noun) == ("r1", False, "cluster")


def test_losses_of_a_score_range_are_at_most_1(tmp_path):
    assert read_table(units_file(tmp_path)).losses.largest == 10
    unbounded = read_table(units_file(tmp_path, mapping={"loss": "column cost"}))
    assert unbounded.losses.largest is None


def test_repeats_are_units_of_the_cluster_of_their_question(tmp_path):
    repeated = [("d", "q", repeat, 0, "ok", {}) for repeat in (1, 2)]
    assert read_table(units_file(tmp_path, repeated)).unit_names == [("d", "q#1"), ("d", "q#2")]


def test_questions_nobody_has_grouped_are_independent(tmp_path):
    path = units_file(tmp_path, warnings=[{"code": "independent_rows", "message": "…"}])
    assert read_table(path).independent


def test_failed_units_may_abstain(tmp_path):
    items = read_table(units_file(tmp_path), options=TableOptions(failed_units="abstain"))
    assert (len(items), int(items.answered.sum())) == (4, 2)


WRONG = {
    "version": ([], {"demur_units": 2}),
    "mapping": ([], {"mapping": None}),
    "no units": ([], {}),
    "signals": ([("d", "q", 1, 0, "ok", None)], {}),
    "a name taken": ([("d", "q", 1, 0, "ok", {"loss": 1})], {}),
    "repeat": ([("d", "q", "1", 0, "ok", {})], {}),
    "loss": ([("d", "q", 1, 1.5, "ok", {})], {}),
    "status": ([("d", "q", 1, 1, "error", {})], {}),
    "twice": ([("d", "q", 1, 1, "ok", {})] * 2, {}),
}


@pytest.mark.parametrize(("units", "header"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_line_with_the_file(tmp_path, units, header, message):
    path = units_file(tmp_path, units, **header)
    with pytest.raises(UserError) as raised:
        read_table(path)
    message(raised.value)
    assert str(raised.value).startswith(str(path))


def test_columns_cannot_be_mapped(tmp_path):
    with pytest.raises(UserError, match="a file of units has no columns to map"):
        read_table(units_file(tmp_path), columns={"cluster": "doc"})


@pytest.mark.slow
def test_two_logs_are_compared_and_audited(tmp_path):
    units_file(tmp_path, name="a.jsonl")
    units_file(tmp_path, [*UNITS[2:], ("doc0", "q1", 1, 0, "ok", {"sure": 1}), UNITS[0]], name="b.jsonl")
    flags = ("--confidence", "sure", "--seed", "1", "--bootstrap-resamples", "20", "--output", "m.json")
    made = demur(tmp_path, "evaluate", "A=a.jsonl", "B=b.jsonl", *flags)
    assert (made.returncode, made.stderr) == (0, "")
    results = load(tmp_path / "m.json")
    assert (results.systems, results.selective.units) == (("A", "B"), 3)
    assert [system.answered for system in results.selective.systems] == [2, 3]
    data = ("--data", "a.jsonl", "--data", "b.jsonl")
    audited = demur(tmp_path, "audit", *data, "--reported", "m.json")
    assert ", 0 differs, 0 not recognised" in audited.stdout
