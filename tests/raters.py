"""The worked example of a rater: four clusters of two units, a system that declines two, and a rater who does too."""

from demur import Plan, Settings, TableOptions, read_rater, read_table, typed_point
from demur.results.beside import Beside
from demur.results.selective import evaluate

WHO, ITEM = [*"AABBCCDD"], ["1", "2"] * 4
LOSS, SURE = [0, 1, 0, 0, 1, None, 0, None], [0.9, 0.9, 0.8, 0.7, 0.7, 0, 0.6, 0]
RATED = [0, 0, 1, 0, 0, 0, None, None]
PLAN = Plan(400, seed=7)


def system(loss=LOSS):
    return read_table(
        {"cluster": WHO, "item": ITEM, "loss": loss, "sure": SURE}, instrument=None, options=TableOptions(loss_max=1)
    )


def rater(loss=RATED, who=WHO, item=ITEM):
    return read_rater({"cluster": who, "item": item, "loss": loss})


def evaluated(beside, systems=None, plan=PLAN):
    return evaluate(systems or {"sys": system()}, settings=Settings(confidence="sure"), plan=plan, beside=beside)


def everybody():
    """A rater of the same units, and points of each kind."""
    points = [
        typed_point("Paper: coverage=0.5, risk=0.25, ci=0.1..0.4"),
        typed_point("Bare: coverage=0.5, risk=0.25"),
        typed_point("Counts: units=8, answered=6, loss=1, clusters=4"),
    ]
    return Beside({"Rater A": rater()}, points, margin=2.0, handover_threshold=0.8)
