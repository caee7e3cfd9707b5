"""Audit of a selective-prediction artifact: every figure in it held against the run it was made from.

Two shapes are recognised. Ours is that of `demur evaluate`. The older one differs in names: the sides of a comparison
are `input_0` and `input_1` for `left` and `right`; areas cut at a coverage are `aurc_at_coverage` and
`augrc_at_coverage`, a bare number (cut at 0.5, or at the common coverage of two runs), an object with `requested`, or
one with a number for each coverage; risks at a coverage are `mae_grid`, an object by coverage or a list whose entries
say theirs; `aurc` and `augrc` are the full areas; a difference may be a bare number. Members may be missing: only what
is there is audited. Settings (a seed, a number of resamples, a level, a coverage asked for) are used, not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Finding, Printed, finding
from demur.audit.plain_intervals import RESAMPLES
from demur.audit.plain_units import SIDES, Side, sides_of
from demur.audit.selective_population import about_everyone
from demur.audit.selective_variant import Known, OneSide, Variant
from demur.errors import UserError
from demur.read import read_inputs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path as File

    from demur.audit.selective_points import Path
    from demur.instruments import Instrument
    from demur.items import Items

    Progress = Callable[[int, int], None]

_NAMES = {
    "input_0": "left",
    "input_1": "right",
    "aurc": "aurc_full",
    "augrc": "augrc_full",
    "aurc_at_coverage": "aurc_at_c",
    "augrc_at_coverage": "augrc_at_c",
    "mae_grid": "mae_at_coverage",
}
_NO_FIGURES = ("schema_version", "created_at", "tool", "inputs", "convention", "skipped_variants", "warnings", "cases")
_SETTINGS = ("seed", "n_resamples", "level")
_IN_COLUMNS = frozenset(("curve", "histogram", "oracle", "bands"))


def runs_of(
    paths: Sequence[str | File],
    content: Any,
    instrument: str | File | Instrument = "PHQ-8",
    modes: Sequence[str] = (),
) -> list[Items]:
    """The runs an artifact was made from, in the modes given or else those it records; one file may hold both sides."""
    wanted = 2 if _is_paired(content) else 1
    if not 1 <= len(paths) <= wanted:
        raise UserError(f"{len(paths)} data files for an artifact of {wanted} runs: give one, or one for each")
    inputs = _member(content, "inputs")
    said = [_member(one, "mode") for one in inputs] if isinstance(inputs, list) else []
    recorded = [mode if isinstance(mode, str) else None for mode in said]
    both = [*paths] * (wanted // len(paths))
    return read_inputs(both, modes=modes or (recorded if len(recorded) == wanted else ()), instrument=instrument)


def is_selective(content: Any) -> bool:
    """Whether what is reported is of a selective prediction."""
    return isinstance(content, Mapping) and "confidence_variants" in content


def audited_selective(
    runs: Sequence[Items],
    content: Any,
    *,
    calibration: Any = None,
    resamples: int = RESAMPLES,
    progress: Progress | None = None,
) -> list[Finding]:
    """A finding for each figure of an artifact that was parsed with its numbers as `Printed`.

    `calibration` is the parsed content of a calibration file, for the variants that need one; `progress` is told how
    many variants are done.
    """
    report = _renamed(content)
    if not isinstance(report, Mapping) or not isinstance(report.get("confidence_variants"), Mapping):
        raise UserError("not a metrics artifact: expected an object with confidence_variants")
    if resamples < 1:
        raise UserError(f"resamples {resamples}, expected 1 or more: intervals are held against draws of our own")
    wanted = 2 if _is_paired(report) else 1
    if len(runs) != wanted:
        raise UserError(f"{len(runs)} runs for an artifact of {wanted}")
    known = Known(about_everyone(sides := sides_of(runs, _loss(report))))
    for number, name in enumerate(report["confidence_variants"], 1):
        _tell(known, name, (sides, report, calibration), resamples)
        if progress:
            progress(number, len(report["confidence_variants"]))
    found = (_found(place, value, known) for place, value in _figures(content))
    return [one for one in found if one is not None]


def _tell(known: Known, name: str, given: tuple[Sequence[Side], Mapping[str, Any], Any], resamples: int) -> None:
    """What the data give for every figure of one variant there can be."""
    sides, report, calibration = given
    entry, difference = report["confidence_variants"][name], _member(report.get("comparison"), "deltas")
    reported = [entry] if len(sides) == 1 else [_member(entry, side) for side in SIDES]
    try:
        audited = [OneSide.of(side, name, calibration, said) for side, said in zip(sides, reported, strict=True)]
    except UserError as error:
        known.reasons[name] = str(error)
        return
    delta = _member(difference, name)
    Variant(audited, delta if isinstance(delta, Mapping) else {}, resamples).tell(known, name)


def _figures(content: Any, place: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every number and null that is no setting, and whole columns of a curve, its bands or a histogram."""
    if place[:1] and place[0] in _NO_FIGURES:
        return
    if isinstance(content, Mapping):
        for name, value in content.items():
            yield from _figures(value, (*place, name))
    elif isinstance(content, list) and not _IN_COLUMNS.isdisjoint(place[:-1]):
        yield place, content
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from _figures(value, (*place, str(number)))
    elif (content is None or isinstance(content, Printed)) and not _is_setting(place):
        yield place, content


def _found(place: Path, value: Any, known: Known) -> Finding | None:
    """What became of a figure; None for a null that nobody expects to be anything else."""
    key, path = ".".join(place), tuple(_NAMES.get(part, part) for part in place)
    if isinstance(value, list):
        column = known.columns.get(path)
        one = column.found(key, value) if column else Finding(key, "not recognised", f"{len(value)} numbers")
    elif value is None and path not in known.figures:
        expected = any(column.numbers for at, column in known.columns.items() if at[: len(path)] == path)
        return Finding(key, "differs", "null", cause="columns of numbers are expected") if expected else None
    else:
        one = finding(key, value, known.figures.get(path))
    if one.status == "not recognised":
        return replace(one, cause=next((known.reasons[part] for part in place[1:3] if part in known.reasons), None))
    return known.explained(one, path, value)


def _is_setting(place: Path) -> bool:
    is_area = len(place) > 1 and _NAMES.get(place[-2], place[-2]) in ("aurc_at_c", "augrc_at_c")
    return place[-1:] != () and (place[-1] in _SETTINGS or (is_area and place[-1] == "requested"))


def _renamed(content: Any) -> Any:
    """The same content under the names of our own shape."""
    if isinstance(content, Mapping):
        return {_NAMES.get(name, name): _renamed(value) for name, value in content.items()}
    return [_renamed(value) for value in content] if isinstance(content, list) else content


def _is_paired(content: Any) -> bool:
    variants = _member(content, "confidence_variants")
    entries = list(variants.values()) if isinstance(variants, Mapping) else []
    sided = any(isinstance(one, Mapping) and one.keys() & {*SIDES, "input_0", "input_1"} for one in entries)
    return sided or _member(_member(content, "comparison"), "enabled") is True


def _loss(report: Mapping[str, Any]) -> str:
    name = _member(report.get("loss"), "name")
    return name if isinstance(name, str) else "abs_norm"


def _member(content: Any, name: str) -> Any:
    return content.get(name) if isinstance(content, Mapping) else None
