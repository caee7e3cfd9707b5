"""Carried: what a page holds of its file beside the numbers, so that a reviewer can check and cite it."""

import base64
import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from demur.calibration import Calibration
from demur.results.table import Results
from demur.strict_model import WordedWarning

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
class WarningKind:
    """A kind of warning: the first of them, and how many more there are."""

    first: WordedWarning
    also: int


@dataclass(frozen=True, slots=True)
class Carried:
    """What a reviewer takes along."""

    name: str
    warnings: tuple[WarningKind, ...]
    fingerprint: str
    bibtex: str
    download: str | None
    size: int


def carried(artifact: Results | Calibration, name: str, warnings: Iterable[WordedWarning]) -> Carried:
    """Results or a calibration, under the name they are to be saved by."""
    whole = artifact.text.encode()
    study = artifact if isinstance(artifact, Calibration) else artifact.study
    return Carried(
        name=name,
        warnings=tuple(_by_kind(warnings)),
        fingerprint=artifact.fingerprint,
        bibtex=_BIBTEX.format(version=_plain(study.tool.version), year=study.created_at[:4]),
        download=_packed(whole),
        size=len(whole),
    )


def _packed(whole: bytes) -> str | None:
    """The file as a link can hold it, unless the page would become too large to send around."""
    if len(whole) > _HOPELESS:
        return None
    packed = base64.b64encode(gzip.compress(whole, mtime=0)).decode()
    return packed if len(packed) <= _MOST_BYTES else None


def _by_kind(warnings: Iterable[WordedWarning]) -> Iterator[WarningKind]:
    by_code: dict[str, list[WordedWarning]] = {}
    for warning in warnings:
        by_code.setdefault(warning.code, []).append(warning)
    for members in by_code.values():
        yield WarningKind(members[0], len(members) - 1)


def _plain(version: str) -> str:
    """A version as BibTeX can hold it."""
    return "".join(character for character in version if character.isalnum() or character in ".-+")
