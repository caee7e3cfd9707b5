"""Certification: thresholds of a grid declared in advance are tested in sequence, and the last to pass is certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from demur.errors import UserError, registered, shown
from demur.extensions.decide.accepted import Accepted
from demur.extensions.decide.certifiers import CERTIFIERS, Certifier, Passing
from demur.extensions.decide.choosing import chosen_point, direction_of, inputs_of, own_scale, rule_members, signal_of
from demur.extensions.decide.rule import Guarantee, Measured, Needed, Rule, Tested, TunedOn
from demur.extensions.decide.targets import DecisionTarget, Typed, as_typed
from demur.extensions.decide.terms import Terms, check_units, grid_of, terms_of
from demur.facts.losses import GIVEN
from demur.files.strict_model import checked_time
from demur.options import as_blank, as_option
from demur.results.file_models import Input
from demur.sampling.draws import checked_seed, folds
from demur.sampling.graded import Graded


@dataclass(frozen=True, eq=False)
class Certification:
    """What a certification needs: method, terms, grid, units to test on, and units of other clusters to tune on."""

    certifier: Certifier
    terms: Terms
    grid: tuple[float, ...]
    graded: Graded
    tune: Graded | None = None

    def at(self, threshold: float, graded: Graded | None = None) -> tuple[Accepted, Passing]:
        """Count what a threshold accepts, and test it."""
        units = self.graded if graded is None else graded
        accepted = Accepted.of(units, own_scale(units, threshold))
        return accepted, self.certifier.test(accepted, self.terms)

    @cached_property
    def tuning_p(self) -> tuple[float, ...]:
        """The p-value of every threshold of the grid on the units for tuning."""
        if self.tune is None:
            return ()
        return tuple(float(self.at(threshold, self.tune)[1].p or 0.0) for threshold in self.grid)


def certify(  # noqa: PLR0913  (what is fixed beforehand, each by itself)
    graded: Graded,
    *,
    method: str = "guarded_t",
    risk: Typed | None = None,
    errors_per_100: Typed | None = None,
    grid: Sequence[Typed] | None = None,
    delta: Typed = "0.1",
    max_units: int | None = None,
    tune: Graded | None = None,
    split: bool = False,
    seed: int = 0,
    created_at: str | None = None,
    command: str | None = None,
) -> Rule:
    """Certify the lowest threshold of a grid whose risk is shown to be within a limit, and return it as a rule.

    `guarded_t` (approximate) and `betting` (exact) certify a wrong threshold in at most `delta` of all studies; `crc`
    keeps the errors per 100 units to the limit on average. The `grid` must be declared before these data are seen; by
    default it consists of the declared values of the signal. Thresholds are tested from the highest on until one fails.
    With `tune`, units of other clusters, testing starts at the threshold with the smallest p on those; with `split`, on
    half of the clusters, drawn by `seed`.

    >>> from demur import grade_units
    >>> people = [person for person in range(6) for _ in range(2)]
    >>> units = grade_units([2, 1] * 6, truth=[0] * 12, prediction=[0] * 11 + [1], loss="zero_one", clusters=people)
    >>> rule = certify(units, method="betting", risk="1/2", grid=[2, 1], delta="0.2", max_units=2, seed=1)
    >>> rule.threshold, [round(tested.p, 4) for tested in rule.guarantee.tested]
    (1.0, [0.1526, 0.0618])
    """
    checked_time(created_at)
    seed = checked_seed(seed)
    target = limit_of(method, risk, errors_per_100).of_loss(graded)
    certifier = CERTIFIERS[method]
    terms = terms_of(graded, target.value, delta, max_units)
    certified, tuning = _parts(graded, certifier, tune, seed if split else None)
    if tuning is not None:
        check_units(tuning, terms.max_units)
    thresholds = grid_of(signal_of(graded), grid, lowest_first=direction_of(graded) == "at_most")
    trial = Certification(certifier, terms, thresholds, certified, tuning)
    guarantee = _guarantee(trial, inputs_of(graded if tune is None else tune), seed if split else None)
    members = rule_members(graded, target, terms.max_units, created_at, command)
    chosen = chosen_point(graded, target, seed)
    rule = Rule(**members, threshold=guarantee.threshold, chosen=chosen, guarantee=guarantee)
    return rule.of_library(graded.library)


def limit_of(method: str, risk: Typed | None, errors_per_100: Typed | None) -> DecisionTarget:
    """Return the limit; raise an error unless it is of the kind the method bounds: a risk, or errors per 100 units."""
    certifier = registered("certification method", method, CERTIFIERS)
    target = DecisionTarget.of(risk=risk, errors_per_100=errors_per_100)
    if certifier.per_unit == (target.kind == "errors_per_100"):
        return target
    others = " or ".join(other.name for other in CERTIFIERS.values() if other.per_unit != certifier.per_unit)
    if certifier.per_unit:
        bounded = f"the errors per 100 units, not the risk of what is accepted: give {as_blank('errors_per_100')}"
    else:
        bounded = f"the risk of what is accepted, not the errors per 100 units: give {as_blank('risk')}"
    raise UserError(f"{method} bounds {bounded}, or take {others}")


def _parts(graded: Graded, certifier: Certifier, tune: Graded | None, seed: int | None) -> tuple[Graded, Graded | None]:
    """The units to certify on, and those to tune on, which belong to other clusters."""
    if tune is None and seed is None:
        return graded, None
    if certifier.per_unit:
        raise UserError(
            f"{certifier.name} has no p-values to tune by: leave out {as_option('tune')} and {as_option('split')}"
        )
    if tune is not None and seed is not None:
        raise UserError(f"tuning data are given: leave out {as_option('split')}, or {as_option('tune')}")
    clusters = graded.grouped
    if tune is not None:
        shared = {*clusters.ids} & {*tune.grouped.ids}
        if shared:
            first = next(name for name in clusters.ids if name in shared)
            raise UserError(f"{shown(first)} is in the tuning data as well: tune on other people than you certify on")
        if signal_of(tune) != signal_of(graded) or _loss_of(tune) != _loss_of(graded):
            raise UserError("the tuning data have another signal or another loss")
        return graded, tune
    if len(clusters.ids) == 1:
        raise UserError(f"one cluster cannot be split: give tuning data, {as_blank('tune')}")
    half = folds(seed or 0, len(clusters.ids), 2, purpose=1)
    return graded.of_clusters(half == 1), graded.of_clusters(half == 0)


def _loss_of(graded: Graded) -> tuple[str, int | None, Fraction | None]:
    """The loss, its divisor and the largest loss; no divisor for a column, as it depends on the digits in the data."""
    largest = None if graded.largest_loss is None else Fraction(graded.largest_loss) / graded.divisor
    return graded.loss_name, None if graded.loss_name == GIVEN else graded.divisor, largest


def sequence(trial: Certification) -> list[tuple[float, Accepted, Passing]]:
    """Test the thresholds of the grid in order, each at the same level, up to the first that fails."""
    first = int(np.argmin(trial.tuning_p)) if trial.tuning_p else 0
    tests = []
    for threshold in trial.grid[first:]:
        accepted, passing = trial.at(threshold)
        tests.append((threshold, accepted, passing))
        if not passing.passed:
            break
    return tests


def _guarantee(trial: Certification, tuned_inputs: tuple[Input, ...], seed: int | None) -> Guarantee:
    tests, terms, tune = sequence(trial), trial.terms, trial.tune
    passed = [(threshold, accepted) for threshold, accepted, passing in tests if passing.passed]
    threshold, accepted = passed[-1] if passed else (None, None)
    tuned_on = None
    if tune is not None:
        people = len(tune.grouped.ids)
        tuned_on = TunedOn(clusters=people, seed=seed, inputs=tuned_inputs, p=trial.tuning_p)
    return Guarantee(
        method=trial.certifier.name,
        alpha=as_typed(terms.alpha),
        delta=None if trial.certifier.per_unit else as_typed(terms.delta),
        largest_loss=float(terms.largest),
        max_units=terms.max_units,
        grid=trial.grid,
        tuned_on=tuned_on,
        clusters=len(trial.graded.grouped.ids),
        units=trial.graded.units,
        tested=tuple(_tested(*test) for test in tests),
        threshold=threshold,
        coverage=None if accepted is None else Measured.of(accepted.coverage.point, *accepted.coverage.interval()),
        risk=None if accepted is None else Measured.of(accepted.risk.point, *accepted.risk.interval()),
        needed=None if tests[-1][2].passed else _needed(trial, *tests[-1][:2]),
        assumes=trial.certifier.assumes,
    )


def _tested(threshold: float, accepted: Accepted, passing: Passing) -> Tested:
    risk, statistic = accepted.risk.point, passing.statistic
    return Tested(
        threshold=threshold,
        accepted=int(accepted.count.sum()),
        coverage=accepted.coverage.point,
        risk=risk if accepted.count.any() else None,
        statistic=statistic if statistic == statistic else None,  # noqa: PLR0124  (nan)
        p=passing.p,
        passed=passing.passed,
    )


def _needed(trial: Certification, threshold: float, accepted: Accepted) -> Needed:
    enough = trial.certifier.enough(accepted, trial.terms)
    return Needed(threshold=threshold, clusters=enough.clusters, reason=enough.reason)
