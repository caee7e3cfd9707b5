"""Sections: the parts of a page, each a registered function in a module of the package of its task, and its template.

The package is `demur.show.<task>`, or the one that an extension names. What the function returns is the `content` of
`templates/<task>/<anchor>.html.j2`; without content the section is left out. The section of a feature is in the module
that its hook `page` names, and its template is `<anchor>.html.j2` in the folder.
"""

import base64
import gzip
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple

from demur.extension import tasks
from demur.feature import hooks
from demur.quantities import Quantity
from demur.results.table import Results
from demur.show.statements.warnings import Warned

if TYPE_CHECKING:
    from demur.confidences.calibration import Calibration
    from demur.show.shown_rule import ShownRule

Filling = Callable[..., Any]
Content = dict[str, Any]
ShadedCell = tuple[str, str]  # a number, and the style of its background
FEW = 10
OF_CORE = ("selective", "calibration")
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


class Section(NamedTuple):
    """A section of the page: its order, anchor and title, and the function that computes its content.

    A section `with_rule` also gets the rule that is shown beside the results, or None.
    """

    order: int
    anchor: str
    title: str
    content: Filling
    with_rule: bool = False

    def filled(self, artifact: "Results | Calibration", rule: "ShownRule | None") -> Any:
        """Compute the content of the section for an artifact."""
        return self.content(artifact, rule) if self.with_rule else self.content(artifact)


_SECTIONS: dict[str, list[Section]] = {}


def section(anchor: str, title: str, *, task: str, order: int, with_rule: bool = False) -> Callable[[Filling], Filling]:
    """Register the decorated function of the results as a section; `order` sorts the sections of a page."""

    def register(content: Filling) -> Filling:
        registered = _SECTIONS.setdefault(task, [])
        if any(anchor == other.anchor or order == other.order for other in registered):
            raise ValueError(f"the section {anchor} or its order {order} is registered already")
        registered.append(Section(order, anchor, title, content, with_rule))
        return content

    return register


def package_of(task: str) -> str:
    """The package whose modules register the sections of a task."""
    return f"demur.show.{task}" if task in OF_CORE else tasks()[task].page


def sections_of(task: str) -> list[Section]:
    """The sections of a task in order, from every module of its package and from the features."""
    package = import_module(package_of(task))
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    hooks("page")
    return sorted(_SECTIONS[task])


def shade(kind: str, share: float, *, few: bool) -> str:
    """The CSS of a cell of a heat map: darker for larger shares, grey if it is based on few answers."""
    return "few" if few else f"{kind} shade-{round(min(max(share, 0.0), 1.0) * _SHADES)}"


def definition(quantity: Quantity) -> tuple[str, str, str]:
    """The name of a quantity, the title of its docstring, and the paragraph after it."""
    heading, _, rest = inspect.cleandoc(quantity.function.__doc__ or "").partition("\n\n")
    return quantity.name, heading, rest.partition("\n\n")[0].replace("\n", " ")


def carried(artifact: "Results | Calibration", name: str, warnings: Sequence[Warned]) -> Content:
    """The content for reviewers: the first warning of each kind, and the results file unless it is too large."""
    content, packed = artifact.text.encode(), None
    if len(content) <= _HOPELESS:
        packed = base64.b64encode(gzip.compress(content, mtime=0)).decode()
    study = artifact.study if isinstance(artifact, Results) else artifact
    version = "".join(sign for sign in study.tool.version if sign.isalnum() or sign in ".-+")
    return {
        "name": name,
        "warnings": warnings,
        "fingerprint": artifact.fingerprint,
        "bibtex": _BIBTEX.format(version=version, year=study.created_at[:4]),
        "download": packed if packed and len(packed) <= _MOST_BYTES else None,
        "size": len(content),
    }
