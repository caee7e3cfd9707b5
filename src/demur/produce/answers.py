"""Parses the answers of the model strictly, and checks quotes against the transcript."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demur.errors import UserError
from demur.files.strict_json import loads
from demur.produce.prompts import CONFIDENCES, PromptFolder
from demur.types import Json

_FENCED = re.compile(r"\s*```[A-Za-z]*[ \t]*\n?(.*?)\s*```\s*", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_SAME = str.maketrans(
    dict.fromkeys("‘’‚‛", "'")
    | dict.fromkeys("“”„‟", '"')
    | dict.fromkeys("\u00a0\u202f", " ")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None)
)
_LEAST_LETTERS = 3


class InvalidAnswer(Exception):  # noqa: N818  (a fault of the answer, not an error of demur)
    """The answer does not fit its schema, and the question is repeated."""


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """The answer for an item; `text` are the members that are free text, `extra` the others."""

    score: int | None
    confidence: int | None
    extra: Mapping[str, Any]
    text: Mapping[str, str]


def json_of(content: str) -> str:
    r"""The JSON of an answer, without code fences around it.

    >>> json_of('```json\n{"a": 1}\n```')
    '{"a": 1}'
    """
    fenced = _FENCED.fullmatch(content)
    return (fenced[1] if fenced else content).strip()


def quotes_of(text: str, items: Sequence[str]) -> dict[str, list[str]]:
    """The distinct quotes of each item, without spaces around them."""
    answer = _object(text, items)
    quotes = {}
    for item in items:
        listed = answer[item]
        if not isinstance(listed, list) or not all(isinstance(quote, str) for quote in listed):
            raise InvalidAnswer
        quotes[item] = [*dict.fromkeys(quote.strip() for quote in listed if quote.strip())]
    return quotes


def scores_of(text: str, prompts: PromptFolder) -> dict[str, ItemAnswer]:
    """The answer for each item."""
    answer = _object(text, prompts.instrument.items)
    return {item: _item_answer(answer[item], prompts) for item in prompts.instrument.items}


def _item_answer(given: Any, prompts: PromptFolder) -> ItemAnswer:
    extra = prompts.extra
    texts = ["evidence", "reason", *(name for name, member in extra.items() if member["kind"] == "string")]
    others = {name: member for name, member in extra.items() if member["kind"] != "string"}
    if not isinstance(given, dict) or {*given} != {*texts, *others, "score", "confidence"}:
        raise InvalidAnswer
    for name, allowed in (("score", prompts.answers), ("confidence", CONFIDENCES)):
        if given[name] is not None and (type(given[name]) is not int or given[name] not in allowed):
            raise InvalidAnswer
    good = all(isinstance(given[name], str) for name in texts) and all(
        type(given[name]) is bool if member["kind"] == "boolean" else given[name] in member["values"]
        for name, member in others.items()
    )
    if not good:
        raise InvalidAnswer
    confidence = None if given["score"] is None else given["confidence"]
    return ItemAnswer(given["score"], confidence, {n: given[n] for n in others}, {n: given[n] for n in texts})


def _object(text: str, members: Sequence[str]) -> Json:
    try:
        answer = loads(text)
    except UserError:
        raise InvalidAnswer from None
    if not isinstance(answer, dict) or {*answer} != {*members}:
        raise InvalidAnswer
    return answer


def normalised(text: str) -> str:
    """Text in the form in which quotes are compared: one kind of quotation mark and space, no tags, lower case.

    >>> normalised("I\u2019m  <laughter> so\u200b TIRED")
    "i'm so tired"
    """
    plain = unicodedata.normalize("NFKC", text).translate(_SAME)
    return " ".join(_TAG.sub(" ", plain).split()).lower()


def grounded(quotes: Sequence[str], transcript: str) -> list[str]:
    """The quotes of at least three letters that occur in a transcript, which is normalised."""
    return [
        quote
        for quote in quotes
        if (plain := normalised(quote)) in transcript and sum(map(str.isalnum, plain)) >= _LEAST_LETTERS
    ]
