"""Checks of a query's ids, grades, scores, probability and fold; the caller adds the query's name to an error."""

import math
import re
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np

from demur.errors import UserError, literal
from demur.facts.columns import plain, wrong_value

MOST_DIGITS = 18
_LARGEST = 1e300
_HIGHEST = 10**MOST_DIGITS


def check_kinds(gold: Collection[Any], ranked: Collection[Any]) -> None:
    """Refuse texts and numbers as ids of one query: the text '1' and the number 1 would not match."""
    text = next((value for value in chain(gold, ranked) if isinstance(value, str)), None)
    number = next((value for value in chain(gold, ranked) if isinstance(value, (int, float, np.number))), None)
    if text is not None and number is not None:
        raise UserError(f"ids are texts or numbers, not both as here {literal(text)} and {literal(plain(number))}")


def by_number(fold: str) -> tuple[float, str]:
    """The sort key of folds: 2 before 10, and names after numbers."""
    return (float(fold), "") if re.fullmatch("[0-9]{1,15}", fold) else (math.inf, fold)


def fold_name(fold: Any) -> str:
    """A fold as text; a float that is an integer, as frames store them, is written as one."""
    if isinstance(fold, float) and not fold.is_integer():
        raise UserError(f"fold {literal(fold)}, expected a name or an integer")
    return str(int(fold)) if isinstance(fold, float) else str(fold)


def _is_between(number: Any, low: float, high: float) -> bool:
    is_number = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
    return is_number and bool(low <= number <= high)


def relevant_grades(gold: Any, grades: Any) -> dict[Any, int]:
    """The grade of each gold id with a grade above 0; the others were judged not relevant."""
    if not isinstance(grades, (list, tuple)):
        raise UserError(f"grades {literal(grades)}, expected a list of integers")
    if not isinstance(gold, (list, tuple)):
        raise UserError("a set of gold ids has no order for grades to follow: give a list of ids, or a dict of grades")
    if len(grades) != len(gold):
        raise UserError(f"{len(grades)} grades for {len(gold)} gold ids, expected one each")
    for grade in grades:
        if not isinstance(grade, (int, np.integer)) or not _is_between(grade, -_HIGHEST, _HIGHEST):
            raise UserError(f"grade {literal(plain(grade))}, expected an integer of at most {MOST_DIGITS} digits")
    judged: dict[Any, int] = dict(zip(gold, grades, strict=True))
    return {name: int(grade) for name, grade in judged.items() if grade > 0}


def checked_scores(scores: Sequence[float], ranked: Sequence[Any]) -> Sequence[float]:
    """The scores, checked to be one finite number per ranked id."""
    if not isinstance(scores, (list, tuple)):
        raise UserError(f"scores {literal(scores)}, expected a list of numbers")
    if len(scores) != len(ranked):
        raise UserError(f"{len(scores)} scores for {len(ranked)} ranked ids, expected one each")
    numbers = {*map(type, scores)} <= {int, float} and all(map(_LARGEST.__ge__, map(abs, scores)))
    for score in () if numbers else scores:
        if not _is_between(score, -_LARGEST, _LARGEST):
            raise UserError(f"score {wrong_value(plain(score), 'a finite number')}")
    return scores


def checked_prob(prob: Any) -> float:
    """The probability, checked to be a number from 0 to 1."""
    if not _is_between(prob, 0, 1):
        raise UserError(f"prob {literal(prob)}, expected a number from 0 to 1")
    return float(prob)
