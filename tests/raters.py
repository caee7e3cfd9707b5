"""The worked example of a rater, who declines two units, beside the system of `four_clusters`."""

from demur import Plan, Settings, read_rater, typed_point
from demur.features.raters.comparators import Comparators
from demur.results.selective import evaluate
from four_clusters import ITEM, WHO, system

RATED = [0, 0, 1, 0, 0, 0, None, None]
PLAN = Plan(400, seed=7)


def rater(loss=RATED, who=WHO, item=ITEM):
    return read_rater({"cluster": who, "item": item, "loss": loss})


def evaluated(beside, systems=None, plan=PLAN):
    return evaluate(systems or {"sys": system()}, settings=Settings(confidence="sure"), plan=plan, features=[beside])


def everybody():
    """A rater of the same units, and points of each kind."""
    points = [
        typed_point("Paper: coverage=0.5, risk=0.25, ci=0.1..0.4"),
        typed_point("Bare: coverage=0.5, risk=0.25"),
        typed_point("Counts: units=8, answered=6, loss=1, clusters=4"),
    ]
    return Comparators({"Rater A": rater()}, points, margin=2.0, handover_threshold=0.8)
