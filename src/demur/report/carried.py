"""Carried: what a page holds of its artifact beside the numbers, so that a reviewer can check and cite it."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.write import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from demur.cautions import Caution
    from demur.report.kinds import Reportable

_MOST_BYTES = 150_000
_HOPELESS = 20 * _MOST_BYTES
_BIBTEX = """\
@software{{demur,
  title   = {{demur: evaluation of systems that may decline to answer}},
  author  = {{{{The demur founders}}}},
  version = {{{version}}},
  year    = {{{year}}}
}}
"""


@dataclass(frozen=True, slots=True)
class Warned:
    """A kind of warning: what it says of its first place, and where else it applies."""

    code: str
    first: Caution
    also: int


@dataclass(frozen=True, slots=True)
class Carried:
    """What a reviewer takes along."""

    name: str
    warnings: tuple[Warned, ...]
    fingerprint: str
    bibtex: str
    download: str | None
    size: int


def carried(artifact: Reportable, name: str) -> Carried:
    """An artifact under the name it is to be saved by."""
    whole = json_text(artifact.to_json()).encode()
    return Carried(
        name=name,
        warnings=tuple(_warned(artifact.warnings)),
        fingerprint=artifact.fingerprint,
        bibtex=_BIBTEX.format(version=_plain(artifact.tool.version), year=artifact.created_at[:4]),
        download=_packed(whole),
        size=len(whole),
    )


def _packed(whole: bytes) -> str | None:
    """The artifact as a link can hold it, unless the page would become too large to send around."""
    if len(whole) > _HOPELESS:
        return None
    packed = base64.b64encode(gzip.compress(whole, mtime=0)).decode()
    return packed if len(packed) <= _MOST_BYTES else None


def _warned(warnings: Iterable[Caution]) -> Iterator[Warned]:
    by_code: dict[str, list[Caution]] = {}
    for one in warnings:
        by_code.setdefault(one.code, []).append(one)
    for code, found in by_code.items():
        yield Warned(code, found[0], len(found) - 1)


def _plain(version: str) -> str:
    """A version as BibTeX can hold it."""
    return "".join(character for character in version if character.isalnum() or character in ".-+")
