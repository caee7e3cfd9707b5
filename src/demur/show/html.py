"""The report as one HTML page: it fetches nothing, escapes all text of files, and can be read without its script.

Templates get the `artifact` (results or a calibration), its `study` (origin, inputs and tool), the `systems`, the names
that can be `switched`, the `content` of their section and the `sha256` of the file.
"""

import base64
import hashlib
import json
import math
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from demur.confidences.calibration import Calibration
from demur.drawing.labels import inert
from demur.drawing.picture import element, shape
from demur.drawing.system_styles import STYLES
from demur.errors import UserError, harmless
from demur.feature import PACKAGE, features
from demur.results.table import Results
from demur.show.calibration.fitted import calibration_name
from demur.show.names import systems_of
from demur.show.page_tables import Column, ColumnGroup, card_attributes
from demur.show.sections import OF_CORE, package_of, sections_of
from demur.show.selective.operating import marked, operating_data
from demur.show.shown_rule import ShownRule
from demur.show.text import UNDEFINED, interval_text, three

# Allows only inline styles and the script with this hash.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
_NOT_ASCII, _NO_BREAK = re.compile(r"[^\n -~]"), "\u00a0"
_STYLED = 2  # the style sheet defines the looks of the first two systems, light and dark


def report_html(artifact: Results | Calibration, *, sha256: str | None = None, rule: ShownRule | None = None) -> str:
    """Render the page of results or a calibration; `sha256` is that of the file, and a `rule` is marked on a curve."""
    task = "calibration" if isinstance(artifact, Calibration) else artifact.study.task
    systems = calibration_name(artifact) if isinstance(artifact, Calibration) else systems_of(artifact)
    looks = [look for look in STYLES if look.style in {system.style for system in systems}]
    script, data, switched = _asset("copy.js"), None, tuple(system.system for system in systems)
    if isinstance(artifact, Results) and task == "selective":
        mark = None if rule is None else marked(artifact, rule)
        data, switched = operating_data(artifact, mark), artifact.selective.confidences
        script += _asset("script.js")
    elif rule is not None:
        raise UserError("a rule is about the answers of a system: only results of demur evaluate show one")
    filled = [(part, part.filled(artifact, rule)) for part in sections_of(task)]
    template = _environment(task).get_template(f"{task}.html.j2")
    rendered = template.render(
        artifact=artifact,
        study=artifact if isinstance(artifact, Calibration) else artifact.study,
        systems=systems,
        switched=switched,
        folder=task,
        sections=[(part, content) for part, content in filled if content is not None],
        sha256=sha256,
        policy=_POLICY.format(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
        style=_asset("style.css"),
        keys={look.style: _key(look.style) for look in looks},
        more_looks=[look for look in looks if look not in STYLES[:_STYLED]],
        script=script,
        data=None if data is None else embedded(data),
    )
    return _NOT_ASCII.sub(lambda sign: sign[0] if sign[0] == _NO_BREAK else inert(sign[0]), rendered)


def embedded(content: Any) -> Markup:
    r"""Data for a script element: valid JSON without any character sequence that could close the element.

    >>> print(embedded({"name": "</script>&\u2028"}))
    {"name":"\u003c/script\u003e\u0026\u2028"}
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  (no character of markup is left in it)


def file_text(value: object) -> Markup:
    r"""Text from a file, escaped, with control characters spelled out and its writing direction isolated.

    >>> print(file_text("<b>\u202e"))
    <bdi>&lt;b&gt;\u202e</bdi>
    """
    return Markup("<bdi>{}</bdi>").format(harmless(str(value)))


@cache
def _environment(task: str) -> Environment:
    packages = ["demur.show", *([] if task in OF_CORE else [package_of(task)])]
    environment = Environment(
        loader=ChoiceLoader([*map(PackageLoader, packages), PrefixLoader({task: _of_features()})]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    environment.globals |= {"column": Column, "column_group": ColumnGroup}
    environment.filters |= {"file_text": file_text, "drawn": Markup, "harmless": harmless, "inert": inert}
    environment.filters |= {
        "three": lambda value: UNDEFINED if math.isnan(value) else three(value),
        "interval": interval_text,
        "unbroken": lambda text: text.replace(", ", ",\u00a0"),
        "by_key": lambda signature: Markup("|<wbr>").join(signature.parts),
        "said": lambda statement: inert(statement.sentence),
        "column": Column,
        "card_attributes": card_attributes,
    }
    return environment


def _of_features() -> ChoiceLoader:
    """The templates in the folders of features."""
    pages = [name for name, feature in features().items() if feature.page]
    return ChoiceLoader([PackageLoader(f"{PACKAGE}.{name}", "") for name in pages])


def _key(style: str) -> Markup:
    mark = element("g", shape(style), transform="translate(17 6)")
    return Markup(element("path", d="M1 6H33", class_=f"line {style}") + mark)  # noqa: S704  (ours)


def _asset(name: str) -> Markup:
    text = files("demur.show").joinpath(f"templates/{name}").read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704  (ours)
