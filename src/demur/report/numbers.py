"""Numbers of an artifact as a report finds and names them: values, intervals, titles."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any

from demur.artifact_numbers import DeltaNumbers, Ends, PairedNumbers
from demur.errors import unknown
from demur.metrics import METRICS
from demur.verdict import three

if TYPE_CHECKING:
    from collections.abc import Mapping

    from demur.artifact import Metrics
    from demur.artifact_numbers import VariantNumbers

UNDEFINED = "–"
_DIGITS, _MOST_DIGITS = 6, 17
KEYS = ("cmax", "aurc_full", "augrc_full", "aurc_at_c", "augrc_at_c")


def runs_of(entry: VariantNumbers | PairedNumbers) -> tuple[VariantNumbers, ...]:
    """The numbers of the one run, or of left and right."""
    return (entry.left, entry.right) if isinstance(entry, PairedNumbers) else (entry,)


def title(key: str, one: VariantNumbers) -> str:
    """A key as the registry spells it, with the coverage of a cut area."""
    area = {"aurc_at_c": one.aurc_at_c, "augrc_at_c": one.augrc_at_c}.get(key)
    stem = next(name for name, metric in METRICS.items() if metric.key == key).removesuffix("@C")
    spelled = "Cmax" if stem == "cmax" else stem.replace("aurc", "AURC").replace("augrc", "AUGRC")
    if area is None:
        return spelled
    if area.requested is None:
        return f"{spelled} to C_common {area.used:.3g}"
    ends_before = "" if area.used == area.requested else f" (ends at {area.used:.3g})"
    return f"{spelled} to {area.requested:.3g}{ends_before}"


def value_of(one: VariantNumbers, key: str) -> float | None:
    """The number under a key; of a cut area, its value."""
    value = getattr(one, key)
    return value if value is None or isinstance(value, float) else value.value


def measured(one: VariantNumbers, key: str) -> float | None:
    """The number under a key, unless nothing stands behind it: the areas of no answers are 0 and measure nothing."""
    return value_of(one, key) if key == "cmax" or (one.defined and not (is_cut(key) and nothing_common(one))) else None


def is_cut(key: str) -> bool:
    """Whether an area ends at a coverage that was chosen, or that both runs reach."""
    return key in ("aurc_at_c", "augrc_at_c")


def nothing_common(one: VariantNumbers) -> bool:
    """Whether there is no coverage that both runs reach."""
    return one.augrc_at_c.requested is None and one.augrc_at_c.used == 0


def ends_at(one: VariantNumbers, key: str, coverage: str | None = None) -> Ends | None:
    """The interval that was asked for, or the recommended one."""
    if one.bootstrap is None:
        return None
    found: Any = (one.bootstrap.ci95_recommended if one.bootstrap.ci is None else one.bootstrap.ci).get(key)
    ends = found if coverage is None or found is None else found.get(coverage)
    return Ends(**ends) if isinstance(ends, dict) else ends


def bound_of(one: VariantNumbers, key: str) -> float | None:
    """What a number is at most, where nothing went wrong."""
    return one.bootstrap.upper_bound95.get(key) if one.bootstrap else None


def level_of(one: VariantNumbers) -> str:
    """The name of the intervals that are shown."""
    asked = one.bootstrap.ci if one.bootstrap else None
    return "95 % interval" if asked is None else f"{100 * asked['level']:.4g} % interval"


def usable_threshold(threshold: float, next_lower: float) -> str:
    """A threshold as somebody can type it: at most the true one, and above the confidence that is to be left out.

    >>> usable_threshold(2 / 3, 0.5), usable_threshold(0.3, 0.0), usable_threshold(0.12345678, 0.12345671)
    ('0.666666', '0.3', '0.12345678')
    """
    for digits in range(_DIGITS, _MOST_DIGITS):
        below = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal_from_float(threshold)
        for text in (f"{threshold:.{digits}g}", f"{float(below):.{digits}g}"):
            if next_lower < float(text) <= threshold:
                return text
    return repr(threshold)


def threshold_at(one: VariantNumbers, point: int) -> str:
    """The threshold of a working point: it accepts that point's answers and no more."""
    threshold, *lower = one.curve.threshold[point : point + 2]
    return usable_threshold(threshold, lower[0] if lower else -math.inf)


def interval_text(ends: Ends | None) -> str:
    """An interval to three digits."""
    return UNDEFINED if ends is None else f"[{three(ends.low)}, {three(ends.high)}]"


def differences_of(metrics: Metrics, variant: str) -> Mapping[str, DeltaNumbers | Mapping[str, DeltaNumbers]]:
    """The paired differences under one variant, by key; none where nothing is compared."""
    return (metrics.comparison.deltas or {}).get(variant, {})


def narrowed(metrics: Metrics, names: str | None) -> Metrics:
    """The artifact with these variants alone, in this order; names are separated by commas."""
    if names is None:
        return metrics
    there = metrics.confidence_variants
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in there:
            raise unknown("confidence variant of this artifact", name, there)
    return metrics.model_copy(update={"confidence_variants": {name: there[name] for name in chosen}})
