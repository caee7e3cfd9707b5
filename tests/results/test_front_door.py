"""`demur.evaluate`: whatever the data come as, and whatever is asked of them."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import demur
from artifacts import GOLDEN
from demur import (
    Conventions,
    Costs,
    Groups,
    Plan,
    Raters,
    ReadingOptions,
    Settings,
    UserError,
    evaluate,
    read_run,
    read_table,
)

RUN = GOLDEN / "run.json"
TABLE = {
    "document": ["a", "a", "b", "b", "c", "d", "d", "e"],
    "score": [1.0, 0.5, 0.0, None, 1.0, 0.25, 0.75, 1.0],
    "sure": [0.9, 0.7, 0.8, 0.1, 0.8, 0.2, 0.3, 0.6],
    "site": ["x", "x", "y", "y", "x", "y", "y", "x"],
}
NOUN = ReadingOptions(noun="document")
HOW = {"columns": {"cluster": "document"}, "confidence": "sure", "resamples": 40, "seed": 7, "reading": NOUN}


def as_table(rows):
    """The same table in every shape it may come in."""
    yield rows
    yield from (pd.DataFrame(rows), pl.DataFrame(rows), pl.DataFrame(rows).lazy(), pa.table(rows), read_own(rows))


def read_own(rows):
    return read_table(rows, columns=HOW["columns"], options=NOUN)


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
    return tmp_path


def test_no_seed_is_needed_and_0_is_recorded():
    results = evaluate(TABLE, **without(HOW, "seed"))
    assert results.study.bootstrap.seed == 0
    assert same_numbers(results, evaluate(TABLE, **HOW | {"seed": 0}))


class TestGuesses:
    def test_of_frames_are_recorded(self):
        results = evaluate(pd.DataFrame(TABLE), resamples=0)
        assert results.study.inputs[0].columns == {"cluster": "document"}
        assert results.study.confidences == ("sure",)
        assert same_numbers(results, evaluate(TABLE, **without(HOW, "reading") | {"resamples": 0}))

    def test_that_stay_open_are_one_error_with_the_call_that_works(self):
        table = {"who": TABLE["document"], "score": TABLE["score"], "sure": TABLE["sure"], "entropy": TABLE["sure"]}
        with pytest.raises(UserError, match="the likeliest call: ") as told:
            evaluate(table)
        call = str(told.value).rpartition("the likeliest call: evaluate(…, ")[2]
        how = eval(f"dict({call}")  # noqa: S307  (the words of our own message)
        assert how == {"columns": {"cluster": "who"}, "confidence": "sure"}
        assert evaluate(table, **how | {"resamples": 5}).study.confidences == ("sure",)

    @pytest.mark.parametrize(
        ("feature", "how", "message"),
        [
            (lambda: Groups(g="x"), {}, "no column x for the group g"),
            (lambda: Groups(threshold=0.5), {}, r"^threshold is for groups: name some, Groups\(sex='Gender'\)$"),
            (lambda: Costs(cross_fit=5), {}, r"^cross_fit is for costs: give a price, Costs\('1:10'\)$"),
            (
                Groups,
                {"reading": ReadingOptions(repeats="vote")},
                r"^repeats needs a column of repeats: map one, columns={'repeat': 'COLUMN'}, or leave it out$",
            ),
            (
                lambda: Raters(forced={"b": "forced.csv"}),
                {},
                "^forced 'forced.csv', expected SYSTEM=FILE with one of The run$",
            ),
            (lambda: Groups(min_clusters=1), {}, "^min_clusters 1, expected an integer, 2 or more$"),
        ],
    )
    def test_and_mistakes_speak_of_arguments(self, feature, how, message):
        with pytest.raises(UserError, match=message):
            evaluate(TABLE, feature(), **HOW | how)


def test_groups_raters_and_points_come_as_python_has_them(folder):
    table = TABLE | {"age": [20, 20, 30, 30, 41, 50, 50, 64]}
    cut = evaluate(table, Groups(age=("age", [18, 40, 65]), min_clusters=2), **HOW)
    assert [each.levels for each in cut.study.groups.groupings] == [("[18,40)", "[40,65)")]
    rated = pl.read_csv("rater.csv")
    point = demur.typed_point("P: coverage=0.5, risk=0.2")
    of_frame = evaluate(TABLE, Raters(Dr=rated, points=[point], forced=TABLE | {"score": [0.5] * 8}), **HOW)
    others = Raters({"Dr": "rater.csv"}, points="P: coverage=0.5, risk=0.2", forced=folder / "forced.csv")
    assert same_numbers(of_frame, evaluate(TABLE, others, **HOW))


class TestFeatures:
    def test_are_given_once_each_and_are_no_data(self):
        with pytest.raises(UserError, match="^Costs is given twice: give one with all of them$"):
            evaluate(TABLE, Costs("0.1"), Costs("0.2"), **HOW)
        told = r"is none of Groups, Raters, Costs, Conventions; give several systems in a list, evaluate\(\[a, b\]\)$"
        with pytest.raises(UserError, match=told):
            evaluate("own.csv", "other.csv", **HOW)

    def test_that_settings_have_are_asked_for_too(self):
        given = evaluate(TABLE, Groups(site="site"), Costs("0.1"), Conventions("fd-shifts"), **HOW)
        features = {"groups": Groups(site="site"), "costs": Costs("0.1"), "conventions": Conventions("fd-shifts")}
        assert same_numbers(evaluate(TABLE, settings=Settings(**features), **HOW), given)


class TestSettingsOfResults:
    @pytest.mark.slow
    def test_ask_for_the_same_again(self, folder):
        asked = Settings(coverages=["0.25", "1/3"], area_coverage=0.4, level=0.9, interval="bca", exclude="C")
        features = (
            Groups(site="site", threshold=0.5, min_clusters=2),
            Costs("0.1", cross_fit=3),
            Conventions("fd-shifts"),
        )
        files = {"A": "own.csv", "B": "other.csv", "C": "forced.csv", "D": "own.csv"}
        data = {name: folder / file for name, file in files.items()}
        results = evaluate(data, *features, settings=asked, baseline="B", lower_is_surer="sure", **HOW)
        for known in (results, demur.load(results.save("m.json"))):
            again = evaluate(data, settings=known.settings, **without(HOW, "confidence"))
            assert again.fingerprint == results.fingerprint
        settings = results.settings
        assert (settings.baseline, settings.lower_is_surer, settings.exclude) == ("B", ("sure",), ("C",))
        assert (settings.groups.labels, settings.costs.cross_fit) == ({"site": "site"}, 3)

    def test_are_those_of_answers(self):
        results = demur.load(GOLDEN / "retrieval.json")
        with pytest.raises(UserError, match="^these are results of retrieval"):
            _ = results.settings


class TestData:
    @pytest.mark.slow
    def test_are_a_path_or_any_table_in_memory(self, folder):
        of_file = evaluate(folder / "own.csv", **HOW)
        for table in as_table(TABLE):
            how = HOW if not isinstance(table, demur.Items) else without(HOW, "columns", "reading")
            found = evaluate({"own.csv": table}, **how)
            assert same_numbers(found, of_file)
            assert found.study.inputs[0].path is None
            assert without(found.study.model_dump(), "inputs", "created_at", "tool") == without(
                of_file.study.model_dump(), "inputs", "created_at", "tool"
            )

    def test_of_several_systems_have_the_names_of_a_mapping_of_their_files_or_numbers(self, folder):
        frame = pl.DataFrame(TABLE)
        assert evaluate({"A": frame, "B": "other.csv"}, **HOW).systems == ("A", "B")
        assert evaluate([folder / "own.csv", "other.csv"], **HOW).systems == ("own.csv", "other.csv")
        assert evaluate([frame, TABLE], **HOW).systems == ("system 1", "system 2")
        assert evaluate([{"A": frame}, "other.csv"], **HOW).systems == ("A", "other.csv")

    def test_with_a_column_of_systems_are_several(self):
        both = {name: [*column, *column] for name, column in TABLE.items()} | {"system": ["a"] * 8 + ["b"] * 8}
        assert evaluate(both, **HOW).systems == ("a", "b")
        with pytest.raises(UserError, match=r"^X: 2 systems, which have names \(a, b\): leave out X=$"):
            evaluate({"X": both}, **HOW)
        with pytest.raises(UserError, match="^two systems are called a: give each a name of its own$"):
            evaluate([both, {"a": TABLE}], **HOW)

    def test_may_come_with_settings_and_a_plan_of_which_keywords_replace_fields(self):
        items = read_run(RUN, mode="few_shot")
        old = evaluate(items, settings=Settings(loss="abs", confidence="llm"), plan=Plan(30, seed=2))
        assert same_numbers(evaluate(items, loss="abs", confidence="llm", resamples=30, seed=2), old)
        others = Settings(loss="zero_one", confidence="llm")
        assert same_numbers(evaluate(items, settings=others, loss="abs", plan=Plan(9, seed=2), resamples=30), old)

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
        ([], {}, "nothing to evaluate: give a run file or a table, or several to compare"),
        (5, {}, "a table is a path, a data frame or a dict of lists, not int"),
        ([[TABLE, TABLE]], {}, "a list is not a table: give systems in a list, evaluate([a, b]), or by name"),
        ({0: TABLE}, {}, "a system is called 0, expected a name"),
        (
            {"A": TABLE},
            {"columns": {"cluster": "x"}},
            "A: no column x for cluster; columns: document, score, sure, site; map it, columns={'cluster': 'COLUMN'}",
        ),
        ({"A": TABLE | {"p": TABLE["sure"]}}, {"confidence": "default"}, "A: say what ranks the answers (confidence)"),
        (TABLE, {"mode": "few_shot"}, "a table holds one experiment and no modes: leave out mode and experiment"),
        (read_own(TABLE), {}, "facts that are read already have no use for columns, noun"),
        (demur.grade_units([1], loss=[1]), {}, "graded units are for estimate, and several of them for compare"),
        ({"A": demur.rankings_of(gold=[["x"]], ranked=[["x"]])}, {}, "A: rankings are for evaluate_retrieval"),
    ],
)
def test_what_cannot_be_evaluated_is_told_in_one_line(data, how, message):
    with pytest.raises(UserError) as told:
        evaluate(data, **HOW | how)
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
    ("made", "message"),
    [
        (lambda: evaluate(TABLE, columns=["document"]), "columns ['document'], expected roles with the names of their"),
        (lambda: evaluate(TABLE, columns={"cluster": 0}), "columns {'cluster': 0}, expected roles with the names of"),
        (lambda: evaluate(TABLE, confidence=["sure", 1]), "confidence ['sure', 1], expected a name, or a list of them"),
        (lambda: Settings(coverages="0.1,x"), "coverage 'x', expected a number above 0 and at most 1"),
        (lambda: Settings(coverages=2), "coverage 2, expected a number above 0 and at most 1"),
        (lambda: Settings(created_at="now"), "created_at: expected a time such as"),
        (lambda: Settings(intersection_only="yes"), "intersection_only 'yes', expected true or false"),
        (lambda: Settings(level="0.9"), "level '0.9', expected a number"),
        (lambda: ReadingOptions(probability=1), "probability 1, expected a name, or a list of them"),
        (lambda: ReadingOptions(noun=3), "noun 3, expected a text"),
        (lambda: ReadingOptions(loss_max="1"), "loss_max '1', expected a number"),
        (lambda: ReadingOptions(every_row_its_own_cluster=1), "every_row_its_own_cluster 1, expected true or false"),
        (lambda: Groups(["site", None]), "group ['site', None], expected names with their columns, {'sex': 'Gender'}"),
        (lambda: Groups("site", threshold="0.5"), "threshold '0.5', expected a number"),
        (lambda: Raters(["r.csv"]), "raters ['r.csv'], expected names of raters with their tables, {'ann': …}"),
        (lambda: Raters(margin=True), "margin True, expected a number"),
        (lambda: Plan(-1), "resamples -1, expected an integer, 0 or more"),
        (lambda: Plan(seed="x"), "seed 'x', expected an integer from 0 to 2**64 - 1"),
    ],
)
def test_an_option_of_another_kind_is_one_line(made, message):
    with pytest.raises(UserError) as told:
        made()
    assert str(told.value).startswith(message)
