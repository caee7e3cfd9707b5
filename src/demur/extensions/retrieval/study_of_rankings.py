"""The study of an evaluation of rankings: its queries, systems and settings, and the conventions it follows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from demur.extensions.retrieval.quantities.selection import breaches
from demur.extensions.retrieval.study import RetrievalStudy
from demur.inference.key import Key
from demur.quantities import Measure
from demur.types import Integers, Json

if TYPE_CHECKING:
    from demur.extensions.retrieval.rows import RetrievalRows
    from demur.extensions.retrieval.settings import RetrievalSettings
    from demur.inference.estimates import Estimate

CONVENTION = {
    "relevance": "binary; a list holds distinct ids, best first",
    "empty_gold": "every ranking quantity is 0 where there is no gold: see with_gold for the queries that have it",
    "map": "map divides by min(gold, K), map_trec by gold",
    "micro": "all queries pooled",
    "macro": "mean over the criteria that have queries in the population",
    "detection": "positive class: the query has evidence; one class: AUROC 0.5, AUPRC the share with evidence, TPR 0",
    "evidence": "with nothing to find, showing nothing counts 1 and anything else 0",
    "folds": "mean and population standard deviation (ddof 0)",
    "cluster": "posts are resampled, with all their queries",
}
_GRADED = "graded; gains are the grades, ids are relevant from a grade of {} on; a list holds distinct ids, best first"
_PERCENTILES = (5, 25, 50, 75, 95)


def retrieval_study(
    by_system: Mapping[str, RetrievalRows], baseline: str, estimates: Sequence[Estimate], provenance: Json
) -> RetrievalStudy:
    """Everything a file records besides numbers, curves and warnings; `provenance` says when and by what."""
    first, settings = by_system[baseline].rankings, by_system[baseline].settings
    graded = None if first.grades is None else [*_judgments(first.grades.gold)]
    files = dict.fromkeys((file.path, file.sha256) for system in by_system.values() for file in system.rankings.sources)
    study = RetrievalStudy.made(
        {
            **provenance,
            "inputs": [{"path": path, "sha256": sha256} for path, sha256 in files],
            "baseline": baseline if len(by_system) > 1 else None,
            "convention": CONVENTION | ({"relevance": _GRADED.format(settings.relevance_level)} if graded else {}),
            "systems": [_system(name, rows) for name, rows in by_system.items()],
            "settings": {
                "k": settings.depths,
                "effective_k": settings.effective_k,
                "relevance_level": settings.relevance_level,
                "metrics": settings.metrics or None,
                **asdict(settings.bounds),
                "k_max_ratio": float(settings.bounds.k_max_ratio),
                "policies": settings.policies,
                "gate_threshold": None if settings.threshold is None else float(settings.threshold),
            },
            "posts": len(first.post_ids),
            "queries": len(first),
            "with_gold": int(first.has_gold.sum()),
            "judgments": graded,
            "criteria": [
                {"name": group.level, "queries": int(flags.sum()), "with_gold": int((flags & first.has_gold).sum())}
                for group, flags in by_system[baseline].criteria()
            ],
            "folds": first.folds or (),
            "has_evidence_rate": float(first.has_gold.mean()),
            "reference": settings.reference,
            "reference_ranges": [*_placed(by_system, estimates, settings)],
        }
    )
    return study.signed()


def _judgments(grades: Integers) -> Iterator[Json]:
    for grade, ids in zip(*np.unique(grades, return_counts=True), strict=True):
        yield {"grade": int(grade), "ids": int(ids)}


def _system(name: str, rows: RetrievalRows) -> Json:
    rankings, counts = rows.rankings, rows.rankings.candidates
    percentiles = zip(_PERCENTILES, np.percentile(counts, _PERCENTILES), strict=True)
    selected, with_gold = rankings.selected_count, rankings.has_gold
    return {
        "name": name,
        "abstained": int((counts == 0).sum()),
        "candidates": {
            "minimum": int(counts.min()),
            **{f"p{percent}": float(value) for percent, value in percentiles},
            "maximum": int(counts.max()),
            "mean": float(counts.mean()),
        },
        "empty_decision_by": rows.decided_by,
        "empty_decision": {
            "true_positives": int((rows.empty & ~with_gold).sum()),
            "false_positives": int((rows.empty & with_gold).sum()),
            "false_negatives": int((~rows.empty & ~with_gold).sum()),
        },
        "empty_selections": None if selected is None else int((selected == 0).sum()),
        "breaches": [
            {
                "post": rankings.post_ids[int(rankings.post[query])],
                "criterion": rankings.criteria[int(rankings.criterion[query])],
                "selected": shown,
                "candidates": int(counts[query]),
                "allowed": allowed,
            }
            for query, shown, *allowed in breaches(rankings, rows.settings.bounds)
        ],
    }


def _placed(systems: Iterable[str], estimates: Sequence[Estimate], settings: RetrievalSettings) -> Iterator[Json]:
    """Ranking quantities of the queries with gold, and detection of all queries, with their reference ranges.

    The ranges are for the plain K and two classes; numbers by other conventions are not compared with them.
    """
    by_key = {row.key: row for row in estimates}
    for system in systems:
        for name, known in settings.reference.ranges.items() if settings.reference else ():
            ranking = Measure.of(name).quantity.of == "ranking"
            key = Key(system, name, among="with_gold") if ranking else Key(system, name, "prob")
            row = by_key.get(key)
            if row is None or math.isnan(row.value) or row.by_convention or (ranking and settings.effective_k):
                continue
            figure = {"system": system, "metric": name, "value": row.value}
            yield figure | dict(known) | {"place": known.position(row.value)}
