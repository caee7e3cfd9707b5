"""Rows of tables: every number of every system with its differences from the baseline, and the notes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from demur.errors import UserError, literal, unknown
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.quantities import Measure
from demur.quantities.registry import COVERAGE, canonical
from demur.results.features import features_in
from demur.results.table import Results
from demur.show.names import pairs_of
from demur.show.statements import methods, population
from demur.show.statements.decisions import Incomparable, decide, is_measured, why_not_comparable
from demur.show.statements.of_features import said_by_features
from demur.show.statements.statement import Statement
from demur.show.text import UNDEFINED, Title, fixed, number_title, shown_interval

_DECIMALS, _MOST_DECIMALS = 4, 15


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a table: the quantities by name (the default ones if empty), and the number of decimals.

    Without `digits` a table for people has four decimals, and CSV has every number in full.
    """

    rows: tuple[str, ...] = ()
    digits: int | None = None

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= _MOST_DECIMALS:
            raise UserError(f"digits {literal(self.digits)}, expected decimals from 0 to {_MOST_DECIMALS}")

    def fixed(self, value: float) -> str:
        """Format a number for people, with a fixed number of decimals."""
        return fixed(value, _DECIMALS if self.digits is None else self.digits)

    def in_full(self, value: float | None) -> float | str | None:
        """A number for machines, rounded only if `digits` is given; undefined numbers are empty."""
        return value if self.digits is None or value is None else fixed(value, self.digits)

    def rounded(self, value: float) -> float:
        """A number for machines, rounded only if `digits` is given."""
        return value if self.digits is None else round(value, self.digits)

    def names(self, results: Results, shown: str) -> list[str]:
        """The names of the quantities to show."""
        study = results.selective
        known = [*study.names("csv"), *study.names_at_coverages]
        for name in map(canonical, self.rows):
            if name == LEADERBOARD:
                raise UserError("the leaderboard is a table of its own: give that row alone")
            if name not in known:
                raise unknown("row of a table of these results", name, [*known, LEADERBOARD])
        return [*map(canonical, self.rows)] or [*study.names(shown), *study.names_at_coverages]


USUAL = Layout()
LEADERBOARD = "leaderboard"
DAGGER = "†"


class Marks(NamedTuple):
    """How a medium writes a number and the signs around it."""

    number: Callable[[str], str] = str
    bracket: str = "["
    dash: str = UNDEFINED
    at_most: str = "≤"
    dagger: str = DAGGER


PLAIN = Marks()


class Cell(NamedTuple):
    """A number with its interval or upper bound; `unfair` is the reason why it decides nothing.

    A number of another convention has its range over all orders of equal confidences instead.
    """

    value: float | None = None
    interval: Interval | None = None
    bound: float | None = None
    unfair: Incomparable | str = ""
    over_ties: tuple[float | None, float | None] | None = None

    def texts(self, layout: Layout, marks: Marks = PLAIN) -> tuple[str, str]:
        """The number and its interval as two texts."""

        def number(value: float | None) -> str:
            return marks.dash if value is None else marks.number(layout.fixed(value))

        if self.value is None:
            return marks.dash, ""
        interval = "" if self.bound is None else f"{marks.at_most} {number(self.bound)}"
        if self.over_ties is not None:
            interval = f"({' to '.join(map(number, self.over_ties))})"
        if self.interval is not None:
            interval = f"{marks.bracket}{number(self.interval.low)}, {number(self.interval.high)}]"
        return number(self.value), f"{interval}{marks.dagger if self.unfair else ''}"


class TableRow(NamedTuple):
    """A row of a table: one number of every system, and its differences from the baseline."""

    name: str
    title: Title
    cells: list[Cell]
    convention: str = ""


def rows_of(results: Results, confidence: str, shown: str = "table", layout: Layout = USUAL) -> Iterator[TableRow]:
    """The rows of one confidence; numbers not based on any answer, and their differences, are empty cells."""
    pairs = pairs_of(results)
    for name in layout.names(results, shown):
        numbers = {system: results[Key(system, name, confidence)] for system in results.systems}
        measured = {system: is_measured(results, number) for system, number in numbers.items()}
        cells = [
            Cell(number.value, shown_interval(results, number), number.upper_bound) if measured[system] else Cell()
            for system, number in numbers.items()
        ]
        for pair, key in ((pair, pair.key(name, confidence)) for pair in pairs):
            estimate, unfair = results[key], why_not_comparable(results, key) or decide(results, key).obstacle
            difference = Cell(estimate.value, shown_interval(results, estimate), unfair=unfair)
            cells.append(difference if measured[pair.first.system] and measured[pair.second.system] else Cell())
        yield TableRow(name, number_title(numbers[results.systems[0]]), cells)
    for feature in features_in(results.study):
        if feature.table_rows:
            yield from feature.hook("table_rows")(results, confidence, [*map(canonical, layout.rows)])


def columns_of_systems(results: Results) -> list[str]:
    """The headings of the columns: the systems, then their differences."""
    return [*results.systems, *(f"{pair.other.system} − {pair.baseline.system}" for pair in pairs_of(results))]


@dataclass(frozen=True, slots=True)
class Legend(Statement):
    """States the meaning of a sign in a table."""

    sign: str
    meaning: str

    @property
    def words(self) -> str:
        """The sign and its meaning."""
        return f"{self.sign} {self.meaning}"


def notes(results: Results, layout: Layout = USUAL) -> Iterator[str]:
    """The sentences below a table: inputs, population, loss, intervals and conventions."""
    yield from (f"{source.line}." for source in population.published_sources(results))
    yield population.population(results).sentence
    yield f"{methods.loss_used(results).line}."
    yield f"{methods.resampling(results).line}."
    if results.study.bootstrap is not None:
        yield methods.intervals(results, methods_shown(results, layout)).sentence
    yield from (f"{convention.line}." for convention in methods.conventions(results))
    yield from (legend.sentence for legend in _legends(results, layout))
    yield from (statement.sentence for statement in said_by_features(results, "table"))
    yield f"demur {results.study.tool.version}."


def _legends(results: Results, layout: Layout) -> Iterator[Legend]:
    """The signs that a table uses."""
    names = results.selective.confidences
    cells = [cell for name in names for row in rows_of(results, name, layout=layout) for cell in row.cells]
    if any(cell.interval is None and cell.bound is not None for cell in cells):
        yield Legend("≤", "marks a one-sided bound at 95 %: no answer was wrong")
    if not all(record.defined for record in results.curves.values()):
        yield Legend(UNDEFINED, "under an area: a run that answers nothing has none, nor a difference to another")
    unfair = dict.fromkeys(
        cell.unfair.rule if isinstance(cell.unfair, Incomparable) else cell.unfair for cell in cells if cell.unfair
    )
    if unfair:
        yield Legend(DAGGER, f"Nothing follows from this difference: {'; '.join(unfair)}")


def methods_shown(results: Results, layout: Layout = USUAL) -> dict[str, list[str]]:
    """The interval methods used in the table, each with the titles of its numbers."""
    numbers: dict[str, dict[str, None]] = {}
    confidences = results.selective.confidences
    for row in (row for confidence in confidences for row in rows_of(results, confidence, layout=layout)):
        if row.convention:
            continue
        quantity = Measure.of(row.name).quantity
        title = f"{quantity.title} at a coverage" if quantity.parameter is COVERAGE else row.title.words
        for cell in row.cells:
            if cell.interval is not None:
                numbers.setdefault(cell.interval.method, {})[title] = None
    return {method: [*titles] for method, titles in numbers.items()}
