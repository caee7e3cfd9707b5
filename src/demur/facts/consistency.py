"""How much repeated answers to one question agree."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any


def modal(answers: Sequence[Any]) -> Any:
    """The most frequent answer; among equally frequent ones, abstention (None), or else the smallest.

    >>> modal([2, 1, 1, 2]), modal(["b", None, "a", None]), modal(["b", "a"])
    (1, None, 'a')
    """
    counts = Counter(answers)
    most = max(counts.values())
    tied = [answer for answer, count in counts.items() if count == most]
    return None if None in tied else min(tied)


def consistency(answers: Sequence[Any]) -> dict[str, Any]:
    """The signals of repeated answers, which are integers, texts, or None for an abstention.

    Scores also have a modal score and a standard deviation: that of the numeric answers, with their number as the
    divisor, and 0 if there are fewer than two.

    >>> consistency([1, 1, 3, None])["consistency_na_rate"], consistency(["a", "a", "b", "c"])
    (0.25, {'consistency_modal_confidence': 0.5, 'consistency_na_rate': 0.0})
    """
    chosen, count = modal(answers), len(answers)
    share = {"consistency_modal_confidence": answers.count(chosen) / count}
    abstained = {"consistency_na_rate": answers.count(None) / count}
    if any(isinstance(answer, str) for answer in answers):
        return share | abstained
    scores = [answer for answer in answers if answer is not None]
    given = len(scores)  # the variance is from integer sums, so that it is exactly 0 for equal answers
    variance = (given * sum(score * score for score in scores) - sum(scores) ** 2) / given**2 if given else 0.0
    return {"consistency_modal_score": chosen, **share, "consistency_score_std": math.sqrt(variance), **abstained}
