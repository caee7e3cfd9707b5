"""The operating point of the page: every point is in it, its answer is the console's, and a rule is marked."""

import json
import re
import shutil
import subprocess
from itertools import accumulate

import numpy as np
import pytest

from artifacts import GOLDEN, golden, large, silent
from commands import demur
from demur import (
    VARIANTS,
    Plan,
    Settings,
    TableOptions,
    UserError,
    certify,
    choose,
    evaluate,
    grade,
    load,
    read_table,
    report_html,
)
from demur.drawing.picture import visible
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.results.file_models import CurveRecord
from demur.results.load import results_of
from demur.show.selective.decision import five_answers
from demur.show.selective.operating import kept_points, marked, packed_points, points_at, start_of
from demur.show.text import threshold_at
from installation import needs
from made_up import continuous
from pages import Page
from parametrized import parametrize_few

NODE = shutil.which("node")


def answers_of(results):
    """The five questions with their answers as they stand on the page."""
    return {
        question: " ".join(statement.sentence for statement in answer) for question, answer in five_answers(results)
    }


@pytest.fixture(scope="module")
def study():
    """150 clusters with 4 units each and a continuous confidence, and its results."""
    items = read_table(continuous(), instrument=None)
    return items, evaluate(
        {"one": items}, settings=Settings(loss="zero_one", confidence="sure"), plan=Plan(200, seed=7)
    )


def by_loop(results, limit):
    """The largest coverage of an operating point with at most this risk, by looking at every one."""
    curve = results.curves["one", "sure"].curve
    best = None
    for point, risk in enumerate(curve.selective_risk):
        if risk <= limit:
            best = point
    return best


def on_the_page(results, way, typed):
    """The operating point that the script of the page takes for what is typed, by its own lines; None for no number."""
    page = Page(report_html(results))
    [[run]], script = page.points, page.scripts[1]
    run = run | {name: [*accumulate(run[name])] for name in ("count", "sum")}
    run["risk"] = [loss / count / page.data["multiplier"] for loss, count in zip(run["sum"], run["count"])]
    lines = script[script.index("  const exact =") : script.index("  // The stops of the slider")]
    program = f"""const data = {json.dumps(page.data)}, run = {json.dumps(run)};
    {lines}
    const found = {json.dumps(typed)}.map((text) => exact(text, "{way}"));
    console.log(JSON.stringify(found.map((asked) => asked && pointFor.{way}(run, asked))));"""
    done = subprocess.run([NODE, "-e", program], check=True, capture_output=True, text=True)
    return dict(zip(typed, json.loads(done.stdout)))


@pytest.mark.skipif(NODE is None, reason="needs node to run the script of the page")
class TestTypedIntoTheField:
    @pytest.fixture
    def rows(self):
        loss = [0] * 439 + [0, 1, 0, 0, 1] * 200 + [None] * 561
        return {"cluster": [*range(2000)], "loss": loss, "sure": [*range(2000, 0, -1)]}

    def results(self, rows, **options):
        items = read_table(rows, options=TableOptions(**options))
        return evaluate({"one": items}, settings=Settings(confidence="sure"), plan=Plan(0, seed=0))

    @parametrize_few("options", [{"loss_max": 1.0}, {}], 1)
    @pytest.mark.slow
    def test_a_limit_is_what_it_is_in_choose(self, rows, options):
        read = on_the_page(self.results(rows, **options), "risk", ["20", "20%", "0.2", "1", "-5", "-5%", "ten", "12.5"])
        units = grade(read_table(rows, options=TableOptions(**options)), loss=None, confidence="sure")
        for typed in ("0.2", "20%", "1", *(("20", "12.5") if options else ())):
            assert read[typed] == choose(units, risk=typed, seed=1).chosen.accepted - 1
        assert [read[typed] for typed in ("-5", "-5%", "ten")] == [None] * 3
        assert (read["20"] == read["20%"]) == bool(options)

    @pytest.mark.slow
    def test_per_cent_of_points_are_no_limit(self, rows):
        read = on_the_page(self.results(rows, loss_max=4.0), "risk", ["20%", "0.2", "3"])
        assert (read["20%"], read["0.2"] < read["3"]) == (None, True)

    @pytest.mark.slow
    def test_a_coverage_that_the_largest_rounds_to_means_the_largest(self, rows):
        typed = ["72%", "72", "0.72", "72.0%", "71.95%", "71.96%", "0.7196", "73", "0.8", "1", "50%", "-5", "0,72"]
        read = on_the_page(self.results(rows, loss_max=1.0), "coverage", typed)
        assert [text for text in typed if read[text] == 1438] == ["72%", "72", "0.72", "72.0%", "71.95%", "0,72"]
        assert [text for text in typed if read[text] == -1] == ["71.96%", "0.7196", "73", "0.8", "1"]
        assert (read["50%"], read["-5"]) == (999, None)


class TestOneAnswer:
    @pytest.mark.slow
    def test_a_limit_of_the_risk_is_the_same_point_on_the_page_in_choose_and_in_a_loop(self, study):
        items, results = study
        record, point = results.curves["one", "sure"], by_loop(results, 0.1)
        rule = choose(grade(items, loss="zero_one", confidence="sure"), risk="0.1", seed=7)
        assert (rule.threshold, rule.chosen.accepted) == (
            float(threshold_at(record, point)),
            round(record.curve.coverage[point] * 600),
        )
        [[run]] = Page(report_html(results)).points
        assert run["all"] == len(run["count"]) > 500
        counts, sums = [*accumulate(run["count"])], [*accumulate(run["sum"])]
        assert max(i for i in range(len(counts)) if 10 * sums[i] <= counts[i]) == point
        assert counts[point] == rule.chosen.accepted
        assert run["typed"].split()[point].partition("=")[0] == repr(rule.threshold)
        ends = record.risk_intervals.low[point], record.risk_intervals.high[point]
        assert (rule.chosen.risk_if_fixed.low, rule.chosen.risk_if_fixed.high) == pytest.approx(ends, rel=1e-12)
        assert [run[end].split()[point] for end in ("low", "high")] == [f"{100 * end:.3g}" for end in ends]
        page = Page(report_html(results, rule=rule)).text
        assert f"[{100 * ends[0]:.3g}, {100 * ends[1]:.3g}]" in page
        assert f"{rule.chosen.accepted} of 600" in page

    def test_console_and_page_of_files_say_the_same(self, tmp_path):
        columns = continuous()
        rows = zip(*columns.values(), strict=True)
        text = "\n".join([",".join(columns), *(",".join("" if x is None else str(x) for x in row) for row in rows)])
        (tmp_path / "t.csv").write_text(text, "utf-8")
        made = demur(
            tmp_path,
            "evaluate",
            "t.csv",
            *[
                "--loss",
                "zero_one",
                "--confidence",
                "sure",
                "--seed",
                "7",
                "--output",
                "m.json",
                "--bootstrap-resamples",
                "100",
            ],
        )
        assert made.returncode == 0, made.stderr
        found = demur(
            tmp_path,
            "choose",
            "t.csv",
            *[
                "--loss",
                "zero_one",
                "--confidence",
                "sure",
                "--risk",
                "0.1",
                "--seed",
                "7",
                "-o",
                "rule.json",
                "--instrument",
                "none",
            ],
        )
        assert found.returncode == 0, found.stderr
        accepted = re.search(r"That answers (\d+ of 600) units", found.stdout)[1]
        threshold = re.search(r"sure is at least (\S+)\. ", found.stdout)[1]
        assert demur(tmp_path, "report", "m.json", "--rule", "rule.json").stdout == "wrote m.html\n"
        page = Page((tmp_path / "m.html").read_text("utf-8"))
        assert f"For a threshold of {threshold}: " in page.text
        assert accepted in page.text.partition("For a threshold of")[2][:200]
        assert "chosen threshold" in page.text
        refused = demur(tmp_path, "report", "m.json", "--rule", "rule.json", "--output", "rule.json")
        assert (refused.returncode, "is an input" in refused.stderr) == (2, True)

    def test_a_certified_threshold_is_marked_on_its_curve_and_told_beside_the_chosen_one(self, study):
        items, results = study
        rule = certify(
            grade(items, loss="zero_one", confidence="sure"),
            method="guarded_t",
            risk="0.2",
            grid=["0.9", "0.8", "0.7"],
            max_units=4,
            seed=7,
        )
        page = Page(report_html(results, rule=rule)).text
        assert rule.threshold is not None
        assert "certified threshold" in page
        assert "Certified by guarded_t, a risk of at most 0.2" in page
        assert page.index("For a risk of at most 0.2: accept where") > 0


class TestRules:
    def test_a_rule_for_another_signal_is_refused_by_name(self, study):
        items, results = study
        rule = choose(grade(items, loss="zero_one", confidence="sure"), risk="0.1", seed=7)
        other = rule.model_copy(update={"signal": "other"})
        with pytest.raises(UserError, match="the rule is about the signal other, and these results are about sure"):
            marked(results, other)

    def test_of_several_systems_it_belongs_to_the_one_it_was_made_from(self, study):
        items, _ = study
        rule = choose(grade(items, loss="zero_one", confidence="sure"), risk="0.1", seed=7)
        two = evaluate(
            {"a": items, "b": items}, settings=Settings(loss="zero_one", confidence="sure"), plan=Plan(0, None)
        )
        with pytest.raises(UserError, match="made from none of the files"):
            report_html(two, rule=rule)

    @needs("retrieval")
    def test_a_page_without_answers_has_no_place_for_it(self, study):
        items, _ = study
        rule = choose(grade(items, loss="zero_one", confidence="sure"), risk="0.1", seed=7)
        retrieval = load(GOLDEN / "retrieval.json")
        with pytest.raises(UserError, match="only results of demur evaluate show one"):
            report_html(retrieval, rule=rule)


class TestFiveQuestions:
    def test_each_is_answered_of_one_system(self, study):
        _, results = study
        answers = answers_of(results)
        accepted = results.selective.systems[0].answered
        assert answers["How many cases?"].startswith(f"one answers {accepted} of 600 items (")
        assert re.fullmatch(r"The share of wrong answers among all answers is \S+% for one\.", answers["How wrong?"])
        assert re.fullmatch(
            r"The 95 % interval of that risk is \S+% to \S+% for one, from 150 clusters\.", answers["How sure?"]
        )
        assert answers["Compared with whom?"].startswith("With nobody: this is one system")
        assert answers["For whom is it worse?"].startswith("No groups were given (--group). ")

    def test_each_is_answered_of_two_systems_and_stands_on_the_page_before_anything_else(self, paired, paired_page):
        answers = answers_of(paired)
        before = paired_page.text.partition("Paired differences on")[0]
        assert all(answer in before for answer in answers.values())
        assert "zero_shot answers" in answers["How many cases?"]
        assert "which are about different items" in answers["How wrong?"]
        assert "By item" in answers["For whom is it worse?"] or "No two items" in answers["For whom is it worse?"]

    def test_of_nothing_answered_nothing_is_claimed(self):
        answers = answers_of(silent(False))
        assert answers["How wrong?"] == "Nothing is answered, so nothing can be wrong."
        assert "not known" in answers["How sure?"]

    def test_without_resamples_nobody_knows_how_sure(self, study):
        items, _ = study
        results = evaluate({"one": items}, settings=Settings(loss="zero_one", confidence="sure"), plan=Plan(0, None))
        assert "so there are no intervals" in answers_of(results)["How sure?"]


class TestStart:
    """The golden run: 24 items, operating points of llm at 3, 7 and 11 of them, risks 0, 1/7 and 2/11 of abs_norm."""

    def test_it_starts_at_half_of_the_items_or_as_far_as_all_go(self, one):
        start = start_of(one, None)
        assert (start.way, start.shown, start.points[0]) == ("coverage", "45.8%", [2])
        sentence = points_at(one, start, 0).sentence
        assert sentence.startswith(
            "For a coverage of at least 45.8%: zero_shot answers 11 of 24 items (45.8%), with a mean loss of 0.182 ("
        )
        assert sentence in Page(report_html(one)).text

    def test_where_nothing_is_answered_there_is_nothing_to_set(self):
        for speaks, hidden in (((False,), True), ((False, False), True), ((True, False), False)):
            text = report_html(silent(*speaks))
            assert ("there is no threshold to set" in text) == hidden
            assert ('id="slide"' not in text) == hidden

    def test_a_threshold_as_printed_accepts_what_the_point_accepts(self, one):
        close = sorted([0.7123456789, 0.712345678, 2 / 3, 0.3, 0.1 + 0.2, 1e-7, -2 / 3], reverse=True)
        coverage = [(n + 1) / 10 for n in range(len(close))]
        record = one.curves[*one.systems, "llm"].model_dump() | {"risk_intervals": None, "bands": None}
        record["curve"] = dict.fromkeys(("coverage", "selective_risk", "generalized_risk"), coverage)
        record["curve"]["threshold"] = close
        made = CurveRecord.model_validate(record)
        for point, threshold in enumerate(close):
            typed = float(threshold_at(made, point))
            assert [confidence >= typed for confidence in close] == [confidence >= threshold for confidence in close]

    def test_losses_that_are_no_integers_come_with_their_risks(self):
        content = golden("one")
        llm = content["confidence_variants"]["llm"]
        llm["curve"]["selective_risk"][0] = 0.123456789
        results = results_of(content)
        packed = packed_points(results, results.curves[*results.systems, "llm"], 10)
        assert packed["sum"] is None
        assert packed["risk"][0] == 0.123456789


def made_up(systems, variants):
    people = make_people(41, seed=0)
    runs = {f"s{n}": run_system(people, (ZERO_SHOT, FEW_SHOT)[n % 2], seed=n).items() for n in range(systems)}
    names = ",".join([*VARIANTS][:variants])
    return evaluate(runs, settings=Settings(loss="abs", confidence=names), plan=Plan(100, seed=1))


class TestSize:
    @pytest.mark.slow
    def test_a_page_of_two_systems_is_at_most_300_kilobytes(self, demo_results):
        assert len(report_html(demo_results).encode()) <= 300_000

    @pytest.mark.slow
    @pytest.mark.parametrize(("systems", "most"), [(2, 300_000), (8, 1_500_000)])
    def test_thirteen_variants_stay_small(self, systems, most):
        results = made_up(systems, 13)
        assert len(results.selective.confidences) == 13
        assert len(report_html(results).encode()) <= most


class TestManyPoints:
    def test_what_is_kept_of_many_points_is_every_height_a_column_reaches(self):
        rng = np.random.default_rng(1)
        across, up = np.sort(rng.random(5000)), rng.random(5000)
        kept = visible(across, up)
        assert len(kept) < 1000
        column, small = np.floor(across * 200), np.floor(across[kept] * 200)
        for here in np.unique(column):
            assert up[column == here].min() == up[kept][small == here].min()
            assert up[column == here].max() == up[kept][small == here].max()
        assert {kept[0], kept[-1]} == {0, 4999}

    def test_whatever_is_left_out_a_limit_of_the_risk_finds_its_point(self):
        risk = np.random.default_rng(2).random(3000).tolist()
        kept = kept_points(risk, 50)
        assert len(kept) < 100
        for limit in np.linspace(0, 1, 97):
            whole = [i for i, one in enumerate(risk) if one <= limit]
            part = [i for i in kept if risk[i] <= limit]
            assert (whole or [None])[-1] == (part or [None])[-1]

    @pytest.mark.slow
    def test_thirteen_variants_of_two_runs_with_ten_thousand_points_carry_some_and_say_so(self):
        page = Page(text := report_html(large()))
        assert len(text.encode()) < 3_000_000
        assert {run["all"] for runs in page.points for run in runs} == {10_000}

    @pytest.mark.slow
    def test_every_point_of_a_long_curve_is_carried(self):
        results = large(variants=1, points=2000)
        [runs] = Page(report_html(results)).points
        for run, system in zip(runs, results.systems, strict=True):
            curve = results.curves[system, "variant_0"].curve
            assert [*accumulate(run["count"])] == [*range(1, 2001)]
            strict = [float(text.rpartition("=")[2]) for text in run["typed"].split()]
            assert all(a <= b for a, b in zip(strict, curve.threshold, strict=True))
            assert all(a > b for a, b in zip(strict[:-1], curve.threshold[1:], strict=True))
