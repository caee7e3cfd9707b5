"""`demur.evaluate`: whatever the data come as, and whatever is asked of them."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import demur
from artifacts import GOLDEN
from demur import Plan, ReadingOptions, Settings, UserError, evaluate, read_run, read_table
from installation import needs

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

    def test_and_mistakes_speak_of_arguments(self):
        told = r"^repeats needs a column of repeats: map one, columns={'repeat': 'COLUMN'}, or leave it out$"
        with pytest.raises(UserError, match=told):
            evaluate(TABLE, **HOW | {"reading": ReadingOptions(repeats="vote")})


class TestSettingsOfResults:
    @pytest.mark.slow
    def test_ask_for_the_same_again(self, folder):
        asked = Settings(coverages=["0.25", "1/3"], area_coverage=0.4, level=0.9, interval="bca", exclude="C")
        files = {"A": "own.csv", "B": "other.csv", "C": "forced.csv", "D": "own.csv"}
        data = {name: folder / file for name, file in files.items()}
        results = evaluate(data, settings=asked, baseline="B", lower_is_surer="sure", **HOW)
        for known in (results, demur.load(results.save("m.json"))):
            again = evaluate(data, settings=known.settings, **without(HOW, "confidence"))
            assert again.fingerprint == results.fingerprint
        settings = results.settings
        assert (settings.baseline, settings.lower_is_surer, settings.exclude) == ("B", ("sure",), ("C",))
        assert results.features == ()

    @needs("retrieval")
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

    @pytest.mark.slow
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


class Rankings:
    """Data of an extension, which says who evaluates them."""

    evaluated_by = "evaluate_rankings"


@pytest.mark.parametrize(
    ("data", "how"),
    [
        ([], {}),
        (5, {}),
        ([[TABLE, TABLE]], {}),
        ({0: TABLE}, {}),
        ({"A": TABLE}, {"columns": {"cluster": "x"}}),
        ({"A": TABLE | {"p": TABLE["sure"]}}, {"confidence": "default"}),
        (TABLE, {"mode": "few_shot"}),
        (read_own(TABLE), {}),
        (demur.grade_units([1], loss=[1]), {}),
        ({"A": Rankings()}, {}),
    ],
)
def test_what_cannot_be_evaluated_is_told_in_one_line(data, how, message):
    with pytest.raises(UserError) as told:
        evaluate(data, **HOW | how)
    message(told.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: demur.estimate(TABLE, plan=Plan(9, seed=1)),
        lambda: demur.compare(TABLE, plan=Plan(9, seed=1)),
        lambda: demur.compare("a.csv", plan=Plan(9, seed=1)),
        lambda: demur.calibrate("a.csv", method="platt"),
        lambda: demur.grade("a.csv", loss=None, confidence=""),
    ],
)
def test_calls_that_take_something_else_say_what_makes_it(call, message):
    with pytest.raises(UserError) as told:
        call()
    message(told.value)


@pytest.mark.parametrize(
    "made",
    [
        lambda: evaluate(TABLE, columns=["document"]),
        lambda: evaluate(TABLE, columns={"cluster": 0}),
        lambda: evaluate(TABLE, confidence=["sure", 1]),
        lambda: Settings(coverages="0.1,x"),
        lambda: Settings(coverages=2),
        lambda: Settings(created_at="now"),
        lambda: Settings(intersection_only="yes"),
        lambda: Settings(level="0.9"),
        lambda: ReadingOptions(probability=1),
        lambda: ReadingOptions(noun=3),
        lambda: ReadingOptions(loss_max="1"),
        lambda: ReadingOptions(every_row_its_own_cluster=1),
        lambda: Plan(-1),
        lambda: Plan(seed="x"),
    ],
)
def test_an_option_of_another_kind_is_one_line(made, message):
    with pytest.raises(UserError) as told:
        made()
    message(told.value)
