"""Planning of a comparison: how many participants it needs, from the results of a pilot, in words."""

from dataclasses import replace

from demur.drawing.labels import isolated
from demur.errors import UserError, shown
from demur.inference.key import Minus
from demur.inference.planning import POWER, Pilot, needed
from demur.results.table import Results
from demur.show.text import interval_text, three, title_of

_PAIR = 2


def plan_text(results: Results, difference: float | None = None, power: float = POWER) -> str:
    """A text that says how many participants the next study needs, from a pilot of two systems."""
    study = results.selective
    if len(results.systems) != _PAIR:
        raise UserError(f"a pilot is of two systems, not of {len(results.systems)}")
    (other,) = (name for name in results.systems if name != study.baseline)
    number = study.headline
    estimate = results[replace(number, system=other, minus=Minus("system", str(study.baseline)))]
    pilot = Pilot.of(estimate, study.clusters_included)
    plan = needed(pilot, difference, power)
    title = title_of(results[replace(number, system=other)])
    target = abs(pilot.difference if difference is None else difference)
    ends = "" if estimate.recommended is None else f" {interval_text(estimate.recommended)}"
    compared = f"{isolated(other)} − {isolated(str(study.baseline))}, {title} under {shown(number.confidence)}"
    origin = "" if difference is not None else " (that of the pilot)"
    rough = f"from {plan.low} (its 10 % point) to {plan.high} (its 90 % point)"
    enough = f"{plan.clusters} {study.noun}s"
    lines = [
        f"Pilot: {pilot.clusters} {study.noun}s, {compared}: {three(pilot.difference)}{ends}",
        f"Standard deviation per {study.noun}: {three(pilot.spread)}",
        f"To show a difference of {three(target)}{origin} with a power of {power:.0%} at 5 %: {enough}",
        f"The pilot knows that standard deviation only roughly: {rough}. To be on the safe side, plan for {plan.high}.",
    ]
    if difference is None:
        lines.append("The pilot's difference is rough as well: plan with the smallest one that matters (--difference).")
    return "\n".join(lines)
