"""An evaluation from what was said: data and options as Python values, whoever says them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from demur.errors import UserError, unknown
from demur.evaluation.beside import everybody, files_beside
from demur.evaluation.data import Folder, entries_of, folders_among
from demur.evaluation.guessing import settled
from demur.evaluation.labels import Labels, asked_groups
from demur.facts.instruments import BY_ITEMS
from demur.facts.instruments import instrument as instrument_of
from demur.facts.losses import score_range as range_of
from demur.files.strict_model import checked_time
from demur.inference.resample import Plan
from demur.read import TableOptions, read_inputs
from demur.read.guess import Given
from demur.results.beside import Beside
from demur.results.groups import GroupSettings
from demur.results.selective import evaluate as evaluated
from demur.results.settings import Settings

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration
    from demur.evaluation.voice import Voice
    from demur.results.table import Results

T = TypeVar("T")
RESAMPLES = 10_000
ROUTES = ("summaries", "passes", "sites")
_PASS = 256  # replicates that workers draw at a time
_OF_GROUPS = ("group", "groups", *(field.name for field in fields(GroupSettings) if field.name != "names"))
_OF_SETTINGS = ("coverages", *(field.name for field in fields(Settings) if field.name not in ("grid", "groups")))
_MADE = {
    "settings": (*_OF_SETTINGS, *_OF_GROUPS),
    "plan": ("resamples", "seed", "threads"),
    "beside": tuple(field.name for field in fields(Beside)),
}
_LISTS = ("lower_is_surer", "exclude", "probability", "abstention_costs", "conventions")


def answered(data: Sequence[Any], said: Mapping[str, Any], voice: Voice) -> Results:
    """The results, from data and the options that somebody gave; what nobody says is what it usually is."""
    entries, said = entries_of(data), _checked(said)
    plan, seedless = _plan(said)
    labels = Labels.of(asked_groups(said.get("group")), said.get("groups"))
    settings: Settings = said.get("settings") or _settings(said, labels)
    given, table = _given(said, settings), _table(said)
    entries, folders = _in_parts(entries, {**said, "seed": plan.seed}, settings)
    first_parts = {n: (folder.name, folder.parts[0]) for n, folder in folders.items()}
    understood = settled(
        [first_parts.get(n, each) for n, each in enumerate(entries)],
        given,
        settings.confidence,
        voice,
        seedless=seedless,
    )
    with understood.explaining():
        how: Any = {"columns": understood.columns, "options": labels.options(table), "instrument": given.instrument}
        modes, experiments = (_tuple(said.get(name)) for name in ("mode", "experiment"))
        if folders:
            from demur.evaluation.summarizing import read_folders  # noqa: PLC0415  (most evaluations have none)

            kept = {"lower_is_surer": settings.lower_is_surer, "workers": said.get("workers", 1)}
            kept |= {"route": said.get("route", ROUTES[0]), "seed": plan.seed}
            read_folders(
                entries, folders, understood, {**said, **how, **kept, "mode": modes, "experiment": experiments}
            )
        runs = labels.joined(read_inputs(entries, modes=modes, experiments=experiments, counts=True, **how))
    understood = understood.of(runs)
    voice.tell(understood.notes)
    return evaluated(
        *runs,
        settings=replace(settings, loss=understood.loss, confidence=understood.confidence),
        plan=replace(plan, block=_PASS, threads=1) if any(items.elsewhere for items in runs) else plan,
        calibration=_fitted(said.get("calibration")),
        intersection_only=said.get("intersection_only", False),
        created_at=said.get("created_at"),
        command=said.get("command"),
        also_read=[*files_read(said), *said.get("also_read", ())],
        beside=said.get("beside") or everybody(said, runs, understood.columns[0]),
    )


def _in_parts(entries: list[Any], said: Mapping[str, Any], settings: Settings) -> tuple[list[Any], dict[int, Folder]]:
    """The inputs, and which of them are folders of parts. What sites have is not here: they are asked for it."""
    route = said.get("route", ROUTES[0])
    if route not in ROUTES:
        raise unknown("route", route, ROUTES)
    if route != ROUTES[0] and (settings.abstention_costs or settings.by_group.names):
        raise UserError("groups and prices are not looked at in passes: take --route summaries")
    if route == "sites":
        if len(entries) > 1:
            raise UserError("sites are asked about one system at a time: give one path, which each of them has")
        from demur.evaluation.sites import at_sites  # noqa: PLC0415  (few evaluations are at sites)

        return [at_sites(entries[0], said)], {}
    folders = folders_among(entries)
    if said.get("workers", 1) not in (1, "1") and not folders:
        raise UserError("workers read the parts of a folder: give a folder, or leave out --workers")
    if (route != ROUTES[0] or said.get("scratch")) and not len(folders) == len(entries) == 1:
        raise UserError("passes are for one folder of parts: leave out --route and --scratch")
    return entries, folders


def _checked(said: Mapping[str, Any]) -> dict[str, Any]:
    """The options, where nothing is said twice, and a wrong one is told before a large file is read."""
    for name, options in _MADE.items():
        twice = [each for each in options if each in said]
        if said.get(name) is not None and twice:
            raise UserError(f"{name} and {', '.join(twice)} say the same: leave out one of them")
    checked_time(said.get("created_at"))
    return {**said, **{name: _tuple(said[name]) for name in _LISTS if name in said}}


def _plan(said: Mapping[str, Any]) -> tuple[Plan, bool]:
    """How to resample, and whether a seed is missing, without which nothing is."""
    if said.get("plan") is not None:
        return said["plan"], False
    resamples, seed = said.get("resamples", RESAMPLES), said.get("seed")
    missing = bool(resamples) and seed is None
    seed = 0 if missing else seed
    return Plan(resamples, seed, threads=said.get("threads"), progress=said.get("progress")), missing


def files_read(said: Mapping[str, Any]) -> list[str | Path]:
    """The files that are read besides the data."""
    paths = [said.get(name) for name in ("instrument", "calibration", "groups")] + files_beside(said)
    return [path for path in paths if isinstance(path, (str, Path)) and Path(path).is_file()]


def _settings(said: Mapping[str, Any], labels: Labels) -> Settings:
    confidence = said.get("confidence", "default")
    parsed: dict[str, Any] = {"confidence": confidence if isinstance(confidence, str) else ",".join(confidence)}
    if "coverages" in said:
        parsed["grid"] = _listed(said["coverages"])
    groups = _made(GroupSettings, said, names=labels.names)
    return _made(Settings, {name: said[name] for name in _OF_SETTINGS if name in said}, **parsed, groups=groups)


def _table(said: Mapping[str, Any]) -> TableOptions:
    scores = said.get("score_range")
    options = {name: value for name, value in said.items() if name != "group"}
    return _made(TableOptions, options, score_range=range_of(scores) if isinstance(scores, str) else scores)


def _given(said: Mapping[str, Any], settings: Settings) -> Given:
    """What guessing need not find out."""
    instrument = said.get("instrument", BY_ITEMS) or "none"
    own, scores = said.get("every_row_its_own_cluster", False), said.get("score_range")
    columns = dict(said.get("columns") or {})
    if instrument not in (BY_ITEMS, "none"):
        instrument_of(instrument)  # one that nobody knows is told before a large file is read
    return Given(columns, instrument, own, scores, settings.loss, lower_is_surer=settings.lower_is_surer)


def _made(kind: Callable[..., T], said: Mapping[str, Any], **parsed: Any) -> T:
    """A thing made of those options that are its fields; it knows what it is without them."""
    return kind(**{name: value for name, value in {**said, **parsed}.items() if name in signature(kind).parameters})


def _fitted(calibration: AnyCalibration | str | Path | None) -> AnyCalibration | None:
    if not isinstance(calibration, (str, Path)):
        return calibration
    from demur.confidences.calibration import load_calibration  # noqa: PLC0415  (most evaluations have none)

    return load_calibration(calibration)


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str):
        return [part.strip() for part in given.split(",")]
    return [*given] if isinstance(given, Iterable) else [given]


def _tuple(given: Any) -> tuple[Any, ...]:
    """Several, or one alone."""
    return tuple(given) if isinstance(given, (list, tuple)) else () if given is None else (given,)
