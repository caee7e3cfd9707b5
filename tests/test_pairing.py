"""Two runs on the same people: who is compared, and what may be said of it."""

import pytest

from demur import UserError, read_run
from demur.evaluation import Settings, evaluate
from demur.report.console import evaluation_text
from demur.resample import Plan
from demur.results import metrics_artifact
from golden_runs import evaluated
from runs import experiment, failure, participant, run, written


@pytest.fixture(scope="module")
def found():
    return evaluated("zero_shot", "few_shot", loss="abs", confidence="llm")


class TestPairing:
    def run_of(self, tmp_path, name, *people):
        return read_run(written(tmp_path, run(experiment(*people)), name))

    def both(self, left, right, **how):
        return evaluate(left, right, settings=Settings(), plan=Plan(5, seed=1), **how)

    def test_different_participants_are_refused_with_counts(self, tmp_path):
        left = self.run_of(tmp_path, "l.json", participant(1), participant(2), participant(3))
        right = self.run_of(tmp_path, "r.json", participant(2), failure(4))
        message = (
            r"the 2 inputs hold different participants; not in all of them: 2 of left \(1, …\), 1 of right \(4, …\);"
            r" --intersection-only compares the 1 they share"
        )
        with pytest.raises(UserError, match=message):
            self.both(left, right)
        found = metrics_artifact(self.both(left, right, intersection_only=True))
        assert found.comparison.intersection_only
        assert (found.comparison.participants_left_only, found.comparison.participants_right_only) == (2, 1)
        assert (found.population.participants_total, found.population.participants_included) == (1, 1)

    def test_an_abstention_is_needless_where_the_other_run_answers_right(self, tmp_path):
        """The truth of Sleep is 2, of Tired 3: the right run has the first right and the second wrong."""
        left = self.run_of(tmp_path, "l.json", participant(1, {"Sleep": None, "Tired": None, "Moving": None}))
        right = self.run_of(tmp_path, "r.json", participant(1, {"Tired": 0, "Moving": None, "Failure": None}))
        found = metrics_artifact(self.both(left, right)).cases.needless_abstentions
        assert (found.left.count, [(one.participant, one.item) for one in found.left.first]) == (1, [(1, "Sleep")])
        assert (found.right.count, [(one.participant, one.item) for one in found.right.first]) == (1, [(1, "Failure")])

    def test_nobody_in_common(self, tmp_path):
        left = self.run_of(tmp_path, "l.json", participant(1), failure(2))
        right = self.run_of(tmp_path, "r.json", failure(1), participant(2))
        message = r"nothing to compare: no participant succeeded in all systems \(2 are in all of them\)"
        with pytest.raises(UserError, match=message):
            self.both(left, right)

    def test_another_ground_truth_is_refused(self, tmp_path):
        left = self.run_of(tmp_path, "l.json", participant(1), participant(2))
        other = participant(2)
        other["ground_truth_items"]["Tired"] = 0
        right = self.run_of(tmp_path, "r.json", participant(1), other)
        with pytest.raises(UserError, match="participant 2, Tired: ground truth 3 in left, 0 in right"):
            self.both(left, right)

    def test_a_truth_that_differs_among_those_left_out_is_no_matter(self, tmp_path):
        left = self.run_of(tmp_path, "l.json", participant(1), participant(2))
        right = self.run_of(tmp_path, "r.json", participant(1), failure(2))
        assert self.both(left, right).pairing.included == 1

    def test_one_participant_and_a_handful_of_resamples_decide_nothing(self, tmp_path):
        left = self.run_of(tmp_path, "l.json", participant(1))
        right = self.run_of(tmp_path, "r.json", participant(1, {"Sleep": 0}))
        found = metrics_artifact(evaluate(left, right, settings=Settings(confidence="llm"), plan=Plan(500, seed=1)))
        assert found.comparison.deltas["llm"]["augrc_at_c"].ci95[0] > 0
        assert "is better" not in evaluation_text(found)
        assert "one participant decides nothing" in evaluation_text(found)
        people = [
            self.run_of(tmp_path, f"{n}.json", *(participant(who, {"Sleep": n}) for who in range(30))) for n in (2, 0)
        ]
        few, many = (
            evaluation_text(
                metrics_artifact(evaluate(*people, settings=Settings(confidence="llm"), plan=Plan(n, seed=1)))
            )
            for n in (99, 100)
        )
        assert "is better" not in few
        assert "too few resamples to decide" in few
        assert "warning (few_resamples)" in few
        assert "left is better there" in many

    def test_risks_are_compared_where_both_sides_are_at_the_same_coverage(self, found):
        line = next(line for line in evaluation_text(found).splitlines() if line.startswith("  risk at 0.10"))
        assert line.endswith("reached at 0.188 and 0.25")

    def test_an_area_cut_beyond_one_side_is_called_by_what_was_asked_for(self):
        beyond = evaluated("zero_shot", "few_shot", confidence="llm", area_coverage="0.8", plan=Plan(100, seed=1))
        lines = [line for line in evaluation_text(beyond).splitlines() if line.startswith("  AURC to ")]
        assert lines[0].startswith("  AURC to 0.8 ")
        assert lines[0].endswith("not comparable: one side ends before")
        assert "Cut at a coverage of 80.0% the AUGRC" in evaluation_text(beyond)

    def test_a_side_without_errors_shows_its_bound(self, tmp_path):
        left = self.run_of(tmp_path, "l.json", *(participant(who) for who in range(5)))
        right = self.run_of(tmp_path, "r.json", *(participant(who, {"Sleep": 0}) for who in range(5)))
        text = evaluation_text(metrics_artifact(self.both(left, right)))
        assert "0 (at most " in next(line for line in text.splitlines() if line.startswith("  AUGRC  "))

    def test_no_variant_in_common(self, tmp_path):
        def bare(who, signal):
            one = participant(who)
            one["item_signals"] = {item: {signal: 1} for item in one["item_signals"]}
            return one

        left = self.run_of(tmp_path, "l.json", bare(1, "token_msp"))
        right = self.run_of(tmp_path, "r.json", bare(1, "consistency_modal_confidence"))
        with pytest.raises(UserError, match="no variant is served on both sides: left token_msp; right consistency"):
            evaluate(left, right, settings=Settings(confidence="all"), plan=Plan(5, seed=1))
        nothing = self.run_of(tmp_path, "n.json", bare(1, "own"))
        message = (
            "n.json: no confidence variant can be served: participant 1, NoInterest: llm_evidence_count is missing"
        )
        with pytest.raises(UserError, match=message):
            evaluate(nothing, settings=Settings(confidence="all"), plan=Plan(5, seed=1))

    def test_a_side_that_answers_nothing_is_never_better(self, tmp_path):
        silent = participant(1, dict.fromkeys(participant(1)["predicted_items"]))
        left = self.run_of(tmp_path, "l.json", participant(1, {"Sleep": 3}))
        found = metrics_artifact(self.both(left, self.run_of(tmp_path, "r.json", silent)))
        pair = found.confidence_variants["llm"]
        assert (pair.right.defined, pair.right.aurc_full, pair.right.naurc) == (False, 0.0, None)
        text = evaluation_text(found)
        assert "right answered nothing: there is nothing to compare, and nothing to rank." in text
        assert "is better" not in text
