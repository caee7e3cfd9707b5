"""What an evaluation of retrieval computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from demur.errors import UserError, literal
from demur.extensions.retrieval.quantities.ranking import checked_depth, ranking_measures
from demur.extensions.retrieval.quantities.selection import Bounds, Policy
from demur.extensions.retrieval.rankings import checked_level
from demur.extensions.retrieval.reference_ranges import KnownRanges
from demur.quantities import Measure, quantities

DEPTHS = (1, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """What to compute. The gate lets evidence through from the probability `threshold` on.

    Ids count as relevant from the grade `relevance_level` on, for every quantity but the nDCG, whose gains are the
    grades.

    `metrics` names the ranking quantities to report, as ndcg@10 or as nDCG@10, P@5, AP; without it all are reported at
    all `depths`. Results are held against the ranges of a `reference`, if one is given.

    Without a threshold a query counts as answered with nothing if nothing is selected, or, where there is no selection,
    if nothing is ranked. Systems are compared with the `baseline`, the first if none is named.
    """

    depths: Sequence[int] = DEPTHS
    effective_k: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    policies: Sequence[str] = ()
    threshold: float | None = None
    baseline: str | None = None
    relevance_level: int = 1
    metrics: Sequence[str] = ()
    reference: KnownRanges | None = None

    def __post_init__(self) -> None:
        if self.metrics:
            chosen = ranking_measures(self.metrics)
            object.__setattr__(self, "metrics", tuple(map(str, chosen)))
            object.__setattr__(self, "depths", [measure.value for measure in chosen if measure.value is not None])
        object.__setattr__(self, "depths", tuple(sorted({checked_depth(k) for k in self.depths})))
        if not self.depths and not self.metrics:
            raise UserError("no depth is given: expected at least one k, such as 10")
        checked_level(self.relevance_level)
        object.__setattr__(self, "policies", tuple(dict.fromkeys(str(Policy.of(name)) for name in self.policies)))
        if self.threshold is not None and not (isinstance(self.threshold, (int, float)) and 0 <= self.threshold <= 1):
            raise UserError(f"threshold {literal(self.threshold)}, expected a number from 0 to 1")

    @property
    def measures(self) -> list[Measure]:
        """The chosen ranking quantities, or every one at every depth."""
        if self.metrics:
            return ranking_measures(self.metrics)
        return [Measure(entry, k, str(k)) for entry in quantities("ranking") for k in self.depths]
