"""Reference ranges: what a baseline and a good pipeline reach, so that a result can be placed at a glance."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReferenceRange:
    """The range a baseline falls into, and the range a good system falls into."""

    baseline: tuple[float, float]
    good: tuple[float, float]

    def place(self, value: float) -> str:
        """Where a result falls.

        >>> [RANGES["ndcg@10"].place(value) for value in (0.5, 0.8, 0.82, 0.85, 0.95)]
        ['below baseline', 'baseline', 'between baseline and good', 'good', 'above good']
        """
        if value < self.baseline[0]:
            return "below baseline"
        if value <= self.baseline[1]:
            return "baseline"
        if value < self.good[0]:
            return "between baseline and good"
        return "good" if value <= self.good[1] else "above good"


RANGES = {
    "ndcg@10": ReferenceRange((0.70, 0.80), (0.85, 0.90)),
    "recall@10": ReferenceRange((0.75, 0.85), (0.90, 0.95)),
    "mrr@10": ReferenceRange((0.65, 0.75), (0.80, 0.90)),
    "auroc": ReferenceRange((0.55, 0.65), (0.70, 0.80)),
    "tpr@fpr=0.05": ReferenceRange((0.08, 0.15), (0.20, 0.35)),
}
