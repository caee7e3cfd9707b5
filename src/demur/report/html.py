"""The report as one HTML file: nothing is fetched, every text of a file is inert, and it reads without its script."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from demur.errors import harmless
from demur.report.closer import FEW
from demur.report.kinds import kind_of
from demur.report.numbers import ends_at, interval_text, level_of, runs_of
from demur.write import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from demur.report.kinds import Reportable


def report_html(artifact: Reportable, *, sha256: str | None = None) -> str:
    """The whole page of an artifact: of an evaluation, of retrieval, or of a calibration; `sha256` is of its file."""
    kind = kind_of(artifact)
    sections = [(section, content) for section in kind.sections if (content := section.content(artifact)) is not None]
    script = Markup("").join(map(_asset, kind.scripts))
    data = kind.data(artifact)
    return (
        _environment()
        .get_template(f"{kind.name}.html.j2")
        .render(
            metrics=artifact,
            sides=kind.sides(artifact),
            variants=kind.switched(artifact),
            folder=kind.folder,
            sections=sections,
            sha256=sha256,
            policy=_policy(script),
            style=_asset("style.css"),
            script=script,
            data=None if data is None else embedded(data),
        )
    )


def write_report(
    artifact: Reportable, path: str | Path, *, inputs: Iterable[str | Path] = (), sha256: str | None = None
) -> Path:
    """Write the page, whole or not at all, and never over the artifact or a file it was made from."""
    sources = filter(None, kind_of(artifact).made_from(artifact))
    return write_whole(path, report_html(artifact, sha256=sha256), inputs=[*sources, *inputs])


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
