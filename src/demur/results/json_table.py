"""The columnar results file, for any number of systems: columns of estimates, and the study."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal

from demur.errors import UserError, literal, located, shown, unknown
from demur.extension import named_object, tasks
from demur.feature import features
from demur.files.strict_model import SPARSE, Count, Declared, Part, Share, part_named
from demur.inference.estimates import INTERVALS, Estimate, Estimates
from demur.inference.intervals import Interval
from demur.inference.key import KEY_COLUMNS, Key, Pattern
from demur.inference.warnings import ResultWarning
from demur.quantities import Measure
from demur.results.feature_files import curve_model, file_members, members_in, names_in, study_model, with_members
from demur.results.features import features_in
from demur.results.file_models import Many, Pair
from demur.results.leaderboard import leaderboard_of
from demur.results.study import SelectiveStudy, Study
from demur.results.table import Results
from demur.types import Json

Texts = Annotated[list[str], Declared(strict=False)]
Floats = list[float | None]
OpenEnds = Annotated[tuple[float | None, float | None], Declared(strict=False)]
GroupPair = Annotated[tuple[str, str | None], Declared(strict=False)]


class EstimateColumns(Part):
    """The table of estimates by column; columns that have only default values are left out."""

    model_config: ClassVar = {"json_schema_serialization_defaults_required": False}

    system: Texts
    quantity: Texts
    confidence: Texts | None = None
    among: Texts | None = None
    group: list[GroupPair | None] | None = None
    minus: list[dict[Literal["system", "confidence", "group"], str | GroupPair] | None] | None = None
    convention: Texts | None = None
    value: Floats
    std_error: Floats | None = None
    ci95_low: Floats | None = None
    ci95_high: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    method: list[str | None] | None = None
    decided_by: list[str | None] | None = None
    count: list[Count | None] | None = None
    degrees: Floats | None = None
    skipped: list[Share | None] | None = None
    unclipped: list[Pair | None] | None = None
    note: list[str | None] | None = None
    simultaneous_low: Floats | None = None
    simultaneous_high: Floats | None = None
    simultaneous_count: list[Count | None] | None = None
    requested_low: Floats | None = None
    requested_high: Floats | None = None
    requested_method: list[str | None] | None = None
    requested_decided_by: list[str | None] | None = None
    requested_count: list[Count | None] | None = None
    requested_degrees: Floats | None = None
    requested_skipped: list[Share | None] | None = None
    requested_unclipped: list[Pair | None] | None = None
    requested_note: list[str | None] | None = None
    drop_rate: list[Share | None] | None = None
    upper_bound95: Floats | None = None
    at: Floats | None = None
    threshold: Floats | None = None
    other_threshold_rate: list[Share | None] | None = None
    short_domain_rate: list[Share | None] | None = None
    p_value: list[Share | None] | None = None
    share_above: list[Share | None] | None = None
    share_below: list[Share | None] | None = None
    spread: Floats | None = None
    by_convention: list[bool] | None = None
    undefined: list[str] | None = None
    no_interval: list[str] | None = None
    not_requested: list[str] | None = None
    over_ties: list[OpenEnds | None] | None = None
    remark: list[str] | None = None

    def _mistakes(self) -> Iterator[str]:
        columns = {name: column for name, column in self if column is not None}
        if len({len(column) for column in columns.values()}) > 1:
            yield "the columns of the estimates have different lengths"
        for low in ("ci95_low", "low", "simultaneous_low", "requested_low"):
            high = low.replace("low", "high")
            ends = zip(columns.get(low, ()), columns.get(high, ()), strict=True)
            if any((a is None) != (b is None) or (a is not None and b is not None and a > b) for a, b in ends):
                yield f"an interval of {low} and {high} has one end, or its low end lies above the high end"


RENAMED = {
    "percentile_low": "ci95_low",
    "percentile_high": "ci95_high",
    **{f"recommended_{part}": part for part in INTERVALS["recommended"]},
    "upper_bound": "upper_bound95",
    "above": "share_above",
    "below": "share_below",
}
_DEFAULTS = {"confidence": "", "among": "all", "convention": "", "by_convention": False}


class PatternedWarning(Part):
    """A warning: its code, the numbers it is about, the values in its sentence, and the sentence."""

    code: str
    about: dict[str, Any]
    parameters: dict[str, Any]
    message: str


class TableParts(Part):
    """What the file of every task holds besides its study."""

    schema_version: Literal["2"] = "2"
    estimates: EstimateColumns
    curves: Many[Any]
    warnings: Many[PatternedWarning]


class StandingRecord(Part):
    """A system: the lowest and highest rank it may have (null if not ranked), and the systems it is worse than."""

    system: str
    ranks: Annotated[tuple[Count, Count] | None, Declared(strict=False)]
    worse_than: Many[str]


class LeaderboardRecord(Part):
    """The ranking: the number that ranks, the coverage at which areas end (C_common), the best, and every system."""

    quantity: str
    confidence: str
    coverage: Share
    common_to: Many[str]
    best: Many[str]
    standings: Many[StandingRecord]


_SELECTIVE = "selective"
_NAMED: Any = {"system": (str, ...), "confidence": (str, ...)}


@cache
def _models(task: str, names: tuple[str, ...]) -> tuple[type[Study], Any]:
    """The models of the study and of the file of a task, the core's or an extension's, with members of features."""
    about = "The curve of one system under one confidence."
    curve: Any = part_named("NamedCurve", curve_model(names), _NAMED, about)
    curves: Any = {"curves": (Many[curve], ...)}
    if task != _SELECTIVE:
        of_task = tasks().get(task)
        if of_task is None:
            raise UserError(f"results of {shown(task)} need the extension {shown(task)}, which is not installed")
        file = named_object(of_task.file)
        return named_object(of_task.study), part_named(file.__name__, file, curves)
    study, parts = study_model(names), part_named("TableParts", TableParts, curves)

    class SelectiveFile(parts, study):  # type: ignore[misc, valid-type]
        """The results of any number of systems that may abstain."""

        leaderboard: Annotated[LeaderboardRecord | None, SPARSE] = None

    return study, with_members(SelectiveFile, "table", names)


def schema() -> Json:
    """The JSON Schema of the file, of any task."""
    from demur.files.strict_reading import schema_of  # noqa: PLC0415  (pydantic is large)

    files = [_models(name, tuple(features()))[1] for name in (_SELECTIVE, *tasks())]
    union: Any = reduce(or_, files)
    return schema_of(Annotated[union, Declared(discriminator="task")] if len(files) > 1 else union)


def encoded(results: Results) -> Json:
    """Encode results as the content of the columnar file."""
    study, board = results.study, leaderboard_of(results) if isinstance(results.study, SelectiveStudy) else None
    content = {
        **dict(study),
        **({"leaderboard": board.to_json()} if board else {}),
        **{name: value for added in members_in(results) for name, value in added.encoded_table(results).items()},
        "estimates": columns_of(results),
        "curves": [
            {"system": system, "confidence": confidence, **dict(record)}
            for (system, confidence), record in results.curves.items()
        ],
        "warnings": [
            {
                "code": warning.code,
                "about": warning.about.to_json(),
                "parameters": dict(warning.parameters),
                "message": warning.message(study.noun),
            }
            for warning in results.warnings
        ],
    }
    _, file = _models(study.task, tuple(feature.name for feature in features_in(study)))
    dumped: Json = file.made(content).model_dump()
    dumped["estimates"] = {name: column for name, column in dumped["estimates"].items() if column is not None}
    first = ("schema_version", "task", "created_at", "tool")
    return {name: dumped[name] for name in first} | {name: value for name, value in dumped.items() if name not in first}


def columns_of(rows: Estimates) -> Json:
    """Convert estimates to columns, without columns that have only default values."""
    columns = {RENAMED.get(name, name): column for name, column in rows.to_columns().items()}
    return {
        name: column
        for name, column in columns.items()
        if name in ("system", "quantity", "value")
        or any(cell != _DEFAULTS.get(name) and cell not in (None, "") for cell in column)
    }


def decoded(content: Json) -> Results:
    """Decode results from the content of the columnar file."""
    from demur.files.strict_reading import reader  # noqa: PLC0415  (pydantic is large)

    task, names = content.get("task"), names_in(content)
    if not isinstance(task, str):
        raise UserError(f"task {literal(task)}, expected the name of one, such as {_SELECTIVE}")
    base, model = _models(task, names)
    file = reader(model).validate_python(content, extra="ignore")
    members, selective = file_members(names), isinstance(file, SelectiveStudy)
    study = base(**{name: getattr(file, name) for name in base.model_fields})
    curves = {(curve.system, curve.confidence): curve_model(names).within(curve) for curve in file.curves}
    with located("warnings"):
        warnings = [_read_warning(warning, study.noun) for warning in file.warnings]
    with located("estimates"):
        rows = [*rows_of(file.estimates)]
        if len({row.key for row in rows}) < len(rows):
            raise UserError("two rows have the same key")
    results = Results(rows, study, curves, warnings)
    others = [name for added in members for name in added.systems(study)]
    subtracted = [row.key.minus.value for row in rows if row.key.minus and row.key.minus.column == "system"]
    for name in (*(row.key.system for row in rows), *(system for system, _ in curves), *subtracted, study.baseline):
        if name is not None and name not in (*results.systems, *others):
            raise unknown("system of this file", name, results.systems)
    for added in members if selective else ():
        added.check_table(results, file)
    if selective and file.leaderboard is not None:
        board = leaderboard_of(results)
        if board is None or LeaderboardRecord.made(board.to_json()) != file.leaderboard:
            raise UserError("the leaderboard does not follow from the estimates")
    return results


def _read_warning(warning: PatternedWarning, noun: str) -> ResultWarning:
    """A warning from a file; it keeps its sentence if this version would word it differently."""
    read = ResultWarning(warning.code, Pattern.from_json(warning.about), warning.parameters)
    try:
        same = read.message(noun) == warning.message
    except (KeyError, TypeError, ValueError):  # this version's sentence has other parameters
        same = False
    return read if same else replace(read, text=warning.message)


def rows_of(estimates: EstimateColumns) -> Iterator[Estimate]:
    """Convert columns back to estimates: the inverse of `columns_of`."""
    columns: Json = {name: column for name, column in estimates if column is not None}
    names = {new: old for old, new in RENAMED.items()}
    conventions = columns.get("convention", [""] * len(columns["quantity"]))
    for name in {name for name, other in zip(columns["quantity"], conventions, strict=True) if not other}:
        Measure.of(name)
    for index in range(len(columns["value"])):
        cells = {names.get(name, name): column[index] for name, column in columns.items()}
        key = Key.from_json({name: cells.pop(name) for name in KEY_COLUMNS if name in cells})
        for name, parts in INTERVALS.items():
            members = {part: cells.pop(f"{name}_{part}", None) for part in parts}
            members = {part: value for part, value in members.items() if value is not None}
            cells[name] = Interval(**{"method": name} | members) if "low" in members else None
        present = {name: cell for name, cell in cells.items() if cell is not None}
        yield Estimate(key, **{"value": math.nan} | present)
