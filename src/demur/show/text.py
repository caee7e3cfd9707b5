"""Formatting of numbers as text: values, intervals, titles, thresholds and aligned tables."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import category, east_asian_width

from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.quantities import Measure
from demur.quantities.registry import COMMON, COVERAGE, CUT
from demur.quantities.thresholds import typed_threshold
from demur.results.file_models import CurveRecord
from demur.results.table import Results
from demur.sampling.coverage import Coverage

if TYPE_CHECKING:
    from demur.drawing.forest import IntervalRow

UNDEFINED = "–"
_NO_COLUMN = ("Mn", "Me", "Cf")


def three(value: float) -> str:
    """Format with three significant digits, the precision of an interval from ten thousand resamples.

    >>> three(0.123456), three(1234.5), three(0.0)
    ('0.123', '1.23e+03', '0')
    """
    return f"{value:.3g}"


def four(value: float) -> str:
    """Format with four significant digits; a dash for nan.

    >>> four(0.123456), four(float("nan"))
    ('0.1235', '–')
    """
    return UNDEFINED if math.isnan(value) else f"{value:.4g}"


def decimals(value: float | None) -> str:
    """Format with four decimals; a dash if there is no number.

    >>> decimals(0.123456), decimals(None)
    ('0.1235', '–')
    """
    return UNDEFINED if value is None or math.isnan(value) else f"{value:.4f}"


def fixed(value: float, digits: int) -> str:
    """Format with a fixed number of decimals; 0 has no sign.

    >>> fixed(0.12345, 3), fixed(-0.00001, 3), fixed(float("nan"), 3)
    ('0.123', '0.000', '–')
    """
    text = UNDEFINED if math.isnan(value) else f"{value:.{digits}f}"
    return text.removeprefix("-") if text.strip("-0.") == "" else text


def interval_text(interval: Interval | None) -> str:
    """Format an interval with three digits."""
    return UNDEFINED if interval is None else f"[{three(interval.low)}, {three(interval.high)}]"


def shown_interval(results: Results, estimate: Estimate) -> Interval | None:
    """The interval to show: by the requested method, even if that gave none, or else the recommended one."""
    return estimate.recommended if results.study.requested is None else estimate.requested


def ends_of(interval: Interval | None) -> tuple[float, float] | None:
    """The lower and upper limit of an interval; None if there is none."""
    return None if interval is None else interval.ends


def interval_row(label: str, style: str, value: float, interval: Interval | None, **more: Any) -> "IntervalRow":
    """A number with its interval as a row of a forest plot; an undefined number is None."""
    from demur.drawing.forest import IntervalRow  # noqa: PLC0415  (the console draws nothing)

    return IntervalRow(label, style, None if math.isnan(value) else value, ends_of(interval), **more)


def bounded_interval(results: Results, estimate: Estimate) -> str:
    """The interval to show as text, or the upper bound of a number without any loss."""
    if estimate.upper_bound is not None:
        return f"at most {three(estimate.upper_bound)}"
    return interval_text(shown_interval(results, estimate))


def with_interval(results: Results, estimate: Estimate, digits: Callable[[float], str] = four) -> str:
    """A number with its interval as text, or with its upper bound if no answer has a loss."""
    if math.isnan(estimate.value):
        return "undefined"
    value, interval = digits(estimate.value), shown_interval(results, estimate)
    if interval is not None:
        return f"{value} {interval_text(interval)}"
    return value if estimate.upper_bound is None else f"{value} (at most {three(estimate.upper_bound)})"


def cell(results: Results, estimate: Estimate | None) -> str:
    """An estimate and its interval for a table cell; a dash if it is undefined."""
    return UNDEFINED if estimate is None or math.isnan(estimate.value) else with_interval(results, estimate)


def level_of(results: Results) -> str:
    """The name of the shown intervals, with their level."""
    requested = results.study.requested
    return "95 % interval" if requested is None else f"{100 * requested.level:.4g} % interval"


class Title(NamedTuple):
    """The title of a number: its quantity, the common coverage that an area is cut at, and the rest."""

    quantity: str
    common: float | None = None
    rest: str = ""

    @property
    def words(self) -> str:
        """The title as text."""
        common = "" if self.common is None else f" to C_common {three(self.common)}"
        return f"{self.quantity}{common}{self.rest}"


def number_title(estimate: Estimate) -> Title:
    """The title of a number, with its coverage, or the coverage at which its area ends."""
    measure = Measure.of(estimate.key.quantity)
    quantity = measure.quantity.title
    if measure.quantity.parameter is CUT:
        end = 0.0 if estimate.at is None else estimate.at
        if measure.text == COMMON:
            return Title(quantity, end)
        requested = float(Coverage.of(measure.text))
        ends_before = "" if end == requested else f" (ends at {three(end)})"
        return Title(quantity, rest=f" to {three(requested)}{ends_before}")
    if measure.quantity.parameter is COVERAGE:
        return Title(quantity, rest=f" at {Coverage.of(measure.text).key}")
    return Title(measure.title)


def title_of(estimate: Estimate) -> str:
    """The title of a number as text."""
    return number_title(estimate).words


def interval_heading(results: Results) -> str:
    """The heading of a column of intervals."""
    return level_of(results) if results.study.bootstrap else "nothing resampled"


def threshold_at(record: CurveRecord, point: int) -> str:
    """The threshold of an operating point as text; as typed, it accepts exactly that point's answers."""
    scale = -1 if record.lower_is_surer else 1
    threshold, *lower = (scale * value for value in record.curve.threshold[point : point + 2])
    text = typed_threshold(threshold, lower[0] if lower else -math.inf)
    if scale > 0:
        return text
    return text.removeprefix("-") if text.startswith("-") or not threshold else f"-{text}"


def listing(names: Sequence[str]) -> str:
    """Join names as in a sentence, with commas and "and".

    >>> listing(["a"]), listing(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def table(rows: Iterable[Sequence[str]], to_the_left: Collection[int] = (0,)) -> Iterator[str]:
    r"""Format rows of text in aligned columns; columns in `to_the_left` are left-aligned, the others right-aligned.

    >>> print(*table([("", "value"), ("Cmax", "0.5"), ("AURC", "0.125")]), sep="\n")
          value
    Cmax    0.5
    AURC  0.125
    """
    listed = [*rows]
    widths = [max(map(columns_of, column)) for column in zip(*listed, strict=True)]
    for row in listed:
        gaps = (" " * (width - columns_of(cell)) for cell, width in zip(row, widths, strict=True))
        cells = (
            f"{cell}{gap}" if index in to_the_left else f"{gap}{cell}"
            for index, (cell, gap) in enumerate(zip(row, gaps, strict=True))
        )
        yield "  ".join(cells).rstrip()


def columns_of(text: str) -> int:
    r"""The width of a text on a terminal: two for wide characters, zero for combining marks and isolates.

    >>> columns_of("few_shot"), columns_of("\u5b57"), columns_of("\u2068e\u0301\u2069")
    (8, 2, 1)
    """
    if text.isascii():
        return len(text)
    wide = (2 if east_asian_width(sign) in "WF" else 1 for sign in text if category(sign) not in _NO_COLUMN)
    return sum(wide)
