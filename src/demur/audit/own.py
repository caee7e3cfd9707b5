"""Our own files: recomputed with their recorded settings and seed, and joined on Key.

Points must be equal to the last bit, errors and intervals to one part in 10¹². Intervals that another minor version
recommended are listed, and not compared: the rules may be others.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demur import __version__
from demur.audit.figures import Finding, Status
from demur.calibration import Calibration
from demur.errors import UserError, shown
from demur.inference.estimates import Estimate, Estimates, label
from demur.items import Items
from demur.rankings import Rankings
from demur.resample import Plan
from demur.results.retrieval import RetrievalSettings, evaluate_retrieval
from demur.results.selective import Settings, evaluate
from demur.results.table import Results
from demur.selection import Bounds

Progress = Callable[[int, int], None]

TOLERANCE = 1e-12
_POINTS = ("value", "at", "threshold", "spread")
_PLAIN = ("std_error", "drop_rate", "upper_bound", "short_domain_rate", "p_value", "share_above")
_INTERVALS = ("percentile", "recommended", "requested")
_NAMES = {"percentile": "ci95", "recommended": "recommended interval", "requested": "requested interval"}
_UNCHECKED = ("created_at", "tool", "inputs", "convention", "reference_ranges", "skipped")


def is_own(content: Any) -> bool:
    """Whether a parsed file is one of demur's own."""
    members = content if isinstance(content, dict) else {}
    tool = members.get("tool")
    return "schema_version" in members and isinstance(tool, dict) and tool.get("name") == "demur"


def audited_runs(
    claimed: Results, runs: Sequence[Items], calibration: Calibration | None, progress: Progress | None
) -> list[Finding]:
    """Every number of a file of answers; the runs are those of its systems, in their order."""
    study = claimed.selective
    items = dict(zip(claimed.systems, runs, strict=True))
    settings = Settings(
        loss=study.loss.name,
        confidence=",".join(study.confidences),
        grid=study.coverages,
        area_coverage=study.area_coverage,
        level=study.requested.level if study.requested else None,
        interval=study.requested.interval if study.requested else None,
        baseline=study.baseline,
    )
    recomputed = evaluate(
        items,
        settings=settings,
        plan=_plan(claimed, progress),
        calibration=calibration,
        intersection_only=study.intersection_only,
    )
    hashes = [
        (one.sha256, own.source.sha256 if own.source else None)
        for one, own in zip(study.inputs, items.values(), strict=True)
    ]
    return [*_about_inputs(hashes), *joined(claimed, recomputed)]


def audited_queries(claimed: Results, rankings: Mapping[str, Rankings], progress: Progress | None) -> list[Finding]:
    """Every number of a file of retrieval."""
    study = claimed.retrieval
    used = study.settings
    for name in claimed.systems:
        if name not in rankings:
            raise UserError(f"the data hold no system {shown(name)}: name its column, --system {name}=COLUMN")
    settings = RetrievalSettings(
        depths=used.k,
        effective_k=used.effective_k,
        bounds=Bounds(used.k_min, used.hard_cap, used.k_max_ratio),
        policies=used.policies,
        threshold=used.gate_threshold,
        baseline=study.baseline,
    )
    systems = {name: rankings[name] for name in claimed.systems}
    recomputed = evaluate_retrieval(systems, settings=settings, plan=_plan(claimed, progress))
    sources = {source.sha256 for one in systems.values() for source in one.sources}
    hashes = [(one.sha256, one.sha256 if one.sha256 in sources else min(sources, default=None)) for one in study.inputs]
    return [*_about_inputs(hashes), *joined(claimed, recomputed)]


def _plan(claimed: Results, progress: Progress | None) -> Plan:
    boot = claimed.study.bootstrap
    return Plan(0, None) if boot is None else Plan(boot.n_resamples, boot.seed, progress=progress)


def _about_inputs(hashes: list[tuple[str | None, str | None]]) -> Iterator[Finding]:
    """Whether these are the data the file was made from."""
    for number, (claimed, actual) in enumerate(hashes):
        if claimed is not None and actual is not None:
            status: Status = "match" if claimed == actual else "differs"
            cause = None if claimed == actual else f"these data are not those the file was made from: {actual}"
            yield Finding(
                f"inputs, {number}, sha256", status, claimed, cause=cause, path=("inputs", str(number), "sha256")
            )


@dataclass(frozen=True, slots=True)
class _Cell:
    """One number of an estimate, as claimed and as recomputed."""

    name: str
    claimed: float | None
    recomputed: float | None
    tolerance: float

    @property
    def agrees(self) -> bool:
        if self.claimed is None or self.recomputed is None:
            return self.claimed is self.recomputed
        if not self.tolerance:
            return self.claimed == self.recomputed
        return abs(self.claimed - self.recomputed) <= self.tolerance * max(1.0, abs(self.recomputed))


def joined(claimed: Results, recomputed: Results) -> Iterator[Finding]:
    """Every number of a file beside the same number recomputed, then everything that is not an estimate."""
    version = claimed.study.tool.version
    earlier = "" if version.split(".")[:2] == __version__.split(".")[:2] else version
    lacks = _lacking(claimed)
    for row in claimed:
        other = recomputed.get(row.key)
        if other is None:
            yield Finding(label(row.key), "differs", _text(row.value), cause="the data give no such number")
        else:
            yield from _compared(row, other, recomputed, earlier, lacks=lacks)
    for row in recomputed:
        if claimed.get(row.key) is None:
            yield Finding(label(row.key), "differs", "nothing", row.value, cause="missing from the file")
    yield from _beside(claimed, recomputed, earlier)


def _lacking(claimed: Results) -> set[tuple[str, bool]]:
    """The columns a file does not hold: of numbers, and of differences; the nested file leaves some cells out."""
    lacking = set()
    for name in (*_POINTS, *_PLAIN):
        for single in (True, False):
            cells = [_field(row, name) for row in claimed if (row.key.minus is None) == single]
            if name != "value" and (claimed.nested or all(cell is None for cell in cells)) and None in cells:
                lacking.add((name, single))
    return lacking


def _compared(
    row: Estimate, other: Estimate, recomputed: Estimates, earlier: str, *, lacks: set[tuple[str, bool]]
) -> Iterator[Finding]:
    for cell in _cells(row, other, lacks):
        if cell.claimed is None and cell.recomputed is None and cell.name != "value":
            continue
        name = label(row.key) if cell.name == "value" else f"{label(row.key)}: {cell.name}"
        path = (*row.key.to_json().values(), cell.name)
        if earlier and not cell.name.startswith(("value", "at", "threshold", "spread", _NAMES["percentile"])):
            if cell.name.startswith((_NAMES["recommended"], _NAMES["requested"])) and cell.claimed is not None:
                yield Finding(name, "not recognised", _text(cell.claimed), cause=f"made by the rules of {earlier}")
            continue
        if cell.agrees:
            yield Finding(name, "match", _text(cell.claimed), cell.recomputed, path=tuple(map(str, path)))
        else:
            cause = _value_of_another(row, cell, recomputed)
            yield Finding(
                name, "differs", _text(cell.claimed), cell.recomputed, cause=cause, path=tuple(map(str, path))
            )


def _cells(row: Estimate, other: Estimate, lacks: set[tuple[str, bool]]) -> Iterator[_Cell]:
    for name in _POINTS:
        claimed = _field(row, name)
        if claimed is not None or (name, row.key.minus is None) not in lacks:
            yield _Cell(name, claimed, _field(other, name), 0.0)
    for name in _PLAIN:
        claimed = _field(row, name)
        if claimed is not None or (name, row.key.minus is None) not in lacks:
            yield _Cell(name.replace("_", " "), claimed, _field(other, name), TOLERANCE)
    for name in _INTERVALS:
        ends, others = getattr(row, name), getattr(other, name)
        for end in ("low", "high"):
            yield _Cell(f"{_NAMES[name]}, {end}", _end(ends, end), _end(others, end), TOLERANCE)


def _end(ends: Any, name: str) -> float | None:
    return None if ends is None else getattr(ends, name)


def _field(row: Estimate, name: str) -> float | None:
    """One number of an estimate; of the replicates above 0, the share that counts ties half, which every file tells."""
    return _number((1 + row.above - row.below) / 2 if name == "share_above" else getattr(row, name))


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _text(value: float | None) -> str:
    return "null" if value is None or math.isnan(value) else repr(value)


def _value_of_another(row: Estimate, cell: _Cell, recomputed: Estimates) -> str | None:
    """Whose value a claimed number is, if it is that of another row; the nearest key first."""
    if cell.name != "value" or cell.claimed is None or cell.claimed in (0.0, 1.0):
        return None
    twins = [other.key for other in recomputed if other.value == cell.claimed]
    closest = max(
        twins,
        key=lambda key: sum(a == b for a, b in zip(key.to_json().values(), row.key.to_json().values(), strict=True)),
        default=None,
    )
    return None if closest is None else f"this is the value of {label(closest)}"


def _beside(claimed: Results, recomputed: Results, earlier: str) -> Iterator[Finding]:
    """Counts, cases, curves and what is drawn beside them; bands as intervals are."""
    sides = [_contents(results) for results in (claimed, recomputed)]
    found = dict(_leaves(sides[1]))
    for path, value in _leaves(sides[0]):
        if path not in found:
            yield Finding(", ".join(path), "differs", str(value), cause="the data give no such member", path=path)
            continue
        other = found.pop(path)
        if earlier and "bands" in path:
            continue
        close = 0.0 if "bands" not in path and "reliability" not in path else TOLERANCE
        agrees = _same(value, other, close)
        recomputed_value = other if isinstance(other, (int, float)) else None
        yield Finding(", ".join(path), "match" if agrees else "differs", str(value), recomputed_value, path=path)
    for path in found:
        if not earlier:
            yield Finding(", ".join(path), "differs", "nothing", cause="missing from the file", path=path)


def _same(value: Any, other: Any, tolerance: float) -> bool:
    if isinstance(value, float) and isinstance(other, (int, float)):
        return abs(value - other) <= tolerance * max(1.0, abs(other))
    return bool(value == other)


def _contents(results: Results) -> dict[str, Any]:
    study = results.study.model_dump(mode="json", exclude={*_UNCHECKED})
    study["warnings"] = sorted(warning.code for warning in results.warnings)
    curves = {
        f"{system} under {confidence}": record.model_dump(mode="json")
        for (system, confidence), record in results.curves.items()
    }
    return {"study": study, "curves": curves}


def _leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(content, (dict, list)):
        members = content.items() if isinstance(content, dict) else enumerate(content)
        for name, value in members:
            yield from _leaves(value, (*path, str(name)))
    else:
        yield path, content
