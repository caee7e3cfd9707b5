"""`demur.evaluate`: whatever the data come as, the results are those the command writes."""

import dataclasses
import inspect
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import typer

import demur
from artifacts import GOLDEN
from commands import demur as command
from demur import Plan, Settings, UserError, evaluate, read_run, read_table
from demur.cli.commands import app
from demur.evaluation.voice import NAMES

RUN = GOLDEN / "run.json"
TABLE = {
    "document": ["a", "a", "b", "b", "c", "d", "d", "e"],
    "score": [1.0, 0.5, 0.0, None, 1.0, 0.25, 0.75, 1.0],
    "sure": [0.9, 0.7, 0.8, 0.1, 0.8, 0.2, 0.3, 0.6],
    "site": ["x", "x", "y", "y", "x", "y", "y", "x"],
}
HOW = {"columns": {"cluster": "document"}, "noun": "document", "confidence": "sure", "resamples": 40, "seed": 7}

OF_COMMAND = {"point": "points"}  # a point of the command is one of the points of Python
WHERE_TO = {"files", "inputs", "output", "report", "as_json", "quiet"}
WHEN = "2026-01-31T12:00:00Z"
TOOK = "demur: took document as cluster; answers are ranked by sure\n"
MADE_ALREADY = {"data", "settings", "plan", "beside", "command", "also_read"}


def as_table(rows):
    """The same table in every shape it may come in."""
    yield rows
    yield from (pd.DataFrame(rows), pl.DataFrame(rows), pl.DataFrame(rows).lazy(), pa.table(rows), read_own(rows))


def typed(how):
    """Options as the command takes them."""
    names = {of_python: name for name, of_python in NAMES.items()}
    for name, value in how.items():
        option = f"--{names.get(name, name).replace('_', '-')}"
        if isinstance(value, dict):
            yield from (word for role, column in value.items() for word in (option, f"{role}={column}"))
        elif name in ("mode", "lower_is_surer", "abstention_costs", "exclude", "probability", "points"):
            yield from (word for each in value for word in (option, each))
        else:
            between = ":" if name == "score_range" else ","
            yield from (option, between.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))


def read_own(rows):
    return read_table(rows, columns=HOW["columns"], options=demur.TableOptions(noun="document"))


def same_numbers(results, others):
    return results.to_columns() == others.to_columns() and [*results.warnings] == [*others.warnings]


def without(content, *names):
    return {name: value for name, value in content.items() if name not in names}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(TABLE).write_csv("own.csv")
    pl.DataFrame(TABLE | {"score": TABLE["score"][::-1]}).write_csv("other.csv")
    pl.DataFrame(TABLE | {"score": [0.5] * 8}).write_csv("forced.csv")
    pl.DataFrame({"cluster": TABLE["document"], "loss": [0.0, 1.0, 0.0, None, 0.0, 0.5, 0.0, 1.0]}).write_csv(
        "rater.csv"
    )
    pl.DataFrame({"cluster": [*"abcde"], "lang": [*"xxyyy"]}).write_csv("labels.csv")
    return tmp_path


class TestTheCommandAndTheFunction:
    def test_take_the_same_options_with_the_same_defaults(self):
        ours = inspect.signature(evaluate).parameters
        theirs = typer.main.get_command(app).commands["evaluate"]
        assert {each.default for each in theirs.params} <= {None, False}  # what is not typed is left to the function
        theirs.fill()
        of_python = {name: each.default or None for name, each in ours.items() if name not in MADE_ALREADY}
        named = {OF_COMMAND.get(each.name, each.name): each.default or None for each in theirs.params}
        assert of_python == {name: default for name, default in named.items() if name not in WHERE_TO}

    def test_leave_defaults_to_what_the_options_make(self):
        usual = {name: each.default for name, each in inspect.signature(evaluate).parameters.items()}
        assert [*Settings(coverages=usual["coverages"].split(",")).targets] == [*Settings().targets]
        for made in (Settings(), demur.TableOptions(), demur.Groups()):
            for field in dataclasses.fields(made):
                if field.name not in ("grid", "names", "group", "groups"):
                    assert usual[field.name] == getattr(made, field.name), field.name

    def test_every_option_can_be_completed(self):
        kinds = {each.kind for each in inspect.signature(evaluate).parameters.values()}
        assert kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY}

    @pytest.mark.parametrize(
        ("given", "how"),
        [
            (["own.csv"], HOW),
            (["own.csv", "other.csv"], HOW),
            ([{"A": "own.csv", "B": "other.csv"}], HOW | {"baseline": "B"}),
            (["own.csv"], HOW | {"score_range": (0, 2), "coverages": [0.25, "0.5"], "area_coverage": 0.4}),
            (["own.csv"], HOW | {"level": 0.9, "interval": "bca", "failed_units": "abstain", "loss": "given"}),
            (["own.csv"], {"seed": 7, "resamples": 40}),
            (["own.csv"], HOW | {"lower_is_surer": ["sure"], "abstention_costs": ["0.1", "1:3"], "cross_fit": 2}),
            (["own.csv", "other.csv"], HOW | {"exclude": ["other.csv"], "probability": ["sure"]}),
            (["own.csv"], HOW | {"raters": {"Dr": "rater.csv"}, "margin": 0.2, "handover_threshold": 0.7}),
            (["own.csv"], HOW | {"points": ["P: coverage=0.5, risk=0.2"], "forced": "forced.csv"}),
            (
                ["own.csv"],
                HOW | {"group": {"site": "site"}, "threshold": 0.5, "min_clusters": 2, "max_groups": 5},
            ),
            (["own.csv"], HOW | {"groups": "labels.csv", "at_coverage": 0.5, "stratify": "lang", "min_clusters": 2}),
            (
                [RUN, RUN],
                {"mode": ["zero_shot", "few_shot"], "loss": "abs", "confidence": ["llm", "verbalized"], "resamples": 0},
            ),
        ],
    )
    def test_give_the_same_results(self, folder, given, how):
        files = [f"{name}={path}" for name, path in given[0].items()] if isinstance(given[0], dict) else given
        made = command(folder, "evaluate", *files, *typed(how), "--output", "m.json", "--quiet", "--created-at", WHEN)
        assert (made.returncode, made.stderr.replace(TOOK, "")) == (0, "")
        results = evaluate(*given, **how, created_at=WHEN)
        assert without(results.to_json(), "tool") == without(json.loads((folder / "m.json").read_text()), "tool")
        assert same_numbers(demur.load("m.json"), demur.load(results.save("own.json")))

    def test_ask_for_a_seed_alike(self, folder):
        told = "a seed is needed wherever anything is resampled: give"
        found = command(folder, "evaluate", "own.csv", *typed(without(HOW, "seed")))
        assert found.stderr.startswith(f"demur: {told}")
        with pytest.raises(UserError, match=rf"^{told} any integer, 0 or more, and report it: evaluate\(…, seed=1\)$"):
            evaluate("own.csv", **without(HOW, "seed"))
        assert evaluate("own.csv", **without(HOW, "seed") | {"resamples": 0}).systems == ("own.csv",)


class TestGuesses:
    def test_of_frames_are_recorded(self):
        results = evaluate(pd.DataFrame(TABLE), resamples=0)
        assert results.study.inputs[0].columns == {"cluster": "document"}
        assert results.study.confidences == ("sure",)
        assert same_numbers(results, evaluate(TABLE, **HOW | {"resamples": 0, "noun": None}))

    def test_that_stay_open_are_one_error_with_the_call_that_works(self):
        table = {"who": TABLE["document"], "score": TABLE["score"], "sure": TABLE["sure"], "entropy": TABLE["sure"]}
        with pytest.raises(UserError, match="the likeliest call: ") as told:
            evaluate(table)
        call = str(told.value).rpartition("the likeliest call: evaluate(…, ")[2]
        how = eval(f"dict({call}")  # noqa: S307  (the words of our own message)
        assert how == {"columns": {"cluster": "who"}, "confidence": "sure", "seed": 1}
        assert evaluate(table, **how | {"resamples": 5}).study.confidences == ("sure",)

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"group": {"g": "x"}}, "no column x for the group g"),
            ({"threshold": 0.5}, r"^threshold is for groups: name some \(group\)$"),
            (
                {"repeats": "vote"},
                r"^repeats needs a column of repeats: map one, repeat=COLUMN \(columns\), or leave it out$",
            ),
            ({"forced": {"b": "forced.csv"}}, "^forced 'forced.csv', expected SYSTEM=FILE with one of The run$"),
        ],
    )
    def test_and_mistakes_speak_of_keywords(self, how, message):
        with pytest.raises(UserError, match=message):
            evaluate(TABLE, **HOW | how)


def test_groups_raters_and_points_come_as_python_has_them(folder):
    table = TABLE | {"age": [20, 20, 30, 30, 41, 50, 50, 64]}
    cut = evaluate(table, **HOW | {"group": {"age": ("age", [18, 40, 65])}, "min_clusters": 2})
    assert [each.levels for each in cut.study.groups.groupings] == [("[18,40)", "[40,65)")]
    rated = pl.read_csv("rater.csv")
    point = demur.typed_point("P: coverage=0.5, risk=0.2")
    of_frame = evaluate(TABLE, **HOW, raters={"Dr": rated}, points=[point], forced=TABLE | {"score": [0.5] * 8})
    of_file = evaluate(
        TABLE, **HOW, raters={"Dr": "rater.csv"}, points="P: coverage=0.5, risk=0.2", forced=folder / "forced.csv"
    )
    assert same_numbers(of_frame, of_file)
    with pytest.raises(UserError, match="^beside and raters say the same: leave out one of them$"):
        evaluate(TABLE, **HOW, raters={"Dr": rated}, beside=demur.Beside())


class TestData:
    def test_are_a_path_or_any_table_in_memory(self, folder):
        of_file = evaluate(folder / "own.csv", **HOW)
        for table in as_table(TABLE):
            how = HOW if not isinstance(table, demur.Items) else without(HOW, "columns", "noun")
            found = evaluate({"own.csv": table}, **how)
            assert same_numbers(found, of_file)
            assert found.study.inputs[0].path is None
            assert without(found.study.model_dump(), "inputs", "created_at", "tool") == without(
                of_file.study.model_dump(), "inputs", "created_at", "tool"
            )

    def test_of_several_systems_have_the_names_of_a_mapping_of_their_files_or_numbers(self, folder):
        frame = pl.DataFrame(TABLE)
        assert evaluate({"A": frame, "B": "other.csv"}, **HOW).systems == ("A", "B")
        assert evaluate(folder / "own.csv", "other.csv", **HOW).systems == ("own.csv", "other.csv")
        assert evaluate(frame, TABLE, **HOW).systems == ("system 1", "system 2")
        assert evaluate({"A": frame}, "other.csv", **HOW).systems == ("A", "other.csv")

    def test_with_a_column_of_systems_are_several(self):
        both = {name: [*column, *column] for name, column in TABLE.items()} | {"system": ["a"] * 8 + ["b"] * 8}
        assert evaluate(both, **HOW).systems == ("a", "b")
        with pytest.raises(UserError, match=r"^X: 2 systems, which have names \(a, b\): leave out X=$"):
            evaluate({"X": both}, **HOW)
        with pytest.raises(UserError, match="^two systems are called a: give each a name of its own$"):
            evaluate(both, {"a": TABLE}, **HOW)

    def test_may_come_with_settings_and_a_plan_made_already(self):
        items = read_run(RUN, mode="few_shot")
        old = evaluate(items, settings=Settings(loss="abs", confidence="llm"), plan=Plan(30, seed=2))
        assert same_numbers(evaluate(items, loss="abs", confidence="llm", resamples=30, seed=2), old)
        with pytest.raises(UserError, match="^settings and loss, confidence say the same: leave out one of them$"):
            evaluate(items, settings=Settings(), loss="abs", confidence="llm", seed=1)
        with pytest.raises(UserError, match="^plan and seed say the same"):
            evaluate(items, plan=Plan(30, seed=2), seed=2)

    @pytest.mark.usefixtures("folder")
    def test_of_a_calibration_are_read_and_recorded(self):
        calibration = demur.calibrate(read_run(RUN, mode="zero_shot"), method="platt", variant="verbalized")
        path = calibration.save("c.json")
        how = {"mode": "few_shot", "confidence": "calibrated:verbalized", "resamples": 0}
        results = evaluate(RUN, calibration=path, **how)
        assert [file.path for file in results.study.also_read] == ["c.json"]
        assert same_numbers(results, evaluate(RUN, calibration=calibration, **how))


@pytest.mark.parametrize(
    ("data", "how", "message"),
    [
        ((), {}, "nothing to evaluate: give a run file or a table, or several to compare"),
        ((5,), {}, "a table is a path, a data frame or a dict of lists, not int"),
        (([TABLE, TABLE],), {}, "a list is not a table: give systems one after another, evaluate(a, b), or by name"),
        (({"": TABLE},), {}, "a system is called '', expected a name"),
        (
            ({"A": TABLE},),
            {"columns": {"cluster": "x"}},
            "A: no column x for cluster; columns: document, score, sure, site; map",
        ),
        (
            ({"A": TABLE | {"p": TABLE["sure"]}},),
            {"confidence": "default"},
            "A: say what ranks the answers (confidence)",
        ),
        ((TABLE,), {"mode": "few_shot"}, "a table holds one experiment and no modes: leave out mode and experiment"),
        ((TABLE,), {"coverages": "0.1,x"}, "coverage 'x', expected a number above 0 and at most 1"),
        ((TABLE,), {"coverages": 2}, "coverage 2, expected a number above 0 and at most 1"),
        ((TABLE,), {"created_at": "now"}, "created_at: expected a time such as"),
        ((read_own(TABLE),), {}, "facts that are read already have no use for columns, noun"),
        ((demur.grade_units([1], loss=[1]),), {}, "graded units are for estimate, and several of them for compare"),
        (({"A": demur.rankings_of(gold=[["x"]], ranked=[["x"]])},), {}, "A: rankings are for evaluate_retrieval"),
    ],
)
def test_what_cannot_be_evaluated_is_told_in_one_line(data, how, message):
    with pytest.raises(UserError) as told:
        evaluate(*data, **HOW | how)
    assert str(told.value).startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: demur.estimate(TABLE, plan=Plan(9, seed=1)), "estimate was given a dict, expected Graded: grade("),
        (lambda: demur.compare(TABLE, plan=Plan(9, seed=1)), "compare was given a list, expected Graded: grade("),
        (lambda: demur.compare("a.csv", plan=Plan(9, seed=1)), "compare was given a str, expected Mapping: compare({"),
        (lambda: demur.calibrate("a.csv", method="platt"), "calibrate was given a str, expected Items: read_items"),
        (lambda: demur.grade("a.csv", loss=None, confidence=""), "grade was given a str, expected Items: read_items"),
        (
            lambda: demur.evaluate_retrieval("queries.csv", plan=Plan(9, seed=1)),
            "evaluate_retrieval was given a str, expected Mapping: read_queries(path)",
        ),
        (
            lambda: demur.evaluate_retrieval({"A": "queries.csv"}, plan=Plan(9, seed=1)),
            "evaluate_retrieval was given a str, expected Rankings: read_queries(path)",
        ),
    ],
)
def test_calls_that_take_something_else_say_what_makes_it(call, message):
    with pytest.raises(UserError) as told:
        call()
    assert str(told.value).startswith(message)


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("columns", ["document"], "roles with the names of their columns, {'cluster': 'document'}"),
        ("columns", {"cluster": 0}, "roles with the names of their columns, {'cluster': 'document'}"),
        ("confidence", None, "a name, or a list of them"),
        ("confidence", ["sure", 1], "a name, or a list of them"),
        ("probability", 1, "a name, or a list of them"),
        ("group", ["site", None], "names with their columns, {'sex': 'Gender'}, or a name such as item"),
        ("raters", ["r.csv"], "names of raters with their tables, {'ann': table}"),
        ("noun", 3, "a text"),
        ("threshold", "0.5", "a number"),
        ("margin", True, "a number"),
    ],
)
def test_an_option_of_another_kind_is_one_line(option, value, expected):
    with pytest.raises(UserError) as told:
        evaluate(TABLE, **HOW | {option: value})
    assert str(told.value).startswith(f"{option} ")
    assert str(told.value).endswith(f", expected {expected}")
