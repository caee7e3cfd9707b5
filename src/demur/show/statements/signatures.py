"""Signatures: which definition the numbers of results follow, ours and those that features add."""

from demur.quantities.signature import Signature
from demur.results.features import features_in
from demur.results.table import Results

OURS = "Signature"  # what the line of our own numbers is headed by


def signatures(results: Results, confidence: str | None = None) -> dict[str, Signature]:
    """The signature of our numbers, and those of other conventions by name, which have no intervals."""
    ours = results.selective.signature(confidence)
    added = (feature.hook("signatures")(results, ours) for feature in features_in(results.study) if feature.signatures)
    return {OURS: ours, **{name: signature for named in added for name, signature in named.items()}}
