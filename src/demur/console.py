"""Console: results as lines of text that line up. What comes from a file is shown, never obeyed by the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.errors import shown
from demur.fitting import QUALITY
from demur.variants import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from demur.calibration import Calibration, Quality
    from demur.items import Items

_UNDEFINED = "–"


def table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows of text with their columns lined up: the first to the left, numbers to the right."""
    listed = [*rows]
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    for first, *rest in listed:
        cells = (f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([f"{first:<{widths[0]}}", *cells]).rstrip()


def variants_text(items: Items, reasons: Mapping[str, str | None]) -> str:
    """Which variants a run can serve, what each is, and why not the others."""
    width = max(map(len, reasons))
    lines = [f"{len(items.cluster_ids)} {items.noun}s, {len(items)} units, {int(items.answered.sum())} answered", ""]
    for name, reason in reasons.items():
        about = VARIANTS[name].meaning if name in VARIANTS else "a calibration applied"
        lines.append(f"{name:<{width}}  {'yes' if reason is None else 'no '}  {about if reason is None else reason}")
    lines += ["", "Two of them combined: secondary:<variant>+<variant>:average, or :product."]
    return "\n".join(lines)


def calibration_text(calibration: Calibration) -> str:
    """What was fitted on what, and how well it does."""
    training, checked = calibration.training, calibration.validation
    inputs = ", ".join(map(shown, calibration.features or ())) or f"the variant {shown(calibration.variant)}"
    noun = checked.grouped_by
    counts = f"{training.clusters} {noun}s, {training.n} answered units, mean target {training.positive_rate:.1%}"
    points = f"{training.inputs_distinct} different inputs, {training.outputs_distinct} confidences"
    lines = [f"{calibration.method} on {inputs}, target {calibration.target}", f"{counts}; {points}"]
    lines += [f"nulls filled: {shown(name)} {count}" for name, count in training.nulls_filled.items()]
    sides = {"as given": checked.as_given, "in sample": checked.in_sample}
    sides[f"out of {checked.folds} folds by {noun}"] = checked.cross_validated
    there = {label: one for label, one in sides.items() if one is not None}
    lines += ["", *table([("", *QUALITY), *((label, *_numbers(one)) for label, one in there.items())])]
    lines += [f"{_UNDEFINED} {name}: {reason}" for name, reason in checked.in_sample.undefined.items()]
    if checked.reason:
        lines.append(f"not validated on other {noun}s: {checked.reason}")
    return "\n".join([*lines, *(f"warning ({w.code}, {shown(w.where)}): {w.message}" for w in calibration.warnings)])


def _numbers(quality: Quality) -> Iterator[str]:
    for name in QUALITY:
        value = getattr(quality, name)
        yield _UNDEFINED if value is None else f"{value:.4f}"
