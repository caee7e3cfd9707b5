"""Prompts: folders of text files with placeholders, and the JSON schemas of the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, located, unknown
from demur.facts.instruments import Instrument
from demur.files.strict_json import decode, fingerprint
from demur.files.toml import parsed_toml
from demur.types import Json

_TEXTS = ("system.txt", "evidence.txt", "score.txt", "references.txt")
_ABOUT = "prompt.toml"
_MEMBERS = ("name", "version", "instrument", "extra", "measures", "scale", "items")
_PLACEHOLDER = re.compile(r"\{(transcript|items|scale|references|measures|instrument)\}")
_KINDS = ("boolean", "enum", "string")
CONFIDENCES = (1, 2, 3, 4, 5)
_LONGEST_QUOTE, _MOST_QUOTES, _LONGEST_REASON = 400, 8, 600


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage of a reference's transcript, with an item and its known score."""

    item: str
    score: int
    text: str


@dataclass(frozen=True)
class PromptFolder:
    """The texts of a prompt folder for one instrument."""

    texts: Mapping[str, str]
    about: Json
    instrument: Instrument
    sha256: str

    @classmethod
    def of(cls, which: str, base: Path, scale: Instrument) -> PromptFolder:
        """Load a folder that demur ships, by name, or any other, by its path relative to `base`."""
        shipped = files("demur.extensions.produce").joinpath("templates")
        folder: Traversable = base / which
        if re.fullmatch("[a-z]+", which) and not folder.is_dir():
            folder = shipped.joinpath(which)
            if not folder.is_dir():
                raise unknown("prompt folder", which, (path.name for path in shipped.iterdir() if path.is_dir()))
        with located(which):
            contents = {name: _bytes(folder, name) for name in (*_TEXTS, _ABOUT)}
            about = parsed_toml(decode(contents[_ABOUT]))
            _check_about(about, scale)
            texts = {name: decode(contents[name]) for name in _TEXTS}
            _check_placeholders(texts)
        known = _wording(shipped.joinpath("instruments.toml"), scale)
        parts = [contents[name] for name in sorted(contents)] + [json.dumps(known, sort_keys=True).encode()]
        return cls(texts, known | about, scale, fingerprint(b"\0".join(parts)))

    @property
    def extra(self) -> Mapping[str, Json]:
        """Further members that answers have: each a boolean, an enum of texts, or a text."""
        return dict(self.about.get("extra", {}))

    @property
    def answers(self) -> tuple[int, ...]:
        """The possible scores of an item."""
        return tuple(range(self.instrument.minimum, self.instrument.maximum + 1))

    def evidence_messages(self, transcript: str) -> list[Json]:
        """The messages that ask for quotes."""
        return self._messages("evidence.txt", {"transcript": _marked("transcript", transcript)})

    def score_messages(self, transcript: str, references: Sequence[ShownPassage] = ()) -> list[Json]:
        """The messages that ask for scores; without references they are identical in both modes."""
        shown = "\n\n".join(
            f"({reference.item}, {reference.score})\n{_marked('reference', reference.text)}" for reference in references
        )
        block = self._filled("references.txt", {"references": shown}) if references else ""
        return self._messages("score.txt", {"transcript": _marked("transcript", transcript), "references": block})

    def _messages(self, name: str, values: Mapping[str, str]) -> list[Json]:
        system, user = self._filled("system.txt", {}), self._filled(name, values)
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]

    def _filled(self, name: str, values: Mapping[str, str]) -> str:
        """A template with its placeholders replaced in one pass, so that braces in a transcript stay unchanged."""
        every = {**self._constants, **values}
        return _PLACEHOLDER.sub(lambda placeholder: every[placeholder[1]], self.texts[name])

    @cached_property
    def _constants(self) -> dict[str, str]:
        about, scale = self.about, self.instrument
        items = about.get("items", {})
        meanings = about.get("scale", [])
        span = f"{scale.minimum} (lowest) to {scale.maximum} (highest)"
        worded = "\n".join(f"{score} = {meaning}" for score, meaning in zip(self.answers, meanings, strict=False))
        return {
            "instrument": scale.name,
            "measures": about.get("measures", f"what the items of {scale.name} ask for"),
            "items": "\n".join(f"- {name}: {items[name]}" if name in items else f"- {name}" for name in scale.items),
            "scale": worded if len(meanings) == len(self.answers) else span,
        }

    @cached_property
    def evidence_schema(self) -> Json:
        """The schema of evidence: a list of quotes per item."""
        quote = {"type": "string", "maxLength": _LONGEST_QUOTE}
        quotes = {"type": "array", "items": quote, "maxItems": _MOST_QUOTES}
        return closed(dict.fromkeys(self.instrument.items, quotes))

    @cached_property
    def score_schema(self) -> Json:
        """The schema of scores: evidence, reason, score, confidence and extra members per item."""
        item = closed(
            {
                "evidence": {"type": "string", "maxLength": _LONGEST_REASON},
                "reason": {"type": "string", "maxLength": _LONGEST_REASON},
                **{name: _extra_schema(member) for name, member in self.extra.items()},
                "score": nullable(self.answers),
                "confidence": nullable(CONFIDENCES),
            }
        )
        return closed(dict.fromkeys(self.instrument.items, item))


def _marked(kind: str, text: str) -> str:
    """Text between marks with a hash of it; as no text can contain its own hash, it cannot close the marks."""
    code = fingerprint(text.encode())[:12]
    return f"<<<{kind} {code}\n{text}\n{code} {kind}>>>"


def closed(properties: Json) -> Json:
    """A JSON schema of an object with exactly these members, all required."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def nullable(values: Sequence[int]) -> Json:
    """A JSON schema of one of these integers or null."""
    return {"anyOf": [{"type": "integer", "enum": [*values]}, {"type": "null"}]}


def _extra_schema(member: Json) -> Json:
    if member["kind"] == "string":
        return {"type": "string", "maxLength": member.get("max_length", _LONGEST_QUOTE)}
    return {"type": "boolean"} if member["kind"] == "boolean" else {"type": "string", "enum": member["values"]}


def _wording(path: Traversable, scale: Instrument) -> Json:
    """The wording of a known instrument in prompts; empty for any other."""
    known = parsed_toml(path.read_text(encoding="utf-8"))
    if scale.name not in known["measures"]:
        return {}
    items = {item: known["items"][item] for item in scale.items if item in known["items"]}
    return {"measures": known["measures"][scale.name], "scale": known["scale"], "items": items}


def _bytes(folder: Traversable, name: str) -> bytes:
    try:
        return folder.joinpath(name).read_bytes()
    except OSError as error:
        listed = ", ".join((*_TEXTS, _ABOUT))
        raise UserError(f"{name} cannot be read ({error.strerror}); a prompt folder holds {listed}") from None


def _check_about(about: Json, scale: Instrument) -> None:
    for name in about:
        if name not in _MEMBERS:
            raise unknown(f"member of {_ABOUT}", name, _MEMBERS)
    for name in ("name", "version"):
        if not isinstance(about.get(name), str):
            raise UserError(f"{_ABOUT}: {name} is {literal(about.get(name))}, expected text")
    if about.get("instrument", "any") not in ("any", scale.name):
        raise UserError(f"{_ABOUT}: the prompts are for {literal(about['instrument'])}, not for {scale.name}")
    extra = about.get("extra", {})
    for name, member in extra.items() if isinstance(extra, dict) else [("extra", None)]:
        _check_extra(name, member)


def _check_extra(name: str, member: Any) -> None:
    if not isinstance(member, dict) or member.get("kind") not in _KINDS:
        raise UserError(f"{_ABOUT}: extra.{name}: {literal(member)}, expected a table with kind {', '.join(_KINDS)}")
    if name in ("evidence", "reason", "score", "confidence"):
        raise UserError(f"{_ABOUT}: extra.{name}: every answer has {name} already")
    values = member.get("values")
    if member["kind"] == "enum" and not (isinstance(values, list) and values and all(type(v) is str for v in values)):
        raise UserError(f"{_ABOUT}: extra.{name}: values is {literal(values)}, expected a list of texts")


def _check_placeholders(texts: Mapping[str, str]) -> None:
    expected = {"evidence.txt": ("transcript", "items"), "score.txt": ("transcript", "items", "scale", "references")}
    for name, placeholders in (expected | {"references.txt": ("references",)}).items():
        for placeholder in placeholders:
            if texts[name].count(f"{{{placeholder}}}") != 1:
                raise UserError(f"{name}: expected {{{placeholder}}} once")
