"""Conventions of other tools: the numbers they would report of the same answers, and bridges between definitions.

See docs/which-aurc.md. The signature, which says which definition a number follows, is of the core.
"""

from demur.feature import Feature

FEATURE = Feature(
    "conventions",
    order=40,
    panel="Conventions of other tools",
    example="demur evaluate scores.csv --convention fd-shifts --convention torch-uncertainty --confidence sure",
    study=("conventions",),
    options="options:Conventions",
    additions="evaluation:EmulatedNumbers",
    file="file:EmulatedMembers",
    statements="statements:statements_on",
    signatures="statements:signatures_of_tools",
    table_rows="tables:rows_of_tools",
    console="console:convention_lines",
    page="section",
    commands={"convention": "command"},
)
