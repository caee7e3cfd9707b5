"""Sections: the parts of a page, and what several of them share: cards, shaded cells, definitions, what a page carries.

A section is a registered function and its template, and nothing else names it.
The sections of a task are functions in the modules of the package `demur.report.<task>`, all of which are imported
before a page is made; they stand in the order of their numbers. What a function returns is the `content` of its
template, `templates/<task>/<anchor>.html.j2`.
"""

import base64
import gzip
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

from demur.confidences.calibration import Calibration
from demur.files.strict_model import WordedWarning
from demur.quantities import Quantity
from demur.report.names import NamedSystem
from demur.results.table import Results

Filling = Callable[[Any], Any]
Content = dict[str, Any]
Task = Literal["selective", "retrieval", "calibration"]
CardNumber = tuple[NamedSystem | None, str, str]  # whose it is, the number, and its interval
Card = tuple[str, list[CardNumber], str]  # a title, a number or one of each system, and what it means
ShadedCell = tuple[str, str]  # a number, and the style of its background
FEW = 10
_SHADES = 8
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
class Section:
    """A part of the page: its place in the navigation, its template, and what the template shows.

    A section whose content is None is left out.
    """

    anchor: str
    title: str
    order: int
    content: Filling


@dataclass(frozen=True, slots=True)
class PageKind:
    """One kind of page: the systems it sets side by side, the names one can switch between, scripts and their data."""

    task: Task
    systems: Callable[[Any], Sequence[NamedSystem]]
    switched: Callable[[Any], Sequence[str]] = lambda _: ()
    scripts: tuple[str, ...] = ("copy.js",)
    data: Filling = lambda _: None


_SECTIONS: dict[str, dict[str, Section]] = {}


def section(anchor: str, title: str, *, task: Task, order: int) -> Callable[[Filling], Filling]:
    """Register a function of the results as a section; the numbers of a page leave room between them."""

    def register(content: Filling) -> Filling:
        taken = _SECTIONS.setdefault(task, {})
        if anchor in taken or order in {other.order for other in taken.values()}:
            raise ValueError(f"the section {anchor} or its order {order} is registered already")
        taken[anchor] = Section(anchor, title, order, content)
        return content

    return register


def page_of(task: Task) -> tuple[PageKind, list[Section]]:
    """The kind of page of a task, which is the `PAGE` of its package, and its sections in order."""
    package = import_module(f"demur.report.{task}")
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    kind: PageKind = package.PAGE
    return kind, sorted(_SECTIONS[task].values(), key=lambda each: each.order)


def shade(kind: str, share: float, *, few: bool) -> str:
    """The style of a cell of a heat map: darker where there is more, greyed where few answers stand behind it."""
    return "few" if few else f"{kind} shade-{round(min(max(share, 0.0), 1.0) * _SHADES)}"


def definition(quantity: Quantity) -> tuple[str, str, str]:
    """A quantity by name, the heading of its docstring, and the paragraph below it."""
    heading, _, rest = inspect.cleandoc(quantity.function.__doc__ or "").partition("\n\n")
    return quantity.name, heading, rest.partition("\n\n")[0].replace("\n", " ")


def carried(artifact: Results | Calibration, name: str, warnings: Iterable[WordedWarning]) -> Content:
    """What a reviewer takes along of results or a calibration; the file itself unless the page would become too large.

    Of each kind of warning the first is shown, and how many more there are.
    """
    whole, packed = artifact.text.encode(), None
    if len(whole) <= _HOPELESS:
        packed = base64.b64encode(gzip.compress(whole, mtime=0)).decode()
    study = artifact if isinstance(artifact, Calibration) else artifact.study
    version = "".join(sign for sign in study.tool.version if sign.isalnum() or sign in ".-+")
    by_code: dict[str, list[WordedWarning]] = {}
    for warning in warnings:
        by_code.setdefault(warning.code, []).append(warning)
    return {
        "name": name,
        "warnings": [(members[0], len(members) - 1) for members in by_code.values()],
        "fingerprint": artifact.fingerprint,
        "bibtex": _BIBTEX.format(version=version, year=study.created_at[:4]),
        "download": packed if packed and len(packed) <= _MOST_BYTES else None,
        "size": len(whole),
    }
