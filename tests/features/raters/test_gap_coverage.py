"""How often the interval of a gap to a paired rater holds the gap of the population."""

import numpy as np
import pytest

from demur import Graded, Group, Key, Measure, Minus, Plan
from demur.features.raters.point_view import PointView
from demur.inference.rows import Contrast, Row
from demur.inference.uncertainty import estimated
from demur.inference.views import CurveView, discordant
from demur.sampling.graded import Clusters

RISK, SIZE = Measure.of("matched_risk@C_point"), 6


def population(rng, clusters):
    """Clusters with a difficulty of their own; the system's confidence knows a part of it, the rater declines some."""
    hard = np.repeat(rng.normal(size=clusters), SIZE) + rng.normal(size=clusters * SIZE)
    confidence = -hard + rng.normal(size=len(hard))
    wrong = rng.random(len(hard)) < 1 / (1 + np.exp(1.2 - hard))
    answered, said = rng.random(len(hard)) < 0.9, rng.random(len(hard)) < 1 / (1 + np.exp(hard - 0.8))
    mistaken = rng.random(len(hard)) < 1 / (1 + np.exp(1.6 - 0.8 * hard))
    return (wrong, confidence, answered), (mistaken, np.zeros(len(hard)), said)


def view(loss, confidence, answered):
    clusters = len(loss) // SIZE
    owner = np.repeat(np.arange(clusters), SIZE)
    held = Clusters(range(clusters), np.full(clusters, SIZE), owner[answered])
    return CurveView.of(
        Graded(len(loss), loss[answered].astype(np.int64), confidence[answered], clusters=held, largest_loss=1)
    )


def rows_of(rng, clusters):
    system, rater = (view(*side) for side in population(rng, clusters))
    made = [(name, PointView((own, rater))) for name, own in (("rater", rater), ("system", system))]
    return [Row.of_curve(Key(name, str(RISK), group=Group("coverage_of", "rater")), own, RISK) for name, own in made]


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [20, 41, 100])
def test_the_interval_of_a_paired_gap_covers(clusters):
    rng = np.random.default_rng(clusters)
    large = rows_of(rng, 100_000)
    truth = large[0].point - large[1].point
    covered, sets = 0, 600
    for number in range(sets):
        rater, system = rows_of(rng, clusters)
        key = Key("rater", str(RISK), group=rater.key.group, minus=Minus("system", "system"))
        contrast = Contrast(key, rater, system, discordant(rater.entries(), system.entries()))
        gap = estimated([rater, system], [contrast], plan=Plan(20, seed=number))[0][-1]
        covered += gap.recommended.low <= truth <= gap.recommended.high
    print(f"P = {clusters}: {covered / sets:.1%}")
    assert 0.93 <= covered / sets <= 0.98
