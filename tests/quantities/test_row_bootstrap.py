"""The bootstrap of the row API: any function, and the fast way to the same numbers for ours."""

import itertools
import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

import demur
from demur import ItemPrediction, UserError, bootstrap_by_participant, paired_bootstrap_delta_by_participant
from demur.sampling.draws import drawn_clusters
from parametrized import parametrize_few

RUN = {"n_resamples": 60, "seed": 3}


def rows(seed, participants=7):
    rng = np.random.default_rng(seed)
    return [
        ItemPrediction(
            300 + person, item, None if rng.random() < 0.3 else int(rng.integers(4)), int(rng.integers(4)), c
        )
        for person in range(participants)
        for item, c in enumerate(rng.integers(0, 4, 8).tolist())
    ]


def with_predictions_of(others, items):
    """The same people and truths, answered by another system."""
    return [replace(row, pred=other.pred, confidence=other.confidence) for row, other in zip(items, others)]


OURS = {
    "cmax": demur.compute_cmax,
    "aurc": partial(demur.compute_aurc, loss="abs_norm"),
    "augrc": partial(demur.compute_augrc, loss="abs"),
    "optimal": partial(demur.compute_aurc_optimal, loss="abs"),
    "augrc optimal": partial(demur.compute_augrc_optimal, loss="abs"),
    "eaurc": partial(demur.compute_eaurc, loss="zero_one"),
    "eaugrc": partial(demur.compute_eaugrc, loss="abs"),
    "achievable": partial(demur.compute_aurc_achievable, loss="abs"),
    "aurc at": partial(demur.compute_aurc_at_coverage, max_coverage=0.5, loss="abs"),
    "augrc at": partial(demur.compute_augrc_at_coverage, max_coverage=0.5, loss="abs"),
    "risk at": partial(demur.compute_risk_at_coverage, target_coverage=0.7, loss="abs"),
}


@parametrize_few("function", OURS.values(), 3, ids=OURS)
def test_the_fast_way_and_the_slow_way_agree(function):
    fast = bootstrap_by_participant(rows(1), metric_fn=function, **RUN)
    slow = bootstrap_by_participant(rows(1), metric_fn=lambda items: function(items), **RUN)
    assert fast.point_estimate == slow.point_estimate
    assert fast.drop_rate == slow.drop_rate
    assert fast.std_error == pytest.approx(slow.std_error, rel=1e-10)
    assert fast.ci95 == pytest.approx(slow.ci95, rel=1e-10) if slow.ci95 else fast.ci95 is None


def test_the_interval_is_the_percentiles_of_the_drawn_participants():
    items, calls = rows(2), []

    def spy(sample):
        calls.append([row.participant_id for row in sample])
        return float(len({row.participant_id for row in sample}))

    found = bootstrap_by_participant(items, metric_fn=spy, **RUN)
    drawn = drawn_clusters(3, np.arange(60), 7)
    assert calls[1:] == [[300 + person for person in row for _ in range(8)] for row in drawn.tolist()]
    distinct = [float(len(set(row))) for row in drawn.tolist()]
    assert found.ci95 == tuple(np.percentile(distinct, [2.5, 97.5]))
    assert found.std_error == np.std(distinct, ddof=1)
    assert found.n_resamples == 60


def test_rows_in_another_order_give_the_same_interval():
    items = rows(4)
    function = partial(demur.compute_aurc, loss="abs")
    assert bootstrap_by_participant(items[::-1], metric_fn=function, **RUN) == bootstrap_by_participant(
        items, metric_fn=function, **RUN
    )


def test_replicates_that_do_not_reach_are_dropped_and_counted():
    found = bootstrap_by_participant(
        rows(5), metric_fn=lambda sample: None if sample[0].participant_id == 300 else 1.0, n_resamples=400, seed=1
    )
    assert found.point_estimate is None
    assert found.ci95 is None
    assert found.drop_rate == pytest.approx(1 / 7, abs=0.06)
    mostly = bootstrap_by_participant(
        rows(5), metric_fn=lambda s: 1.0 if s[0].participant_id == 300 else None, n_resamples=400, seed=1
    )
    assert mostly.point_estimate == 1.0
    assert mostly.ci95 is None, "more than half the replicates have no number"


def test_exactly_half_dropped_still_has_an_interval_and_one_replicate_no_error():
    turns = itertools.cycle([1.0, None])
    found = bootstrap_by_participant(rows(5), metric_fn=lambda _: next(turns), n_resamples=100, seed=1)
    assert (found.drop_rate, found.ci95) == (0.5, (1.0, 1.0))
    single = bootstrap_by_participant(rows(5), metric_fn=lambda _: 1.0, n_resamples=1, seed=1)
    assert (single.std_error, single.ci95) == (None, (1.0, 1.0))
    pair = bootstrap_by_participant(rows(5), metric_fn=lambda _: 1.0, n_resamples=2, seed=1)
    assert pair.std_error == 0.0


def test_one_participant_collapses_onto_the_point():
    found = bootstrap_by_participant(rows(6, participants=1), metric_fn=partial(demur.compute_aurc, loss="abs"), **RUN)
    assert found.ci95 == (found.point_estimate, found.point_estimate)
    assert found.std_error == 0.0


@pytest.mark.slow
def test_paired_differences_share_the_draws():
    left, right = rows(7), with_predictions_of(rows(8), rows(7))
    function = partial(demur.compute_augrc, loss="abs")
    found = paired_bootstrap_delta_by_participant(left, right, metric_fn=function, **RUN)
    slow = paired_bootstrap_delta_by_participant(left, right, metric_fn=lambda items: function(items), **RUN)
    assert found.delta_point_estimate == found.point_estimate_right - found.point_estimate_left
    assert found.ci95 == pytest.approx(slow.ci95, rel=1e-9)
    swapped = paired_bootstrap_delta_by_participant(right, left, metric_fn=function, **RUN)
    assert swapped.ci95 == pytest.approx((-found.ci95[1], -found.ci95[0]))
    same = paired_bootstrap_delta_by_participant(left, left, metric_fn=function, **RUN)
    assert (same.delta_point_estimate, same.ci95, same.std_error) == (0.0, (0.0, 0.0), 0.0)


def test_no_resamples_give_the_point_alone():
    found = bootstrap_by_participant(rows(1), metric_fn=demur.compute_cmax, n_resamples=0, seed=None)
    assert (found.ci95, found.std_error, found.drop_rate) == (None, None, 0.0)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": None},
        {"seed": -1},
        {"n_resamples": -1},
        {"items": []},
        {"items": [ItemPrediction(1, 0, 1, 1, 1), ItemPrediction("1", 0, 1, 1, 1)]},
    ],
)
def test_misuse_is_one_line(change, message):
    given = {"items": rows(1), "metric_fn": demur.compute_cmax, **RUN} | change
    with pytest.raises(UserError) as refused:
        bootstrap_by_participant(given.pop("items"), **given)
    message(refused.value)


def test_different_items_or_truths_cannot_be_paired():
    left = rows(1)
    for right in (
        [replace(left[0], gt=(left[0].gt + 1) % 4), *left[1:]],
        left[1:],
        [replace(left[0], item_index=99), *left[1:]],
    ):
        with pytest.raises(UserError, match="participant 300: items or ground truth differ"):
            paired_bootstrap_delta_by_participant(left, right, metric_fn=demur.compute_cmax, **RUN)
    assert paired_bootstrap_delta_by_participant(left, left[::-1], metric_fn=demur.compute_cmax, **RUN).ci95 == (
        0.0,
        0.0,
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, "1", [1], True])
def test_a_function_that_gives_no_number_is_refused(value):
    with pytest.raises(UserError, match="metric_fn gave .*, expected a finite number, or None"):
        bootstrap_by_participant(rows(1), metric_fn=lambda _: value, **RUN)


def test_any_callable_will_do():
    @dataclass
    class Share:
        value: float

        def __call__(self, items):
            return self.value * len(items)

    assert bootstrap_by_participant(rows(1), metric_fn=Share(0.5), **RUN).point_estimate == 28.0
    with pytest.raises(UserError, match="row 0 is {'pred': 1}, expected an ItemPrediction"):
        bootstrap_by_participant([{"pred": 1}], metric_fn=Share(1), **RUN)


def test_different_participants_cannot_be_paired():
    with pytest.raises(UserError, match="different participants .1 are on one side only"):
        paired_bootstrap_delta_by_participant(rows(1), rows(1, participants=6), metric_fn=demur.compute_cmax, **RUN)


def test_a_bad_row_is_refused_before_anything_is_drawn():
    bad = [*rows(1), ItemPrediction(300, 9, 1, 1, math.nan)]
    with pytest.raises(UserError, match="confidence nan"):
        bootstrap_by_participant(bad, metric_fn=partial(demur.compute_aurc, loss="abs"), **RUN)
