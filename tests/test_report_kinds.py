"""The pages of retrieval and of calibration: numbers of the artifact and no others, and no text of a file obeyed."""

import base64
import copy
import gzip
import hashlib
import json
import re

import pytest

from commands import demur
from demur.calibration import load_calibration
from demur.errors import UserError
from demur.report.html import report_html
from demur.report.retrieval_names import number_title
from demur.report.systems import cell
from demur.retrieval_artifact import load_retrieval, retrieval_metrics_of
from demur.simulate import ZERO_SHOT, make_people, run_system
from demur.simulate_queries import simulated_queries
from kinds import renamed_kind, retrieval
from pages import Page
from runs import written
from test_report import HOSTILE

ASKED = {
    "retrieval": ("retrieval", "--data", "q.csv", "--seed", "1", "--bootstrap-resamples", "20", "--k", "3"),
    "calibrate": ("calibrate", "--input", "t.json", "--method", "platt", "--variant", "token_msp"),
}
LOADED = {"retrieval": load_retrieval, "calibrate": load_calibration}


@pytest.fixture(scope="module")
def found():
    return Page(report_html(retrieval()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("kinds")
    (made / "q.csv").write_text(simulated_queries(5, seed=1), "utf-8")
    written(made, run_system(make_people(30, seed=1), ZERO_SHOT, seed=1).to_json("few_shot", "train"), "t.json")
    return made


class TestSafety:
    @pytest.mark.parametrize("artifact", [retrieval], ids=["retrieval"])
    def test_hostile_texts_in_every_place_change_no_element_and_no_attribute(self, artifact):
        content, numbers = artifact().to_json(), {}

        def number(text):
            return numbers.setdefault(text, len(numbers))

        plain = self.skeleton(renamed_kind(content, lambda text: f"name{number(text)}"))
        for turn in range(0, 50, 7):
            texts = [*HOSTILE[turn:], *HOSTILE[:turn]]
            hostile = renamed_kind(content, lambda text, texts=texts: f"{number(text)}{texts[number(text) % 50]}")
            assert self.skeleton(hostile) == plain, texts[0]

    def skeleton(self, artifact):
        page = Page(report_html(artifact))
        return [(tag, [pair for pair in attributes if pair[0] != "href"]) for tag, attributes in page.elements]

    @pytest.mark.parametrize("artifact", [retrieval], ids=["retrieval"])
    def test_nothing_is_fetched_and_every_text_that_is_shown_is_spelled_out(self, artifact):
        text = report_html(renamed_kind(artifact().to_json(), lambda text: f"{text}\u202e\u2028\x07"))
        assert not re.search("[\u202e\u2028\x07]", text)
        assert "\\u202e\\u2028\\x07" in text
        page = Page(text)
        assert not [name for name, _ in page.elements if name in ("link", "img", "iframe", "object", "embed", "base")]
        assert not page.values("src")
        assert all(link.startswith(("#", "data:application/gzip;base64,")) for link in page.values("href"))

    @pytest.mark.parametrize("artifact", [retrieval], ids=["retrieval"])
    def test_the_page_carries_the_artifact(self, artifact):
        link = next(link for link in Page(report_html(artifact())).values("href") if link.startswith("data:"))
        packed = base64.b64decode(link.partition(",")[2])
        assert json.loads(gzip.decompress(packed)) == artifact().to_json()


class TestRetrieval:
    def test_every_ranking_number_of_every_system_stands_in_a_table_for_both_populations(self, found):
        placed = {(one.system, one.metric): f" {one.place}" for one in retrieval().reference_ranges}
        for key in ("positives_only", "all_queries"):
            for metric in retrieval().systems["retriever"].positives_only.micro:
                row = [number_title(metric)]
                for name, system in retrieval().systems.items():
                    numbers = getattr(system, key)
                    place = placed.get((name, metric), "") if key == "positives_only" else ""
                    row.append(f"{cell(numbers.micro[metric])}{place} {cell(numbers.macro[metric])}")
                assert " ".join(row) in found.text

    def test_every_pooled_difference_stands_in_a_table_with_the_draws_for_each_side(self, found):
        [(name, places)] = retrieval().deltas.items()
        assert name == "reranked"
        listed = [delta for place, numbers in places.items() if "macro" not in place for delta in numbers.values()]
        assert len(listed) > 20
        for delta in listed:
            ends = delta.ci95_recommended
            interval = f"[{ends.low:.3g}, {ends.high:.3g}]" if ends else "–"
            value = "–" if delta.delta is None else f"{delta.delta:.4g}"
            assert f" {value} {interval} " in found.text
        delta = places["positives_only/micro"]["ndcg@10"]
        assert f"{1 - delta.share_above:.1%} {delta.share_above:.1%}" in found.text

    def test_of_a_number_that_is_better_lower_the_draws_above_favour_the_baseline(self):
        content = retrieval().to_json()
        delta = content["deltas"]["reranked"]["positives_only/micro"]["ndcg@10"]
        delta |= {"share_above": 0.9, "delta": 0.5, "ci95_recommended": {"method": "t", "low": 0.25, "high": 0.75}}
        content["deltas"]["reranked"]["empty_decision"] = {"false_evidence_rate": delta}
        text = Page(report_html(retrieval_metrics_of(content))).text
        assert "nDCG@10 0.5 [0.25, 0.75] 10.0% 90.0% reranked is better" in text
        assert "false evidence rate 0.5 [0.25, 0.75] 90.0% 10.0% retriever is better" in text

    @pytest.mark.parametrize("number", [1e308, 5e-324])
    def test_a_difference_at_the_ends_of_what_numbers_can_be_is_drawn(self, number):
        content = retrieval().to_json()
        delta = content["deltas"]["reranked"]["policies/fixed:3"]
        for name in delta:
            delta[name] |= {"delta": number, "ci95_recommended": None}
        assert f"evidence recall {number:.4g} – " in Page(report_html(retrieval_metrics_of(content))).text

    def test_who_was_counted(self, found):
        asked = retrieval().queries
        assert f"{asked.posts} posts {asked.criteria} criteria" in found.text
        assert f"{asked.queries_with_positives} with gold {asked.queries_without_positives} without" in found.text

    def test_every_number_is_defined_under_its_own_name(self, found):
        for name in ("recall@K", "map_trec@K", "ndcg@K", "auprc"):
            assert len(re.findall(rf" {name} [A-Z]", found.text)) == 1

    def test_probabilities_that_systems_share_are_told_once_with_their_thresholds(self, found):
        told = retrieval().systems["retriever"].detection
        assert told == retrieval().systems["reranked"].detection
        assert found.text.count("How well it tells queries with evidence from those without") == 1
        assert f"AUROC {cell(told.micro['auroc'])}" in found.text
        for rate, at in told.threshold_at_fpr.items():
            line = "no finite threshold" if at.threshold is None else f"{at.threshold:.6g}"
            assert f"{float(rate):.0%} {line} {at.tpr:.3g} {at.fpr:.3g}" in found.text

    def test_folds_stand_beside_the_interval_by_post_and_are_not_called_the_same(self, found):
        system = retrieval().systems["reranked"]
        over = system.folds["positives_only"]["ndcg@10"]
        pooled = cell(system.positives_only.micro["ndcg@10"])
        assert f"nDCG@10 {pooled} {over.mean:.4f} ± {over.std:.4f}" in found.text
        assert "the two are not the same thing" in found.text

    def test_of_many_breaches_fifty_are_listed_and_the_others_counted(self, found):
        broken = retrieval().systems["reranked"].dynamic_k.breaches
        assert 0 < len(broken) < 50
        one = broken[0]
        assert f"{one.post} {one.criterion}: {one.selected} of {one.candidates}, " in found.text
        content = retrieval().to_json()
        content["systems"]["reranked"]["dynamic_k"]["breaches"] *= 10
        text = Page(report_html(retrieval_metrics_of(content))).text
        assert f"and {10 * len(broken) - 50} more" in text

    def test_criteria_with_few_queries_are_greyed(self, found):
        counts = [one.queries for one in retrieval().systems["reranked"].positives_only.per_criterion.values()]
        few = sum(count < 10 for count in counts)
        styles = [value for value in found.values("class") if value == "number few"]
        assert few > 0
        assert len(styles) >= few * 4 * 2

    def test_without_resamples_folds_or_a_second_system_their_sections_are_left_out(self):
        content = retrieval().to_json()
        content["systems"] = {"reranked": content["systems"]["reranked"] | {"folds": None}}
        content["queries"]["folds"], content["deltas"], content["settings"]["baseline"] = None, {}, None
        content["bootstrap"] = None
        page = Page(report_html(retrieval_metrics_of(content)))
        assert not {"differences", "folds", "choose"} & set(page.values("id"))
        assert "none: there are no intervals" in page.text

    def test_the_usual_artifact_makes_a_page_under_300_kilobytes(self, tmp_path):
        (tmp_path / "q.csv").write_text(simulated_queries(60, seed=1), "utf-8")
        asked = ("--data", "q.csv", "--seed", "7", "--policy", "gap", "--policy", "fixed:3")
        demur(tmp_path, "retrieval", *asked, "--bootstrap-resamples", "100", "--output", "r.json", "--report", "r.html")
        assert 100_000 < (tmp_path / "r.html").stat().st_size < 300_000


class TestCommands:
    @pytest.mark.parametrize("command", [*ASKED])
    def test_the_page_is_written_with_the_artifact_and_is_that_of_demur_report(self, folder, command):
        found = demur(folder, *ASKED[command], "--output", f"{command}.json", "--report", f"{command}-1.html")
        assert found.stdout.endswith(f"wrote {command}.json\nwrote {command}-1.html\n")
        assert demur(folder, "report", f"{command}.json").stdout == f"wrote {command}.html\n"
        file = folder / f"{command}.json"
        expected = report_html(LOADED[command](file), sha256=hashlib.sha256(file.read_bytes()).hexdigest())
        assert (folder / f"{command}.html").read_text("utf-8") == expected
        assert (folder / f"{command}-1.html").read_text("utf-8") == expected

    @pytest.mark.parametrize("command", [*ASKED])
    def test_a_bad_place_for_the_page_leaves_nothing_written(self, folder, command):
        source = {"retrieval": "q.csv", "calibrate": "t.json"}[command]
        for place, told in (
            ("none/r.html", "does not exist"),
            ("n.json", "is the artifact's place"),
            (source, "is an input"),
        ):
            refused = demur(folder, *ASKED[command], "--output", "n.json", "--report", place)
            assert refused.returncode == 2
            assert told in refused.stderr
            assert not (folder / "n.json").exists()
        before = (folder / source).read_bytes()
        refused = demur(folder, *ASKED[command], "--output", source, "--report", "page.html")
        assert refused.returncode == 2
        assert (folder / source).read_bytes() == before
        assert not (folder / "page.html").exists()

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ({}, "not an artifact: expected what demur evaluate, demur retrieval or demur calibrate writes"),
            ([], "not an artifact"),
            ({"kind": "retrieval"}, "created_at: Field required"),
            ({"method": "magic", "model": {}}, "no calibration method is called magic"),
            ({"confidence_variants": {}}, "created_at: Field required"),
        ],
    )
    def test_what_is_no_artifact_is_refused_in_one_line(self, tmp_path, content, told):
        (tmp_path / "x.json").write_text(json.dumps(content))
        found = demur(tmp_path, "report", "x.json")
        assert found.returncode == 2
        assert found.stderr.startswith("demur: x.json: ")
        assert told in found.stderr
        assert found.stderr.count("\n") == 1
        assert not (tmp_path / "x.html").exists()


class TestRefusals:
    @pytest.mark.parametrize(
        ("place", "told"),
        [
            (("systems", "reranked", "all_queries", "micro", "ndcg@10"), "the ranking metrics are not the same"),
            (("systems", "reranked", "positives_only", "macro", "recall@1"), "the ranking metrics are not the same"),
            (("systems", "retriever"), "differences are those of systems|is none of the systems"),
        ],
    )
    def test_an_artifact_that_lacks_a_number_of_its_page_is_refused(self, place, told):
        content = copy.deepcopy(retrieval().to_json())
        part = content
        for step in place[:-1]:
            part = part[step]
        del part[place[-1]]
        with pytest.raises(UserError, match=told):
            retrieval_metrics_of(content)

    def test_depths_without_their_ndcg_are_refused(self):
        content = retrieval().to_json()
        content["settings"]["k"] = [1, 7]
        with pytest.raises(UserError, match="there is no nDCG at each k of the settings"):
            retrieval_metrics_of(content)
