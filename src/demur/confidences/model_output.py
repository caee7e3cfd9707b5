"""Signals from raw model output, for programs that produce run files.

Tokens have the format in which chat endpoints return `logprobs.content`: one entry per generated token, with its
`logprob` and the `top_logprobs` of the most likely tokens at its position. Log-probabilities are natural logarithms.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from demur.errors import UserError, literal
from demur.facts.columns import plain
from demur.facts.signals import consistency

_HUGE = 2**31
_ROUNDING = 1e-6  # servers compute in single precision: a log-probability may come out a little above 0


def token_signals(tokens: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The signals of one answer that follow from its tokens: `token_msp`, `token_pe` and `token_energy`.

    >>> tokens = [{"logprob": math.log(0.5), "top_logprobs": [{"logprob": math.log(0.5)}, {"logprob": math.log(0.25)}]}]
    >>> {name: round(value, 6) for name, value in token_signals(tokens).items()}
    {'token_msp': 0.5, 'token_pe': 0.636514, 'token_energy': -0.287682}
    """
    entries = _listed("tokens", tokens)
    for name in ("logprob", "top_logprobs"):
        for index, entry in enumerate(entries):
            if not isinstance(entry, Mapping) or name not in entry:
                raise UserError(f"token {index}: {literal(entry)}, expected an object with {name}")
    tops = [entry["top_logprobs"] for entry in entries]
    logprobs = [entry["logprob"] for entry in entries]
    return {"token_msp": token_msp(logprobs), "token_pe": token_pe(tops), "token_energy": token_energy(tops)}


def token_msp(logprobs: Sequence[float]) -> float:
    """Mean probability of the generated tokens, from the log-probability of each.

    >>> token_msp([0.0, math.log(0.5)])
    0.75
    """
    return _mean([math.exp(_logprob(value, "token", i)) for i, value in enumerate(_listed("tokens", logprobs))])


def token_pe(top_logprobs: Sequence[Any]) -> float:
    """Mean entropy, in nats, of the most likely tokens at each position, with probabilities renormalised to sum to 1.

    >>> round(token_pe([[math.log(0.4), math.log(0.4)]]) / math.log(2), 12)
    1.0
    """
    entropies = []
    for values in _tops(top_logprobs):
        total = _logsumexp(values)
        entropies.append(max(0.0, -math.fsum(math.exp(value - total) * (value - total) for value in values)))
    return _mean(entropies)


def token_energy(top_logprobs: Sequence[Any]) -> float:
    """Mean log of the total probability of the most likely tokens at each position.

    >>> round(token_energy([[math.log(0.5), math.log(0.25)]]), 12) == round(math.log(0.75), 12)
    True
    """
    return _mean([_logsumexp(values) for values in _tops(top_logprobs)])


def consistency_signals(samples: Sequence[int | None]) -> dict[str, float | int | None]:
    """How much repeated samples of one answer agree; None is a sample that abstained.

    The modal score is the most frequent one; among equally frequent ones, abstention, or else the smallest. The modal
    confidence is its share of all samples. The standard deviation is that of the numeric samples, with their number as
    the divisor, and 0 if there are fewer than two.

    >>> consistency_signals([2, 2, 1, None])
    {'consistency_modal_score': 2, 'consistency_modal_confidence': 0.5, 'consistency_score_std': 0.4714045207910317, \
'consistency_na_rate': 0.25}
    """
    drawn = [plain(sample) for sample in _listed("samples", samples)]
    for index, value in enumerate(drawn):
        if value is not None and (type(value) is not int or abs(value) >= _HUGE):
            raise UserError(f"sample {index}: {literal(value)}, expected an integer or null")
    return consistency(drawn)


def _listed(what: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise UserError(f"{what} {literal(values)}, expected a list")
    listed = list(values)
    if not listed:
        raise UserError(f"there are no {what}: nothing can be computed from an empty list")
    return listed


def _tops(top_logprobs: Any) -> Iterator[list[float]]:
    """The log-probabilities at each position, given as numbers, as objects with `logprob`, or as a mapping by token."""
    for token, given in enumerate(_listed("tokens", top_logprobs)):
        entries = list(given.values()) if isinstance(given, Mapping) else given
        if isinstance(entries, str) or not hasattr(entries, "__iter__") or not entries:
            raise UserError(f"token {token}: top_logprobs {literal(entries)}, expected a list that is not empty")
        numbers = [entry.get("logprob") if isinstance(entry, Mapping) else entry for entry in entries]
        where = f"token {token}, alternative"
        values = [_logprob(value, where, index) for index, value in enumerate(numbers)]
        total = _logsumexp(values)
        if total > _ROUNDING * len(values):
            raise UserError(f"token {token}: the probabilities of the alternatives add up to {math.exp(total):.6g}")
        yield values


def _logprob(value: Any, where: str, index: int) -> float:
    if type(value) is float and -_HUGE < value <= 0:  # the usual case, which occurs very often
        return value
    value = plain(value)
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _HUGE
    if not good or not math.isfinite(value) or value > _ROUNDING:
        raise UserError(f"{where} {index}: logprob {literal(value)}, expected a finite number, 0 or less")
    return min(float(value), 0.0)


def _logsumexp(values: list[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
