"""The front door: from a file, a frame or lists to results in one call, as `demur evaluate` does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from demur.confidences.serving import only_signal
from demur.errors import UserError, literal, located, repeated, shown
from demur.facts.frames import is_frame
from demur.facts.items import Items
from demur.facts.losses import score_range as range_of
from demur.facts.rankings import Rankings
from demur.files.strict_model import checked_time
from demur.inference.resample import Plan
from demur.quantities.graded import Graded
from demur.read import TableOptions, read_inputs, read_systems
from demur.read.files import for_each
from demur.results.record import input_of
from demur.results.selective import Settings
from demur.results.selective import evaluate as evaluated
from demur.results.table import Results, system_names

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration
    from demur.facts.instruments import Instrument
    from demur.quantities.coverage import Coverage

T = TypeVar("T")
_READING = ("columns", "instrument", "mode", "experiment", *(field.name for field in fields(TableOptions)))
_SETTINGS = ("coverages", *(field.name for field in fields(Settings) if field.name != "grid"))
_PLAN = ("resamples", "seed")


def evaluate(  # noqa: PLR0913  (one parameter for each option of the command)
    *data: Any,
    mode: str | Sequence[str] | None = None,
    experiment: int | Sequence[int] | None = None,
    instrument: str | Path | Instrument | None = "PHQ-8",
    columns: Mapping[str, str] | None = None,
    score_range: tuple[float, float] | str | None = None,
    loss_max: float | None = None,
    every_row_its_own_cluster: bool = False,
    noun: str | None = None,
    failed_units: str = "drop",
    loss: str | None = None,
    confidence: str | Sequence[str] = "default",
    coverages: str | Sequence[Coverage | str | float] = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9",
    area_coverage: Coverage | str | float | None = None,
    baseline: str | None = None,
    primary: str | None = None,
    resamples: int = 10_000,
    seed: int | None = None,
    calibration: AnyCalibration | str | Path | None = None,
    intersection_only: bool = False,
    level: float | None = None,
    interval: str | None = None,
    created_at: str | None = None,
    settings: Settings | None = None,
    plan: Plan | None = None,
    command: str | None = None,
    also_read: Iterable[str | Path] = (),
) -> Results:
    """Evaluate a system that may abstain, or compare several on the same clusters: every number with its interval.

    `data` is a run file or a table: a path, a pandas, polars or pyarrow frame, a dict of lists, or the `Items` of a
    reader. Give several to compare them, or a mapping from the name of each system to its data. The options are those
    of `demur evaluate`, and mean the same: the results are the ones the command writes. A `seed` is needed unless
    `resamples` is 0.

    `columns` says which column plays which role, `{"cluster": "document"}`; roles are described by `read_table`.
    `confidence` names what ranks the answers, a column of the table say, `primary` the one the verdict is on.

    Settings and a plan that are made already can be given instead of the options they hold. `command` and files that
    were `also_read` are recorded.

    >>> table = {"document": ["a", "a", "b", "c"], "score": [1, 0.5, 0, None], "sure": [0.9, 0.7, 0.8, 0.1]}
    >>> results = evaluate(table, columns={"cluster": "document"}, confidence="sure", resamples=200, seed=1)
    >>> results["cmax"].value, results["risk@0.5"].value
    (0.75, 0.5)
    """
    given = dict(locals())
    entries, changed = _entries(data), _changed(given)
    _check_once(changed, {"settings": settings, "plan": plan})
    checked_time(created_at)
    plan = plan or _plan(resamples, seed)
    said = {name: given[name] for name in changed}
    settings = settings or _made(Settings, said, grid=_listed(coverages), confidence=_joined(confidence))
    scores = range_of(score_range) if isinstance(score_range, str) else score_range
    reading = _Reader(columns, instrument, _made(TableOptions, said, score_range=scores), changed & {*_READING})
    systems = _systems(entries, reading, _each(mode), _each(experiment))
    if settings.confidence == "default":
        _check_confidence(systems)
    files = [path for path in (instrument, calibration) if isinstance(path, (str, Path)) and Path(path).is_file()]
    return evaluated(
        systems,
        settings=settings,
        plan=plan,
        calibration=_fitted(calibration),
        intersection_only=intersection_only,
        created_at=created_at,
        command=command,
        also_read=[*files, *also_read],
    )


def _changed(given: Mapping[str, Any]) -> set[str]:
    """The options that say something else than they do if they are left out."""
    usual = {name: each.default for name, each in signature(evaluate).parameters.items()}
    return {name for name, value in given.items() if type(value) is not type(usual[name]) or value != usual[name]}


def _check_once(changed: set[str], made: Mapping[str, object]) -> None:
    """What is made already holds the options it is made of."""
    for name, options in (("settings", _SETTINGS), ("plan", _PLAN)):
        twice = [each for each in options if each in changed]
        if made[name] is not None and twice:
            raise UserError(f"{name} and {', '.join(twice)} say the same: leave out one of them")


def _made(kind: Callable[..., T], said: Mapping[str, Any], **parsed: Any) -> T:
    """A thing made of those options that are its fields; it knows what it is without them."""
    return kind(**{name: value for name, value in {**said, **parsed}.items() if name in signature(kind).parameters})


def _plan(resamples: int, seed: int | None) -> Plan:
    if resamples and seed is None:
        raise UserError(
            "a seed is needed wherever anything is resampled: give one and report it, evaluate(…, seed=1) or any other "
            "integer, 0 or more"
        )
    return Plan(resamples, seed=seed)


def _fitted(calibration: AnyCalibration | str | Path | None) -> AnyCalibration | None:
    if not isinstance(calibration, (str, Path)):
        return calibration
    from demur.confidences.calibration import load_calibration  # noqa: PLC0415  (most evaluations have none)

    return load_calibration(calibration)


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str):
        return [part.strip() for part in given.split(",")]
    return [*given] if isinstance(given, Iterable) else [given]


def _joined(names: str | Iterable[str]) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _each(given: Any) -> Sequence[Any]:
    """What is given once for each, or for all of them."""
    return given if isinstance(given, (list, tuple)) else [] if given is None else [given]


@dataclass(frozen=True, slots=True)
class _Reader:
    """How data are to be read, and which options say so."""

    columns: Mapping[str, str] | None
    instrument: Any
    options: TableOptions
    given: set[str]

    def systems(self, data: Any, mode: str | None, experiment: int | None) -> list[tuple[str | None, Items]]:
        """The facts of each system, and its name if it has one."""
        if isinstance(data, Items):
            if self.given:
                raise UserError(f"facts that are read already have no use for {', '.join(sorted(self.given))}")
            return [(data.source.label if data.source else None, data)]
        if isinstance(data, (str, Path)):
            how: Any = {"columns": self.columns, "instrument": self.instrument or "none", "options": self.options}
            found = read_inputs([data], modes=[mode], experiments=[experiment], **how)
            return [(items.source.label if items.source else None, items) for items in found]
        _check_kind(data)
        if mode is not None or experiment is not None:
            raise UserError("a table holds one experiment and no modes: leave out mode and experiment")
        own = None if self.instrument == "none" else self.instrument
        systems = read_systems(data, columns=self.columns, instrument=own, options=self.options)
        return [(name or None, items) for name, items in systems.items()]


def _check_kind(data: object) -> None:
    """Data of another call are told which one."""
    if isinstance(data, Graded):
        raise UserError("graded units are for estimate, and several of them for compare; evaluate takes data to grade")
    if isinstance(data, Rankings):
        raise UserError("rankings are for evaluate_retrieval, by the names of the systems")
    if isinstance(data, (list, tuple)):
        kind, ways = type(data).__name__, 'one after another, evaluate(a, b), or by name, evaluate({"a": a, "b": b})'
        raise UserError(f"a {kind} is not a table: give systems {ways}")


def _entries(data: Sequence[Any]) -> list[tuple[str | None, Any]]:
    """What is to be read, each with its name if it has one."""
    entries: list[tuple[str | None, Any]] = []
    for each in data:
        if isinstance(each, Mapping) and (not each or any(map(_is_data, each.values()))):
            for name in each:
                if not isinstance(name, str) or not name:
                    raise UserError(f"a system is called {literal(name)}, expected a name")
            entries += each.items()
        else:
            entries.append((None, each))
    if not entries:
        raise UserError("nothing to evaluate: give a run file or a table, or several to compare")
    return entries


def _is_data(value: object) -> bool:
    """Whether a member of a mapping is a system's data, not a column."""
    return isinstance(value, (str, Path, Mapping, Items, Graded, Rankings)) or is_frame(value)


def _systems(
    entries: Sequence[tuple[str | None, Any]], reading: _Reader, modes: Sequence[str], experiments: Sequence[int]
) -> dict[str, Items]:
    """The facts of every system by name: the one given, the table's own, or what its file says."""
    facts: list[tuple[str | None, Items]] = []
    chosen = for_each(modes, len(entries), "mode"), for_each(experiments, len(entries), "experiment")
    for (name, data), mode, experiment in zip(entries, *chosen, strict=True):
        with located(shown(name)) if name and not isinstance(data, (str, Path)) else nullcontext():
            found = reading.systems(data, mode, experiment)
            if name and len(found) > 1:
                names = ", ".join(shown(own) for own, _ in found)
                raise UserError(f"{len(found)} systems, which have names of their own: {names}")
        facts += [(name or own, items) for own, items in found]
    if twice := repeated(name for name, _ in facts if name):
        raise UserError(f"two systems are called {shown(twice[0])}: give each a name of its own")
    inputs = [input_of(items).model_copy(update={"label": name}) for name, items in facts]
    return dict(zip(system_names(inputs), (items for _, items in facts), strict=True))


def _check_confidence(systems: Mapping[str, Items]) -> None:
    signal = only_signal(next(iter(systems.values())))
    if signal is not None:
        raise UserError(f"no confidence is named, and its one numeric signal is {shown(signal)}: confidence={signal!r}")
