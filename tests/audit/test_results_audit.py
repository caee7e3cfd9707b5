"""Our own files: recomputed with their recorded settings and seed and joined on Key, and again by the plain loops."""

import copy
import json
from collections import Counter
from functools import cache, reduce
from operator import getitem

import pytest

from demur import Plan, Settings, UserError, evaluate, read_run
from demur.extensions.audit import results_audit
from demur.extensions.audit.figures import flattened
from demur.facts.alignment import aligned
from demur.results.load import results_of
from golden_runs import RUN
from parametrized import parametrize_few
from results_by_loops import compared, run_recipes

MODES = ("zero_shot", "few_shot")


@cache
def runs(modes=MODES):
    return [read_run(RUN, mode=mode) for mode in modes]


FEW = ("0.10", "0.2")
TOTAL = "confidence_variants, total_evidence, left"


def file_of(modes=MODES, resamples=20, grid=FEW, confidence="llm", **settings):
    chosen = Settings(coverages=grid, confidence=confidence, **settings)
    plan = Plan(resamples, seed=3 if resamples else None)
    return json.loads(evaluate(runs(modes), settings=chosen, plan=plan).text)


def findings(content, modes=MODES):
    claimed = results_of(content)
    return [
        *results_audit.contradictions(content, claimed),
        *results_audit.audited_runs(claimed, runs(modes), None, None),
    ]


def differing(found):
    return {one.key: one for one in found if one.status == "differs"}


@pytest.fixture(scope="module")
def content():
    return file_of(confidence="llm,total_evidence")


def remembered(function):
    """A function that computes the same systems under the same settings and draws once."""
    known = {}

    def of(systems, **how):
        asked = repr(([*systems], how))
        if asked not in known:
            known[asked] = function(systems, **how)
        return known[asked]

    return of


@pytest.fixture(scope="module")
def recomputed():
    return remembered(results_audit.evaluate)


@pytest.fixture
def changed(content, recomputed, monkeypatch):
    """A file to change; what the audit holds it against is computed once for all tests, as the data are the same."""
    monkeypatch.setattr(results_audit, "evaluate", recomputed)
    return copy.deepcopy(content)


class TestRuns:
    @parametrize_few(
        "settings",
        [
            {"area_coverage": "0.3"},
            {"confidence": "all", "grid": Settings().coverages},
            {"loss": "abs", "grid": ("0.25", "0.5")},
            {"interval": "bca", "level": 0.9},
            {"interval": "studentised"},
            {"resamples": 0},
        ],
        2,
        ids=["areas cut", "every confidence", "another loss", "bca", "studentised", "points alone"],
    )
    @pytest.mark.parametrize("modes", [MODES, pytest.param(("few_shot",), marks=pytest.mark.slow)], ids=len)
    def test_a_file_of_ours_is_what_the_data_give(self, modes, settings):
        found = findings(file_of(modes, **settings), modes)
        assert len(found) > 50
        assert {one.status for one in found} == {"match"}

    @pytest.mark.slow
    def test_three_systems_too(self):
        three = {name: read_run(RUN, mode=mode) for name, mode in zip("abc", (*MODES, "few_shot"), strict=True)}
        made = evaluate(three, settings=Settings(baseline="b", confidence="llm", coverages=FEW), plan=Plan(20, seed=3))
        found = results_audit.audited_runs(made, [*three.values()], None, None)
        assert {one.status for one in found} == {"match"}

    @parametrize_few(
        ("member", "value", "figure"),
        [("aurc_full", 0.1, "zero_shot, aurc, llm"), ("augrc_full", 0.031, "zero_shot, augrc, llm")],
        1,
    )
    def test_a_falsified_number_is_found_however_it_is_rounded(self, changed, member, value, figure):
        changed["confidence_variants"]["llm"]["left"][member] = value
        assert [*differing(findings(changed))] == [figure]

    def test_so_is_the_last_bit(self, changed):
        numbers = changed["confidence_variants"]["llm"]["left"]
        numbers["aurc_full"] *= 1 + 2**-52
        assert [*differing(findings(changed))] == ["zero_shot, aurc, llm"]

    @pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)], ids=["a ninth", "all"])
    @pytest.mark.slow
    def test_every_number_is_found_that_is_rounded_or_moved(self, monkeypatch, every):
        """One at a time: it differs, or the file does not hold together."""
        alone = ("few_shot",)
        recomputed = evaluate(runs(alone), settings=Settings(confidence="llm", coverages=FEW), plan=Plan(10, seed=3))
        content = json.loads(recomputed.text)
        monkeypatch.setattr(results_audit, "evaluate", lambda *_, **__: recomputed)
        outcomes = Counter()
        numbers = [path for path, value in flattened(content) if isinstance(value, float)]
        for path in numbers[::every]:
            moved = copy.deepcopy(content)
            *inside, last = [int(name) if name.isdecimal() else name for name in path]
            place = reduce(getitem, inside, moved)
            place[last] = round(place[last], 1) if round(place[last], 1) != place[last] else place[last] + 0.1
            try:
                outcomes["differs" if differing(findings(moved, alone)) else path] += 1
            except UserError:
                outcomes["refused"] += 1
        assert outcomes.keys() == {"differs", "refused"}
        assert outcomes["differs"] > outcomes["refused"]

    @parametrize_few(
        ("path", "value", "figure"),
        [
            (("mae_at_coverage", "0.10", "requested"), 0.2, f"{TOTAL}, mae_at_coverage, 0.10, requested"),
            (("by_item", "Sleep", "risk"), 0.1, f"{TOTAL}, by_item, Sleep, risk"),
            (
                ("bootstrap", "ci95_recommended", "aurc_full", "method"),
                "bca",
                "zero_shot, aurc, total_evidence: recommended interval, method",
            ),
            (("bootstrap", "std_error", "aurc_full"), None, "zero_shot, aurc, total_evidence: std error"),
        ],
        2,
        ids=str,
    )
    @pytest.mark.slow
    def test_so_is_what_the_file_says_twice_how_an_interval_was_made_and_what_was_left_out(
        self, changed, path, value, figure
    ):
        *inside, last = path
        reduce(getitem, inside, changed["confidence_variants"]["total_evidence"]["left"])[last] = value
        assert [*differing(findings(changed))] == [figure]

    def test_a_falsified_cmax_does_not_hold_together_with_its_curve(self, changed):
        changed["confidence_variants"]["llm"]["left"]["cmax"] = 1.0
        with pytest.raises(UserError, match="curve ends at"):
            findings(changed)
        changed["confidence_variants"]["llm"]["left"]["curve"]["coverage"][-1] = 1.0
        with pytest.raises(UserError, match="a coverage of the bands is none of the curve"):
            findings(changed)

    @pytest.mark.slow
    def test_the_value_of_another_row_is_named(self, changed):
        numbers = changed["confidence_variants"]["llm"]["left"]
        numbers["aurc_full"] = numbers["augrc_full"]
        assert differing(findings(changed))["zero_shot, aurc, llm"].cause == "equals the value of zero_shot, augrc, llm"

    @parametrize_few(
        ("path", "figure"),
        [
            (("ci95", "aurc_full", 0), "zero_shot, aurc, llm: ci95, low"),
            (("ci95_recommended", "augrc_full", "high"), "zero_shot, augrc, llm: recommended interval, high"),
            (("std_error", "cmax"), "zero_shot, cmax, llm: std error"),
        ],
        1,
        ids=str,
    )
    @pytest.mark.slow
    def test_an_interval_or_an_error_that_was_moved_is_found(self, changed, path, figure):
        *inside, last = path
        place = changed["confidence_variants"]["llm"]["left"]["bootstrap"]
        for name in inside:
            place = place[name]
        place[last] += 1e-6
        assert [*differing(findings(changed))] == [figure]

    @pytest.mark.slow
    def test_a_difference_a_case_a_count_and_a_point_of_a_curve_are_compared(self, changed):
        changed["comparison"]["deltas"]["llm"]["augrc_at_c"]["delta"] += 1e-9
        changed["cases"]["needless_abstentions"]["left"]["count"] += 1
        changed["confidence_variants"]["total_evidence"]["right"]["curve"]["threshold"][0] += 1e-9
        keys = [*differing(findings(changed))]
        assert "few_shot, augrc@C_common, llm, minus zero_shot" in keys
        assert any("needless_abstentions" in key for key in keys)
        assert any("threshold" in key for key in keys)

    @parametrize_few(("member", "text"), [("message", "2 clusters"), ("where", "llm: left risk@0.2")], 1)
    @pytest.mark.slow
    def test_a_warning_that_was_softened_or_moved_is_found(self, changed, member, text):
        changed["warnings"][-1][member] = text
        [figure] = differing(findings(changed))
        assert figure.startswith("study, warnings, ")

    @pytest.mark.slow
    def test_other_data_are_told_by_their_hash(self, changed):
        changed["inputs"][0]["sha256"] = "0" * 64
        found = differing(findings(changed))
        assert "not those the file was made from" in found["inputs, 0, sha256"].cause

    def test_a_file_of_another_minor_version_is_held_to_points_and_percentiles(self, changed):
        changed["tool"]["version"] = "0.99.0"
        boot = changed["confidence_variants"]["llm"]["left"]["bootstrap"]
        boot["ci95_recommended"]["aurc_full"]["high"] += 0.5
        boot["ci95"]["augrc_full"][1] += 0.5
        found = findings(changed)
        assert [*differing(found)] == ["zero_shot, augrc, llm: ci95, high"]
        causes = {one.cause for one in found if one.status == "not recognised"}
        assert causes == {"made by the rules of 0.99.0"}


@parametrize_few("modes", [MODES, ("few_shot",)], 1, ids=len)
@pytest.mark.slow
def test_plain_loops_give_the_same_numbers_and_percentiles(modes):
    claimed = results_of(file_of(modes, resamples=15, confidence="all", grid=Settings().coverages))
    systems = aligned(dict(zip(claimed.systems, runs(modes), strict=True))).systems
    found = compared(claimed, run_recipes(claimed, systems, None))
    assert all(one.agrees for one in found)
    assert sum(": ci95, low" in one.name for one in found) > 50
