"""The row API: the names, types and refusals the user's documents ask for."""

import dataclasses
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import demur
from cases import curve_of
from demur import Instrument, ItemPrediction, UserError, selective_prediction
from parametrized import parametrize_few
from reference import number
from reference.selective import Unit

SCALARS = {
    name: {"loss": "abs"}
    for name in (
        "compute_aurc",
        "compute_augrc",
        "compute_aurc_optimal",
        "compute_augrc_optimal",
        "compute_eaurc",
        "compute_eaugrc",
        "compute_aurc_achievable",
    )
} | {
    "compute_cmax": {},
    "compute_aurc_at_coverage": {"max_coverage": 0.5, "loss": "abs"},
    "compute_augrc_at_coverage": {"max_coverage": 0.5, "loss": "abs"},
    "compute_risk_at_coverage": {"target_coverage": 0.5, "loss": "abs"},
}
METRIC_OF = {
    "compute_aurc_at_coverage": "aurc@0.5",
    "compute_augrc_at_coverage": "augrc@0.5",
    "compute_risk_at_coverage": "risk@0.5",
}


def row(pred=1, gt=1, confidence=1.0, participant=300, item=2):
    return ItemPrediction(participant, item, pred, gt, confidence)


def random_rows(seed):
    rng = random.Random(seed)
    return [
        row(rng.choice([None, 0, 1, 2, 3]), rng.randint(0, 3), rng.randint(0, 4), rng.randint(1, 9), rng.randint(0, 7))
        for _ in range(rng.randint(1, 40))
    ]


@parametrize_few(("name", "options"), SCALARS.items(), 4)
def test_each_function_is_the_metric_of_its_name_as_a_plain_float(name, options):
    assert getattr(demur, name) is getattr(selective_prediction, name)
    for seed in range(30):
        rows = random_rows(seed)
        units = [Unit(None if r.pred is None else Fraction(abs(r.pred - r.gt)), r.confidence) for r in rows]
        expected = number(METRIC_OF.get(name, name.removeprefix("compute_")), units)
        value = getattr(demur, name)(rows, **options)
        assert value is None if expected is None else (type(value) is float and abs(value - expected) <= 1e-12)


def test_the_curve_has_lists_of_floats_and_cannot_be_changed():
    curve = demur.compute_risk_coverage_curve([row(2, 0, 3), row(None), row(1, 1, 1)], loss="zero_one")
    assert curve.selective_risk == [1.0, 0.5]
    assert {type(value) for value in [*curve.coverage, *curve.threshold, curve.cmax]} == {float}
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.cmax = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        row().pred = 2
    assert not hasattr(curve, "__dict__")


def test_repeated_rows_are_fine():
    rows = random_rows(4)
    assert demur.compute_aurc(rows * 3, loss="abs") == pytest.approx(demur.compute_aurc(rows, loss="abs"), rel=1e-14)


def test_nothing_answered_and_nothing_at_all():
    for rows in ([row(None)], []):
        assert demur.compute_risk_coverage_curve(rows, loss="abs") == demur.RiskCoverageCurve([], [], [], [], 0.0)
        assert demur.compute_aurc(rows, loss="abs") == demur.compute_augrc(rows, loss="abs") == 0.0
        assert demur.compute_risk_at_coverage(rows, target_coverage=0.1, loss="abs") is None


def test_another_instrument_brings_its_own_range():
    ten = Instrument("ten", ("a",), 0, 10)
    assert demur.compute_aurc([row(10, 0)], loss="abs_norm", instrument=ten) == 1.0
    assert demur.compute_aurc([row(3, 0)], loss="abs_norm", instrument="GAD-7") == 1.0


WRONG = {
    "pred true": row(True),
    "pred 1.5": row(1.5),
    "pred 7": row(7),
    "pred -5": row(-5),
    "pred nan": row(math.nan),
    "pred text": row("1"),
    "pred numpy bool": row(np.bool_(True)),
    "gt null": row(None, None),
    "gt 4": row(None, 4),
    "confidence nan": row(confidence=math.nan),
    "confidence inf": row(confidence=math.inf),
    "confidence null": row(confidence=None),
    "confidence huge": row(confidence=10**400),
}


@pytest.mark.parametrize("bad", WRONG.values(), ids=WRONG)
def test_a_bad_row_is_refused_with_its_place(bad, message):
    with pytest.raises(ValueError, match=r"^row 1 \(participant 300, item 2\): ") as caught:
        demur.compute_aurc([row(), bad], loss="abs")
    assert isinstance(caught.value, UserError)
    message(caught.value)


def test_what_is_no_row_is_refused():
    with pytest.raises(UserError, match="row 0 is {'pred': 1}, expected an ItemPrediction"):
        demur.compute_aurc([{"pred": 1}], loss="abs")


def test_what_an_abstained_row_is_sure_of_is_never_looked_at():
    assert demur.compute_cmax([row(), row(None, confidence=math.nan), row(None, confidence=None)]) == 1 / 3


@pytest.mark.parametrize("coverage", [0, -1, 1.5, math.nan, True, "x"])
def test_a_coverage_outside_0_to_1_is_refused(coverage):
    for name, keyword in (("aurc_at", "max"), ("augrc_at", "max"), ("risk_at", "target")):
        with pytest.raises(UserError, match="expected a number above 0 and at most 1"):
            getattr(demur, f"compute_{name}_coverage")([row()], loss="abs", **{f"{keyword}_coverage": coverage})


def test_an_unknown_loss_suggests_the_nearest():
    with pytest.raises(UserError, match="no loss is called abs_nrm; did you mean abs_norm?"):
        demur.compute_aurc([row()], loss="abs_nrm")


def test_numpy_scalars_are_numbers_like_any_other():
    rows = [row(np.int64(3), np.int32(1), np.float32(0.5)), row(2.0, 2, 1)]
    assert demur.compute_aurc(rows, loss="abs") == demur.compute_aurc([row(3, 1, 0.5), row(2, 2, 1)], loss="abs")


def test_rows_and_arrays_agree_bit_for_bit():
    for seed in range(20):
        rows = random_rows(seed)
        units = [Unit(None if r.pred is None else Fraction(abs(r.pred - r.gt)), r.confidence) for r in rows]
        assert demur.compute_aurc(rows, loss="abs") == float(demur.Measure.of("aurc")(curve_of(units, 1)))
