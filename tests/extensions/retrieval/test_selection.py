"""How many ids to show: bounds, who breaks them, what is shown, and the policies that choose."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import UserError, rankings_of
from demur.extensions.retrieval.quantities.evidence import Selection
from demur.extensions.retrieval.quantities.selection import POLICIES, Bounds, Policy, breaches, shown_hits
from demur.quantities import quantities

LOG_3 = math.log(3)
lists = st.lists(
    st.lists(st.integers(0, 20), max_size=9).map(lambda s: sorted(s, reverse=True)), min_size=1, max_size=6
)


def facts_of(scores, gold=None):
    ids = [[f"s{place}" for place in range(len(one))] for one in scores]
    return rankings_of(gold or [[] for _ in scores], ids, scores=scores)


def facts_scores(facts):
    return np.split(facts.scores, np.cumsum(facts.candidates)[:-1])


class TestBounds:
    @pytest.mark.parametrize(
        ("candidates", "low", "high"),
        [
            (0, 0, 0),
            (1, 1, 1),
            (2, 2, 2),
            (3, 2, 2),
            (4, 2, 2),
            (5, 2, 2),
            (6, 2, 3),
            (19, 2, 9),
            (20, 2, 10),
            (99, 2, 10),
        ],
    )
    def test_by_default(self, candidates, low, high):
        assert Bounds().of(candidates) == (low, high)

    def test_the_minimum_wins_over_the_ratio_and_the_candidates_over_everything(self):
        bounds = Bounds(k_min=4, hard_cap=10, k_max_ratio=0.5)
        assert bounds.of(5) == (4, 4)  # floor(2.5) = 2 is less than the minimum
        assert bounds.of(3) == (3, 3)  # and 4 are not there

    def test_the_ratio_is_the_decimal_as_typed(self):
        assert Bounds(hard_cap=100, k_max_ratio=0.29).of(100) == (2, 29)
        assert Bounds(hard_cap=9999, k_max_ratio=1 / 3).of(6000) == (2, 1999)
        assert Bounds(k_max_ratio=1e-300).of(10**6) == (2, 2)

    @given(st.integers(0, 200), st.integers(1, 10), st.integers(0, 10), st.integers(1, 20))
    def test_they_are_always_in_order_and_within_the_candidates(self, n, k_min, more, twentieths):
        low, high = Bounds(k_min, k_min + more, twentieths / 20).of(n)
        most = min(k_min + more, int(Fraction(twentieths, 20) * n))
        assert low == min(k_min, n) <= high <= n
        assert high == max(most, low)

    @pytest.mark.parametrize(
        "bad",
        [
            {"k_min": 0},
            {"hard_cap": True},
            {"hard_cap": 10**21},
            {"k_min": 11},
            {"k_max_ratio": 0},
            {"k_max_ratio": float("nan")},
        ],
    )
    def test_what_cannot_be_is_refused(self, bad, message):
        with pytest.raises(UserError) as caught:
            Bounds(**bad)
        message(caught.value)

    def test_who_breaks_them(self):
        ids = [f"s{place}" for place in range(10)]
        facts = rankings_of([[]] * 5, [ids] * 5, selected=[[], ids[:1], ids[:2], ids[:5], ids[:6]])
        assert [*breaches(facts, Bounds())] == [(1, 1, 2, 5), (4, 6, 2, 5)]
        assert [*breaches(rankings_of([[]], [ids]), Bounds())] == []


def evidence(gold, shown, hits):
    selection = Selection(gold, shown, hits)
    return {entry.stem: entry.function(selection) for entry in quantities("selection")}


class TestEvidence:
    def test_exact_values_and_edges(self):
        gold, shown, hits = np.array([3, 3, 0, 0, 2]), np.array([2, 0, 0, 4, 3]), np.array([1, 0, 0, 0, 2])
        found = evidence(gold, shown, hits)
        assert found["evidence_recall"].tolist() == [1 / 3, 0, 1, 0, 1]
        assert found["evidence_precision"].tolist() == [1 / 2, 0, 1, 0, 2 / 3]
        assert found["evidence_f1"].tolist() == [2 / 5, 0, 1, 0, 4 / 5]
        assert found["average_k"].tolist() == [2, 0, 0, 4, 3]

    @given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
    def test_a_perfect_selection_has_an_f1_of_exactly_1(self, sizes):
        gold = np.array(sizes)
        assert evidence(gold, gold, gold)["evidence_f1"].mean() == 1

    @given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
    def test_f1_is_the_harmonic_mean(self, gold, shown, hits):
        hits = min(hits, gold, shown)
        one = {name: float(value[0]) for name, value in evidence(*map(np.atleast_1d, (gold, shown, hits))).items()}
        recall, precision = one["evidence_recall"], one["evidence_precision"]
        harmonic = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        assert one["evidence_f1"] == pytest.approx(harmonic, abs=1e-12)


class TestPolicies:
    wide = Bounds(k_min=1, hard_cap=100, k_max_ratio=1)

    @pytest.mark.parametrize(
        ("policy", "scores", "k"),
        [
            ("fixed:3", [5, 4, 3, 2, 1], 3),
            ("fixed:9", [5, 4], 2),
            ("threshold:3", [5, 4, 3, 2, 1], 3),
            ("threshold:2.5", [5, 4, 3, 2, 1], 3),
            ("threshold:9", [5, 4], 0),
            ("gap", [9, 8, 3, 2, 1], 2),
            ("gap", [9, 7, 5, 3], 1),
            ("gap", [5, 5, 5], 1),
            ("gap", [7], 1),
            ("elbow", [9, 8.5, 2, 1.5, 1], 2),
            ("elbow", [9, 1], 1),
            ("elbow", [3, 3, 3], 1),
            ("elbow", [84, 76, 43, 3], 1),
            ("elbow", [0.84, 0.76, 0.43, 0.03], 1),  # equal on paper, decided by the first and not by rounding
            ("gap", [0.9, 0.8, 0.7], 1),
            ("gap", [1e14 + 2, 1e14 + 1, 1e14 - 1], 2),
            ("mass:0.8", [0, 0, 0, 0, 0], 4),  # of equal scores k of n hold k/n, as typed
            ("mass:0.3", [7] * 10, 3),
            ("mass:0.30000000000001", [7] * 10, 4),
            ("mass:0.1", [1e300] * 10, 1),
            ("mass:0.5", [1e300, 1e300, -1e300], 1),
            ("mass:0.75", [LOG_3, 0], 1),
            ("mass:0.7500001", [LOG_3, 0], 2),
            ("mass:0.9", [1000 + LOG_3, 1000, -1000], 2),
            ("mass:.5", [-1000 + LOG_3, -1000], 1),
            ("mass:0.01", [2, 1], 1),
            ("mass:1", [3, 2, 1], 3),
            ("mass:1.0", [0, -1000], 1),  # e⁻¹⁰⁰⁰ changes no sum
            ("mass:0.5", [4], 1),
        ],
    )
    def test_where_a_policy_cuts(self, policy, scores, k):
        assert Policy.of(policy).chosen(facts_of([scores]), self.wide).tolist() == [k]

    def test_the_bounds_hold_whatever_the_policy_says(self):
        facts = facts_of([[9, 1, 1, 1, 1, 1], []])
        for name in ("fixed:1", "gap", "elbow", "threshold:0", "threshold:9", "mass:0.1", "mass:1"):
            chosen = Policy.of(name).chosen(facts, Bounds())
            assert 2 <= chosen[0] <= 3
            assert chosen[1] == 0
        assert Policy.of("threshold:10").chosen(facts, Bounds()).tolist() == [0, 0]

    @given(lists)
    def test_gap_and_elbow_are_those_of_a_plain_loop(self, scores):
        facts = facts_of(scores)
        bounds = Bounds()
        gaps, elbows = [], []
        for one in scores:
            low, high = bounds.of(len(one))
            cuts = [(one[k - 1] - one[k], -k) for k in range(max(low, 1), len(one))]
            gaps.append(min(max(-max(cuts)[1] if cuts else len(one), low), high))
            line = [one[0] + (one[-1] - one[0]) * i / max(len(one) - 1, 1) for i in range(len(one))] if one else []
            below = [(round(line[i] - one[i], 9), -i) for i in range(len(one))]
            elbows.append(min(max(-max(below)[1] if below else 0, low), high))
        assert Policy.of("gap").chosen(facts, bounds).tolist() == gaps
        assert Policy.of("elbow").chosen(facts, bounds).tolist() == elbows

    @given(
        st.lists(st.decimals(-1, 1, places=3), min_size=1, max_size=9).map(lambda s: sorted(s, reverse=True)),
        st.sampled_from(["0.01", "0.3", "7", "100", "1e6", "1e-250"]).map(Decimal),
        st.sampled_from(["0", "-1", "0.1", "1000", "-1e6"]).map(Decimal),
        st.sampled_from([Bounds(), wide]),
        st.booleans(),
    )
    def test_scaling_and_shifting_change_no_number(self, scores, scale, shift, bounds, as_decimals):
        """Computed in decimals or in doubles; a threshold moves along, and a softmax knows no shift alone."""

        def moved(number, by):
            return float(number * by + shift * by) if as_decimals else (float(number) + float(shift)) * float(by)

        for by, names in {
            scale: ["fixed:2", "gap", "elbow", f"threshold:{scores[len(scores) // 2]}"],
            Decimal(1): ["mass:0.3", "mass:0.8"],
        }.items():
            after = [moved(score, by) for score in scores]
            for name in names:
                other = f"threshold:{after[len(scores) // 2]!r}" if name.startswith("threshold") else name
                k = [
                    Policy.of(text).chosen(facts_of([one]), bounds).tolist()
                    for text, one in ((name, [*map(float, scores)]), (other, after))
                ]
                assert k[0] == k[1], (name, scores, after)

    @given(lists, st.integers(1, 20).map(lambda n: n / 20), st.sampled_from([-1e6, 0.0, 2.0**60]))
    def test_mass_shows_the_fewest_that_hold_the_share(self, scores, share, shift):
        """Wherever the scores begin; sums within rounding of the share may fall on either side of it."""
        facts = facts_of([[float(score) + shift for score in one] for one in scores])
        chosen = Policy.of(f"mass:{share}").chosen(facts, self.wide).tolist()
        for one, k in zip(([score - shift for score in row] for row in facts_scores(facts)), chosen):
            weights = [math.exp(score - max(one)) for score in one]
            total = math.fsum(weights)
            assert math.fsum(weights[:k]) >= (share - 1e-12) * total
            assert not k or math.fsum(weights[: k - 1]) < (share + 1e-12) * total

    @given(st.integers(1, 60), st.integers(1, 60), st.floats(-1e300, 1e300))
    def test_mass_is_exact_for_equal_scores(self, n, k, score):
        share = f"{min(k, n) / n:.17f}"
        chosen = Policy.of(f"mass:{share}").chosen(facts_of([[score] * n]), self.wide)
        assert chosen.tolist() == [next(m for m in range(1, n + 1) if m / n >= float(share))]

    @given(lists, st.integers(0, 10))
    def test_what_is_shown_is_the_top_of_the_list(self, scores, k):
        gold = [[f"s{place}" for place in range(0, len(one), 2)] for one in scores]
        facts = facts_of(scores, gold)
        shown = np.minimum(k, facts.candidates)
        assert shown_hits(facts, shown).tolist() == [(n + 1) // 2 for n in shown.tolist()]

    def test_names(self):
        assert [*POLICIES] == ["fixed", "threshold", "gap", "elbow", "mass"]
        assert all(kind.meaning for kind in POLICIES.values())
        for name, message in {
            "fixed": "expected fixed:k",
            "gap:3": "expected gap",
            "fixed:0": "expected an integer, 1 or more after the colon",
            "threshold:x": "expected a number after the colon",
            "elbw": "did you mean elbow?",
            "mass": "expected mass:share",
            **{
                f"mass:{share}": "expected a number above 0 and at most 1, as 0.8, after the colon"
                for share in ("0", "0.0", "-0.1", "1.1", "80", "80%", "nan", "inf", "1e-1", "", "0.8:2")
            },
        }.items():
            with pytest.raises(UserError, match=message.replace("?", r"\?")):
                Policy.of(name)

    def test_scores_are_needed_and_must_not_rise(self):
        with pytest.raises(UserError, match="a selection policy needs scores"):
            Policy.of("gap").chosen(rankings_of([[]], [["a", "b"]]), Bounds())
        with pytest.raises(UserError, match="post 1, criterion all: the scores rise along the list"):
            Policy.of("gap").chosen(facts_of([[2, 1], [1, 2]]), Bounds())
        assert Policy.of("fixed:2").chosen(rankings_of([[]], [["a", "b"]]), Bounds()).tolist() == [2]
