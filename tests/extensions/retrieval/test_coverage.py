"""Do the intervals of retrieval means hold the truth as often as they say? Simulated, with fixed seeds; slow."""

import numpy as np
import pytest

from demur import Plan, RetrievalSettings, evaluate_retrieval, rankings_of

CRITERIA, DATASETS = 6, 400


def drawn(rng, posts):
    """Queries of one post are alike: each post has its own chance that a gold id comes first."""
    chance = np.repeat(rng.beta(2, 1, posts), CRITERIA)
    first = rng.random(posts * CRITERIA) < chance
    return rankings_of(
        [["g"]] * len(first),
        [["g", "x"] if one else ["x", "g"] for one in first.tolist()],
        posts=np.repeat(np.arange(posts), CRITERIA).tolist(),
        criteria=[*map(str, range(CRITERIA))] * posts,
    )


@pytest.mark.slow
@pytest.mark.parametrize("posts", [10, 40])
def test_the_recommended_interval_of_a_mean_covers_and_queries_alone_would_not(posts):
    rng = np.random.default_rng(5)
    truth, held, alone = 2 / 3, 0, 0
    for seed in range(DATASETS):
        facts = drawn(rng, posts)
        found = evaluate_retrieval({"one": facts}, settings=RetrievalSettings(depths=[1]), plan=Plan(400, seed=seed))
        ends = found.one(quantity="recall@1", among="all", group=None).recommended
        held += ends.low <= truth <= ends.high
        values = np.isin(np.arange(len(facts)), facts.hit_query[facts.hit_rank == 1])
        reach = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
        alone += abs(values.mean() - truth) <= reach
    assert abs(held / DATASETS - 0.95) <= 0.035
    assert alone / DATASETS < 0.88
