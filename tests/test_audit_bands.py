"""The audit of the best order and of the bands: plain loops on paper, what is tampered with, and draws of others."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from audits import BOTH, audited, by_key, changed, differing, evaluated, golden
from demur.audit.figures import Finding
from demur.audit.listing import findings_json
from demur.audit.plain_bands import band, how_many_reached, places_with_bands, risks_drawn
from demur.audit.plain_curve import PlainCurve
from demur.audit.plain_draws import Draws
from demur.audit.plain_intervals import Evidence
from demur.audit.plain_replicates import Pool
from demur.simulate import simulated_run
from runs import written

ENDS = ("low", "high", "low_simultaneous", "high_simultaneous")
COLUMNS = ["coverage", *(f"{risk}/{end}" for risk in ("selective_risk", "generalized_risk") for end in ENDS)]
ONE_SIDE = "confidence_variants/llm"


def repeated(draws):
    return Draws(draws, draws, repeated=True)


class TestByHand:
    def test_the_best_order_bends_where_the_next_loss_is_larger(self):
        bends = PlainCurve.of([(3.0, 2), (2.0, 0), (1.0, 0)], 4, 1).bends_of_best_order
        assert (bends.coverage, bends.selective_risk) == ([2 / 4, 3 / 4], [0, 2 / 3])
        assert bends.generalized_risk == [0, 2 / 4]

    def test_forty_points_at_most_have_a_band_from_the_first_to_the_last(self):
        assert places_with_bands(40) == list(range(40))
        many = places_with_bands(1000)
        assert (len(many), many[0], many[1], many[-1]) == (40, 0, 25, 999)

    def test_a_replicate_has_the_risk_of_the_first_threshold_that_reaches_the_share(self):
        """One is right once and wrong once, the other right once and abstains."""
        nothing = np.zeros(0)
        pool = Pool(np.array([2.0, 2]), np.array([[1.0, 2], [1, 1]]), np.array([[0.0, 1], [0, 0]]), nothing, nothing, 1)
        every = np.array([[1.0, 1], [2, 0], [0, 2]])
        selective, generalized = risks_drawn(pool, every, [Fraction(2, 4), Fraction(3, 4)])
        assert selective[:2].tolist() == [[0, 1 / 3], [0, 1 / 2]]
        assert generalized[:2].tolist() == [[0, 1 / 4], [0, 1 / 2]]
        for drawn in (selective[2], generalized[2]):
            assert drawn[0] == 0
            assert math.isnan(drawn[1]), "whoever abstains, drawn twice, reaches one half only"

    def test_a_share_of_unequal_clusters_is_one_of_the_units_that_are_drawn(self):
        """One answers two units, the other only the second threshold's: of its two copies ⌈2/3⌉ must be accepted."""
        nothing = np.zeros(0)
        pool = Pool(np.array([2.0, 1]), np.array([[1.0, 2], [0, 1]]), np.array([[0.0, 1], [0, 1]]), nothing, nothing, 1)
        selective, _ = risks_drawn(pool, np.array([[2.0, 0], [0, 2]]), [Fraction(1, 3)])
        assert selective.tolist() == [[0], [1]]

    def test_many_clusters_have_the_plain_percentile_and_fewer_a_wider_one(self):
        values = np.arange(1001) / 1000
        many, fewer = (band([Evidence(0.5, values, p, repeated(1001))], 0.95, 1.0)["high"][0].value for p in (200, 199))
        assert many == pytest.approx(0.975, abs=1e-12)
        assert 0.975 < fewer < 0.977

    def test_a_coverage_has_a_band_if_half_the_draws_reach_it(self):
        drawn = np.array([[1, 1, 1], [1, 1, math.nan], [1, math.nan, math.nan], [1, math.nan, math.nan]])
        assert how_many_reached(drawn, repeated(4)) == (2, 2)
        assert how_many_reached(drawn[:1], repeated(1)) == (0, 0), "one draw has no spread"
        assert how_many_reached(np.repeat(drawn, 1000, axis=0), Draws(9999, 4000, repeated=False)) == (1, 2)

    def test_the_reach_is_the_largest_deviation_along_the_curve(self):
        """Every draw is 1 away from the first risk, and none from the second: the reach is 1 and 0."""
        values = np.array([[0, 1 / 3], [2, 1 / 3], [0, 1 / 3], [2, 1 / 3]])
        risks = [Evidence(risk, values[:, place], 200, repeated(4)) for place, risk in enumerate((1.0, 1 / 3))]
        found = {name: [one.value for one in ends] for name, ends in band(risks, 0.95, 3.0).items()}
        assert found["low_simultaneous"] == pytest.approx([0, 1 / 3], abs=1e-15)
        assert found["high_simultaneous"] == pytest.approx([2, 1 / 3], abs=1e-15)
        assert found["high"] == pytest.approx([2, 1 / 3], abs=1e-15)

    def test_what_never_varies_here_may_elsewhere_but_only_as_far_as_a_rare_loss_can_carry(self):
        rng = np.random.default_rng(1)
        draws = Draws(10_000, 2000, repeated=False)
        risks = [Evidence(0.0, np.zeros(2000), 20, draws), Evidence(0.5, rng.normal(0.5, 0.1, 2000), 20, draws)]
        first, second = band(risks, 0.95, 1.0)["high_simultaneous"]
        assert 0 == first.value == first.band[0] < first.band[1] < 0.5
        assert second.band[0] < 0.5 + 1.96 * 0.1 < second.band[1] < 0.5 + 1.5 * 1.96 * 0.1

    def test_of_few_draws_a_quantile_may_lie_beyond_all_of_them(self):
        assert Draws(10_000, 20, repeated=False).may_lie_beyond(0.025)
        assert not Draws(10_000, 2000, repeated=False).may_lie_beyond(0.025)
        assert Draws(20, 2000, repeated=False).may_lie_beyond(0.025), "the smallest of 20 is one of 2020 in 1 of 101"

    def test_a_band_without_an_end_has_null_there(self):
        (found,) = findings_json([Finding("x", "differs", "1", 3.0, (2.0, math.inf))])["findings"]
        assert found["band"] == [2.0, None]


class TestTampering:
    @pytest.mark.parametrize("column", ["coverage", "selective_risk", "generalized_risk"])
    def test_a_changed_value_of_the_best_order_is_found_and_nothing_else(self, column):
        key = f"{ONE_SIDE}/reference/oracle/{column}"
        found = audited(changed(golden("one", "llm"), f"{key}/1", lambda value: value + 1e-6))
        assert differing(found) == [key.replace("/", ".")]
        assert by_key(found)[key.replace("/", ".")].cause == "the first of them at place 1"

    @pytest.mark.parametrize("column", COLUMNS)
    def test_a_changed_value_of_the_bands_is_found_and_nothing_else(self, column):
        key = f"{ONE_SIDE}/bands/{column}"
        found = audited(changed(golden("one", "llm"), f"{key}/2", lambda value: value + 1e-6))
        assert differing(found) == [key.replace("/", ".")]
        assert by_key(found)[key.replace("/", ".")].cause == "the first of them at place 2"

    def test_bands_that_say_another_level_than_they_have_are_found(self):
        found = differing(audited(changed(golden("one", "llm"), f"{ONE_SIDE}/bands/level", 0.5)))
        assert f"{ONE_SIDE}/bands/selective_risk/high".replace("/", ".") in found
        assert f"{ONE_SIDE}/bands/generalized_risk/high_simultaneous".replace("/", ".") in found

    def test_bands_at_what_is_no_level_are_not_recognised(self):
        found = audited(changed(golden("one", "llm"), f"{ONE_SIDE}/bands/level", 95))
        unknown = [one.key for one in found if one.status == "not recognised"]
        assert unknown == [f"{ONE_SIDE}/bands/{column}".replace("/", ".") for column in COLUMNS]

    def test_a_coverage_left_out_is_found(self):
        content = golden("one", "llm")
        for column in COLUMNS:
            content = changed(content, f"{ONE_SIDE}/bands/{column}", lambda values: values[:-1])
        found = by_key(audited(content))
        assert found["confidence_variants.llm.bands.coverage"].cause == "3 are expected"

    @pytest.mark.parametrize("member", ["reference", "bands", "curve"])
    def test_columns_made_null_are_found(self, member):
        found = audited(changed(golden("one", "llm"), f"{ONE_SIDE}/{member}", None))
        assert [(one.key, one.cause) for one in found if one.status == "differs"] == [
            (f"confidence_variants.llm.{member}", "columns of numbers are expected")
        ]

    def test_the_bands_and_the_best_order_of_the_other_side_are_named(self):
        content = golden("paired", "llm")
        sides = content["confidence_variants"]["llm"]
        for member in ("bands", "reference"):
            sides["left"][member], sides["right"][member] = sides["right"][member], sides["left"][member]
        found, left = by_key(audited(content)), "confidence_variants.llm.left"
        oracle, bands = found[f"{left}.reference.oracle.generalized_risk"], found[f"{left}.bands.coverage"]
        assert oracle.cause == "the first of them at place 1: the other side's figure"
        assert bands.cause == "3 are expected; so many would be there with the other side's figure"

    def test_whom_to_look_at_is_no_figure(self):
        content = golden("paired", "llm")
        assert content["cases"]["needless_abstentions"]["left"]["first"]
        assert not [one.key for one in audited(content) if one.key.startswith("cases")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bands")
    written(made, simulated_run(20, seed=1), "run.json")
    return made


@pytest.fixture(scope="module")
def elsewhere(folder):
    """Bands of 5000 draws of another generator."""
    content = evaluated(folder, *BOTH, "--confidence", "token_msp", "--coverage-grid", "0.3", seed=99, resamples=5000)
    for side in content["confidence_variants"]["token_msp"].values():
        del side["bootstrap"]["kind"], side["bootstrap"]["engine"]
    return content


def of_bands(findings):
    return [one for one in findings if "bands" in one.key.split(".")]


class TestOtherDraws:
    @pytest.mark.parametrize("own", [1, 7, 60, 150, 1000])
    def test_few_or_many_of_our_own_leave_the_bands_as_they_are(self, folder, elsewhere, own):
        found = of_bands(audited(elsewhere, [folder / "run.json"], resamples=own))
        assert len(found) == 2 * len(COLUMNS)
        assert [one for one in found if one.status != "match"] == []

    def test_a_band_half_as_wide_or_twice_as_wide_is_found(self, folder, elsewhere):
        content = json.loads(json.dumps(elsewhere))
        side = content["confidence_variants"]["token_msp"]["left"]
        places = [side["curve"]["coverage"].index(at) for at in side["bands"]["coverage"]]
        for risk, factor in (("selective_risk", 0.5), ("generalized_risk", 2)):
            curve = [side["curve"][risk][place] for place in places]
            ends = side["bands"][risk]
            for end in ENDS:
                ends[end] = [at + factor * (value - at) for at, value in zip(curve, ends[end], strict=True)]
        found = differing(of_bands(audited(content, [folder / "run.json"], resamples=1000)))
        assert [key.split("bands.")[1].replace(".", "/") for key in found] == COLUMNS[1:]

    def test_a_coverage_that_about_half_the_draws_reach_may_be_there_or_not_and_no_other(self, folder, elsewhere):
        side = "confidence_variants/token_msp/left"
        last = elsewhere["confidence_variants"]["token_msp"]["left"]
        assert last["bands"]["coverage"][-1] == last["cmax"]
        found = {}
        for fewer in (1, 12):
            content = elsewhere
            for column in COLUMNS:
                content = changed(content, f"{side}/bands/{column}", lambda values, fewer=fewer: values[:-fewer])
            found[fewer] = differing(of_bands(audited(content, [folder / "run.json"], resamples=500)))
        assert found[1] == []
        assert found[12] == [f"{side}/bands/{column}".replace("/", ".") for column in COLUMNS]
