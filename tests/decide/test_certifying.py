"""Certified thresholds: the worked examples in fractions, the fixed sequence, and what is refused."""

import json
import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from commands import demur
from demur import TableOptions, UserError, apply, certify, grade, grade_units, load_rule, read_table
from demur.extensions.decide.accepted import Accepted
from demur.extensions.decide.certifiers import (
    CERTIFIERS,
    betting,
    crc,
    enough_for_betting,
    enough_for_control,
    enough_for_guarded_t,
    feasible_from,
    guarded_p,
    guarded_t,
)
from demur.extensions.decide.terms import Terms

HALF = Terms(F(1, 2), F(1, 5), F(1), 2)
PEOPLE = [person for person in range(6) for _ in range(2)]


def worked(**changed):
    """Six participants of two items; five have (confidence 2, loss 0) (1, 0), one (2, 0) (1, 1)."""
    columns = {"truth": [0] * 12, "prediction": [0] * 11 + [1], "clusters": PEOPLE} | changed
    return grade_units([2, 1] * 6, loss="zero_one", **columns)


AT_2, AT_1 = (Accepted.of(worked(), threshold) for threshold in (2, 1))


class TestTheWorkedExample:
    def test_betting_on_a_half_and_on_all(self):
        bets = (F(1, 2), F(1))
        found = [betting(accepted, HALF, bets) for accepted in (AT_2, AT_1)]
        assert [each.statistic for each in found] == [F(62281, 8192), F(1267, 64)]
        assert [each.passed for each in found] == [True, True]

    def test_the_default_bets(self):
        found = [betting(accepted, HALF) for accepted in (AT_2, AT_1)]
        assert [each.statistic for each in found] == [419481973 / 64000000, 1617737 / 100000]
        assert [round(each.p, 4) for each in found] == [0.1526, 0.0618]

    def test_guarded_t(self):
        found = [guarded_t(accepted, HALF) for accepted in (AT_2, AT_1)]
        assert [each.statistic for each in found] == [-5 / 2, pytest.approx(-4 * math.sqrt(3 / 13), rel=1e-15)]
        assert [round(each.p, 4) for each in found] == [0.0233, 0.0515]

    def test_conformal_risk_control(self):
        quarter = Terms(F(1, 4), F(1, 5), F(1), 2)
        found = [crc(accepted, quarter) for accepted in (AT_2, AT_1)]
        assert [each.statistic for each in found] == [-3 / 2, -1 / 2]

    @pytest.mark.parametrize(
        ("method", "limit"),
        [("guarded_t", {"risk": "1/2"}), ("betting", {"risk": "0.5"}), ("crc", {"errors_per_100": "25"})],
    )
    def test_all_three_certify_the_lower_threshold(self, method, limit):
        made = certify(worked(), method=method, **limit, grid=[1, 2], delta="0.2", max_units=2, seed=1)
        assert made.threshold == 1
        assert made.guarantee.grid == (2, 1)
        assert [each.passed for each in made.guarantee.tested] == [True, True]
        assert made.guarantee.coverage.value == 1
        assert made.guarantee.needed is None

    def test_a_bet_is_won_exactly_at_the_level(self):
        level = Terms(F(1, 2), F(64, 1267), F(1), 2)
        assert betting(AT_1, level, (F(1, 2), F(1))).passed
        below = Terms(F(1, 2), F(64, 1267) - F(1, 10**30), F(1), 2)
        assert not betting(AT_1, below, (F(1, 2), F(1))).passed


def by_hand(accepted, terms):
    """p of guarded t from the values themselves."""
    z = [
        float(loss) / accepted.divisor - float(terms.alpha) * count
        for count, loss in zip(accepted.count, accepted.loss)
    ]
    z.append(float(terms.largest - terms.alpha) * float(np.mean(accepted.count)))
    return stats.t.cdf(math.sqrt(len(z)) * np.mean(z) / np.std(z, ddof=1), len(z) - 1)


PERSON = st.integers(0, 5).flatmap(lambda count: st.tuples(st.just(count), st.integers(0, count)))


@given(st.lists(PERSON, min_size=2, max_size=30), st.sampled_from([F(1, 100), F(3, 20), F(1, 2)]))
def test_guarded_t_is_the_t_of_its_values_and_the_number_needed_the_smallest(people, alpha):
    count, loss = (np.array(column) for column in zip(*people))
    accepted = Accepted(count, loss, np.full(len(people), 5), 1, F(1))
    terms = Terms(alpha, F(1, 10), F(1), 5)
    found = guarded_t(accepted, terms)
    if math.isnan(found.statistic):  # everybody is alike, and as bad as the one who is imagined
        assert found.p == 1
        assert not found.passed
        return
    assert found.p == pytest.approx(by_hand(accepted, terms), rel=1e-9, abs=1e-12)
    enough = enough_for_guarded_t(accepted, terms)
    mean = F(int(loss.sum()), 1) - alpha * int(count.sum())
    assert (enough.clusters is None) == (mean >= 0)
    if enough.clusters is None or found.passed or enough.clusters > 3000:
        return

    z = [F(int(one)) - alpha * int(many) for many, one in zip(count, loss)]
    parts = (
        float(sum(z) / len(z)),
        float(np.var([*map(float, z)], ddof=1)),
        float((1 - alpha) * F(int(count.sum()), len(z))),
    )
    passing = [guarded_p(number, *parts) <= 0.1 for number in range(len(z) + 1, enough.clusters + 1)]
    assert passing == [False] * (len(passing) - 1) + [True]


@given(st.lists(PERSON, min_size=1, max_size=12), st.sampled_from([F(1, 100), F(3, 20), F(1, 2)]))
def test_betting_and_control_are_what_a_loop_says(people, alpha):
    count, loss = (np.array(column) for column in zip(*people))
    accepted, terms = Accepted(count, loss, np.full(len(people), 5), 1, F(1)), Terms(alpha, F(1, 10), F(1), 5)
    wealth = F(0)
    for bet in (F(1, 2), F(9, 10)):
        product = F(1)
        for many, one in people:
            product *= 1 - bet / ((1 - alpha) * 5) * (one - alpha * many)
        wealth += product / 2
    assert betting(accepted, terms).statistic == float(wealth)
    total = sum(one - alpha * 5 for _, one in people) + (1 - alpha) * 5
    assert crc(accepted, terms).statistic == float(total)
    enough = enough_for_control(accepted, terms)
    spare = sum(alpha * 5 - one for _, one in people)
    if spare > 0:
        assert enough.clusters * spare / len(people) >= (1 - alpha) * 5 > (enough.clusters - 1) * spare / len(people)
    else:
        assert enough.clusters is None


class TestTheSequence:
    def units(self, wrong_at, people=40, **changed):
        """Confidences 5 … 1 of everybody; whoever is in `wrong_at[confidence]` is wrong there."""
        rows = [(person, level) for person in range(people) for level in (5, 4, 3, 2, 1)]
        wrong = [int(person in wrong_at.get(level, ())) for person, level in rows]
        clusters = [person for person, _ in rows]
        made = {"truth": [0] * len(rows), "prediction": wrong, "clusters": clusters} | changed
        return grade_units([level for _, level in rows], loss="zero_one", **made)

    def certified(self, units, **given):
        terms = {"method": "guarded_t", "risk": "0.15", "grid": [5, 4, 3, 2, 1], "max_units": 5, "seed": 1}
        return certify(units, **(terms | given))

    def test_it_ends_at_the_first_failure_though_a_later_one_would_pass(self):
        made = self.certified(self.units({4: range(30)}))
        assert [each.passed for each in made.guarantee.tested] == [True, False]
        assert made.threshold == 5
        assert made.guarantee.needed.reason.startswith("no number of participants would")

    def test_a_first_threshold_that_fails_stops_everything_and_says_how_many_would_do(self):
        made = self.certified(self.units({5: range(4)}))
        assert (made.threshold, len(made.guarantee.tested)) == (None, 1)
        assert "Nothing is certified" in str(made)
        needed = made.guarantee.needed.clusters
        assert needed > 40
        assert f"{needed} clusters would be needed, {needed - 40} more" in str(made)

    def test_other_people_say_where_to_begin(self):
        tune = self.units({5: range(30)}, clusters=[100 + n // 5 for n in range(200)])
        made = self.certified(self.units({5: range(10)}), tune=tune)
        assert made.guarantee.tuned_on.clusters == 40
        assert made.guarantee.tested[0].threshold == made.guarantee.grid[int(np.argmin(made.guarantee.tuned_on.p))] != 5

    def test_a_split_is_of_clusters_and_by_its_seed(self):
        made = self.certified(self.units({1: range(30)}), split=True)
        assert (made.guarantee.clusters, made.guarantee.tuned_on.clusters, made.guarantee.tuned_on.seed) == (20, 20, 1)
        assert self.certified(self.units({1: range(30)}), split=True).guarantee == made.guarantee

    def test_the_same_people_in_both_are_refused(self):
        with pytest.raises(UserError, match="0 is in the tuning data as well"):
            self.certified(self.units({}), tune=self.units({}))

    def test_tuning_data_may_hold_other_decimals_of_the_same_loss(self):
        def units(first, decimal, largest=1):
            table = {"cluster": [*range(first, first + 30)], "loss": [decimal] + [0] * 29, "sure": [5] * 30}
            items = read_table(table, instrument=None, options=TableOptions(loss_max=largest))
            return grade(items, loss=None, confidence="sure")

        made = self.certified(units(0, 0.25), tune=units(100, 0.1), grid=[5], max_units=1)
        assert made.threshold == 5
        with pytest.raises(UserError, match="the tuning data have another signal or another loss"):
            self.certified(units(0, 0.25), tune=units(100, 0.1, largest=2), grid=[5], max_units=1)

    def test_control_is_infeasible_with_few_people_and_says_with_how_many_it_is_not(self):
        made = self.certified(self.units({}, people=3), method="crc", risk=None, errors_per_100=10)
        accepted, terms = Accepted.of(self.units({}, people=3), 5), Terms(F(1, 10), F(1, 10), F(1), 5)
        assert feasible_from(accepted, terms) == 9
        assert made.threshold is None
        assert made.guarantee.needed.clusters == 9
        assert "with fewer than 9 participants nothing can pass" in str(made)
        assert self.certified(self.units({}, people=9), method="crc", risk=None, errors_per_100=10).threshold == 1

    def test_a_threshold_that_accepts_nothing_fails(self):
        made = self.certified(self.units({}), grid=[6, 5])
        assert (made.threshold, made.guarantee.tested[0].p) == (None, 1)
        assert made.guarantee.needed.reason == "nothing is accepted there"

    @pytest.mark.parametrize(
        "given",
        [
            {"max_units": None},
            {"max_units": 4},
            {"grid": None},
            {"grid": [5, 5.0]},
            {"grid": ["x"]},
            {"risk": "1"},
            {"risk": "0"},
            {"delta": "1"},
            {"risk": None, "errors_per_100": "5"},
            {"method": "sgr"},
            {"method": "crc", "risk": None, "errors_per_100": 5, "split": True},
            {"method": "crc"},
        ],
    )
    def test_what_is_wrong_is_one_line(self, given, message):
        with pytest.raises(UserError) as error:
            self.certified(self.units({}), **given)
        message(error.value)

    def test_the_largest_loss_must_be_known(self):
        with pytest.raises(UserError, match="the largest loss is not known"):
            self.certified(grade_units([1, 2], loss=[0, 1], clusters=[1, 2]))


def test_a_known_signal_declares_its_thresholds():
    rows = {
        "cluster": [n // 2 for n in range(40)],
        "item": ["a", "b"] * 20,
        "truth": [0] * 40,
        "prediction": [0] * 40,
        "verbalized_confidence": [5, 3] * 20,
    }
    units = grade(read_table(rows, instrument=None), loss="zero_one", confidence="verbalized")
    made = certify(units, risk="0.3", max_units=2, seed=1)
    assert made.guarantee.grid == (1, 0.75, 0.5, 0.25, 0)


def test_every_method_says_what_it_assumes_and_is_documented():
    assert [*CERTIFIERS] == ["guarded_t", "betting", "crc"]
    for each in CERTIFIERS.values():
        assert len(each.assumes) == 3
        assert each.test.__doc__


def test_the_command_writes_the_guarantee_beside_what_was_chosen(tmp_path):
    lines = ["cluster,sure,loss", *(f"{n // 4},0.{9 - n % 4},{int(n % 17 == 3)}" for n in range(160))]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    words = ("choose", "a.csv", "--confidence", "sure", "--risk", "0.2", "--certify", "guarded_t", "--seed", "7")
    fixed = ("--grid", "0.9,0.8,0.7,0.6", "--max-units", "4", "--loss-max", "1", "-o", "rule.json")
    found = demur(tmp_path, *words, *fixed)
    assert (found.returncode, found.stderr) == (0, "")
    rule = load_rule(tmp_path / "rule.json")
    assert rule.threshold == rule.guarantee.threshold
    assert "Certified by guarded_t, a risk of at most 0.2, wrongly in at most 10 % of studies" in found.stdout
    assert "on which it was chosen" in found.stdout
    missing = demur(tmp_path, "choose", "a.csv", "--confidence", "sure", "--risk", "0.2", "--seed", "7", "--split")
    assert (missing.returncode, missing.stderr) == (2, "demur: --split goes with --certify METHOD, which is missing\n")


class TestNothingCertified:
    TABLE = "cluster,sure,loss\n" + "".join(f"{n // 4},0.{9 - n % 4},{int(n % 5 == 0)}\n" for n in range(160))
    WORDS = ("choose", "a.csv", "--confidence", "sure", "--loss-max", "1", "--max-units", "4", "--seed", "7")
    CERTIFY = ("--risk", "0.02", "--certify", "guarded_t", "--grid", "0.9,0.8")

    @pytest.fixture
    def choosing(self, tmp_path):
        (tmp_path / "a.csv").write_text(self.TABLE)
        return lambda *words: demur(tmp_path, *self.WORDS, *words)

    def test_the_exit_code_tells_it_and_the_attempt_is_written_in_place_of_a_rule(self, choosing, tmp_path):
        found = choosing(*self.CERTIFY, "-o", "rule.json")
        assert (found.returncode, found.stderr) == (4, "")
        first, *others = found.stdout.splitlines()
        assert first.startswith(
            "Nothing is certified by guarded_t for a risk of at most 0.02: 0.9, the first threshold"
        )
        assert others[0].startswith("  0.9: ")
        assert others[-1] == (
            "wrote rule.attempt.json, the attempt; a rule would decline everything (--allow-empty writes it)"
        )
        assert not (tmp_path / "rule.json").exists()
        attempt = json.loads((tmp_path / "rule.attempt.json").read_text())
        assert (attempt["kind"], attempt["threshold"]) == ("attempt", None)
        assert [tested["passed"] for tested in attempt["guarantee"]["tested"]] == [False]

    def test_an_attempt_is_no_rule(self, choosing, tmp_path):
        choosing(*self.CERTIFY, "-o", "rule.json")
        applied = demur(tmp_path, "apply", "rule.attempt.json", "a.csv", "--check")
        assert (applied.returncode, applied.stderr) == (
            2,
            "demur: rule.attempt.json: not a rule, but the record of a certification in which no threshold passed\n",
        )

    def test_what_is_certified_is_saved_as_a_rule_only(self, choosing, tmp_path):
        choosing("--risk", "0.6", "--certify", "guarded_t", "--grid", "0.9,0.8", "-o", "rule.json")
        with pytest.raises(UserError, match="a threshold was chosen or certified: save the rule"):
            load_rule(tmp_path / "rule.json").save_attempt(tmp_path / "attempt.json")

    def test_the_attempt_is_in_the_output(self, choosing):
        found = choosing(*self.CERTIFY, "--json", "-o", "rule.json")
        assert (found.returncode, found.stderr.split(",")[0]) == (4, "wrote rule.attempt.json")
        assert json.loads(found.stdout)["guarantee"]["tested"][0]["passed"] is False

    def test_a_rule_that_declines_everything_is_written_on_demand(self, choosing, tmp_path):
        found = choosing(*self.CERTIFY, "--allow-empty", "-o", "rule.json")
        assert (found.returncode, found.stdout.splitlines()[-1]) == (4, "wrote rule.json")
        rule = load_rule(tmp_path / "rule.json")
        assert apply(rule, {"sure": [1.0]}).decisions == ("decline",)
        with pytest.raises(
            UserError, match="nothing is certified: write a rule that declines everything with allow_em"
        ):
            rule.save(tmp_path / "again.json")

    def test_a_certified_answer_begins_with_the_certified_threshold(self, choosing):
        found = choosing("--risk", "0.6", "--certify", "guarded_t", "--grid", "0.9,0.8")
        assert found.returncode == 0
        first, *others = found.stdout.splitlines()
        assert first.startswith("Certified by guarded_t, a risk of at most 0.6, wrongly in at most 10 % of studies: ")
        assert "accept where sure is at least 0.8." in first
        assert any(line.startswith("Without a guarantee: For a risk of at most 0.6: accept where") for line in others)

    @pytest.mark.parametrize("risk", ["0.02", "2%", "1/50"])
    def test_control_takes_no_risk(self, choosing, risk):
        found = choosing("--risk", risk, "--certify", "crc", "--grid", "0.9,0.8")
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr == (
            "demur: crc bounds the errors per 100 units, not the risk of what is accepted: give --errors-per-100, "
            "or take guarded_t or betting\n"
        )
        assert choosing("--errors-per-100", "30", "--certify", "crc", "--grid", "0.9,0.8").returncode == 0


def test_enough_for_betting_is_the_smallest_number_of_people_like_these():
    loss = np.array([0] * 37 + [1] * 3)
    accepted, terms = Accepted(np.full(40, 2), loss, np.full(40, 4), 1, F(1)), Terms(F(3, 20), F(1, 10), F(1), 4)
    assert not betting(accepted, terms).passed
    number = enough_for_betting(accepted, terms).clusters
    growth = [np.log1p(-bet / (0.85 * 4) * (loss - 0.3)).mean() for bet in (0.5, 0.9)]
    wealth = [np.mean(np.exp(people * np.array(growth))) for people in (number - 1, number)]
    assert wealth[0] < 10 <= wealth[1]
    above = Accepted(np.full(4, 2), np.full(4, 1), np.full(4, 4), 1, F(1))
    assert enough_for_betting(above, terms).reason.startswith("no number of participants would")


class TestAnEditedGuarantee:
    """A rule file says what was tested: one that contradicts itself is not loaded."""

    @pytest.mark.parametrize(
        "edit",
        [
            lambda made: made["tested"][1].update(accepted=11),
            lambda made: made["tested"][1].update(p=0.5),
            lambda made: made["tested"][0].update(passed=False),
            lambda made: made["tested"][1].update(passed=False),
            lambda made: made["tested"][1].update(risk=0.0),
            lambda made: made["coverage"].update(value=0.5),
            lambda made: made["tested"].pop(),
            lambda made: made["tested"].reverse(),
            lambda made: made["tested"].clear(),
            lambda made: made.update(threshold=2.0),
        ],
    )
    def test_is_not_loaded(self, edit, message, tmp_path):
        fixed = {"grid": [2, 1], "delta": "0.2", "max_units": 2, "seed": 1}
        path = certify(worked(), method="betting", risk="1/2", **fixed).save(tmp_path / "rule.json")
        assert load_rule(path).threshold == 1.0
        made = json.loads(path.read_text("utf-8"))
        edit(made["guarantee"])
        path.write_text(json.dumps(made), "utf-8")
        with pytest.raises(UserError) as refused:
            load_rule(path)
        message(refused.value)
