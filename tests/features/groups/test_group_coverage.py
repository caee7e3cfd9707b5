"""Do intervals that should hold for all groups at once do so? Simulated, with fixed seeds; slow."""

import numpy as np
import pytest

from demur.inference.ratios import Ratio

DATASETS = 2000
ITEMS = 8


def sums_of(rng, clusters, risk, alike, by_unit):
    """Losses and accepted units of the clusters of one group, whose items go wrong together."""
    precision = (1 - alike) / alike
    own = rng.beta(risk * precision, (1 - risk) * precision, clusters)
    units = rng.binomial(ITEMS, 0.4, clusters) if by_unit else np.full(clusters, ITEMS)
    accepted = rng.binomial(units, 0.6)
    return rng.binomial(accepted, own), accepted


def simultaneous_coverage(participants, risks, alike, by_unit):
    """How often all judged groups hold their risk; and how often the highest one lies in the interval of the worst."""
    rng = np.random.default_rng([participants, len(risks), int(100 * alike), by_unit])
    held = worst = 0
    for _ in range(DATASETS):
        sizes = [participants] * len(risks) if by_unit else np.bincount(rng.integers(0, len(risks), participants))
        made = []
        for size, risk in zip(sizes, risks, strict=False):
            loss, accepted = sums_of(rng, size, risk, alike, by_unit)
            if size >= 10 and accepted.sum() >= 5:
                made.append((Ratio(loss, accepted, maximum=1.0), risk))
        ends = [(ratio.interval(1 - 0.05 / len(made))[0], risk) for ratio, risk in made]
        held += all(each.low <= risk <= each.high for each, risk in ends)
        low, high = (max((getattr(each, end) for each, _ in ends), default=0) for end in ("low", "high"))
        worst += low <= max((risk for _, risk in ends), default=0) <= high
    return held / DATASETS, worst / DATASETS


@pytest.mark.slow
@pytest.mark.parametrize("participants", [20, 41, 100])
@pytest.mark.parametrize(
    ("risks", "alike", "by_unit"),
    [((0.2, 0.4), 0.3, False), ((0.3, 0.3), 0.85, False), ((0.15, 0.3, 0.5), 0.3, True), ((0.05, 0.1), 0.3, True)],
)
def test_intervals_of_groups_hold_at_once(participants, risks, alike, by_unit, capsys):
    held, worst = simultaneous_coverage(participants, risks, alike, by_unit)
    with capsys.disabled():
        print(f"\n{participants} clusters, risks {risks}, alike {alike}: all {held:.1%}, worst {worst:.1%}")
    slack = 3 * (0.05 * 0.95 / DATASETS) ** 0.5
    assert held >= 0.93 - slack
    assert worst >= 0.93
