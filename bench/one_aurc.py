"""One AURC in every bootstrap sample, as others compute it; ours is that AURC, fourteen numbers, or the whole job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from replicates import JOBS, fourteen_numbers, graded_of, whole_job
from timing import Ratio, by_turns, installed

from demur import Curve, Graded, Measure, Plan, Table, bootstrap
from demur.sampling.draws import drawn_clusters

SIZES = {328: 10_000, 10_000: 2_000}  # units that are their own cluster, and replicates
LOOP, VECTORISED = "≥ 80", "≥ 25"
BATCH = 100
AURC = Measure.of("aurc")


def aurc_of_clusters(graded: Graded, width: int) -> Callable[..., np.ndarray]:
    """The AURC of drawn clusters, of so many units each, for many samples at once; equal confidences are a plateau."""
    clusters = graded.grouped
    answers = np.bincount(clusters.of_answer, minlength=len(clusters.ids))
    order = np.argsort(clusters.of_answer, kind="stable")
    slot = np.arange(len(order)) - np.repeat(np.cumsum(answers) - answers, answers)
    confidence, loss = np.full((len(clusters.ids), width), -np.inf), np.zeros((len(clusters.ids), width))
    confidence[clusters.of_answer[order], slot] = graded.confidence[order]
    loss[clusters.of_answer[order], slot] = graded.loss[order] / graded.divisor

    def aurc(drawn: np.ndarray, axis: int = -1) -> np.ndarray:  # noqa: ARG001  (scipy says which: the last)
        units = (*drawn.shape[:-1], drawn.shape[-1] * width)
        sure, lost = confidence[drawn].reshape(units), loss[drawn].reshape(units)
        by_sureness = np.argsort(-sure, axis=-1)
        sure, lost = (np.take_along_axis(column, by_sureness, axis=-1) for column in (sure, lost))
        last = np.append(sure[..., 1:] != sure[..., :-1], np.ones((*units[:-1], 1), bool), axis=-1) & (sure > -np.inf)
        rank = np.arange(1.0, units[-1] + 1)
        risk = np.cumsum(lost, axis=-1) / rank
        place = np.maximum.accumulate(np.where(last, np.arange(units[-1]), -1), axis=-1)
        before = np.append(np.full((*units[:-1], 1), -1), place[..., :-1], axis=-1)
        first = np.where(before < 0, risk, np.take_along_axis(risk, np.maximum(before, 0), axis=-1))
        return np.sum(np.where(last, (rank - 1 - before) * (risk + first), 0), axis=-1) / (2 * units[-1])

    return aurc


def of_participants() -> Iterator[Ratio]:
    """Participants resampled, and in every sample the very AURC that we compute."""
    from scipy import stats  # noqa: PLC0415

    for name, (confidence, people, replicates, _) in [*JOBS.items()][:3]:
        graded, few = graded_of(confidence, people), max(40, 25_000 // people)
        aurc, drawn = aurc_of_clusters(graded, 8), drawn_clusters(7, np.arange(20), people)
        ours = bootstrap(lambda sample: {"": AURC(sample)}, Table.of(graded), plan=Plan(20, seed=7))[""]
        if not np.allclose(aurc(drawn), ours, rtol=1e-12):
            raise SystemExit("the two ways do not agree: nothing to compare")
        settings = {"batch": BATCH, "n_resamples": few, "method": "percentile", "rng": np.random.default_rng(0)}
        peers = {
            (form, asked): partial(stats.bootstrap, (np.arange(people),), aurc, vectorized=vectorized, **settings)
            for form, vectorized, asked in (("loop", False, LOOP), ("vectorised", True, VECTORISED))
        }
        jobs = {"fourteen numbers": fourteen_numbers, "the whole job": whole_job}
        taken = by_turns({job: make(graded, replicates) for job, make in jobs.items()} | peers)
        for job in jobs:
            each = taken[job] / replicates
            for form, asked in peers:
                peer = f"this AURC by scipy.stats.bootstrap, {form}"
                times = taken[form, asked] / few / each
                yield Ratio(f"{job}, {name}", f"{each * 1e6:.2f} µs per replicate", peer, times, asked)


def aurc_of_sorted(loss: np.ndarray, confidence: np.ndarray, axis: int = -1) -> np.ndarray:
    """One AURC without ties, as users of scipy vectorise it."""
    order = np.argsort(-confidence, axis=axis)
    risk = np.cumsum(np.take_along_axis(loss, order, axis=axis), axis=axis) / np.arange(1, loss.shape[axis] + 1)
    return np.mean(risk, axis=axis)


def tie_aware_aurc(loss: np.ndarray, confidence: np.ndarray) -> float:
    """One AURC of any data, exactly."""
    return AURC(Curve.of(Graded(len(loss), loss, confidence)))


def aurc_of_fd_shifts(loss: np.ndarray, confidence: np.ndarray) -> float:
    from fd_shifts.analysis.rc_stats import RiskCoverageStats  # noqa: PLC0415

    return float(RiskCoverageStats(confids=confidence, residuals=loss).aurc)


def of_units() -> Iterator[Ratio]:
    """Units that are their own clusters, and repeat in a sample: without plateaus it is another AURC, and less work."""
    from scipy import stats  # noqa: PLC0415

    forms = {
        "scipy.stats.bootstrap, loop": (aurc_of_sorted, False, LOOP),
        "scipy.stats.bootstrap, vectorised": (aurc_of_sorted, True, VECTORISED),
        "scipy.stats.bootstrap, loop that knows ties": (tie_aware_aurc, False, ""),
    }
    if installed("fd_shifts"):
        forms["fd-shifts"] = (aurc_of_fd_shifts, False, "")
    for size, replicates in SIZES.items():
        rng = np.random.default_rng(0)
        confidence, loss, few = rng.random(size), rng.integers(0, 2, size).astype(float), max(40, 200_000 // size)
        graded, plan = Graded(size, loss, confidence), Plan(replicates, seed=7, threads=1)
        jobs = {
            "one AURC": partial(bootstrap, lambda sample: {"": AURC(sample)}, Table.of(graded), plan=plan),
            "fourteen numbers": fourteen_numbers(graded, replicates),
            "the whole job": whole_job(graded, replicates),
        }
        settings = {"batch": 100, "paired": True, "n_resamples": few, "method": "percentile", "rng": rng}
        peers = {
            name: partial(stats.bootstrap, (loss, confidence), statistic, vectorized=vectorized, **settings)
            for name, (statistic, vectorized, _) in forms.items()
        }
        taken = by_turns(jobs | peers)
        for job in jobs:
            each = taken[job] / replicates
            shown = f"{job}, {size} units, each its own cluster", f"{each * 1e6:.2f} µs per replicate"
            for name, (_, _, asked) in forms.items():
                yield Ratio(*shown, f"one AURC by {name}", taken[name] / few / each, "" if job == "one AURC" else asked)
            if not installed("fd_shifts"):
                yield Ratio(*shown, "one AURC by fd-shifts", None)


def ratios(_: Path | None) -> Iterator[Ratio]:
    yield from of_participants()
    yield from of_units()
