"""Parts that several pages share: cards, shaded cells, definitions, and what a page carries of its file."""

import base64
import gzip
import inspect
from collections.abc import Iterable

from demur.calibration import Calibration
from demur.quantities import Quantity
from demur.report.names import NamedSystem
from demur.report.sections import Content
from demur.results.table import Results
from demur.strict_model import WordedWarning

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
