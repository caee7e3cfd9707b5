"""Simulated retrieval: posts, some of which contain evidence for a criterion, and two systems that search for it."""

from collections.abc import Iterator

import numpy as np

from demur.extensions.lab.runs import check_count
from demur.sampling.draws import checked_seed

CRITERIA = tuple(f"A{number}" for number in range(1, 10))
SENTENCES = 20
FOLDS = 5
_KEPT = 10
_WORTH_SHOWING = 1.5
_SHARPNESS = {"retriever": 1.6, "reranked": 2.6}  # how far a sentence that is evidence stands out from the others
HEADER = (
    *("post_id", "criterion_id", "gold_ids", "retriever_topk", "reranked_topk"),
    *("reranked_scores", "reranked_selected_ids", "prob", "fold"),
)


def simulated_queries(posts: int, *, seed: int) -> str:
    """Simulate a per-query CSV file of a retriever, and a reranker that also selects and gives probabilities."""
    check_count("posts", posts)
    rng = np.random.default_rng(checked_seed(seed))
    lines = [",".join(HEADER)]
    for post in range(posts):
        openness = rng.normal()  # a post that tells much holds evidence for many criteria: its queries are alike
        lines += [",".join(_row(rng, post, criterion, openness)) for criterion in CRITERIA]
    return "\n".join(lines) + "\n"


def _row(rng: np.random.Generator, post: int, criterion: str, openness: float) -> Iterator[str]:
    held = rng.random(SENTENCES) < 0.05 / (1 + np.exp(-2 * openness))
    names = np.array([f"p{post}_s{number}" for number in range(SENTENCES)])
    yield from (str(post), criterion, "|".join(names[held]))
    for sharpness in _SHARPNESS.values():
        scores = rng.normal(size=SENTENCES) + sharpness * held
        order = np.argsort(-scores)[:_KEPT]
        yield "|".join(names[order])
    shown = np.round(scores[order], 3)
    knows = openness + 1.2 * held.any() - 0.6 + 0.8 * rng.normal()
    probability = round(float(1 / (1 + np.exp(-knows))), 3)
    size = min(max(2, int(np.sum(shown > _WORTH_SHOWING))), 5) if probability >= 1 / 2 else 0
    yield "|".join(f"{score:.3f}" for score in shown)
    yield from ("|".join(names[order[:size]]), f"{probability:.3f}", str(post % FOLDS))
