"""The page and the console text of retrieval: numbers of the table and no others, whatever systems are called."""

import math
import re
from dataclasses import replace

import pytest

from commands import demur
from demur import Group, Interval, Key, Measure, Minus, Plan, Results, load, report_html
from demur.extensions.lab.queries import simulated_queries
from demur.extensions.retrieval.console import retrieval_text
from demur.extensions.retrieval.headings import cell
from demur.show.text import three
from kinds import retrieval
from pages import Page
from parametrized import parametrize_few
from retrievals import compared, made, with_rows

MEAN = Group("criterion")
AGAINST = Minus("system", "retriever")
NDCG = Key("reranked", "ndcg@10", among="with_gold")


@pytest.fixture(scope="module")
def found():
    return Page(report_html(retrieval()))


def page_text(results):
    return Page(report_html(results)).text


def ranking_rows(results, among):
    rows = results.where(system="retriever", among=among, group=None, minus=None)
    return [row for row in rows if Measure.of(row.key.quantity).quantity.of == "ranking"]


class TestNumbers:
    @pytest.mark.parametrize("among", ["with_gold", "all"])
    def test_every_ranking_number_of_every_system_is_in_a_table(self, found, among):
        results = retrieval()
        placed = {(one.system, one.metric): f" {one.place}" for one in results.study.reference_ranges}
        for row in ranking_rows(results, among):
            cells = [Measure.of(row.key.quantity).title]
            for system in results.systems:
                key = replace(row.key, system=system)
                place = placed.get((system, key.quantity), "") if among == "with_gold" else ""
                cells.append(f"{cell(results, results[key])}{place} {cell(results, results[replace(key, group=MEAN)])}")
            assert " ".join(cells) in found.text

    def test_every_pooled_difference_is_in_a_table_with_the_draws_for_each_side(self, found):
        differences = retrieval().where(system="reranked", group=None, minus=AGAINST)
        assert len(differences) > 20
        for row in differences:
            ends = row.recommended
            interval = f"[{ends.low:.3g}, {ends.high:.3g}]" if ends else "–"
            value = "–" if math.isnan(row.value) else three(row.value)
            assert f" {value} {interval} " in found.text
        row = retrieval()[replace(NDCG, minus=AGAINST)]
        above = (1 + row.above - row.below) / 2
        assert f"{1 - above:.1%} {above:.1%}" in found.text

    @pytest.mark.slow
    def test_of_a_number_that_is_better_lower_the_draws_above_favour_the_baseline(self):
        change = {"value": 0.5, "recommended": Interval("t_interval", 0.25, 0.75), "above": 0.9, "below": 0.1}
        worse = Key("reranked", "false_evidence_rate", minus=AGAINST)
        text = page_text(with_rows(retrieval(), {replace(NDCG, minus=AGAINST): change, worse: change}))
        assert "nDCG@10 0.5 [0.25, 0.75] 10.0% 90.0% reranked looks better, but too few posts" in text
        assert "false evidence rate 0.5 [0.25, 0.75] 90.0% 10.0% retriever is better" in text

    @pytest.mark.slow
    def test_a_number_that_is_no_better_either_way_is_listed_and_favours_nobody(self):
        change = {"value": 0.5, "recommended": Interval("t_interval", 0.25, 0.75), "above": 0.9, "below": 0.1}
        columns = made(posts=30)
        other = columns | {"prob": [1 - one for one in columns["prob"]], "selected": columns["ranked"]}
        results = compared({"retriever": columns, "reranked": other}, Plan(120, seed=1))
        keys = [Key("reranked", "average_k", minus=AGAINST), Key("reranked", "cmax", "prob", minus=AGAINST)]
        page = Page(report_html(with_rows(results, dict.fromkeys(keys, change))))
        for title in ("average K", "Cmax"):
            others = page.text.partition("At other depths, and the average K")[2]
            assert re.search(rf"{title} .{{0,60}}0\.5 \[0\.25, 0\.75\] – – above", others)

    @parametrize_few("number", [1e308, 5e-324], 1)
    @pytest.mark.slow
    def test_a_difference_at_the_ends_of_what_numbers_can_be_is_drawn(self, number):
        key = Key("reranked", "evidence_recall@fixed:3", minus=AGAINST)
        results = with_rows(retrieval(), {key: {"value": number, "recommended": None}})
        assert f"evidence recall {number:.3g} – " in page_text(results)

    @pytest.mark.slow
    def test_a_number_the_file_does_not_hold_is_a_dash(self):
        missing = {row.key: None for row in retrieval() if row.key.system == "reranked"}
        results = with_rows(retrieval(), missing)
        assert "nDCG@10 " in page_text(results)
        assert "reranked   " in retrieval_text(results, verbose=True)
        assert "  nDCG@10 " in retrieval_text(results)

    def test_who_was_counted(self, found):
        study = retrieval().study
        assert f"{study.posts} posts {len(study.criteria)} criteria" in found.text
        assert f"{study.with_gold} with gold {study.queries - study.with_gold} without" in found.text

    def test_the_decision_to_show_nothing_is_counted_on_page_and_console(self, found):
        for system in retrieval().study.systems:
            made = system.empty_decision
            counts = f"(TP {made.true_positives}, FP {made.false_positives}, FN {made.false_negatives})"
            assert f"the selection {counts}" in found.text
            assert f"by the selection {counts}\n" in retrieval_text(retrieval(), verbose=True)

    def test_every_number_is_defined_under_its_own_name(self, found):
        for name in ("recall@K", "map_trec@K", "ndcg@K", "auprc"):
            assert len(re.findall(rf" {name} [A-Z]", found.text)) == 1

    def test_probabilities_that_systems_share_are_told_once_with_their_thresholds(self, found):
        results = retrieval()
        assert found.text.count("How well it tells queries with evidence from those without") == 1
        assert f"AUROC {cell(results, results[Key('retriever', 'auroc', 'prob')])}" in found.text
        for rate in ("0.03", "0.05", "0.10"):
            row = results[Key("retriever", f"tpr@fpr={rate}", "prob")]
            line = "no finite threshold" if row.threshold is None else f"{row.threshold:.6g}"
            assert f"{float(rate):.0%} {line} {row.value:.3g} {row.at:.3g}" in found.text

    def test_folds_are_beside_the_interval_by_post_and_are_not_called_the_same(self, found):
        results = retrieval()
        mean = results[replace(NDCG, group=Group("fold"))]
        assert f"nDCG@10 {cell(results, results[NDCG])} {mean.value:.4f} ± {mean.spread:.4f}" in found.text
        assert "the two are not the same thing" in found.text

    @pytest.mark.slow
    def test_of_many_breaches_fifty_are_listed_and_the_others_counted(self, found):
        results = retrieval()
        first, second = results.study.systems
        breach = second.breaches[0]
        assert 0 < len(second.breaches) < 50
        assert f"{breach.post} {breach.criterion}: {breach.selected} of {breach.candidates}, " in found.text
        many = second.model_copy(update={"breaches": second.breaches * 10})
        study = results.study.model_copy(update={"systems": (first, many)})
        text = page_text(Results(results, study, results.curves, results.warnings))
        assert f"and {10 * len(second.breaches) - 50} more" in text

    def test_criteria_with_few_queries_are_greyed(self, found):
        few = sum(criterion.with_gold < 10 for criterion in retrieval().study.criteria)
        styles = [value for value in found.values("class") if value == "number few"]
        assert few > 0
        assert len(styles) >= few * 4 * 2

    def test_without_resamples_folds_or_a_second_system_their_sections_are_left_out(self):
        bare = {name: values for name, values in made().items() if name != "fold"}
        page = Page(report_html(compared({"only": bare})))
        assert not {"differences", "folds", "choose"} & set(page.values("id"))
        assert "nothing was resampled, so there are no intervals" in page.text

    @pytest.mark.slow
    def test_the_usual_results_make_a_page_under_300_kilobytes(self, tmp_path):
        (tmp_path / "q.csv").write_text(simulated_queries(60, seed=1), "utf-8")
        options = ("--data", "q.csv", "--seed", "7", "--policy", "gap", "--policy", "mass:0.8")
        demur(
            tmp_path, "retrieval", *options, "--bootstrap-resamples", "20", "--output", "r.json", "--report", "r.html"
        )
        assert 100_000 < (tmp_path / "r.html").stat().st_size < 300_000
        assert "mass:0.8" in (tmp_path / "r.html").read_text("utf-8")


AWKWARD = (
    "bge",
    "bge/large",
    "bge/large/means",
    "a: b",
    "@10",
    "n=1",
    " 'x' ",
    '"',
    "with_gold",
    "ü|",
    "policies/fixed:3",
)


class TestAwkwardNames:
    """Names are data: anything is a system, a criterion or a fold, and one may begin with another."""

    @pytest.fixture(scope="class")
    @classmethod
    def results(cls):
        columns = made(posts=12, criteria=["A", "A/B", "mean", "A@10: 'x'"])
        columns["fold"] = [("1", "1/2", "mean")[post % 3] for post in columns["posts"]]
        systems = {
            name: columns | {"ranked": [ranked[shift % 8 :] + ranked[: shift % 8] for ranked in columns["ranked"]]}
            for shift, name in enumerate(AWKWARD)
        }
        chosen = {"metrics": ("R@1", "R@10", "nDCG@10"), "policies": ("fixed:3",), "baseline": "bge/large"}
        return compared(systems, Plan(30, seed=1), **chosen)

    @pytest.mark.slow
    def test_each_system_has_its_own_numbers_in_the_file(self, results, tmp_path):
        again = load(results.save(tmp_path / "r.json"))
        assert [repr(row) for row in again] == [repr(row) for row in results]
        assert [row.key for row in again] == [row.key for row in results]

    @pytest.mark.slow
    def test_each_system_has_its_own_numbers_on_the_console(self, results):
        """The old code gave bge the intervals of another: Recall@1 0.5 [0.1, 0.25], its own number outside of them."""
        lines = retrieval_text(results, verbose=True).splitlines()
        heads = [number for number, line in enumerate(lines) if "queries without a list; candidates a query" in line]
        for head, system in zip(heads, results.systems, strict=True):
            key = Key(system, "recall@1", among="with_gold")
            numbers = [results[one] for one in (key, replace(key, among="all"), replace(key, group=MEAN))]
            assert lines[head + 2].split() == ["Recall@1", *" ".join(cell(results, one) for one in numbers).split()]
            low, high = numbers[0].recommended.low, numbers[0].recommended.high
            assert low <= numbers[0].value <= high

    def test_systems_stand_side_by_side_with_their_own_numbers_and_differences(self, results):
        lines = retrieval_text(results).splitlines()
        key = Key("", "recall@10", among="with_gold")
        first, second = (line.split(maxsplit=1)[1] for line in lines if line.startswith("  Recall@10 "))
        cells = [cell(results, results[replace(key, system=system)]) for system in results.systems]
        assert " ".join(first.split()) == " ".join(" ".join(cells).split())
        base = Minus("system", "bge/large")
        others = [results[replace(key, system=name, minus=base)] for name in results.systems if name != "bge/large"]
        numbers = re.sub(r"( looks)? (better|worse|undecided)", "", " ".join(second.split()))
        assert numbers == " ".join(" ".join(cell(results, one) for one in others).split())

    @pytest.mark.slow
    def test_each_system_has_its_own_numbers_on_the_page(self, results):
        text = page_text(results)
        keys = [Key(system, "recall@1", group=group) for system in results.systems for group in (None, MEAN)]
        assert f"Recall@1 {' '.join(cell(results, results[key]) for key in keys)}" in text
        for system in results.systems:
            if system != "bge/large":
                difference = results[Key(system, "recall@10", among="with_gold", minus=Minus("system", "bge/large"))]
                assert f"Recall@10 {difference.value:.4g} " in text
        for fold in ("1", "1/2", "mean"):
            assert results[replace(NDCG, system="bge", group=Group("fold", fold))].value >= 0
