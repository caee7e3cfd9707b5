"""Costs: what errors and abstentions cost together, at each price of an abstention. See docs/costs.md."""

from demur.feature import Feature

FEATURE = Feature(
    "costs",
    order=30,
    panel="Costs",
    example="demur evaluate run.json --mode few_shot --abstention-cost 0.1 --abstention-cost 1:3",
    study=("abstention_costs", "cross_fit"),
    curve=("switches",),
    options="options:Costs",
    quantities="quantities",
    additions="evaluation:CostRows",
    file="file:CostMembers",
    console="console:cost_lines",
    page="section",
)
