"""Our own files: recomputed with their recorded settings and seed and joined on Key, and again by the plain loops."""

import copy
import json
from collections import Counter
from functools import cache, reduce
from operator import getitem

import pytest

from demur import Plan, Settings, evaluate, read_run
from demur.errors import UserError
from demur.extensions.audit import results_audit
from demur.extensions.audit.figures import flattened
from demur.extensions.audit.reported.reading import queries_to_audit
from demur.extensions.lab.queries import simulated_queries
from demur.facts.alignment import aligned
from demur.read.queries import read_queries
from demur.results.load import results_of
from demur.results.reference import REFERENCES
from demur.results.retrieval import RetrievalSettings, evaluate_retrieval
from golden_runs import RUN
from results_by_loops import compared, query_recipes, run_recipes

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
    @pytest.mark.parametrize(
        "settings",
        [
            {"confidence": "all", "grid": Settings().coverages},
            {"loss": "abs", "grid": ("0.25", "0.5")},
            {"area_coverage": "0.3"},
            {"interval": "bca", "level": 0.9},
            {"interval": "studentised"},
            {"resamples": 0},
        ],
        ids=["every confidence", "another loss", "areas cut", "bca", "studentised", "points alone"],
    )
    @pytest.mark.parametrize("modes", [MODES, pytest.param(("few_shot",), marks=pytest.mark.slow)], ids=len)
    def test_a_file_of_ours_is_what_the_data_give(self, modes, settings):
        found = findings(file_of(modes, **settings), modes)
        assert len(found) > 50
        assert {one.status for one in found} == {"match"}

    def test_three_systems_too(self):
        three = {name: read_run(RUN, mode=mode) for name, mode in zip("abc", (*MODES, "few_shot"), strict=True)}
        made = evaluate(three, settings=Settings(baseline="b", confidence="llm", coverages=FEW), plan=Plan(20, seed=3))
        found = results_audit.audited_runs(made, [*three.values()], None, None)
        assert {one.status for one in found} == {"match"}

    @pytest.mark.parametrize(
        ("member", "value", "figure"),
        [("aurc_full", 0.1, "zero_shot, aurc, llm"), ("augrc_full", 0.031, "zero_shot, augrc, llm")],
    )
    def test_a_falsified_number_is_found_however_it_is_rounded(self, changed, member, value, figure):
        changed["confidence_variants"]["llm"]["left"][member] = value
        assert [*differing(findings(changed))] == [figure]

    def test_so_is_the_last_bit(self, changed):
        numbers = changed["confidence_variants"]["llm"]["left"]
        numbers["aurc_full"] *= 1 + 2**-52
        assert [*differing(findings(changed))] == ["zero_shot, aurc, llm"]

    @pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)], ids=["a ninth", "all"])
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

    @pytest.mark.parametrize(
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
        ids=str,
    )
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

    def test_the_value_of_another_row_is_named(self, changed):
        numbers = changed["confidence_variants"]["llm"]["left"]
        numbers["aurc_full"] = numbers["augrc_full"]
        assert differing(findings(changed))["zero_shot, aurc, llm"].cause == "equals the value of zero_shot, augrc, llm"

    @pytest.mark.parametrize(
        ("path", "figure"),
        [
            (("ci95", "aurc_full", 0), "zero_shot, aurc, llm: ci95, low"),
            (("ci95_recommended", "augrc_full", "high"), "zero_shot, augrc, llm: recommended interval, high"),
            (("std_error", "cmax"), "zero_shot, cmax, llm: std error"),
        ],
        ids=str,
    )
    def test_an_interval_or_an_error_that_was_moved_is_found(self, changed, path, figure):
        *inside, last = path
        place = changed["confidence_variants"]["llm"]["left"]["bootstrap"]
        for name in inside:
            place = place[name]
        place[last] += 1e-6
        assert [*differing(findings(changed))] == [figure]

    def test_a_difference_a_case_a_count_and_a_point_of_a_curve_are_compared(self, changed):
        changed["comparison"]["deltas"]["llm"]["augrc_at_c"]["delta"] += 1e-9
        changed["cases"]["needless_abstentions"]["left"]["count"] += 1
        changed["confidence_variants"]["total_evidence"]["right"]["curve"]["threshold"][0] += 1e-9
        keys = [*differing(findings(changed))]
        assert "few_shot, augrc@C_common, llm, minus zero_shot" in keys
        assert any("needless_abstentions" in key for key in keys)
        assert any("threshold" in key for key in keys)

    @pytest.mark.parametrize(("member", "text"), [("message", "2 clusters"), ("where", "llm: left risk@0.2")])
    def test_a_warning_that_was_softened_or_moved_is_found(self, changed, member, text):
        changed["warnings"][-1][member] = text
        [figure] = differing(findings(changed))
        assert figure.startswith("study, warnings, ")

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


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("queries") / "q.csv"
    path.write_text(simulated_queries(5, seed=1), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def file(table):
    reference = REFERENCES["phq8-evidence"]
    settings = RetrievalSettings(depths=(10,), policies=("fixed:3", "gap", "mass:0.8"), reference=reference)
    made = evaluate_retrieval(read_queries(table), settings=settings, plan=Plan(15, seed=7))
    return json.loads(made.text)


@pytest.fixture(scope="module")
def recomputed_queries():
    return remembered(evaluate_retrieval)


class TestQueries:
    def test_a_file_of_ours_is_what_the_data_give(self, table, file, recomputed_queries, monkeypatch):
        monkeypatch.setattr(results_audit, "evaluate_retrieval", recomputed_queries)
        found = results_audit.audited_queries(results_of(file), read_queries(table), None)
        assert len(found) > 1000
        assert {one.status for one in found} == {"match"}

    def test_a_falsified_number_is_found(self, table, file, recomputed_queries, monkeypatch):
        monkeypatch.setattr(results_audit, "evaluate_retrieval", recomputed_queries)
        changed = copy.deepcopy(file)
        changed["estimates"]["value"][5] += 1e-9
        found = differing(results_audit.audited_queries(results_of(changed), read_queries(table), None))
        assert len(found) == 1

    @pytest.mark.parametrize(("member", "value"), [("value", 0.99), ("good", [0.1, 0.2]), ("place", "above good")])
    @pytest.mark.slow
    def test_so_is_a_figure_beside_the_reference_ranges(self, table, file, member, value):
        changed = copy.deepcopy(file)
        figure = next(figure for figure in changed["reference_ranges"] if figure["place"] != "above good")
        figure[member] = value
        found = differing(results_audit.audited_queries(results_of(changed), read_queries(table), None))
        assert {key.split(", ")[1] for key in found} == {"reference_ranges"}

    @pytest.mark.slow
    def test_so_is_a_number_that_is_said_to_be_one_by_convention(self, table, file):
        changed = copy.deepcopy(file)
        flags = changed["estimates"]["by_convention"]
        flags[flags.index(False)] = True
        assert differing(results_audit.audited_queries(results_of(changed), read_queries(table), None))

    def test_a_system_the_data_do_not_hold_is_an_error_with_a_way_out(self, table, file):
        rankings = read_queries(table)
        with pytest.raises(Exception, match="have no system reranked: name its column"):
            results_audit.audited_queries(results_of(file), {"retriever": rankings["retriever"]}, None)

    @pytest.mark.slow
    def test_grades_a_level_and_chosen_metrics_are_recomputed_as_they_were_used(self, table, tmp_path):
        """By the same code and by the plain loops, and a file of another level is told from it."""
        header, *rows = table.read_text(encoding="utf-8").splitlines()
        graded = [
            row + "," + "|".join(str(1 + len(name) % 3) for name in filter(None, row.split(",")[2].split("|")))
            for row in rows
        ]
        (path := tmp_path / "graded.csv").write_text("\n".join([f"{header},gold_grades", *graded]), encoding="utf-8")
        settings = RetrievalSettings(
            metrics=("nDCG", "nDCG@5", "AP", "P@3", "RR"), relevance_level=2, policies=("gap",)
        )
        content = json.loads(evaluate_retrieval(read_queries(path), settings=settings, plan=Plan(5, seed=7)).text)
        claimed = results_of(content)
        assert {one.status for one in results_audit.audited_queries(claimed, read_queries(path), None)} == {"match"}
        recipes = query_recipes(claimed, queries_to_audit(path))
        assert all(one.agrees for one in compared(claimed, recipes))
        content["settings"]["relevance_level"] = 1
        assert differing(results_audit.audited_queries(results_of(content), read_queries(path), None))

    def test_plain_loops_give_the_same_numbers_and_percentiles(self, table, file):
        claimed = results_of(file)
        found = compared(claimed, query_recipes(claimed, queries_to_audit(table)))
        assert all(one.agrees for one in found)
        assert sum(": ci95, low" in one.name for one in found) > 300


@pytest.mark.parametrize("modes", [MODES, ("few_shot",)], ids=len)
def test_plain_loops_give_the_same_numbers_and_percentiles(modes):
    claimed = results_of(file_of(modes, resamples=15, confidence="all", grid=Settings().coverages))
    systems = aligned(dict(zip(claimed.systems, runs(modes), strict=True))).systems
    found = compared(claimed, run_recipes(claimed, systems, None))
    assert all(one.agrees for one in found)
    assert sum(": ci95, low" in one.name for one in found) > 50
