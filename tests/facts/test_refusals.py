"""Input that once gave a wrong number, a traceback or a message that could not be read."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import commands
import demur
from demur import (
    QUANTITIES,
    Coverage,
    Graded,
    Instrument,
    Measure,
    UserError,
    instrument,
    measure,
    read_run,
    read_table,
    risk_coverage,
)
from demur.confidences.calibrators import LinearCalibrator
from runs import experiment, participant, run, written

FREE = {"cluster": [1, 1], "item": ["a", "b"], "truth": [0, 3], "prediction": [1, None]}


class TestNumbersThatNoDoubleHolds:
    def test_labels_are_compared_as_they_are(self):
        assert measure([1], truth=[2**53], prediction=[2**53 + 1], loss="zero_one")["mae"] == 1
        ids = np.array([2**60 + 1, 5], dtype=np.int64)
        assert measure([1, 2], truth=ids, prediction=ids - 1, loss="zero_one")["mae"] == 1

    def test_scores_and_confidences_are_refused(self):
        with pytest.raises(UserError, match="unit 0 .*: truth 9007199254740993, expected a finite number"):
            measure([1], truth=[2**53 + 1], prediction=[1])
        with pytest.raises(UserError, match="unit 1 .*: confidence 9007199254740993"):
            risk_coverage([2**53, 2**53 + 1], loss=[0, 1])
        with pytest.raises(UserError, match="confidence 9007199254740993, expected a finite number"):
            demur.compute_aurc([demur.ItemPrediction(1, 0, 1, 1, 2**53 + 1)], loss="abs")

    def test_large_integers_that_fit_are_fine(self):
        assert measure([1], loss=[2**60])["mae"] == 2.0**60

    def test_losses_too_large_to_add_up_are_refused(self):
        with pytest.raises(
            UserError, match=r"^unit 1 \(from 0\): loss 1e\+308, expected one small enough to be summed"
        ):
            measure([1, 2, 3], loss=[None, 1e308, 0])
        with pytest.raises(UserError, match=r"^unit 0 .*: loss 1e\+308, .* over 2 units \(and 1 more\)$"):
            measure([1, 2], truth=[1e308, -1e308], prediction=[0, 0], loss="abs")

    def test_a_message_says_that_no_double_holds_the_number(self, tmp_path):
        integer, anything = "; no double holds this integer$", "; infinite, or larger than any double$"
        with pytest.raises(UserError, match=f"^unit 0 .*: truth 9007199254740993, expected a finite number{integer}"):
            measure([1], truth=[2**53 + 1], prediction=[1])
        with pytest.raises(UserError, match=f"ground truth an integer of very many digits, .*{integer}"):
            read_table({**FREE, "truth": [10**400, 0]}, instrument=None)
        with pytest.raises(UserError, match=f"cluster 1, q: predicted inf, .*{anything}"):
            read_table(written(tmp_path, "cluster,item,truth,prediction\n1,q,0,1e999\n", "t.csv"), instrument=None)
        text = json.dumps(run(experiment(participant(1, token_msp="x")))).replace('"x"', "1e999", 1)
        with pytest.raises(UserError, match=f"participant 1, NoInterest: token_msp inf, .*{anything}"):
            read_run(written(tmp_path, text.replace('"x"', "1")))


def test_integer_losses_are_exact_up_to_the_guard_and_close_beyond_it():
    for size, top in ((30, 2**40), (30, 2**52), (300, 2**45)):
        rng = np.random.default_rng(size)
        losses = rng.integers(0, top, size)
        found = measure(np.arange(size)[::-1], loss=losses, metrics=["augrc", "mae"])
        sums = [sum(losses[: k + 1].tolist()) for k in range(size)]
        exact = Fraction(sum(a + b for a, b in zip([0, *sums], sums)), 2 * size**2)
        assert abs(found["augrc"] - exact) <= exact / 2**50
        assert abs(found["mae"] - Fraction(sums[-1], size)) <= Fraction(sums[-1], size) / 2**52


@pytest.mark.slow
def test_a_million_tenths_sum_to_a_hundred_thousand():
    found = measure(np.arange(10**6), loss=np.full(10**6, 0.1), metrics=["mae", "aurc"])
    assert found["mae"] == 0.1
    assert found["aurc"] == pytest.approx(0.1, rel=1e-15)


def test_the_closed_forms_are_good_for_rare_errors_too():
    for rate in (1e-9, 0.01, 0.09, 0.11, Fraction(1, 4), np.float32(0.25)):
        assert demur.augrc_optimal_zero_one(rate) == float(rate) ** 2 / 2
        terms = sum((Fraction(float(rate)) ** n / (n * (n - 1)) for n in range(2, 120)), Fraction(0))
        assert demur.aurc_optimal_zero_one(rate) == pytest.approx(float(terms), rel=1e-13)
    for bad in (-0.1, 1.1, True, "0.5", None):
        with pytest.raises(UserError, match="expected a number from 0 to 1"):
            demur.augrc_optimal_zero_one(bad)


class TestTables:
    def test_two_roles_cannot_share_a_column(self):
        with pytest.raises(UserError, match="the column prediction is mapped to more than one role"):
            read_table(FREE, columns={"truth": "prediction"}, instrument=None)

    def test_a_mapped_success_column_must_be_there(self):
        with pytest.raises(UserError, match="no column okk for success"):
            read_table(FREE, columns={"success": "okk"}, instrument=None)

    def test_members_that_never_repeat_do_not_eat_the_memory(self, tmp_path):
        lines = "".join(f'{{"m{i}": 1}}\n' for i in range(1_100))
        with pytest.raises(UserError, match="more than 1000 different members"):
            read_table(written(tmp_path, lines, "t.jsonl"))

    @pytest.mark.parametrize("column", ["ab", {1, 2}, 3, np.array(3)])
    def test_what_is_no_column_is_refused(self, column):
        with pytest.raises(UserError, match="is not a column"):
            read_table({**FREE, "cluster": column}, instrument=None)
        with pytest.raises(UserError, match="is not a column"):
            risk_coverage(column, loss=[0, 1])

    def test_spaces_around_an_id_are_refused_as_in_per_query_files(self, tmp_path):
        head = "cluster,item,truth,prediction\n"
        for row, message in (
            (" 300,q,0,1", "cluster id ' 300', expected an integer or a text without spaces around it"),
            ("a ,q,0,1", "cluster id 'a ', expected an integer or a text without spaces around it"),
            ("1, q,0,1", "cluster 1: item ' q', expected a number or a name without spaces around it"),
        ):
            with pytest.raises(UserError, match=message):
                read_table(written(tmp_path, f"{head}{row}\n", "t.csv"), instrument=None)
        with pytest.raises(UserError, match="cluster id 'a\\\\t', expected an integer or a text without spaces"):
            read_table({**FREE, "cluster": ["a\t", "a"]}, instrument=None)

    @pytest.mark.parametrize("library", [dict, pd.DataFrame])
    def test_two_columns_with_one_name_as_text_are_refused(self, library):
        table = library({**FREE, 1: [1, 2], "1": [3, 4]})
        message = "the columns 1 and '1' have the same name as text: give each a name of its own"
        with pytest.raises(UserError, match=message):
            read_table(table, instrument=None)
        with pytest.raises(UserError, match=message):
            measure("1", loss=[0, 1], data=table)
        with pytest.raises(UserError, match=message):
            LinearCalibrator.fit(table, [0, 1])
        assert [*read_table(library({**FREE, 1: [1, 2]}), instrument=None).signals] == ["1"]

    def test_pyarrow_arrays_are_columns(self):
        assert len(read_table({name: pa.array(values) for name, values in FREE.items()}, instrument=None)) == 2

    @pytest.mark.parametrize("value", [10**5000, 2**63, -(2**63)], ids=["huge", "high", "low"])
    def test_an_id_beyond_64_bits_is_refused(self, value):
        with pytest.raises(UserError, match="cluster id .*, expected an integer"):
            read_table({**FREE, "cluster": [value, value]}, instrument=None)

    def test_a_missing_item_in_json_lines_is_called_missing(self, tmp_path):
        lines = '{"cluster": 1, "item": "a", "truth": 1, "prediction": 1}\n{"cluster": 1}\n'
        with pytest.raises(UserError, match="cluster 1: item missing, expected a number or a name"):
            read_table(written(tmp_path, lines, "t.jsonl"))

    def test_frames_with_a_column_twice_or_a_plan_that_fails(self):
        twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
        for attempt in (lambda: read_table(twice), lambda: measure("a", loss="a", data=twice)):
            with pytest.raises(UserError, match="the frame cannot be read"):
                attempt()
        with pytest.raises(UserError, match="the lazy frame cannot be collected"):
            read_table(pl.LazyFrame(FREE).select("nowhere"))
        with pytest.raises(UserError, match="a table is a path, a data frame or a dict of lists, not list"):
            measure("a", loss="b", data=[1, 2])

    def test_digits_of_other_scripts_are_text(self, tmp_path):
        for digits in ("٣", "1_0"):
            path = written(tmp_path, f"cluster,item,truth,prediction,sure\n1,q1,{digits},1,1\n", "t.csv")
            items = read_table(path, instrument=None)
            assert items.labels == tuple(sorted(("1", digits)))
            with pytest.raises(UserError, match="cluster 1, q1: .* is no number: the loss abs needs one"):
                measure("sure", data=items, loss="abs")

    def test_texts_that_are_digits_are_no_amounts(self, tmp_path):
        rows = "".join(f'{{"cluster": {n}, "truth": "{n}", "prediction": "2", "sure": {n}}}\n' for n in range(3))
        path = written(tmp_path, rows, "t.jsonl")
        told = commands.demur(tmp_path, "evaluate", path, "--loss", "abs", "--seed", "1")
        assert (told.returncode, told.stderr.splitlines()[-1].count("use zero_one")) == (2, 1), told.stderr
        assert "'0' is a text, not a number: the loss abs needs one" in told.stderr
        assert commands.demur(tmp_path, "evaluate", path, "--seed", "1", "--bootstrap-resamples", "0").returncode == 0

    @pytest.mark.slow
    def test_corrupted_parquet_is_one_line(self, tmp_path):
        pq.write_table(pa.table(FREE), tmp_path / "t.parquet")
        good = (tmp_path / "t.parquet").read_bytes()
        rng = np.random.default_rng(1)
        for _ in range(150):
            data = bytearray(good)
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
            try:
                read_table(written(tmp_path, bytes(data), "t.parquet"), instrument=None)
            except UserError as error:
                assert "\n" not in str(error)


class TestRunFiles:
    @pytest.mark.parametrize("index", ["0", 0.0, True, 2])
    def test_an_experiment_is_an_index(self, tmp_path, index):
        with pytest.raises(UserError, match="there is no experiment"):
            read_run(written(tmp_path, run(experiment(participant(1)))), experiment=index)

    def test_many_experiments_make_a_short_message(self, tmp_path):
        many = run(*(experiment(participant(1), mode=f"m{i}") for i in range(100)))
        with pytest.raises(UserError, match=r"11: m11; and 88 more$"):
            read_run(written(tmp_path, many))

    @pytest.mark.parametrize("path", [5, b"x", None, "a\0b"])
    def test_what_is_no_path_is_refused(self, path):
        with pytest.raises(UserError, match="cannot be read"):
            read_run(path)

    def test_a_path_that_a_terminal_would_obey_is_spelled_out(self):
        with pytest.raises(UserError) as caught:
            read_run("no\n\x1b[31mwhere.json")
        assert r"no\n\x1b[31mwhere.json: cannot be read" in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "low", "high"),
        [
            ("consistency_score_std", -0.1, None),
            ("consistency_modal_confidence", -0.1, 1.1),
            ("retrieval_reference_count", -1, None),
            ("keyword_evidence_count", -1, None),
            ("verbalized_confidence", 0.9, 5.1),
        ],
    )
    def test_each_declared_signal_has_its_bounds(self, tmp_path, name, low, high):
        for value in (low, high):
            if value is not None:
                with pytest.raises(UserError, match=f"participant 1, NoInterest: {name} {value}, expected"):
                    read_run(written(tmp_path, run(experiment(participant(1, **{name: value})))))

    def test_signals_cannot_be_changed(self, tmp_path):
        items = read_run(written(tmp_path, run(experiment(participant(1)))))
        with pytest.raises(ValueError, match="read-only"):
            items.signals["llm_evidence_count"].values[0] = 9
        with pytest.raises(TypeError):
            items.signals["mine"] = None

    def test_the_first_mistake_is_the_first_unit_whatever_the_field(self, tmp_path):
        content = run(experiment(participant(1, {"Moving": 9}, token_msp=0.5)))
        content["experiments"][0]["results"]["results"][0]["item_signals"]["Depressed"]["token_msp"] = 2
        with pytest.raises(UserError, match=r"participant 1, Depressed: token_msp 2.*\(and 1 more\)"):
            read_run(written(tmp_path, content))


class TestInstruments:
    def test_what_is_no_instrument(self, tmp_path):
        for wrong in (5, None, 1.5):
            with pytest.raises(UserError, match="expected a name, a .json or .toml file, or an Instrument"):
                instrument(wrong)
        deep = written(tmp_path, "a=" + "[" * 5000, "deep.TOML")
        with pytest.raises(UserError, match="not valid TOML"):
            instrument(deep)
        with pytest.raises(UserError, match="max is an integer of very many digits"):
            Instrument("x", ("a",), 0, 10**400)

    def test_a_name_that_is_no_text_suggests_too(self):
        for attempt in (
            lambda: measure([1], truth=[1], prediction=[1], loss=""),
            lambda: read_table(FREE, columns={5: "x"}),
            lambda: measure("a", loss="b", data=pd.DataFrame({1: [1]})),
        ):
            with pytest.raises(UserError, match="^(no |the loss)|is called"):
                attempt()


class TestCoverages:
    @pytest.mark.parametrize("bad", [np.True_, b"0.3", 1j, Decimal("Infinity"), Fraction(3, 2), "~", "1e-1"])
    def test_what_is_no_coverage(self, bad):
        with pytest.raises(UserError, match="expected a number above 0 and at most 1, as 0.3 or 1/3"):
            Coverage.of(bad)

    def test_a_short_float_of_any_width_is_what_it_prints_as(self):
        assert Coverage.of(np.float32(0.3)) == Coverage.of(0.3) == Coverage.of("0.3") == Coverage.of(Decimal("0.3"))

    def test_a_name_keeps_the_leniency_of_a_float(self):
        coverage = Coverage.of(0.1 + 0.2)
        original = Measure(QUANTITIES["risk@C"], coverage, coverage.text)
        curve = risk_coverage(range(10, 0, -1), loss=[0, 0, 0, *[3] * 7])
        assert Measure.of(str(original)) == original
        assert Measure.of(str(original))(curve) == original(curve) == 0


class TestArrays:
    def test_an_instrument_without_scores_is_refused(self):
        with pytest.raises(UserError, match="a column of losses has no use for it"):
            measure([1], loss=[99], instrument="PHQ-8")

    def test_times_are_no_numbers(self):
        with pytest.raises(UserError, match="is not a column"):
            measure([1, 2], loss=np.array([1, 2], dtype="timedelta64[ns]"))

    def test_a_loss_must_be_given_somehow(self):
        with pytest.raises(UserError, match="give a column of losses, or truth and prediction"):
            measure("c", data={"c": [1]})

    @pytest.mark.parametrize("loss", [["abs"], 5])
    def test_a_graded_table_that_does_not_add_up(self, loss):
        with pytest.raises(UserError, match="with truth and prediction, loss is a name"):
            measure([1], truth=[1], prediction=[1], loss=loss)

    def test_graded_units_are_checked_when_they_are_made(self):
        with pytest.raises(UserError, match="2 losses, 2 confidences and 1 units do not go together"):
            Graded(1, np.array([0, 1]), np.array([1.0, 2.0]))
        with pytest.raises(UserError, match="must be finite"):
            Graded(2, np.array([0, 1]), np.array([1.0, np.nan]))

    def test_deep_values_are_named_by_their_kind(self):
        deep: list = []
        for _ in range(5000):
            deep = [deep]
        with pytest.raises(UserError, match=r"loss (a list|\[\[\[.*…), expected a finite number"):
            measure([1], loss=[deep])

    def test_minus_zero_is_shown_as_zero(self):
        assert str(risk_coverage([-0.0, 0.0], loss=[1, 0]).threshold[0]) == "0.0"
        assert str(risk_coverage([-0.0], loss=[1]).threshold[0]) == "0.0"


def test_rows_may_come_from_a_generator():
    rows = (demur.ItemPrediction(1, index, 1, index % 2, index) for index in range(4))
    assert demur.compute_cmax(rows) == 1.0
