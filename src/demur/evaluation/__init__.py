"""`demur.evaluate`: results from a file, a frame or lists in one call, with the options of `demur evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from demur.errors import check_kind
from demur.evaluation.answering import evaluate_data
from demur.evaluation.reading import ReadingOptions
from demur.evaluation.request import Request
from demur.results.features import FeatureOptions
from demur.results.settings import Settings
from demur.results.table import Results
from demur.sampling.resample import Plan

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration

T = TypeVar("T", ReadingOptions, Settings, Plan)


def evaluate(  # noqa: PLR0913  (the options that are given every day, each by itself)
    data: Any,
    *features: FeatureOptions,
    confidence: str | Sequence[str] | None = None,
    loss: str | None = None,
    columns: Mapping[str, str] | None = None,
    lower_is_surer: str | Sequence[str] | None = None,
    mode: str | Sequence[str] | None = None,
    baseline: str | None = None,
    calibration: AnyCalibration | str | Path | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    reading: ReadingOptions | None = None,
    settings: Settings | None = None,
    plan: Plan | None = None,
) -> Results:
    """Evaluate a system that may abstain, or compare several on the same clusters: every number with its interval.

    `data` is a run file or a table: a path, a pandas, polars or pyarrow frame, a dict of lists, or the `Items` of a
    reader. It may also be a summary that `demur summarize` wrote, or a folder that holds one system in parts. Give
    several as a list, or as a mapping from the name of each system to its data, to compare them.

    `confidence` names what ranks the answers, for example a column; without it, the two variants of run files, or the
    only confidence of a table. `columns` maps roles to columns, `{"cluster": "document"}`; `read_table` describes the
    roles. Columns with common names are recognised, and recorded in `results.study.inputs`; an ambiguous table is an
    error that lists the choices. `resamples` is 10 000 if not given, and `seed` 0; both are recorded.

    `features` add to an evaluation: `Groups(sex="Gender")`, `Raters(ann="ann.csv")`, `Costs("1:10")`,
    `Conventions("fd-shifts")`. All other options are in three sections: `ReadingOptions` for how data are read,
    `Settings` for what is computed, and `Plan` for how it is resampled. A keyword replaces the field of that name in
    its section. They are the options of `demur evaluate`, and give the results that the command writes.

    >>> table = {"document": ["a", "a", "b", "c"], "score": [1, 0.5, 0, None], "sure": [0.9, 0.7, 0.8, 0.1]}
    >>> results = evaluate(table, confidence="sure", resamples=200, seed=1)
    >>> results["cmax"].value, results["risk@0.5"].value
    (0.75, 0.5)
    """
    computed = {
        "confidence": confidence,
        "loss": loss,
        "lower_is_surer": lower_is_surer,
        "baseline": baseline,
        "calibration": calibration,
    }
    request = Request(
        columns or {},
        _replaced(ReadingOptions, reading, {"mode": mode}),
        _replaced(Settings, settings, computed),
        _replaced(Plan, plan, {"resamples": resamples, "seed": seed}),
        features,
    )
    return evaluate_data(data, request)


def _replaced(kind: type[T], section: T | None, given: Mapping[str, Any]) -> T:
    """The section with what was given by keyword."""
    section = kind() if section is None else section
    check_kind("evaluate", section, kind, f"{kind.__name__}(…)")
    return replace(section, **{name: value for name, value in given.items() if value is not None})
