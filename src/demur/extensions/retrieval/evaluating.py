"""The evaluation of any number of systems on the same queries.

Posts are drawn once for all systems: means over queries, detection and the gate's curve are taken from the same draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from demur.errors import UserError, check_kind, located, shown
from demur.extensions.retrieval.quantities.selection import Policy
from demur.extensions.retrieval.rankings import Rankings, check_same_queries
from demur.extensions.retrieval.rows import PROBABILITY, WITH_GOLD, RetrievalRows
from demur.extensions.retrieval.settings import RetrievalSettings
from demur.extensions.retrieval.study import metric_of_verdict
from demur.extensions.retrieval.study_of_rankings import retrieval_study
from demur.extensions.retrieval.warnings import retrieval_warnings
from demur.inference.key import Key
from demur.inference.rows import Row, baseline_of, contrasts_with
from demur.inference.uncertainty import Headline, estimated
from demur.results.curves import points
from demur.results.file_models import CurveRecord
from demur.results.table import Results, provenance
from demur.sampling.resample import Plan

_HOW_TO_RANK = "read_queries(path) makes one by system; rankings_of(gold, ranked) makes the Rankings of one"


def evaluate_retrieval(
    systems: Mapping[str, Rankings],
    *,
    settings: RetrievalSettings | None = None,
    plan: Plan,
    created_at: str | None = None,
    command: str | None = None,
    also_read: Sequence[str | Path] = (),
) -> Results:
    """Evaluate one system, or several on the same queries, each compared with the first or with the `baseline`."""
    settings = settings or RetrievalSettings()
    check_kind("evaluate_retrieval", systems, Mapping, _HOW_TO_RANK)
    for rankings in systems.values():
        check_kind("evaluate_retrieval", rankings, Rankings, _HOW_TO_RANK)
    if not systems:
        raise UserError("no system is given: there is nothing to evaluate")
    baseline = baseline_of(systems, settings.baseline)
    for name, rankings in systems.items():
        if rankings is not systems[baseline]:
            check_same_queries(systems[baseline], rankings, (baseline, name))
    for policy in map(Policy.of, settings.policies):
        if policy.kind.needs_scores and all(rankings.scores is None for rankings in systems.values()):
            raise UserError(f"the policy {policy} needs scores, and no system has any: give a column of them")
    plan = plan.settled(len(systems[baseline]))
    at_level = {name: rankings.at_level(settings.relevance_level) for name, rankings in systems.items()}
    by_system = {name: RetrievalRows(name, rankings, settings) for name, rankings in at_level.items()}
    rows: list[Row] = []
    for name, system in by_system.items():
        with located(f"system {shown(name)}"):
            rows += system.rows()
    contrasts = [*contrasts_with(rows, baseline, partial(_comparable, by_system))]
    headline = Key("", metric_of_verdict([*map(str, settings.measures)]), among=WITH_GOLD)
    of_headline = [contrast for contrast in contrasts if replace(contrast.key, system="", minus=None) == headline]
    estimates, _ = estimated(rows, contrasts, plan=plan, headline=Headline(headline))
    folds = [row for system in by_system.values() for row in system.fold_estimates()]
    numbers = [by_system[row.key.system].located(row) for row in estimates]
    study = retrieval_study(by_system, baseline, numbers, provenance(plan, created_at, command, also_read))
    library = next((rankings.library for rankings in at_level.values() if rankings.library), "")
    curves = {
        (name, PROBABILITY): CurveRecord.made({"defined": curve.defined, "curve": points(curve)}).of_library(library)
        for name, curve in ((name, system.gate.curve) for name, system in by_system.items() if system.gate)
    }
    warned = retrieval_warnings(by_system, plan, estimates, of_headline)
    return Results([*numbers, *folds], study, curves, warned, library)


def _comparable(by_system: Mapping[str, RetrievalRows], row: Row, other: Row) -> bool:
    """Whether a difference of two systems means something.

    Not criterion by criterion: those differences are many and small, and invite picking the one that stands out. Not of
    one gate with itself, and not of two empty decisions that are taken by different rules.
    """
    system, baseline = by_system[row.key.system], by_system[other.key.system]
    if row.key.group is not None and row.key.group.level is not None:
        return False
    if row.key.confidence == PROBABILITY:
        return not np.array_equal(system.probability, baseline.probability)
    return other.measure.quantity.of != "decision" or system.decided_by == baseline.decided_by
