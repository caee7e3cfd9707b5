"""The audit of files of demur: evaluated again with their recorded settings and seed, and joined on `Key`.

Points must be equal to the last bit, errors and intervals to one part in 10¹². Intervals that another minor version
recommended are listed but not compared, as its rules may differ.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from demur import __version__
from demur.confidences.calibration import AnyCalibration
from demur.extensions.audit.figures import Finding, as_reported, compared, flattened
from demur.facts.frames import TableOf
from demur.facts.items import Items
from demur.files.numbers import finite_float
from demur.files.strict_json import loads
from demur.inference.estimates import INTERVALS, Estimate, Estimates, label
from demur.results.features import FeatureOptions, asked_again
from demur.results.load import results_of
from demur.results.selective import evaluate
from demur.results.study import SIGNATURE
from demur.results.table import Results
from demur.sampling.resample import Plan
from demur.workers import Progress

TOLERANCE = 1e-12
_POINTS = ("value", "at", "threshold", "spread")
_DRAWN = ("std error", "drop rate", "upper bound", "short domain rate", "p value")
_INTERVALS = {
    "percentile": "ci95",
    "recommended": "recommended interval",
    "requested": "requested interval",
    "simultaneous": "simultaneous interval",
}
_UNCHECKED = ("created_at", "tool", "execution", "inputs", "also_read", "convention", "skipped", "excluded")
_RULED = {"bands", "warnings", "reference_ranges"}  # made by rules that may differ between minor versions


def audited_runs(
    claimed: Results,
    runs: Sequence[Items],
    calibration: AnyCalibration | None,
    progress: Progress | None,
    given: Sequence[FeatureOptions] = (),
) -> TableOf[Finding]:
    """Audit every number of a results file of an evaluation; `runs` are those of its systems, in order.

    What features were asked for is in the file, but for data that it does not hold, which are `given`.
    """
    study = claimed.selective
    items = dict(zip(claimed.systems, runs, strict=True))
    settings = replace(claimed.settings, calibration=calibration, exclude=())  # the runs are those that were evaluated
    recomputed = evaluate(
        items,
        settings=settings,
        plan=recorded_plan(claimed, progress),
        features=asked_again(claimed, {options.feature: options for options in given}),
    )
    hashes = [
        (recorded_input.sha256, run.source.sha256 if run.source else None)
        for recorded_input, run in zip(study.inputs, items.values(), strict=True)
    ]
    recorded = {file.sha256 for file in study.also_read}
    read = [source.sha256 for options in given for source in options.sources if recorded]
    hashes += [(sha256 if sha256 in recorded else min(recorded), sha256) for sha256 in read]
    return TableOf([*about_inputs(hashes), *joined(claimed, recomputed)])


def recorded_plan(claimed: Results, progress: Progress | None) -> Plan:
    """The resampling that a file records."""
    boot = claimed.study.bootstrap
    return Plan(0, None) if boot is None else Plan(boot.n_resamples, boot.seed, progress=progress)


def about_inputs(hashes: list[tuple[str | None, str | None]]) -> Iterator[Finding]:
    """Whether these are the data the file was made from."""
    for index, (claimed, actual) in enumerate(hashes):
        if claimed is not None and actual is not None:
            cause = f"these data are not those the file was made from: {actual}"
            yield compared(("inputs", str(index), "sha256"), claimed, actual, cause=cause)


def joined(claimed: Results, recomputed: Results) -> Iterator[Finding]:
    """Compare every number of a file with the same number recomputed, then everything that is not an estimate."""
    version = claimed.study.tool.version
    earlier = "" if version.split(".")[:2] == __version__.split(".")[:2] else version
    written = results_of(loads(recomputed.text))  # without the cells that a file leaves out
    cells = ((row.key.minus is None, *cell) for row in claimed for cell in _cells(row))
    filled = {(single, name) for single, name, value in cells if value is not None}
    for row in claimed:
        other = written.get(row.key)
        if other is None:
            yield Finding(label(row.key), "differs", as_reported(row.value), cause="the data give no such number")
        else:
            for name, finding in _compared(row, other, written, earlier):
                if name == "value" or (row.key.minus is None, name) in filled:
                    yield finding
    named = {row.key.quantity for row in claimed}
    for row in written:
        # An earlier version may not have had the quantity at all.
        if claimed.get(row.key) is None and (not earlier or row.key.quantity in named):
            yield Finding(label(row.key), "differs", "nothing", finite_float(row.value), cause="missing from the file")
    yield from _beside(claimed, written, earlier)
    recorded = claimed.study.convention.get(SIGNATURE)
    if recorded is not None and not earlier:
        signature = written.study.signature().under({"v": version})
        yield compared(("convention", SIGNATURE), recorded, str(signature), cause="it does not follow from the data")


def _compared(row: Estimate, other: Estimate, recomputed: Estimates, earlier: str) -> Iterator[tuple[str, Finding]]:
    """The cells of a number that are compared, by their names."""
    for (name, claimed), (_, actual) in zip(_cells(row), _cells(other), strict=True):
        if claimed is None and actual is None and name != "value":
            continue
        path = (*map(str, row.key.to_json().values()), name)
        key = label(row.key) if name == "value" else f"{label(row.key)}: {name}"
        if earlier and not name.startswith((*_POINTS, _INTERVALS["percentile"])):
            if "interval" in name and claimed is not None:
                yield (
                    name,
                    Finding(key, "not recognised", as_reported(claimed), cause=f"made by the rules of {earlier}"),
                )
            continue
        wrong = name == "value" and claimed != actual
        cause = _value_of_another(row, claimed, recomputed) if wrong else None
        tolerance = 0.0 if name in _POINTS else TOLERANCE
        yield name, compared(path, claimed, actual, tolerance=tolerance, key=key, cause=cause)


def _cells(row: Estimate) -> Iterator[tuple[str, Any]]:
    """Every cell of an estimate by name: numbers, and how intervals were made; None where it is undefined.

    The share of replicates above 0 counts ties half, as all versions of the file do.
    """
    numbers = {name: getattr(row, name.replace(" ", "_")) for name in (*_POINTS, *_DRAWN)}
    for name, value in (numbers | {"share above": (1 + row.above - row.below) / 2}).items():
        yield name, None if value is None or math.isnan(value) else value
    for method, name in _INTERVALS.items():
        for part in INTERVALS[method]:
            cell = getattr(getattr(row, method), part, None)
            if part == "unclipped":
                yield from zip(
                    (f"{name}, unclipped {end}" for end in ("low", "high")), cell or (None, None), strict=True
                )
            else:
                yield f"{name}, {part}", cell or None if isinstance(cell, str) else cell
    yield from zip(("over tie orders, low", "over tie orders, high"), row.over_ties or (None, None), strict=True)
    yield "by convention", row.by_convention or None
    yield "why undefined", row.undefined or None


def contradictions(content: Any, claimed: Results) -> Iterator[Finding]:
    """The numbers of a file that contradict its own table of estimates, as findings."""
    written = dict(flattened(loads(claimed.text)))
    for path, value in flattened(content):
        own = written.get(path, value)
        if isinstance(value, (int, float)) and own != value:
            finding = compared(path, float(value), own, tolerance=TOLERANCE, cause="the file contradicts itself")
            yield from [finding] if finding.status == "differs" else ()


def _value_of_another(row: Estimate, claimed: float | None, recomputed: Estimates) -> str | None:
    """Which other row has the claimed value, in words; of several, the one with the most similar key."""
    if claimed in (None, 0.0, 1.0):
        return None
    own = row.key.to_json().values()
    closest = max(
        (other.key for other in recomputed if other.value == claimed),
        key=lambda key: sum(a == b for a, b in zip(key.to_json().values(), own, strict=True)),
        default=None,
    )
    return None if closest is None else f"equals the value of {label(closest)}"


def _beside(claimed: Results, recomputed: Results, earlier: str) -> Iterator[Finding]:
    """Compare everything that is not an estimate: counts, cases, curves and warnings."""
    others = dict(flattened(_contents(recomputed)))
    for path, value in flattened(_contents(claimed)):
        if path not in others:
            if not (earlier and _RULED & {*path}):
                yield Finding(", ".join(path), "differs", str(value), cause="the data give no such member", path=path)
        elif not (earlier and _RULED & {*path}):
            tolerance = TOLERANCE if {"bands", "reliability", "risk_intervals"} & {*path} else 0.0
            yield compared(path, value, others.pop(path), tolerance=tolerance)
    for path in others if not earlier else ():
        yield Finding(", ".join(path), "differs", "nothing", cause="missing from the file", path=path)


def _contents(results: Results) -> dict[str, Any]:
    study = results.study.model_dump(exclude={*_UNCHECKED})
    study["warnings"] = sorted(f"{warning.code}, {warning.about}: {warning.message()}" for warning in results.warnings)
    curves = {
        f"{system} under {confidence}": record.model_dump() for (system, confidence), record in results.curves.items()
    }
    return {"study": study, "curves": curves}
