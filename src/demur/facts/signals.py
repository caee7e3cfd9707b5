"""The declared signals of run files, the values that each can have, and the signals of repeated answers.

Runs may have other signals too; their values are not checked.
"""

import math
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Signal:
    """The values that a declared signal can have: a number between two bounds, a count, or text.

    `cautious` replaces a null where the signal is a feature of a calibrator, and claims no more than is known. A signal
    of which lower means more confident has none, nor has one without a lower bound. `levels` are its usual values: the
    thresholds to certify by default.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    text: bool = False
    lower_is_more_confident: bool = False
    cautious: float | None = None
    levels: tuple[float, ...] = ()

    @property
    def is_probability(self) -> bool:
        """Whether all its values are between 0 and 1."""
        return self.low >= 0 and self.high <= 1

    def allows(self, number: float) -> bool:
        """Whether the signal can have this value."""
        return self.low <= number <= self.high and (not self.whole or number.is_integer())

    @property
    def expected(self) -> str:
        """The values it can have in words, for error messages.

        >>> SIGNALS["token_msp"].expected
        'a number from 0 to 1'
        """
        if self.text:
            return "text"
        if self.whole:
            return "a count, 0 or more"
        if math.isinf(self.high):
            return "a finite number" if math.isinf(self.low) else f"a finite number, {self.low:g} or more"
        return f"a number from {self.low:g} to {self.high:g}"


SIGNALS = {
    signal.name: signal
    for signal in (
        Signal("llm_evidence_count", low=0, whole=True, cautious=0),
        Signal("keyword_evidence_count", low=0, whole=True, cautious=0),
        Signal("evidence_source", text=True),
        Signal("retrieval_reference_count", low=0, whole=True),
        Signal("retrieval_similarity_mean", cautious=0),
        Signal("retrieval_similarity_max", cautious=0),
        Signal("verbalized_confidence", low=1, high=5, cautious=3, levels=(5, 4, 3, 2, 1)),
        Signal("token_msp", low=0, high=1, cautious=0),
        Signal("token_pe", low=0, lower_is_more_confident=True),
        Signal("token_energy"),
        Signal("consistency_modal_confidence", low=0, high=1, cautious=0),
        Signal("consistency_score_std", low=0, lower_is_more_confident=True),
    )
}


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


def listed_names(names: str | Sequence[str], known: Container[str]) -> tuple[str, ...]:
    """Split a text at its commas into names; a `known` name may contain commas. A sequence is returned as a tuple.

    >>> listed_names("p(yes), raw, sure", ["p(yes), raw", "sure"]), listed_names(["a, b"], [])
    (('p(yes), raw', 'sure'), ('a, b',))
    """
    if not isinstance(names, str):
        return tuple(names)
    if names in known:
        return (names,)
    parts, found = names.split(","), list[str]()
    while parts:
        first = (",".join(parts[:end]).strip() for end in range(len(parts), 0, -1))
        size = next((len(parts) - index for index, name in enumerate(first) if name in known), 1)
        found.append(",".join(parts[:size]).strip())
        del parts[:size]
    return tuple(found)
