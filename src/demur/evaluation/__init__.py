"""`demur.evaluate`: results from a file, a frame or lists in one call, with the options of `demur evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.evaluation.answering import RESAMPLES, evaluate_data
from demur.evaluation.voice import Call
from demur.facts.instruments import BY_ITEMS
from demur.facts.points import NumbersOfPoint
from demur.read import TableOptions
from demur.results.beside import Beside
from demur.results.groups import GroupSettings
from demur.results.settings import Settings
from demur.results.table import Results
from demur.sampling.coverage import Coverage
from demur.sampling.resample import Plan

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from demur.confidences.calibration import AnyCalibration
    from demur.facts.instruments import Instrument

_TABLE, _GROUPS, _SETTINGS = TableOptions(), GroupSettings(), Settings()
_COVERAGES = ",".join(target.text for target in _SETTINGS.targets)


def evaluate(  # noqa: PLR0913  (one parameter for each option of the command)
    *data: Any,
    mode: str | Sequence[str] | None = None,
    experiment: int | Sequence[int] | None = None,
    instrument: str | Path | Instrument | None = BY_ITEMS,
    columns: Mapping[str, str] | None = None,
    score_range: tuple[float, float] | str | None = _TABLE.score_range,
    loss_max: float | None = _TABLE.loss_max,
    every_row_its_own_cluster: bool = _TABLE.every_row_its_own_cluster,
    noun: str | None = _TABLE.noun,
    failed_units: str = _TABLE.failed_units,
    repeats: str = _TABLE.repeats,
    probability: str | Sequence[str] = _TABLE.probability,
    group: str | Sequence[str] | Mapping[str, Any] | None = None,
    groups: Any = None,
    threshold: float | None = _GROUPS.threshold,
    at_coverage: Coverage | str | float | None = _GROUPS.at_coverage,
    min_clusters: int = _GROUPS.min_clusters,
    max_groups: int = _GROUPS.max_groups,
    stratify: str | None = _GROUPS.stratify,
    loss: str | None = _SETTINGS.loss,
    confidence: str | Sequence[str] = _SETTINGS.confidence,
    lower_is_surer: str | Sequence[str] = _SETTINGS.lower_is_surer,
    coverages: str | Sequence[Coverage | str | float] = _COVERAGES,
    area_coverage: Coverage | str | float | None = _SETTINGS.area_coverage,
    baseline: str | None = _SETTINGS.baseline,
    exclude: str | Sequence[str] = _SETTINGS.exclude,
    primary: str | None = _SETTINGS.primary,
    resamples: int = RESAMPLES,
    seed: int | None = None,
    threads: int | None = None,
    calibration: AnyCalibration | str | Path | None = None,
    intersection_only: bool = False,
    level: float | None = _SETTINGS.level,
    interval: str | None = _SETTINGS.interval,
    raters: Mapping[str, Any] | None = None,
    points: str | Path | Sequence[str | Path | NumbersOfPoint] | None = None,
    forced: Any = None,
    margin: float | None = None,
    handover_threshold: float | None = None,
    abstention_costs: str | float | Fraction | Sequence[str | float | Fraction] = _SETTINGS.abstention_costs,
    cross_fit: int = _SETTINGS.cross_fit,
    conventions: str | Sequence[str] = _SETTINGS.conventions,
    workers: int | str | Executor = 1,
    created_at: str | None = None,
    settings: Settings | None = None,
    plan: Plan | None = None,
    beside: Beside | None = None,
    command: str | None = None,
    also_read: Iterable[str | Path] = (),
) -> Results:
    """Evaluate a system that may abstain, or compare several on the same clusters: every number with its interval.

    `data` is a run file or a table: a path, a pandas, polars or pyarrow frame, a dict of lists, or the `Items` of a
    reader. It may also be a summary that `demur summarize` wrote, or a folder that holds one system in parts. `workers`
    read the parts: a number of processes, `dask://SCHEDULER:PORT`, or any executor. Give several inputs to compare
    them, or a mapping from the name of each system to its data. The options are those of `demur evaluate` and give the
    results that the command writes. A `seed` is needed unless `resamples` is 0.

    `columns` maps roles to columns, `{"cluster": "document"}`; `read_table` describes the roles. Columns with common
    names are recognised, and recorded in `results.study.inputs`; an ambiguous table is an error that lists the choices.
    `confidence` names what ranks the answers, for example a column, and `primary` the confidence the verdict is on.

    `group` maps names of groups to columns of labels, `{"sex": "Gender"}`, or to a column of numbers and its cut
    points, `{"age": ("Age", [18, 40, 65])}`; or it lists groups that the data have already, such as `item`. `groups` is
    a table of labels by cluster. `raters` maps names to tables of answers to the same units; `forced` maps systems to
    runs that answer everything, and may be the run alone if there is one system. `points` are published numbers as
    `demur evaluate --point` takes them, or a TOML file.

    `conventions` names other tools whose numbers are added: `results.one(quantity="aurc", convention="fd-shifts")`.

    `settings`, `plan` and `beside` replace the options that they hold. `command` and the files in `also_read` are
    recorded.

    >>> table = {"document": ["a", "a", "b", "c"], "score": [1, 0.5, 0, None], "sure": [0.9, 0.7, 0.8, 0.1]}
    >>> results = evaluate(table, confidence="sure", resamples=200, seed=1)
    >>> results["cmax"].value, results["risk@0.5"].value
    (0.75, 0.5)
    """
    given = dict(locals())
    defaults = {name: parameter.default for name, parameter in signature(evaluate).parameters.items()}
    del given["data"]
    options = {name: value for name, value in given.items() if not _is_default(value, defaults[name])}
    voice = Call(defaults, columns or {})
    with voice.wording():
        return evaluate_data(data, options, voice)


def _is_default(value: Any, default: Any) -> bool:
    """Whether an option has its default; only plain values are compared, as comparing a frame gives a frame."""
    plain = type(value) is type(default) and isinstance(value, (str, int, float, tuple))
    return value is default or (plain and value == default)
