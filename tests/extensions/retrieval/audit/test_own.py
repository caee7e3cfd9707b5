"""Our own files of rankings: evaluated again with their recorded settings and seed, and again by the plain loops."""

import copy
import json

import pytest

from demur import Plan, RetrievalSettings, evaluate_retrieval, read_queries
from demur.extensions.audit import rankings
from demur.extensions.audit.rankings import audited_queries, queries_to_audit
from demur.extensions.lab.queries import simulated_queries
from demur.extensions.retrieval.reference_ranges import REFERENCES
from demur.results.load import results_of
from results_by_loops import compared, query_recipes


def differing(found):
    return {one.key: one for one in found if one.status == "differs"}


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
    @pytest.mark.slow
    def test_a_file_of_ours_is_what_the_data_give(self, table, file, recomputed_queries, monkeypatch):
        monkeypatch.setattr(rankings, "evaluate_retrieval", recomputed_queries)
        found = audited_queries(results_of(file), read_queries(table), None)
        assert len(found) > 1000
        assert {one.status for one in found} == {"match"}

    @pytest.mark.slow
    def test_a_falsified_number_is_found(self, table, file, recomputed_queries, monkeypatch):
        monkeypatch.setattr(rankings, "evaluate_retrieval", recomputed_queries)
        changed = copy.deepcopy(file)
        changed["estimates"]["value"][5] += 1e-9
        found = differing(audited_queries(results_of(changed), read_queries(table), None))
        assert len(found) == 1

    @pytest.mark.parametrize(("member", "value"), [("value", 0.99), ("good", [0.1, 0.2]), ("place", "above good")])
    @pytest.mark.slow
    def test_so_is_a_figure_beside_the_reference_ranges(self, table, file, member, value):
        changed = copy.deepcopy(file)
        figure = next(figure for figure in changed["reference_ranges"] if figure["place"] != "above good")
        figure[member] = value
        found = differing(audited_queries(results_of(changed), read_queries(table), None))
        assert {key.split(", ")[1] for key in found} == {"reference_ranges"}

    @pytest.mark.slow
    def test_so_is_a_number_that_is_said_to_be_one_by_convention(self, table, file):
        changed = copy.deepcopy(file)
        flags = changed["estimates"]["by_convention"]
        flags[flags.index(False)] = True
        assert differing(audited_queries(results_of(changed), read_queries(table), None))

    def test_a_system_the_data_do_not_hold_is_an_error_with_a_way_out(self, table, file):
        facts = read_queries(table)
        with pytest.raises(Exception, match="have no system reranked: name its column"):
            audited_queries(results_of(file), {"retriever": facts["retriever"]}, None)

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
        assert {one.status for one in audited_queries(claimed, read_queries(path), None)} == {"match"}
        recipes = query_recipes(claimed, queries_to_audit(path))
        assert all(one.agrees for one in compared(claimed, recipes))
        content["settings"]["relevance_level"] = 1
        assert differing(audited_queries(results_of(content), read_queries(path), None))

    @pytest.mark.slow
    @pytest.mark.slow
    def test_plain_loops_give_the_same_numbers_and_percentiles(self, table, file):
        claimed = results_of(file)
        found = compared(claimed, query_recipes(claimed, queries_to_audit(table)))
        assert all(one.agrees for one in found)
        assert sum(": ci95, low" in one.name for one in found) > 300
