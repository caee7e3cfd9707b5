"""Results from data and options as Python values, for `demur.evaluate` and the command alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from demur.errors import UserError, literal
from demur.evaluation.beside import files_beside, read_beside
from demur.evaluation.data import entries_of, folders_among, several
from demur.evaluation.guessing import settled
from demur.evaluation.labels import Labels, requested_groups
from demur.facts.instruments import BY_ITEMS
from demur.facts.instruments import instrument as instrument_of
from demur.facts.losses import score_range as range_of
from demur.files.strict_model import checked_time
from demur.read import TableOptions, read_inputs
from demur.read.guess import Given
from demur.results.beside import Beside
from demur.results.groups import GroupSettings
from demur.results.selective import evaluate as evaluated
from demur.results.settings import Settings
from demur.sampling.resample import Plan

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration
    from demur.evaluation.voice import Voice
    from demur.results.table import Results

T = TypeVar("T")
RESAMPLES = 10_000
_OF_GROUPS = ("group", "groups", *(field.name for field in fields(GroupSettings) if field.name != "names"))
_OF_SETTINGS = ("coverages", *(field.name for field in fields(Settings) if field.name not in ("grid", "groups")))
_REPLACED = {
    "settings": (*_OF_SETTINGS, *_OF_GROUPS),
    "plan": ("resamples", "seed", "threads"),
    "beside": tuple(field.name for field in fields(Beside)),
}
_LISTS = ("lower_is_surer", "exclude", "probability", "abstention_costs", "conventions")


def _is_name(given: object) -> bool:
    return isinstance(given, str)


def _is_number(given: object) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def _are_names(given: object) -> bool:
    return _is_name(given) or (isinstance(given, (list, tuple)) and all(map(_is_name, given)))


def _are_columns(given: object) -> bool:
    return isinstance(given, Mapping) and all(_is_name(name) for pair in given.items() for name in pair)


# A wrong kind of value would otherwise be an error deep inside, about a name that the caller never gave.
_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "columns": (_are_columns, "roles with the names of their columns, {'cluster': 'document'}"),
    "raters": (lambda given: isinstance(given, Mapping), "names of raters with their tables, {'ann': table}"),
    "group": (
        lambda given: _are_names(given) or isinstance(given, Mapping),
        "names with their columns, {'sex': 'Gender'}, or a name such as item",
    ),
    **dict.fromkeys(("noun", "baseline"), (_is_name, "a text")),
    **dict.fromkeys(
        ("confidence", "probability", "lower_is_surer", "exclude"), (_are_names, "a name, or a list of them")
    ),
    **dict.fromkeys(("threshold", "margin", "handover_threshold", "loss_max"), (_is_number, "a number")),
}


def evaluate_data(data: Sequence[Any], options: Mapping[str, Any], voice: Voice) -> Results:
    """The results of an evaluation; an option that is missing has its default."""
    entries, options = entries_of(data), _checked(options)
    plan, seedless = _plan(options)
    labels = Labels.of(requested_groups(options.get("group")), options.get("groups"))
    settings: Settings = options.get("settings") or _settings(options, labels)
    given, table = _given(options, settings), _table(options)
    folders = folders_among(entries)
    if options.get("workers", 1) not in (1, "1") and not folders:
        raise UserError("workers read the parts of a folder: give a folder, or leave out --workers")
    first_parts = {n: (folder.name, folder.parts[0]) for n, folder in folders.items()}
    shown = [first_parts.get(n, entry) for n, entry in enumerate(entries)]
    understood = settled(shown, given, settings.confidence, voice, seedless=seedless)
    with understood.explaining():
        reading: Any = {"columns": understood.columns, "options": labels.options(table), "instrument": given.instrument}
        chosen = {name: several(options.get(name)) for name in ("mode", "experiment")}
        if folders:
            from demur.evaluation.summarizing import read_folders  # noqa: PLC0415  (most evaluations have none)

            known = {"lower_is_surer": settings.lower_is_surer, "workers": 1}
            read_folders(entries, folders, understood, {**known, **options, **reading, **chosen})
        reading |= {"modes": chosen["mode"], "experiments": chosen["experiment"], "counts": True}
        runs = labels.joined(read_inputs(entries, **reading))
    understood = understood.of(runs)
    voice.tell(understood.notes)
    return evaluated(
        *runs,
        settings=replace(settings, loss=understood.loss, confidence=understood.confidence),
        plan=plan,
        calibration=_fitted(options.get("calibration")),
        intersection_only=options.get("intersection_only", False),
        created_at=options.get("created_at"),
        command=options.get("command"),
        also_read=[*files_read(options), *options.get("also_read", ())],
        beside=options.get("beside") or read_beside(options, runs, understood.columns[0]),
    )


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, checked before a large file is read: the kind of each, the time, and that none is given twice."""
    for name, (fits, expected) in _KINDS.items():
        if name in options and not fits(options[name]):
            raise UserError(f"{name} {literal(options[name])}, expected {expected}")
    for name, replaced in _REPLACED.items():
        twice = [option for option in replaced if option in options]
        if options.get(name) is not None and twice:
            raise UserError(f"{name} and {', '.join(twice)} say the same: leave out one of them")
    checked_time(options.get("created_at"))
    return {**options, **{name: several(options[name]) for name in _LISTS if name in options}}


def _plan(options: Mapping[str, Any]) -> tuple[Plan, bool]:
    """How to resample, and whether the seed that this needs is missing."""
    if options.get("plan") is not None:
        return options["plan"], False
    resamples, seed = options.get("resamples", RESAMPLES), options.get("seed")
    missing = bool(resamples) and seed is None
    seed = 0 if missing else seed
    return Plan(resamples, seed, threads=options.get("threads"), progress=options.get("progress")), missing


def files_read(options: Mapping[str, Any]) -> list[str | Path]:
    """The files that are read besides the data."""
    paths = [options.get(name) for name in ("instrument", "calibration", "groups")] + files_beside(options)
    return [path for path in paths if isinstance(path, (str, Path)) and Path(path).is_file()]


def _settings(options: Mapping[str, Any], labels: Labels) -> Settings:
    parsed: dict[str, Any] = {}
    if "coverages" in options:
        parsed["grid"] = _listed(options["coverages"])
    groups = _with_fields(GroupSettings, options, names=labels.names)
    own = {name: options[name] for name in _OF_SETTINGS if name in options}
    return _with_fields(Settings, own, **parsed, groups=groups)


def _table(options: Mapping[str, Any]) -> TableOptions:
    scores = options.get("score_range")
    own = {name: value for name, value in options.items() if name != "group"}
    return _with_fields(TableOptions, own, score_range=range_of(scores) if isinstance(scores, str) else scores)


def _given(options: Mapping[str, Any], settings: Settings) -> Given:
    """What the user specified, so that it need not be guessed from a table."""
    instrument = options.get("instrument", BY_ITEMS) or "none"
    own, scores = options.get("every_row_its_own_cluster", False), options.get("score_range")
    columns = dict(options.get("columns") or {})
    if instrument not in (BY_ITEMS, "none"):
        instrument_of(instrument)  # so that an unknown one is an error before a large file is read
    return Given(columns, instrument, own, scores, settings.loss, lower_is_surer=settings.lower_is_surer)


def _with_fields(kind: Callable[..., T], options: Mapping[str, Any], **parsed: Any) -> T:
    """An instance of a class, with those options that are its fields; the other fields have their defaults."""
    return kind(**{name: value for name, value in {**options, **parsed}.items() if name in signature(kind).parameters})


def _fitted(calibration: AnyCalibration | str | Path | None) -> AnyCalibration | None:
    if not isinstance(calibration, (str, Path)):
        return calibration
    from demur.confidences.calibration import load_calibration  # noqa: PLC0415  (most evaluations have none)

    return load_calibration(calibration)


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str):
        return [part.strip() for part in given.split(",")]
    return [*given] if isinstance(given, Iterable) else [given]
