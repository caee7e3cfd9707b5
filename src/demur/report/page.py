"""A small page of a comparison: what it says, its console report, and the curves."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from demur.report.console import evaluation_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from demur.artifact import Metrics
    from demur.curve import Curve

_STYLE = (
    "body{font:16px sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
    "pre{overflow-x:auto}td,th{padding:0 1em;text-align:left}"
)


def comparison_page(metrics: Metrics, sentences: Sequence[str], curves: Mapping[str, Curve]) -> str:
    """One self-contained file; every text in it is escaped."""
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    pictures = "".join(f"<h2>{escape(name)}</h2>{curve._repr_html_()}" for name, curve in curves.items())
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>demur: two runs</title><style>{_STYLE}</style><h1>Two runs that may abstain</h1>{said}"
        f"{pictures}<h2>All numbers</h2><pre>{escape(evaluation_text(metrics))}</pre>\n"
    )
