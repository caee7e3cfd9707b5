"""Random data for engines to agree on, and everything that is taken of their replicates."""

import os
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np

from demur import Graded, Key, Measure, Plan
from demur.inference.bands import RiskColumns
from demur.inference.rows import Row
from demur.inference.views import CurveView, SharedView, drawn_from
from demur.sampling.graded import Clusters
from demur.sampling.resample import Ask, Joint, left_out, resampled

SWEPT = (
    "cmax risk aurc augrc naurc naugrc eaurc eaugrc aurc@0.5 augrc@0.5 aurc@1 aurc@~0.3333333333333333 risk@0.1 "
    "risk@1/3 risk@0.9"
)
RARE = "aurc_achievable aurc_harmonic aurc_sele coverage@risk=0.3 risk@threshold=0.5 matched_risk@0.4"
MOST_LEFT_OUT = 10_000
SIZES = (1, 2, 3, 7, 16, 40, 150, 400, 3000)


@contextmanager
def engine(name):
    """What `DEMUR_ENGINE` says, for a while."""
    before = os.environ.get("DEMUR_ENGINE")
    os.environ["DEMUR_ENGINE"] = name
    try:
        yield
    finally:
        del os.environ["DEMUR_ENGINE"]
        if before is not None:
            os.environ["DEMUR_ENGINE"] = before


def random_graded(rng, units, owner, clusters):
    """Ties or none, whole or real losses, some below 0, few answers or all, clusters that may have no unit at all."""
    answered = rng.random(units) < rng.choice([0.0, 0.1, 0.7, 1.0], p=[0.04, 0.16, 0.4, 0.4])
    n = int(answered.sum())
    sure = rng.random(n) if rng.random() < 0.5 else rng.integers(0, rng.integers(1, 9), n) / 8
    loss = rng.random(n).round(int(rng.choice([1, 3, 17]))) if rng.random() < 0.5 else rng.integers(0, 4, n)
    if rng.random() < 0.2:
        loss = loss - 1
    held = Clusters(range(clusters), np.bincount(owner, minlength=clusters), owner[answered])
    largest = float(np.abs(loss).max(initial=1))
    return Graded(units, loss, sure, divisor=int(rng.integers(1, 4)), clusters=held, largest_loss=largest)


def random_systems(seed, units=None):
    """Two systems on the same clusters."""
    rng = np.random.default_rng(seed)
    units = int(rng.choice(SIZES[:-1])) if units is None else units
    clusters = int(rng.choice([1, 2, 5, 20, 41, units]))
    owner = np.arange(units) % clusters if rng.random() < 0.4 else rng.integers(0, rng.integers(1, clusters + 1), units)
    strata = tuple(rng.integers(0, 2, clusters).tolist()) if rng.random() < 0.2 else None
    return [random_graded(rng, units, owner, clusters) for _ in range(2)], strata


def everything(systems, plan, names=f"{SWEPT} {RARE}"):
    """Every number of each system in every replicate, its error, the bands, and what the two have in common."""
    views = [CurveView.of(graded) for graded in systems]
    shared = [SharedView(tuple(views), index) for index in range(2)]
    numbers = [Measure.of(name) for name in names.split()]
    rows = [Row.of_curve(Key("s", str(number)), view, number) for view in views for number in numbers]
    rows += [
        Row.of_curve(Key("s", name), view, Measure.of(name))
        for view in shared
        for name in ("aurc@C_common", "augrc@C_common")
    ]
    asks = [Ask(drawn_from(row.view), row.columns(frozenset({"errors"}))) for row in rows]
    asks += [Ask(view.table, RiskColumns.of(view.curve)) for view in views]
    apart = Joint((rows[2].view.table, rows[2 + len(numbers)].view.table))
    asks.append(Ask(apart, partial(_apart, rows[2], rows[2 + len(numbers)])))
    return resampled(asks, plan) + (left_out(asks[:3], plan) if len(views[0].ids) <= MOST_LEFT_OUT else [])


def _apart(row, other, samples):
    apart = row.number(samples[0]) - other.number(samples[1])
    return {"squares": samples[0].weights.squares([apart])[0], "influence": apart.influence.T}


def assert_same_bits(found, expected):
    """Equal in every bit, but for which nan a nan is."""
    for columns, wanted in zip(found, expected, strict=True):
        assert columns.keys() == wanted.keys()
        for name, values in columns.items():
            assert np.array_equal(values, wanted[name], equal_nan=True), name
            zero = wanted[name] == 0
            assert np.array_equal(np.signbit(values[zero]), np.signbit(wanted[name][zero])) or name == "influence", name


def assert_same_numbers(found, expected, systems):
    """Equal to rounding, and undefined in the same replicates."""
    loss = max(float(np.abs(graded.loss).max(initial=0)) / graded.divisor for graded in systems)
    for columns, wanted in zip(found, expected, strict=True):
        assert columns.keys() == wanted.keys()
        for name, values in columns.items():
            if name == "influence":  # of clusters that are not drawn it is of no consequence
                continue
            other = wanted[name]
            assert np.array_equal(np.isnan(values), np.isnan(other)), name
            scale = max(loss, 1e-300) if name != "error" else max(np.nanmax(np.abs(other), initial=0), 1e-3 * loss)
            assert np.nanmax(np.abs(values - other), initial=0) <= 1e-11 * max(scale, 1e-300), name


def compared(seed, engines, *, units=None, names=f"{SWEPT} {RARE}", **options):
    """All engines on one random pair of systems, in so many `resamples`, `threads` and replicates to a `block`.

    The kernel gives the numbers of numpy, and the same bits with every instruction set, in any block, on any threads.
    """
    systems, strata = options.pop("systems", None) or random_systems(seed, units)
    plan = Plan(options.pop("resamples", 50), seed=seed, strata=strata)
    with engine("numpy"):
        expected = everything(systems, plan, names)
    with engine("c"):
        by_kernel = everything(systems, plan, names)
    assert_same_numbers(by_kernel, expected, systems)
    for name in engines:
        with engine(name):
            assert_same_bits(everything(systems, replace(plan, **options), names), by_kernel)
