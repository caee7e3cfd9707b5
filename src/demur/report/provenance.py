"""Provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from __future__ import annotations

import base64
import gzip
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.metrics import METRICS
from demur.report.numbers import runs_of
from demur.report.tables import table_text
from demur.write import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.artifact import Metrics
    from demur.artifact_numbers import Bootstrap
    from demur.cautions import Caution

_MOST_BYTES = 150_000
_HOPELESS = 20 * _MOST_BYTES
_DEFINED = ("cmax", "mae", "mae@C", "aurc@C", "augrc@C", "aurc", "augrc", "eaurc", "eaugrc")
_BIBTEX = """\
@software{{demur,
  title   = {{demur: evaluation of systems that may decline to answer}},
  author  = {{{{The demur founders}}}},
  version = {{{version}}},
  year    = {{{year}}}
}}
"""


@dataclass(frozen=True, slots=True)
class Definition:
    """A number by name, and what it means."""

    name: str
    title: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A kind of warning: what it says of its first place, and where else it applies."""

    code: str
    first: Caution
    also: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a reviewer asks for."""

    definitions: tuple[Definition, ...]
    bootstrap: Bootstrap | None
    methods: Mapping[str, list[str]]
    warnings: tuple[Warned, ...]
    fingerprint: str
    bibtex: str
    download: str | None
    size: int
    latex: str


def provenance(metrics: Metrics) -> Provenance:
    """How the artifact came about."""
    entry = next(iter(metrics.confidence_variants.values()), None)
    whole = json_text(metrics.to_json()).encode()
    return Provenance(
        definitions=tuple(_definition(name) for name in _DEFINED),
        bootstrap=runs_of(entry)[0].bootstrap if entry else None,
        methods=_methods(metrics),
        warnings=tuple(_warned(metrics)),
        fingerprint=metrics.fingerprint,
        bibtex=_BIBTEX.format(version=_plain(metrics.tool.version), year=metrics.created_at[:4]),
        download=_packed(whole),
        size=len(whole),
        latex=table_text(metrics, "latex"),
    )


def _packed(whole: bytes) -> str | None:
    """The artifact as a link can hold it, unless the page would become too large to send around."""
    if len(whole) > _HOPELESS:
        return None
    packed = base64.b64encode(gzip.compress(whole, mtime=0)).decode()
    return packed if len(packed) <= _MOST_BYTES else None


def _definition(name: str) -> Definition:
    heading, _, rest = inspect.cleandoc(METRICS[name].function.__doc__ or "").partition("\n\n")
    return Definition(name, heading, rest.partition("\n\n")[0].replace("\n", " "))


def _methods(metrics: Metrics) -> dict[str, list[str]]:
    """Which interval methods were used, and for which numbers."""
    found: dict[str, list[str]] = {}
    for entry in metrics.confidence_variants.values():
        for one in runs_of(entry):
            for key, ends in (one.bootstrap.ci95_recommended if one.bootstrap else {}).items():
                nested = ends.values() if isinstance(ends, Mapping) else [ends]
                for method in dict.fromkeys(each.method for each in nested if each is not None):
                    keys = found.setdefault(method, [])
                    keys += [key] if key not in keys else []
    return found


def _warned(metrics: Metrics) -> Iterator[Warned]:
    by_code: dict[str, list[Caution]] = {}
    for one in metrics.warnings:
        by_code.setdefault(one.code, []).append(one)
    for code, found in by_code.items():
        yield Warned(code, found[0], len(found) - 1)


def _plain(version: str) -> str:
    """A version as BibTeX can hold it."""
    return "".join(character for character in version if character.isalnum() or character in ".-+")
