"""Every confidence variant against values worked out by hand, and what a run that cannot serve one is told."""

import math
from fractions import Fraction

import numpy as np
import pytest

from demur import VARIANTS, Curve, UserError, confidence, grade, measure, read_run, served
from demur.confidences.features import CalibratorFeatureExtractor
from demur.confidences.serving import chosen
from demur.confidences.variants import spoken_share
from runs import experiment, items_of, participant, run, written


def values(name, *units, calibration=None):
    return confidence(items_of(*units), name, calibration).values.tolist()


E, S, V = "llm_evidence_count", "retrieval_similarity_mean", "verbalized_confidence"
SHARE, STD = "consistency_modal_confidence", "consistency_score_std"

BY_HAND = [
    ("llm", {E: 0}, 0),
    ("llm", {E: 7}, 7),
    ("total_evidence", {E: 2, "keyword_evidence_count": 3}, 5),
    ("total_evidence", {E: 2}, 2),
    ("retrieval_similarity_mean", {S: -0.25}, -0.25),
    ("retrieval_similarity_mean", {S: 1.5}, 1.5),
    ("retrieval_similarity_mean", {S: None}, 0),
    ("retrieval_similarity_max", {"retrieval_similarity_max": 0.75}, 0.75),
    ("retrieval_similarity_max", {"retrieval_similarity_max": None}, 0),
    ("hybrid_evidence_similarity", {E: 0, S: 0.5}, 0.25),
    ("hybrid_evidence_similarity", {E: 3, S: 0.5}, 0.75),
    ("hybrid_evidence_similarity", {E: 9, S: 1.5}, 1),
    ("hybrid_evidence_similarity", {E: 3, S: -1}, 0.5),
    ("hybrid_evidence_similarity", {E: 1, S: None}, 0.166666666667),
    ("verbalized", {V: 1}, 0),
    ("verbalized", {V: 2}, 0.25),
    ("verbalized", {V: 4.5}, 0.875),
    ("verbalized", {V: 5}, 1),
    ("verbalized", {V: None}, 0.5),
    ("hybrid_verbalized", {V: 4, E: 0, S: 0}, 0.3),
    ("hybrid_verbalized", {V: 1, E: 3, S: 0}, 0.3),
    ("hybrid_verbalized", {V: 5, E: 4, S: 2}, 1),
    ("hybrid_verbalized", {V: None, E: 1, S: None}, 0.3),
    ("token_msp", {"token_msp": 0}, 0),
    ("token_msp", {"token_msp": 1}, 1),
    ("token_pe", {"token_pe": 0}, 1),
    ("token_pe", {"token_pe": 3}, 0.25),
    ("token_energy", {"token_energy": 0}, 1),
    ("token_energy", {"token_energy": 800}, 1),
    ("token_energy", {"token_energy": -1}, math.exp(-1)),
    ("consistency", {SHARE: 0.6}, 0.6),
    ("consistency_inverse_std", {STD: 0}, 1),
    ("consistency_inverse_std", {STD: 1}, 0.5),
    ("hybrid_consistency", {SHARE: 0.75, E: 0, S: 0}, 0.3),
    ("hybrid_consistency", {SHARE: 0, E: 0, S: 1}, 0.3),
    ("hybrid_consistency", {SHARE: 1, E: 9, S: None}, 0.7),
    ("secondary:token_msp+verbalized:average", {"token_msp": 0.5, V: 5}, 0.75),
    ("secondary:token_msp+llm:product", {"token_msp": 0.5, E: 3}, 1.5),
    ("secondary:consistency+consistency:product", {SHARE: 0.1}, 0.01),
    ("llm_evidence_count", {E: 4}, 4),
    ("own", {"own": -2.5}, -2.5),
]


@pytest.mark.parametrize(("name", "signals", "expected"), BY_HAND)
def test_by_hand(name, signals, expected):
    assert values(name, signals) == [expected]


def test_what_is_said_beyond_the_scale_is_clipped_wherever_it_comes_from():
    assert spoken_share(np.array([-3.0, 9.0])).tolist() == [0, 1]


def test_every_registered_variant_is_worked_out_by_hand_above():
    assert set(VARIANTS) <= {name for name, _, _ in BY_HAND}
    assert len(VARIANTS) == 13


NULL_IS_AN_ERROR = [
    ("llm", {E: None}, E),
    ("total_evidence", {E: None}, E),
    ("total_evidence", {E: 1, "keyword_evidence_count": None}, "keyword_evidence_count"),
    ("hybrid_evidence_similarity", {E: None, S: 0.5}, E),
    ("hybrid_verbalized", {V: 3, E: None, S: 0.5}, E),
    ("token_msp", {"token_msp": None}, "token_msp"),
    ("token_pe", {"token_pe": None}, "token_pe"),
    ("token_energy", {"token_energy": None}, "token_energy"),
    ("consistency", {SHARE: None}, SHARE),
    ("consistency_inverse_std", {STD: None}, STD),
    ("hybrid_consistency", {SHARE: None, E: 1, S: 1}, SHARE),
    ("secondary:llm+token_msp:average", {E: 1, "token_msp": None}, "token_msp"),
    ("secondary:token_msp+llm:average", {E: 1, "token_msp": None}, "token_msp"),
    ("own", {"own": None}, "own"),
]


@pytest.mark.parametrize(("name", "signals", "culprit"), NULL_IS_AN_ERROR)
def test_a_null_without_a_meaning_is_an_error(name, signals, culprit):
    with pytest.raises(UserError) as raised:
        values(name, signals)
    assert str(raised.value).startswith(f"{name}: cluster 1, q: {culprit} is null; this run can serve: ")


@pytest.mark.parametrize("name", VARIANTS)
def test_a_missing_key_is_an_error_that_says_what_the_run_can_serve(tmp_path, name):
    everything = {need.signal: 1 for each in VARIANTS.values() for need in each.needs}
    needed = next(need.signal for need in VARIANTS[name].needs if need.absent is None)
    person = participant(300, **everything)
    del person["item_signals"]["Sleep"][needed]
    items = read_run(written(tmp_path, run(experiment(person))))
    there = [each for each, entry in VARIANTS.items() if needed not in [need.signal for need in entry.needs]]
    with pytest.raises(UserError) as raised:
        confidence(items, name)
    expected = f"{name}: participant 300, Sleep: {needed} is missing; this run can serve: {', '.join(there)}"
    assert str(raised.value) == expected


def test_a_signal_the_run_never_had_counts_every_unit(tmp_path):
    items = read_run(written(tmp_path, run(experiment(participant(300)))))
    message = r"^verbalized: participant 300, NoInterest: verbalized_confidence is missing \(and 7 more\); "
    with pytest.raises(UserError, match=message + "this run can serve: llm, total_evidence$"):
        confidence(items, "verbalized")


def test_keyword_counts_some_units_lack_are_not_taken_for_zero(tmp_path):
    person = participant(1, keyword_evidence_count=1)
    del person["item_signals"]["Tired"]["keyword_evidence_count"]
    with pytest.raises(UserError, match="total_evidence: participant 1, Tired: keyword_evidence_count is missing"):
        confidence(read_run(written(tmp_path, run(experiment(person)))), "total_evidence")


def test_the_signals_of_an_abstention_are_never_looked_at():
    made = values("token_msp", {"token_msp": 0.5}, {"token_msp": None, "prediction": None})
    assert made[0] == 0.5
    assert math.isnan(made[1])


def test_a_signal_that_is_no_number_is_an_error():
    items = items_of({"own": "high"}, {"own": 1})
    with pytest.raises(UserError, match="own: cluster 1, q: own 'high', expected a finite number"):
        confidence(items, "own")


def test_nulls_are_counted_where_they_were_filled():
    units = [{V: None, E: 1, S: None}, {V: 3, E: 1, S: None}, {V: None, E: 1, S: None, "prediction": None}]
    found = confidence(items_of(*units), "hybrid_verbalized")
    assert found.nulls_filled == {V: 1, S: 2}, "the third unit abstained"
    both = confidence(items_of(*units), "secondary:hybrid_verbalized+verbalized:average")
    assert both.nulls_filled == {V: 1, S: 2}
    turned = confidence(items_of(*units), "secondary:verbalized+retrieval_similarity_mean:average")
    assert turned.nulls_filled == {V: 1, S: 2}
    assert confidence(items_of({V: 2}), "verbalized").nulls_filled == {}


def test_values_equal_on_paper_share_a_plateau():
    """0.4·0.75 and 0.3·1 differ in their last bit before they are rounded."""
    assert 0.4 * 0.75 != 0.3 * 1
    units = [{V: 4, E: 0, S: 0, "prediction": 3}, {V: 1, E: 0, S: 1}]
    curve = Curve.of(grade(items_of(*units), loss="abs", confidence="hybrid_verbalized"))
    assert len(curve) == 1
    assert measure("hybrid_verbalized", data=items_of(*units), loss="abs", metrics=["aurc", "augrc"]).to_dict() == {
        "aurc": 3 / 2,
        "augrc": 3 / 4,
    }


def test_a_combination_is_rounded_once_and_not_its_parts():
    """1/6·1/2 and 1/3·1/4 are both 1/12; rounded parts would multiply to two numbers."""
    units = [{E: 1, S: 0, V: 3}, {E: 2, S: 0, V: 2}]
    made = values("secondary:hybrid_evidence_similarity+verbalized:product", *units)
    assert made == [0.083333333333, 0.083333333333]


def test_every_pair_equal_on_paper_is_one_plateau():
    units = [{E: e, S: s / 4, V: v} for e in range(5) for s in range(5) for v in range(1, 6)]
    paper = {
        "average": lambda e, s, v: (Fraction(min(e, 3), 6) + Fraction(s, 8) + Fraction(v - 1, 4)) / 2,
        "product": lambda e, s, v: (Fraction(min(e, 3), 6) + Fraction(s, 8)) * Fraction(v - 1, 4),
    }
    for how, exact in paper.items():
        made = values(f"secondary:hybrid_evidence_similarity+verbalized:{how}", *units)
        by_paper = {}
        for unit, value in zip(units, made, strict=True):
            by_paper.setdefault(exact(unit[E], int(4 * unit[S]), unit[V]), set()).add(value)
        assert all(len(found) == 1 for found in by_paper.values())
        assert len({next(iter(found)) for found in by_paper.values()}) == len(by_paper)


def test_a_combination_that_makes_no_sense_names_the_unit():
    both = "secondary:retrieval_similarity_mean+retrieval_similarity_max:product"
    first, second = {S: 1, "retrieval_similarity_max": 1}, {S: 1e200, "retrieval_similarity_max": 1e200}
    with pytest.raises(UserError, match=r"^cluster 2, q: secondary:.*:product inf, expected a finite number; infinite"):
        values(both, first, second)
    with pytest.raises(UserError, match="cluster 1, q: two negative confidences would make a high one; take the av"):
        values(both, {S: -0.5, "retrieval_similarity_max": -0.25})
    assert values(both, {S: -0.5, "retrieval_similarity_max": 0.25}) == [-0.125]


def test_a_variant_wins_over_a_signal_of_its_name():
    items = items_of({"token_pe": 3}, {"token_pe": 1, "prediction": 2})
    graded = grade(items, loss="abs", confidence="token_pe")
    assert graded.confidence.tolist() == [0.25, 0.5]


def test_a_signal_where_lower_is_more_confident_is_no_confidence_as_it_is():
    with pytest.raises(UserError, match=f"lower means more confident in {STD}: use a variant made of it; this run can"):
        values(STD, {STD: 1})


def test_default_all_and_lists():
    items = items_of({E: 1, V: 3})
    found, skipped = chosen(items, "default")
    assert [*found] == ["llm", "total_evidence"]
    assert skipped == {}
    found, skipped = chosen(items, "all")
    assert [*found] == ["llm", "total_evidence", "verbalized"]
    assert skipped["token_msp"] == "cluster 1, q: token_msp is missing"
    assert skipped["calibrated"] == "needs a calibration (demur calibrate fits one, --calibration gives it)"
    assert set(found) | set(skipped) == {*VARIANTS, "verbalized_calibrated", "calibrated"} == set(served(items))
    assert [*chosen(items, "verbalized, llm")[0]] == ["verbalized", "llm"]
    with pytest.raises(UserError, match="the same name appears twice"):
        chosen(items, "llm,llm")


@pytest.mark.parametrize(
    "name",
    [
        "verbalised",
        "",
        "secondary:llm+verbalized:mean",
        "secondary:llm+verbalizd:average",
        "secondary:llm:average",
        "secondary:secondary:llm+llm:average+llm:product",
        "secondary:secondary:llm+llm:product",
        "calibrated:llm",
    ],
)
def test_a_name_that_is_none(name, message):
    with pytest.raises(UserError) as raised:
        values(name, {E: 1, V: 2})
    message(raised.value)


def test_each_variant_says_what_it_is():
    for each in VARIANTS.values():
        assert each.meaning
        assert each.needs
        assert each.higher_is_more_confident


class TestFeatures:
    def test_nulls_become_the_cautious_value_and_are_counted(self):
        names = [S, E, "token_msp", SHARE, V, "retrieval_similarity_max", "keyword_evidence_count"]
        found = CalibratorFeatureExtractor(names)(items_of(dict.fromkeys(names), dict.fromkeys(names, 1)))
        assert {name: column.tolist() for name, column in found.columns.items()} == {
            name: [3.0 if name == V else 0.0, 1.0] for name in names
        }
        assert found.nulls_filled == dict.fromkeys(names, 1)

    @pytest.mark.parametrize("name", ["token_pe", STD, "token_energy", "retrieval_reference_count", "own"])
    def test_where_no_number_is_cautious_a_null_is_an_error(self, name):
        with pytest.raises(UserError, match=f"feature {name}: cluster 1, q: {name} is null; no cautious number"):
            CalibratorFeatureExtractor([name])(items_of({name: None}))
        with pytest.raises(UserError, match=f"feature {name}: null, expected"):
            CalibratorFeatureExtractor([name]).extract({name: None})

    def test_an_absent_one_and_one_that_is_no_number(self):
        with pytest.raises(UserError, match="feature token_msp: cluster 1, q: token_msp is missing"):
            CalibratorFeatureExtractor(["token_msp"])(items_of({E: 1}))
        with pytest.raises(UserError, match="feature own: cluster 1, q: own 'a', expected a finite number"):
            CalibratorFeatureExtractor(["own"])(items_of({"own": "a"}))
        extractor = CalibratorFeatureExtractor(["token_msp"])
        for bad, shown in ((True, "True"), ("0.5", "'0.5'"), (math.nan, "nan"), (1.5, "1.5"), (-0.5, "-0.5")):
            with pytest.raises(UserError, match=f"feature token_msp: {shown}, expected a number from 0 to 1"):
                extractor.extract({"token_msp": bad})
        with pytest.raises(UserError, match="feature token_msp: missing, expected"):
            extractor.extract({})

    def test_one_unit_is_extracted_as_a_run_is(self):
        unit = {V: None, "token_msp": 0.25}
        extractor = CalibratorFeatureExtractor([V, "token_msp"])
        found = extractor(items_of(unit)).columns
        assert {name: column[0] for name, column in found.items()} == extractor.extract(unit)

    @pytest.mark.parametrize(
        "names",
        [
            [],
            [E, E],
            ["evidence_source"],
            [3],
        ],
    )
    def test_a_list_that_is_none(self, names, message):
        with pytest.raises(UserError) as refused:
            CalibratorFeatureExtractor(names)
        message(refused.value)
