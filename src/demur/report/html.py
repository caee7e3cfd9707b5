"""The report as one HTML file: nothing is fetched, every text of a file is inert, and it reads without its script."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from demur.errors import harmless
from demur.report.closer import FEW, by_item, cases
from demur.report.curves import curves
from demur.report.forest import forests
from demur.report.numbers import ends_at, interval_text, level_of, runs_of
from demur.report.operating import operating_data
from demur.report.overview import counted, overview
from demur.report.provenance import provenance
from demur.report.sides import sides_of
from demur.report.signals_compared import signals
from demur.write import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from demur.artifact import Metrics


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its place in the navigation, its template, and what the template shows.

    A section whose content is None is left out.
    """

    anchor: str
    title: str
    content: Callable[[Metrics], Any]


EVALUATION = (
    Section("verdict", "Verdict", overview),
    Section("counted", "Who was counted", counted),
    Section("curves", "Risk and coverage", curves),
    Section("operating", "Operating point", lambda metrics: [*metrics.confidence_variants.values()]),
    Section("differences", "Paired differences", forests),
    Section("signals", "Which signal", signals),
    Section("items", "By item", by_item),
    Section("cases", "Cases", cases),
    Section("methods", "Methods and provenance", provenance),
)


def report_html(metrics: Metrics) -> str:
    """The whole page of an artifact."""
    sections = [(section, content) for section in EVALUATION if (content := section.content(metrics)) is not None]
    script = _asset("script.js")
    page = _environment().get_template("page.html.j2")
    return page.render(
        metrics=metrics,
        sides=sides_of(metrics),
        variants=[*metrics.confidence_variants],
        sections=sections,
        policy=_policy(script),
        style=_asset("style.css"),
        script=script,
        data=embedded(operating_data(metrics)),
    )


def write_report(metrics: Metrics, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
    """Write the page, whole or not at all, and never over the artifact or a run it was made from."""
    runs = [one.path for one in metrics.inputs if one.path]
    return write_whole(path, report_html(metrics), inputs=[*runs, *inputs])


def _policy(script: str) -> str:
    """Nothing but the styles of the page and this very script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def embedded(content: Any) -> Markup:
    r"""Data inside a script element: valid JSON without a character that could end the element.

    >>> print(embedded({"name": "</script>&\u2028"}))
    {"name":"\u003c/script\u003e\u0026\u2028"}
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  (no character of markup is left in it)


def file_text(value: object) -> Markup:
    r"""Text of a file: shown on its own ground, with what a page would obey spelled out.

    >>> print(file_text("<b>\u202e"))
    <bdi>&lt;b&gt;\u202e</bdi>
    """
    return Markup("<bdi>{}</bdi>").format(harmless(str(value)))


def unbroken(text: str) -> str:
    """A number with its interval, which stays on one line."""
    return text.replace(", ", ",\u00a0")


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("demur.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"file_text": file_text, "drawn": Markup, "harmless": harmless, "unbroken": unbroken}
    found.globals |= {
        "ends_at": ends_at,
        "interval_text": interval_text,
        "level_of": level_of,
        "runs_of": runs_of,
        "FEW": FEW,
    }
    return found


def _asset(name: str) -> Markup:
    text = files("demur.report").joinpath(f"templates/{name}").read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704  (ours)
