"""Reference ranges: values that a baseline and a good system are known to reach, with their source."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from demur.errors import UserError, literal, unknown
from demur.extensions.retrieval.quantities.detection import DETECTION
from demur.files.strict_json import read_as
from demur.files.strict_model import Declared, Part
from demur.quantities import Measure
from demur.results.file_models import Pair


class ReferenceRange(Part):
    """The range a baseline falls into, and the range a good system falls into."""

    baseline: Pair
    good: Pair

    def position(self, value: float) -> str:
        """A phrase on where a result lies relative to the two ranges.

        >>> known = REFERENCES["phq8-evidence"].ranges["ndcg@10"]
        >>> [known.position(value) for value in (0.5, 0.8, 0.82, 0.85, 0.95)]
        ['below baseline', 'baseline', 'between baseline and good', 'good', 'above good']
        """
        if value < self.baseline[0]:
            return "below baseline"
        if value <= self.baseline[1]:
            return "baseline"
        if value < self.good[0]:
            return "between baseline and good"
        return "good" if value <= self.good[1] else "above good"

    def _mistakes(self) -> Iterator[str]:
        if not self.baseline[0] <= self.baseline[1] <= self.good[0] <= self.good[1]:
            yield "expected a baseline from low to high, and above it a good system from low to high"


class KnownRanges(Part):
    """Ranges by metric: of rankings over the queries with gold, and of the detection of evidence over all queries."""

    name: Annotated[str, Declared(min_length=1)]
    source: Annotated[str, Declared(min_length=1)]
    ranges: Annotated[Mapping[str, ReferenceRange], Declared(min_length=1)]

    def _mistakes(self) -> Iterator[str]:
        for name in self.ranges:
            measure = Measure.of(name)
            if measure.quantity.of != "ranking" and measure.quantity.name not in DETECTION:
                yield f"{literal(name)} is neither a metric of rankings nor of detection"
            if str(measure) != name:
                yield f"{literal(name)} is called {measure} here"


REFERENCES = {
    known.name: known
    for known in (
        KnownRanges(
            name="phq8-evidence",
            source="document 002, evidence retrieval",
            ranges={
                "ndcg@10": ReferenceRange(baseline=(0.70, 0.80), good=(0.85, 0.90)),
                "recall@10": ReferenceRange(baseline=(0.75, 0.85), good=(0.90, 0.95)),
                "mrr@10": ReferenceRange(baseline=(0.65, 0.75), good=(0.80, 0.90)),
                "auroc": ReferenceRange(baseline=(0.55, 0.65), good=(0.70, 0.80)),
                "tpr@fpr=0.05": ReferenceRange(baseline=(0.08, 0.15), good=(0.20, 0.35)),
            },
        ),
    )
}


def reference_of(reference: str | Path) -> KnownRanges:
    """Reference ranges by name, or from a JSON file with `source` and `ranges`, each with `baseline` and `good`."""
    if isinstance(reference, str) and reference in REFERENCES:
        return REFERENCES[reference]
    if Path(reference).suffix.lower() != ".json":
        raise unknown("reference", reference, [*REFERENCES, "FILE.json"])
    return read_as(reference, lambda content: _parsed(Path(reference).stem, content))


def _parsed(name: str, content: Any) -> KnownRanges:
    if not isinstance(content, dict):
        raise UserError("expected an object with the members source and ranges")
    from pydantic import ValidationError  # noqa: PLC0415  (large, and most reference ranges are our own)

    from demur.files.strict_reading import one_line  # noqa: PLC0415

    try:
        return KnownRanges.model_validate({"name": name} | content)
    except ValidationError as error:
        raise UserError(one_line(error)) from None
