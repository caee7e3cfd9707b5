"""Raters of the same units, published points and forced runs, to compare systems with. See docs/raters.md."""

from demur.feature import Feature

FEATURE = Feature(
    "raters",
    order=20,
    panel="Raters and published points",
    example='demur evaluate scores.csv --rater ann=ann.csv --point "Dr A: coverage=0.9, risk=0.2" --confidence sure',
    advice={"compared_with": "no rater or published point was given (--rater, --point)"},
    groupings=("coverage_of", "answered_by", "handed_to"),
    study=("external_points", "margin", "handover_threshold"),
    curve=("handover",),
    options="options:Raters",
    additions="comparison:compared",
    file="file:RaterMembers",
    statements="statements:statements_on",
    console="console:point_lines",
    page="section",
)
