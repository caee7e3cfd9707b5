"""Watching a rule: alarms that are rarely false however often one looks, and raised where something has changed."""

import numpy as np
import pandas as pd
import pytest

from commands import demur
from demur import Reading, UserError, Watch, apply, choose, grade, grade_units, load_rule, read_table
from demur.extensions.decide.watching import BETS, wealth_of
from parametrized import parametrize_few

PEOPLE, ITEMS = 150, 4


def units(rng, people=PEOPLE, shift=0.0, wrong=0.0):
    """Confidence and error of items that are alike within a person; `shift` and `wrong` change the world."""
    ability = np.repeat(rng.standard_normal(people), ITEMS)
    confidence = ability + 0.5 * rng.standard_normal(people * ITEMS) + shift
    return (
        np.repeat(np.arange(people), ITEMS),
        confidence,
        ability + 0.7 * rng.standard_normal(len(ability)) < -0.6 + wrong,
    )


def rule(**target):
    cluster, confidence, wrong = units(np.random.default_rng(1))
    graded = grade_units(confidence, loss=wrong.astype(int), clusters=cluster)
    return choose(graded, **(target or {"risk": "0.12"}), max_units=ITEMS, seed=1)


def looked_at(made, seed, labelled=1.0, **changed):
    rng = np.random.default_rng(seed)
    cluster, confidence, wrong = units(rng, **changed)
    label = [int(each) if rng.random() < labelled else None for each in wrong]
    rows = {"cluster": cluster.tolist(), "confidence": confidence.tolist(), "loss": label}
    return apply(made, rows, watch=Watch(made), reading=Reading(unlabelled=True))


class TestAlarms:
    def test_nothing_has_changed(self):
        found = looked_at(rule(), 2)
        assert not found.watched.raised
        assert "no drift is shown" in str(found)
        assert "it is not shown to be above it" in str(found)

    def test_confidences_that_rise_are_a_drift(self):
        coverage, _ = looked_at(rule(), 2, shift=1.5).watched.alarms
        assert coverage.raised
        assert "it is higher than expected" in coverage.conclusion
        lower, _ = looked_at(rule(), 2, shift=-1.5).watched.alarms
        assert "it is lower than expected" in lower.conclusion

    def test_more_errors_are_told_from_a_drift(self):
        coverage, risk = looked_at(rule(), 3, people=400, wrong=1.2).watched.alarms
        assert (coverage.raised, risk.raised) == (False, True)
        assert "it is above the limit: choose again" in risk.conclusion

    def test_some_labels_are_enough(self):
        assert looked_at(rule(), 3, people=600, wrong=1.2, labelled=0.5).watched.alarms[1].raised

    def test_without_labels_the_risk_is_not_watched(self):
        found = looked_at(rule(), 2, labelled=0)
        assert "risk: not watched: no accepted row has a label" in str(found)

    def test_errors_per_100_look_at_people_whose_answers_are_all_labelled(self):
        made = rule(errors_per_100="5")
        rows = {"cluster": [1, 1, 2, 2], "confidence": [9.0] * 4, "loss": [1, None, 0, 1]}
        risk = apply(made, rows, watch=Watch(made), reading=Reading(unlabelled=True)).watched.alarms[1]
        assert (risk.clusters, risk.value) == (1, 0.5)

    def test_a_target_without_a_limit_has_none_to_watch(self):
        assert "the rule sets no limit" in str(looked_at(rule(coverage="0.5"), 2))

    def test_truths_and_predictions_are_labels_too(self):
        graded = grade_units([3, 2, 1], truth=[1, 1, 1], prediction=[1, 1, 0], loss="zero_one", clusters=[1, 2, 3])
        made = choose(graded, risk="0.4", max_units=2, seed=1)
        rows = {"cluster": [1, 1, 2], "confidence": [9, 9, 9], "truth": ["a", None, "b"], "prediction": ["a", "a", "c"]}
        risk = apply(made, rows, watch=Watch(made)).watched.alarms[1]
        assert (risk.value, risk.clusters) == (0.5, 2)


class TestAnEmptyLoss:
    """An abstention, as when the rule was chosen, or a missing label where somebody says so."""

    def rows(self, rng, name="loss"):
        cluster, confidence, wrong = units(rng)
        silent = rng.random(len(wrong)) < 0.4
        values = [None if gone else float(each if name == "loss" else not each) for each, gone in zip(wrong, silent)]
        return pd.DataFrame({"cluster": cluster, "sure": confidence, name: values})

    @pytest.mark.parametrize("name", ["loss", "score"])
    @parametrize_few("suffix", ["csv", "jsonl", "parquet"], 1)
    def test_the_data_that_a_rule_was_chosen_on_raise_no_alarm(self, tmp_path, name, suffix):
        write = {"csv": "to_csv", "jsonl": "to_json", "parquet": "to_parquet"}[suffix]
        how = {"jsonl": {"orient": "records", "lines": True}}.get(suffix, {"index": False})
        getattr(self.rows(np.random.default_rng(1), name), write)(tmp_path / f"a.{suffix}", **how)
        words = ("--confidence", "sure", "--risk", "0.12", "--max-units", ITEMS, "--seed", "1", "-o", "rule.json")
        assert demur(tmp_path, "choose", f"a.{suffix}", *words).returncode == 0
        accepted = load_rule(tmp_path / "rule.json").chosen.accepted
        found = demur(tmp_path, "apply", "rule.json", f"a.{suffix}", "--check")
        assert (found.returncode, found.stderr) == (0, "")
        assert f"rows: {accepted} accepted" in found.stdout
        assert "rows without a loss count as abstained; if they have no label yet, mark abstentions" in found.stdout
        labels = demur(tmp_path, "apply", "rule.json", f"a.{suffix}", "--check", "--unlabelled")
        assert "higher than expected" in labels.stdout
        assert "by the system itself" not in labels.stdout

    def test_a_column_tells_abstentions_from_missing_labels(self):
        made = rule()
        rows = {"cluster": [1, 1, 2], "confidence": [9, 9, 9], "loss": [None, None, 0], "abstained": [0, 1, 0]}
        found = apply(made, rows, watch=Watch(made))
        assert (found.accepted, found.abstained, found.without_loss) == (2, 1, 0)

    @pytest.mark.parametrize(
        "silent",
        [
            False,
            True,
        ],
    )
    def test_it_is_asked_where_it_is_not_clear(self, tmp_path, silent, message):
        data = {"cluster": [1, 2, 3], "loss": [0, 0, None if silent else 1], "sure": [3, 2, 1]}
        choose(grade(read_table(data), loss=None, confidence="sure"), risk=0, seed=1).save(tmp_path / "rule.json")
        (tmp_path / "new.csv").write_text("cluster,sure,loss\n1,9,\n2,9,\n")
        found = demur(tmp_path, "apply", "rule.json", "new.csv", "-o", "d.csv")
        assert (found.returncode, found.stdout) == (2, "")
        message(found.stderr)
        assert found.stderr.endswith("mark abstentions in a column abstained, or give --unlabelled\n")
        assert not (tmp_path / "d.csv").exists()
        found = demur(tmp_path, "apply", "rule.json", "new.csv", "-o", "d.csv", "--unlabelled")
        assert found.stdout.startswith("2 rows: 2 accepted (100 %), 0 declined\n")


class TestBets:
    def test_wealth_by_hand(self):
        gains = np.array([2.0, -1.0, 0.0])
        expected = np.mean([[1 + 2 * bet / 4, (1 + 2 * bet / 4) * (1 - bet / 4)] for bet in BETS], axis=0)
        assert wealth_of(gains, 4.0).tolist() == pytest.approx([*expected, expected[1]])

    def test_the_order_of_people_does_not_change_the_wealth_in_the_end(self):
        gains = np.random.default_rng(1).uniform(-1, 2, 50)
        assert wealth_of(gains, 1.0)[-1] == pytest.approx(wealth_of(gains[::-1], 1.0)[-1])

    def test_under_the_null_a_bet_is_fair(self):
        """Over all sixteen outcomes of four fair coins the mean wealth is 1, at every look."""
        outcomes = np.array([[1 - 2 * (n >> k & 1) for k in range(4)] for n in range(16)], float)
        assert np.mean([wealth_of(each, 1.0) for each in outcomes], axis=0).tolist() == pytest.approx([1] * 4)

    @pytest.mark.slow
    def test_alarms_are_rarely_false_though_one_looks_after_everybody(self):
        rng = np.random.default_rng(4)
        wrong = rng.random((1000, 500)) < 0.1
        false = np.mean([wealth_of(row - 0.1, 0.1).max() >= 20 for row in wrong])
        assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)


def test_a_loss_beyond_the_largest_is_refused():
    graded = grade_units([2, 1], truth=[0, 0], prediction=[0, 1], loss="abs", clusters=[1, 2], instrument="PHQ-8")
    made = choose(graded, risk="1", max_units=8, seed=1)
    rows = {"cluster": [1, 1], "confidence": [9, 9], "truth": [0, 0], "prediction": [0, 9]}
    with pytest.raises(UserError, match="row 1: a loss of 9, expected 0 to 3"):
        apply(made, rows, watch=Watch(made))


def test_the_command_raises_an_alarm_by_its_exit_code(tmp_path):
    made = rule()
    made.save(tmp_path / "rule.json")
    for name, shift, code in (("same.csv", 0.0, 0), ("other.csv", 2.0, 3)):
        cluster, confidence, wrong = units(np.random.default_rng(2), shift=shift)
        rows = zip(cluster.tolist(), confidence.tolist(), wrong.astype(int).tolist())
        text = "who,confidence,loss\n" + "".join(f"{a},{b!r},{c}\n" for a, b, c in rows)
        (tmp_path / name).write_text(text)
        found = demur(tmp_path, "apply", "rule.json", name, "--check", "--column", "cluster=who")
        assert (found.returncode, found.stderr) == (code, "")
        assert "coverage: " in found.stdout
    missing = demur(tmp_path, "apply", "rule.json", "same.csv", "--check")
    assert missing.returncode == 2
    assert "no column cluster for cluster" in missing.stderr
