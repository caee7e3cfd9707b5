"""Console: results as lines of text that line up. What comes from a file is shown, never obeyed by the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, PairedNumbers
from demur.errors import harmless, shown
from demur.fitting import QUALITY
from demur.report.numbers import KEYS, UNDEFINED, bound_of, ends_at, interval_text, level_of, title, value_of
from demur.signals import SIGNALS
from demur.text_table import table
from demur.variants import VARIANTS
from demur.verdict import ends_of, three, verdict, which_is_better, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from demur.artifact import Input, Metrics
    from demur.artifact_numbers import VariantNumbers
    from demur.calibration import Calibration, Quality
    from demur.cautions import Caution
    from demur.items import Items


def variants_text(items: Items, reasons: Mapping[str, str | None]) -> str:
    """Which variants a run can serve, what each is, and why not the others."""
    names = {name: shown(name) for name in reasons}
    width = max(map(len, names.values()))
    lines = [f"{len(items.cluster_ids)} {items.noun}s, {len(items)} units, {int(items.answered.sum())} answered", ""]
    for name, reason in reasons.items():
        about = VARIANTS[name].meaning if name in VARIANTS else "a calibration applied"
        said = f"yes  {about}" if reason is None else f"no   {harmless(reason)}"
        lines.append(f"{names[name]:<{width}}  {said}")
    own = [shown(name) for name in items.signals if name not in SIGNALS]
    lines += ["", *([f"Signals of the run's own, which can be asked for by name: {', '.join(own)}."] if own else [])]
    lines += ["Two of them combined: secondary:<variant>+<variant>:average, or :product."]
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
    lines += [f"{UNDEFINED} {name}: {reason}" for name, reason in checked.in_sample.undefined.items()]
    if checked.reason:
        lines.append(f"not validated on other {noun}s: {checked.reason}")
    return "\n".join([*lines, *(f"warning ({w.code}, {shown(w.where)}): {w.message}" for w in calibration.warnings)])


def _numbers(quality: Quality) -> Iterator[str]:
    for name in QUALITY:
        value = getattr(quality, name)
        yield UNDEFINED if value is None else f"{value:.4f}"


def print_report(text: str) -> None:
    """A report on a terminal: headings and warnings stand out, and nothing in it is taken for markup."""
    from rich.console import Console  # noqa: PLC0415  (only a terminal pays for it)
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    for line in text.splitlines():
        style = "yellow" if line.startswith("warning") else "bold" if line.endswith("working points") else ""
        console.print(Text(line, style=style))


_WIDE = 110
_PLACES_SHOWN = 3


def evaluation_text(metrics: Metrics, width: int = _WIDE) -> str:
    """The whole report of one run or of two, as lines."""
    lines = [*_population(metrics)]
    for name, one in metrics.confidence_variants.items():
        lines += ["", *(_paired(metrics, name, one, width) if isinstance(one, PairedNumbers) else _single(name, one))]
    said = verdict(metrics)
    lines += ["", said.headline, *said.sentences, *said.failures]
    lines += [f"left out: {shown(one.name)}: {one.reason}" for one in metrics.skipped_variants]
    return "\n".join([*lines, *warnings_text(metrics.warnings)])


def _population(metrics: Metrics) -> Iterator[str]:
    for side, one in zip(("left", "right") if metrics.comparison.enabled else ("run",), metrics.inputs, strict=True):
        yield f"{side}: {_run(one)}"
    people = metrics.population
    failed = f"{people.participants_failed} failed"
    if metrics.comparison.enabled:
        compared = metrics.comparison
        failed += f" (left {compared.participants_failed_left}, right {compared.participants_failed_right})"
        failed += (
            f"; only on the left {compared.participants_left_only}, on the right {compared.participants_right_only}"
        )
    yield f"{people.participants_total} participants: {people.participants_included} included, {failed}"
    answered = people.items_predicted
    said = str(answered) if isinstance(answered, int) else f"left {answered.left}, right {answered.right}"
    yield f"{people.items_total} items, answered: {said}"
    first = next(iter(metrics.confidence_variants.values()), None)
    boot = (first.left if isinstance(first, PairedNumbers) else first).bootstrap if first else None
    drawn = f"{boot.n_resamples} resamples of participants, seed {boot.seed}" if boot else "no intervals: 0 resamples"
    yield f"loss {metrics.loss.name}: {metrics.loss.definition}; {drawn}"


def _run(one: Input) -> str:
    parts = [shown(one.path) if one.path else "(no file)"]
    parts += [
        f"{name} {shown(value)}" for name, value in (("mode", one.mode), ("run", one.run_id)) if value is not None
    ]
    return ", ".join(parts)


def _single(name: str, one: VariantNumbers) -> Iterator[str]:
    yield f"{shown(name)}   {len(one.curve.coverage)} working points"
    if not one.defined:
        yield "  nothing is answered: areas are 0 by convention, and this is never ranked"
    best = {"aurc_full": (one.aurc_optimal, one.eaurc), "augrc_full": (one.augrc_optimal, one.eaugrc)}
    none = (UNDEFINED, UNDEFINED)
    rows = [
        (f"  {title(key, one)}", *_cells(one, key), *(map("{:.4g}".format, best[key]) if key in best else none))
        for key in KEYS
    ]
    yield from table([("", "value", level_of(one), "optimal", "excess"), *rows])
    yield from table([("  risk at", "reached at", "risk", level_of(one)), *_risks(one)])


def _cells(one: VariantNumbers, key: str) -> tuple[str, str]:
    value = value_of(one, key)
    bound = bound_of(one, key)
    interval = interval_text(ends_at(one, key)) if bound is None else f"at most {three(bound)}"
    return (UNDEFINED if value is None else f"{value:.4g}", interval)


def _risks(one: VariantNumbers) -> Iterator[tuple[str, str, str, str]]:
    for key, point in one.mae_at_coverage.items():
        if point is None:
            yield f"  {key}", UNDEFINED, UNDEFINED, "beyond Cmax"
        else:
            yield (
                f"  {key}",
                f"{point.achieved:.4g}",
                f"{point.value:.4g}",
                interval_text(ends_at(one, "mae_at_coverage", key)),
            )


def _paired(metrics: Metrics, name: str, pair: PairedNumbers, width: int) -> Iterator[str]:
    yield f"{shown(name)}   {len(pair.left.curve.coverage)} and {len(pair.right.curve.coverage)} working points"
    rows = [*_differences(metrics, name, pair)]
    if width >= _WIDE:
        yield from table([("", "left", "right", "right − left", ""), *rows])
        return
    for heading, left, right, delta, said in rows:
        yield heading
        yield from table([("    left", left), ("    right", right), ("    right − left", delta)])
        if said:
            yield f"    {said}"


def _differences(metrics: Metrics, name: str, pair: PairedNumbers) -> Iterator[tuple[str, str, str, str, str]]:
    deltas = (metrics.comparison.deltas or {})[name]
    for key in KEYS:
        delta = deltas[key]
        assert isinstance(delta, DeltaNumbers)  # noqa: S101  (only the risks are nested)
        left, right = (
            with_interval(value_of(one, key), ends_at(one, key), bound_of(one, key)) for one in (pair.left, pair.right)
        )
        said = which_is_better(key, delta, pair)
        yield f"  {title(key, pair.left)}", left, right, with_interval(delta.delta, ends_of(delta, pair)), said
    risks = deltas["mae_at_coverage"]
    assert isinstance(risks, Mapping)  # noqa: S101
    for coverage, delta in risks.items():
        points = [one.mae_at_coverage[coverage] for one in (pair.left, pair.right)]
        left, right = (
            with_interval(point.value if point else None, ends_at(one, "mae_at_coverage", coverage))
            for one, point in zip((pair.left, pair.right), points, strict=True)
        )
        said = which_is_better("mae_at_coverage", delta, pair, coverage) if delta.delta is not None else "beyond Cmax"
        yield f"  risk at {coverage}", left, right, with_interval(delta.delta, ends_of(delta, pair)), said


def warnings_text(warnings: Iterable[Caution]) -> Iterator[str]:
    """Each kind of warning once, with the first places it is about."""
    by_code: dict[str, list[tuple[str, str]]] = {}
    for one in warnings:
        by_code.setdefault(one.code, []).append((one.where, one.message))
    for code, found in by_code.items():
        (first, message), *others = found
        places = ", ".join(shown(where) for where, _ in others[:_PLACES_SHOWN])
        more = f" and {len(others) - _PLACES_SHOWN} more" if len(others) > _PLACES_SHOWN else ""
        yield f"warning ({code}): {shown(first)}: {message}{f'; also {places}{more}' if others else ''}"
