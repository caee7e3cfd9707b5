"""The threshold that meets a target: exact examples, a plain loop over all thresholds, and where there is none."""

import json
import math
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import validate
from scipy import stats

from commands import demur
from demur import (
    VARIANTS,
    Curve,
    Items,
    UserError,
    Watch,
    apply,
    certify,
    choose,
    evaluate,
    grade,
    grade_units,
    load_rule,
    read_table,
    variant,
)
from demur.extensions.decide.targets import DecisionTarget
from demur.sampling.draws import folds
from demur.show.selective.operating import operating_data
from parametrized import parametrize_few

T1 = {
    "confidence": [0.9, 0.9, 0.8, 0.7, 0.7, 0, 0.6, 0],
    "loss": [0, 1, 0, 0, 1, None, 0, None],
    "clusters": [*"AABBCCDD"],
}
T2 = {"confidence": [0.9, 0.8, 0.7, 0.6, 0.5], "loss": [0, 0, 1, 0, 1], "clusters": [1, 2, 3, 4, 5]}
TIED = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 5).map(lambda n: n / 4), st.sampled_from([0, 1, 2, None])), min_size=2
)


def columns(rows):
    return {name: [row[n] for row in rows] for n, name in enumerate(("clusters", "confidence", "loss"))}


class TestExamples:
    @pytest.mark.parametrize(
        ("target", "threshold", "accepted"),
        [
            ({"risk": "1/3"}, 0.6, 6),  # C*(1/3) = 3/4, though 2/5 lies between
            ({"risk": "0.4"}, 0.6, 6),
            ({"risk": "1/2"}, 0.6, 6),
            ({"risk": "1/4"}, None, 0),
            ({"coverage": "0.5"}, 0.7, 5),
            ({"coverage": "3/8"}, 0.8, 3),
            ({"coverage": "0.8"}, None, 0),
            ({"errors_per_100": "12.5"}, 0.8, 3),
            ({"errors_per_100": "25"}, 0.6, 6),
            ({"errors_per_100": "12.4"}, None, 0),
        ],
    )
    def test_t1(self, target, threshold, accepted):
        chosen = choose(grade_units(**T1), **target, seed=1).chosen
        assert (chosen.threshold, chosen.accepted) == (threshold, accepted)
        assert (chosen.reason == "") == (threshold is not None)

    @pytest.mark.parametrize(
        ("price", "accepted"), [("0.1", 2), ("1:10", 2), ("0.25", 2), ("1/2", 4), ("0.75", 4), ("1", 5)]
    )
    @pytest.mark.uses("costs")
    def test_the_price_of_an_abstention(self, price, accepted):
        labels = {"truth": [1] * 5, "prediction": [1, 1, 0, 1, 0]}
        units = grade_units(T2["confidence"], **labels, loss="zero_one", clusters=T2["clusters"])
        assert choose(units, abstention_cost=price, seed=1).chosen.accepted == accepted

    @pytest.mark.uses("costs")
    def test_declining_everything_may_be_cheapest(self):
        units = grade_units([2, 1], truth=[1, 1], prediction=[0, 0], loss="zero_one", clusters=[1, 2])
        made = choose(units, abstention_cost="0.5", seed=1)
        assert made.threshold is None
        assert made.chosen.reason == "declining everything is cheapest at this price"
        assert "Nothing is accepted" in str(made)

    def test_no_threshold_meets_the_limit_says_what_is_reachable(self):
        assert choose(grade_units(**T1), risk="0.2", seed=1).chosen.reason == (
            "no threshold meets this limit: the smallest risk of an operating point is 0.333, at 37.5%"
        )

    def test_a_float_is_the_decimal_it_prints_as(self):
        units = grade_units([10 - n for n in range(10)], loss=[0] * 9 + [1], clusters=[*range(10)])
        assert choose(units, risk=0.1, seed=1).chosen.accepted == 10
        assert choose(units, risk="0.0999999999999999999", seed=1).chosen.accepted == 9

    @pytest.mark.parametrize(
        "target",
        [
            {"risk": "101"},
            {"risk": "100.1%"},
            {"risk": "-10%"},
            {"risk": -0.1},
            {"coverage": "-5"},
            {"coverage": 101},
            {"errors_per_100": "101"},
            {"errors_per_100": "-3"},
        ],
    )
    def test_a_limit_that_limits_nothing_is_refused(self, target, message):
        units = grade_units([2, 1], truth=[0, 0], prediction=[0, 1], loss="zero_one", clusters=[1, 2])
        with pytest.raises(UserError) as refused:
            choose(units, **target, seed=1)
        message(refused.value)
        assert choose(units, risk="1", seed=1).chosen.accepted == 2

    def test_nothing_answered(self):
        made = choose(grade_units([1, 2], loss=[None, None], clusters=[1, 2]), risk="0.1", seed=1)
        assert (made.threshold, made.chosen.reason) == (None, "no unit is answered")
        assert made.chosen.procedure.risk.value is None

    def test_one_cluster_leaves_nothing_to_choose_on(self):
        made = choose(grade_units([2, 1], loss=[0, 1], clusters=["a", "a"]), risk="0", seed=1)
        assert made.chosen.procedure is None
        assert "there is only one" in str(made)

    def test_a_confidence_that_falls_has_its_threshold_on_its_own_scale(self):
        @variant("surprise_for_a_test", "surprise", higher_is_more_confident=False)
        def surprise(values):
            """How surprised it was."""
            return values

        try:
            rows = {"cluster": [1, 2, 3], "loss": [0, 0, 1], "surprise": [0.1, 0.36, 0.9]}
            made = choose(grade(read_table(rows), loss=None, confidence="surprise_for_a_test"), risk="0", seed=1)
        finally:
            del VARIANTS["surprise_for_a_test"]
        assert (made.direction, made.threshold, made.chosen.accepted) == ("at_most", 0.4, 2)

    @pytest.mark.parametrize("targets", [{}, {"risk": 0.1, "coverage": 0.5}])
    def test_exactly_one_target(self, targets):
        with pytest.raises(UserError, match="expected exactly one of --risk"):
            choose(grade_units(**T1), **targets, seed=1)


ZERO_ONE = {"truth": [0] * 10, "prediction": [0] * 9 + [1], "clusters": [*range(10)]}


class TestTypedLimits:
    """With % per cent; without it, of losses declared 0 or 1 and of coverages, per cent above 1, else a share."""

    @parametrize_few(
        ("typed", "share"),
        [
            *[("10%", "0.1"), ("10", "0.1"), ("0.1", "0.1"), (10, "0.1"), (0.1, "0.1"), ("10.0 %", "0.1"), ("1", "1")],
            *[("12.5", "0.125"), ("1.5", "0.015"), ("1%", "0.01"), ("0.5%", "0.005"), ("100/3", "1/3"), ("0", "0")],
        ],
        4,
    )
    def test_a_risk(self, tmp_path, typed, share):
        confidence = [*range(10, 0, -1)]
        made = choose(grade_units(confidence, loss="zero_one", **ZERO_ONE), risk=typed, seed=1)
        assert made.target.value == share
        tables = {
            "truth.csv": ("truth,prediction", [f"0,{int(n == 9)}" for n in range(10)], ("--loss", "zero_one")),
            "loss.csv": ("loss", [f"{int(n == 9)}" for n in range(10)], ("--loss-max", "1")),
            "score.csv": ("score", [f"{int(n != 9)}" for n in range(10)], ()),
        }
        for name, (header, cells, words) in tables.items():
            rows = [f"{n},{10 - n},{cell}" for n, cell in enumerate(cells)]
            (tmp_path / name).write_text("\n".join([f"cluster,sure,{header}", *rows, ""]))
            target = ("--confidence", "sure", "--risk", str(typed), "--seed", "1", "--json")
            found = demur(tmp_path, "choose", name, *words, *target)
            assert (found.returncode, found.stderr) == (0, "")
            content = json.loads(found.stdout)
            assert (content["target"]["value"], content["threshold"]) == (share, made.threshold)

    def test_a_loss_in_points_is_not_scaled(self):
        units = grade_units([2, 1], truth=[0, 0], prediction=[0, 3], loss="abs", clusters=[1, 2], instrument="PHQ-8")
        assert choose(units, risk="1.5", seed=1).target.value == "1.5"
        with pytest.raises(UserError, match="a risk of at most 10%: the loss abs is no share: give a number"):
            choose(units, risk="10%", seed=1)
        norm = grade_units(
            [2, 1], truth=[0, 0], prediction=[0, 3], loss="abs_norm", clusters=[1, 2], instrument="PHQ-8"
        )
        assert choose(norm, risk="25%", seed=1).target.value == "0.25"
        with pytest.raises(UserError, match="a risk of at most 10: expected no more than 1"):
            choose(norm, risk="10", seed=1)

    def test_losses_that_are_0_or_1_and_not_declared_are_asked_for(self):
        units = grade_units([2, 1], loss=[0, 1], clusters=[1, 2])
        with pytest.raises(UserError, match=r"every loss here is 0 or 1; write it with %, or declare the largest loss"):
            choose(units, risk=10, seed=1)
        assert choose(units, risk="10%", seed=1).target.value == "0.1"
        assert choose(grade_units([2, 1], loss=[0, 7], clusters=[1, 2]), risk=3, seed=1).target.value == "3"

    def test_losses_above_1_are_no_shares(self):
        points = grade_units([2, 1], loss=[0, 4], clusters=[1, 2])
        with pytest.raises(UserError, match=r"a risk of at most 10%: a loss here is above 1, which is no share"):
            choose(points, risk="10%", seed=1)
        assert choose(grade_units([2, 1], loss=[0, 0.4], clusters=[1, 2]), risk="10%", seed=1).target.value == "0.1"

    def test_a_guarantee_reads_it_too(self):
        units = grade_units([*range(10, 0, -1)], loss="zero_one", **ZERO_ONE)
        made = certify(units, risk=60, grid=[1], max_units=1, seed=1)
        assert (made.target.value, made.guarantee.alpha) == ("0.6", "0.6")
        assert certify(units, risk="60%", grid=[1], max_units=1, seed=1).guarantee.alpha == "0.6"

    @pytest.mark.parametrize(
        ("typed", "accepted"),
        [
            *[("72%", 1439), ("0.72", 1439), (0.72, 1439), (72, 1439), ("72.0%", 1439), ("71.95%", 1439)],
            *[("0.7195", 1439), ("71.94%", 1439), ("71.96%", 0), ("0.7196", 0), ("72.1%", 0), ("73", 0)],
            *[("0.8", 0), ("1", 0), ("18/25", 0), ("50%", 1000), (50, 1000), ("0.5", 1000), ("0.05%", 1)],
        ],
    )
    def test_a_coverage_that_the_largest_rounds_to_means_the_largest(self, typed, accepted):
        loss = [0] * 1439 + [None] * 561
        units = grade_units([*range(2000, 0, -1)], loss=loss, clusters=[*range(2000)])
        assert DecisionTarget.of(coverage=typed).point(Curve.of(units)) == (accepted - 1 if accepted else None)

    @pytest.mark.parametrize(("typed", "fewer"), [("72%", 0), ("0.7194", 0), ("71.8%", 2)])
    def test_a_coverage_of_all_answers_accepts_them_all_in_every_fold(self, typed, fewer):
        rng = np.random.default_rng(1)
        loss = np.where(rng.permutation(2003) < 562, np.nan, rng.random(2003) < 0.2)
        table = {"cluster": np.arange(2003) // 5, "confidence": rng.random(2003), "loss": loss}
        units = grade(read_table(table), loss=None, confidence="confidence")
        rule = choose(units, coverage=typed, max_units=5, seed=1)
        procedure = rule.chosen.procedure
        assert (rule.chosen.accepted, procedure.without_threshold) == (1441 - fewer, 0)
        assert procedure.accepted == pytest.approx(1441 - fewer, rel=0.01)
        assert not apply(rule, table, watch=Watch(rule)).watched.raised


def best(rows, alpha, per_unit):
    """The largest number accepted by a threshold, among all, whose risk is at most alpha; 0 if there is none."""
    answered = [row for row in rows if row[2] is not None]
    most, taken = 0, math.inf
    for threshold in {row[1] for row in answered}:
        accepted = [row for row in answered if row[1] >= threshold]
        among = len(rows) if per_unit else len(accepted)
        if Fraction(sum(row[2] for row in accepted), among) <= alpha and len(accepted) > most:
            most, taken = len(accepted), threshold
    return most, taken


@given(TIED, st.fractions(0, 2, max_denominator=12), st.booleans())
def test_a_plain_loop_over_all_thresholds_finds_the_same(rows, alpha, per_unit):
    target = {"errors_per_100": 100 * alpha} if per_unit else {"risk": alpha}
    curve = Curve.of(grade_units(**columns(rows)))
    point = DecisionTarget.of(**target).point(curve)
    assert best(rows, alpha, per_unit)[0] == (0 if point is None else curve.points.count[point])


def loop_over_folds(rows, alpha, seed):
    """The procedure as it is defined, in plain loops: R, its interval by t, and how much is accepted."""
    people = sorted({row[0] for row in rows})
    fold = dict(zip(people, folds(seed, len(people), min(10, len(people))).tolist()))
    sums = {person: [0, 0] for person in people}
    for held_out in set(fold.values()):
        threshold = best([row for row in rows if fold[row[0]] != held_out], alpha, per_unit=False)[1]
        for person, confidence, loss in rows:
            if fold[person] == held_out and loss is not None and confidence >= threshold:
                sums[person][0] += 1
                sums[person][1] += loss
    accepted = sum(count for count, _ in sums.values())
    risk = Fraction(sum(loss for _, loss in sums.values()), accepted)
    u = [float((loss - risk * count) / accepted) for count, loss in sums.values()]
    squares, fourths, size = sum(x**2 for x in u), sum(x**4 for x in u), len(u)
    degrees = min(size - 1, 2 * squares**2 / (fourths - squares**2 / size))
    reach = stats.t.ppf(0.975, degrees) * math.sqrt(size / (size - 1) * squares)
    return accepted, float(risk), float(risk) - reach, float(risk) + reach


@pytest.fixture(scope="module")
def made_up():
    """150 clusters × 4 units with a continuous confidence."""
    rng = np.random.default_rng(16)
    person = np.repeat(np.arange(150), 4)
    ability = rng.normal(size=150)[person]
    confidence = 1 / (1 + np.exp(-(ability + rng.normal(size=600))))
    wrong = rng.random(600) < 1 / (1 + np.exp(2 * ability + 1))
    return [*zip(person.tolist(), confidence.tolist(), wrong.astype(int).tolist())]


class TestAMadeUpFile:
    """A risk of at most 0.1: the same threshold, count and interval wherever it is asked for."""

    @pytest.mark.slow
    def test_python_agrees_with_plain_loops(self, made_up):
        made = choose(grade_units(**columns(made_up)), risk="0.1", seed=7)
        accepted, threshold = best(made_up, Fraction(1, 10), per_unit=False)
        chosen = made.chosen
        assert chosen.accepted == accepted
        assert [row[1] >= made.threshold for row in made_up] == [row[1] >= threshold for row in made_up]
        procedure = chosen.procedure
        found = (procedure.accepted, procedure.risk.value, procedure.risk.low, procedure.risk.high)
        assert found == pytest.approx(loop_over_folds(made_up, Fraction(1, 10), 7), rel=1e-9)

    def test_the_console_says_the_same(self, made_up, tmp_path):
        lines = ["cluster,sure,loss", *(f"{person},{confidence!r},{loss}" for person, confidence, loss in made_up)]
        (tmp_path / "made-up.csv").write_text("\n".join(lines) + "\n")
        words = ("choose", "made-up.csv", "--confidence", "sure", "--risk", "0.1", "--seed", "7", "-o", "rule.json")
        found = demur(tmp_path, *words)
        assert (found.returncode, found.stderr) == (0, "")
        in_python = choose(grade_units(**columns(made_up)), risk="0.1", seed=7)
        assert load_rule(tmp_path / "rule.json").chosen == in_python.chosen
        chosen, risk = in_python.chosen, in_python.chosen.procedure.risk
        assert f"sure is at least {chosen.threshold!r}. That answers {chosen.accepted} of 600 units" in found.stdout
        assert f"with a risk of {risk.value:.3g} [{risk.low:.3g}, {risk.high:.3g}]." in found.stdout

    def test_the_certified_answer_stands_beside_it(self, made_up):
        cluster, confidence, wrong = zip(*made_up)
        labels = {"truth": [0] * 600, "prediction": wrong, "loss": "zero_one", "clusters": cluster}
        units, fixed = grade_units(confidence, **labels), {"grid": ["0.7", "0.6"], "max_units": 4}
        made = certify(units, risk="0.1", **fixed, seed=7)
        assert made.chosen == choose(units, risk="0.1", seed=7).chosen
        assert made.threshold is made.guarantee.threshold is None
        assert f"To certify 0.7, {made.guarantee.needed.clusters} clusters would be needed" in str(made)
        assert certify(units, risk="0.15", **fixed, seed=7).threshold == 0.6

    def test_the_order_of_the_rows_and_the_kind_of_the_ids_do_not_matter(self, made_up):
        made = choose(grade_units(**columns(made_up)), risk="0.1", seed=7)
        turned = choose(grade_units(**columns(made_up[::-1])), risk="0.1", seed=7)
        assert turned.chosen == made.chosen


class TestFolds:
    def test_every_cluster_has_one_and_they_are_of_one_size(self):
        for clusters in (2, 9, 10, 11, 150):
            sizes = np.bincount(folds(3, clusters, min(10, clusters)))
            assert sizes.sum() == clusters
            assert sizes.max() - sizes.min() <= 1

    def test_fewer_clusters_than_folds_leave_out_one_at_a_time(self):
        assert choose(grade_units(**T1), risk="1/2", seed=1).chosen.procedure.folds == 4

    def test_a_fold_without_a_threshold_accepts_nothing(self):
        units = grade_units([3, 2, 1], loss=[0, 1, 1], clusters=[1, 2, 3])
        procedure = choose(units, risk="0", seed=1).chosen.procedure
        assert (procedure.without_threshold, procedure.accepted) == (1, 0)

    def test_accepted_answers_of_one_cluster_alone_have_no_interval(self):
        clusters, loss = [*"AABBCCDD"], [0, 1, 0, 0, 1, None, 0, None]
        units = grade_units([9, 9, 8, 7, 7, 0, 6, 0], loss=loss, clusters=clusters)
        risk = choose(units, errors_per_100="15", seed=3).chosen.procedure.risk
        assert (risk.value, risk.low, risk.high, risk.reason) == (0.5, None, None, "one cluster holds all of it")

    def test_without_an_error_the_interval_ends_at_the_cluster_bound(self):
        labels = {"truth": [1] * 8, "prediction": [1] * 8, "loss": "zero_one"}
        risk = choose(grade_units([1] * 8, **labels, clusters=[*range(8)]), risk="0", seed=1).chosen.procedure.risk
        assert (risk.value, risk.low, risk.method) == (0, 0, "cluster_bound")
        assert risk.high == pytest.approx(1 - 0.05 ** (1 / 8))


class TestTheFile:
    def test_it_is_read_back_as_it_was_written(self, tmp_path):
        made = choose(grade_units(**T1), risk="0.5", seed=1, created_at="2026-01-31T12:00:00Z")
        made.save(tmp_path / "rule.json")
        assert load_rule(tmp_path / "rule.json") == made

    def test_a_threshold_that_is_not_the_chosen_one_is_refused(self, tmp_path):
        made = choose(grade_units(**T1), risk="0.5", seed=1)
        (tmp_path / "rule.json").write_text(made.text.replace('"threshold": 0.6', '"threshold": 0.5', 1))
        with pytest.raises(UserError, match="the threshold is not the one that was chosen or certified"):
            load_rule(tmp_path / "rule.json")

    @pytest.mark.parametrize("text", ["[]", "{}", '{"kind": "rule"}'])
    def test_anything_else_is_one_line(self, tmp_path, text):
        (tmp_path / "rule.json").write_text(text)
        with pytest.raises(UserError, match=r"rule.json: "):
            load_rule(tmp_path / "rule.json")

    @pytest.mark.slow
    def test_the_schema_knows_it(self):
        schema = json.loads(files("demur").joinpath("schemas/rule.schema.json").read_text(encoding="utf-8"))
        labels = {"truth": [0] * 4, "prediction": [0, 0, 0, 1], "loss": "zero_one", "clusters": [1, 2, 3, 4]}
        units = grade_units([4, 3, 2, 1], **labels)
        for made in (choose(units, risk="0", seed=1), certify(units, risk="0.5", grid=[2, 1], max_units=1, seed=1)):
            validate(json.loads(made.text), schema)

    def test_a_notebook_and_a_frame_show_it(self):
        made = choose(grade_units(**T1), risk="0.5", seed=1)
        assert "chosen on these data" in made._repr_html_()
        assert made.to_frame()["accepted"].to_list()[0] == 6


class TestTheCommand:
    TABLE = "cluster,sure,loss\n1,0.9,0\n2,0.8,1\n3,0.7,0\n"

    def call(self, folder, *words):
        (folder / "a.csv").write_text(self.TABLE)
        return demur(folder, "choose", "a.csv", "--seed", "1", *words)

    @pytest.mark.parametrize(
        "words",
        [
            ("--confidence", "sur", "--risk", "0.1"),
            ("--confidence", "sure"),
            ("--confidence", "sure", "--risk", "x"),
            pytest.param(("--confidence", "sure", "--abstention-cost", "0.1"), marks=pytest.mark.uses("costs")),
            ("--confidence", "sure", "--risk", "0.1", "-o", "a.csv"),
            ("--confidence", "sure", "--risk", "0.1", "--max-units", "0"),
        ],
    )
    def test_a_mistake_is_one_line(self, tmp_path, words, message):
        found = self.call(tmp_path, *words)
        assert (found.returncode, found.stdout) == (2, "")
        message(found.stderr)
        assert found.stderr.count("\n") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]

    def test_no_threshold_is_an_answer(self, tmp_path):
        (tmp_path / "b.csv").write_text("cluster,sure,loss\n1,0.9,1\n2,0.8,1\n")
        words = ("choose", "b.csv", "--confidence", "sure", "--risk", "0.1", "--seed", "1")
        found = demur(tmp_path, *words, "--json")
        assert found.returncode == 0
        content = json.loads(found.stdout)
        assert content["threshold"] is None
        assert content["chosen"]["reason"].startswith("no threshold meets this limit: the smallest risk")


def test_items_bring_their_noun_and_their_hash(tmp_path):
    (tmp_path / "a.csv").write_text(TestTheCommand.TABLE)
    items = read_table(tmp_path / "a.csv")
    assert isinstance(items, Items)
    made = choose(grade(items, loss=None, confidence="sure"), coverage="1", seed=1)
    assert (made.noun, made.signal, made.inputs[0].sha256) == ("cluster", "sure", items.source.sha256)


def test_columns_that_can_be_told_are_taken_and_the_seed_is_0_and_recorded(tmp_path):
    rows = [f"{who},{int(who % 3 > 0)},{(who * 7 % 10) / 10}" for who in range(20) for _ in range(2)]
    (tmp_path / "t.csv").write_text("\n".join(["patient,correct,proba", *rows]), "utf-8")
    words = ("t.csv", "--risk", "0.3")
    told = demur(tmp_path, "choose", *words, "-o", "rule.json")
    assert (told.returncode, told.stderr) == (
        0,
        "demur: took correct as score, patient as cluster; answers are ranked by proba\n",
    )
    named = demur(
        tmp_path, "choose", *words, "--column", "score=correct", "--column", "cluster=patient", "--confidence", "proba"
    )
    assert named.stdout in told.stdout
    assert load_rule(tmp_path / "rule.json").chosen.procedure.seed == 0


def test_a_calibration_that_would_change_nothing_is_refused(tmp_path):
    rows = [f"{who},{int(who % 3 > 0)},{(who * 7 % 10) / 10}" for who in range(20) for _ in range(2)]
    (tmp_path / "t.csv").write_text("\n".join(["cluster,score,proba", *rows]), "utf-8")
    fit = ("calibrate", "--input", "t.csv", "--method", "platt", "--features", "proba", "--output", "c.json")
    assert demur(tmp_path, *fit).returncode == 0
    call = ("choose", "t.csv", "--risk", "0.5", "--seed", "1", "--calibration", "c.json", "--confidence")
    found = demur(tmp_path, *call, "proba")
    message = "demur: t.csv: the confidence proba has no use for a calibration: leave it out\n"
    assert (found.returncode, found.stdout, found.stderr) == (2, "", message)
    assert demur(tmp_path, *call, "calibrated").returncode == 0


@pytest.mark.parametrize(("losses", "taken"), [([0, 1, 0, 1], True), ([0, 0.5, 0, 1], True), ([0, 4, 0, 4], False)])
def test_the_field_on_the_page_takes_per_cent_where_choose_does(losses, taken):
    table = {"cluster": [1, 1, 2, 2], "loss": losses, "sure": [0.9, 0.6, 0.7, 0.8]}
    results = evaluate(table, confidence="sure", resamples=0, seed=1)
    assert operating_data(results, None)["takes_percent"] is taken
