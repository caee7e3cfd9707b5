"""Groups of units: for whom a system is worse, at one threshold and by the curve of each group. See docs/groups.md."""

from demur.feature import Feature

FEATURE = Feature(
    "groups",
    order=10,
    panel="Groups",
    example="demur evaluate scores.csv --group sex=Gender --group age=Age:18,40,65 --confidence sure",
    study=("groups",),
    options="options:Groups",
    quantities="quantities",
    additions="evaluation:GroupAdditions",
    file="file:GroupMembers",
    statements="statements:statements_on",
    console="console:group_lines",
    page="section",
    advice={"for_whom": "no groups were given (--group)"},
)
