"""Application of a rule to a table: every row is accepted or declined, a chunk of rows at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.confidences.serving import confidence, unrated
from demur.confidences.variants import VARIANTS
from demur.drawing.html import html_table
from demur.errors import UserError, shown
from demur.extensions.decide.choosing import lower_is_surer
from demur.extensions.decide.rule import Rule
from demur.extensions.decide.watching import Chunk, Watch, Watched
from demur.facts.columns import Column
from demur.facts.items import Items
from demur.facts.losses import LossColumn
from demur.facts.raw_units import RawUnits
from demur.files.write import check_target, write_whole
from demur.options import as_option
from demur.quantities.losses import LOSSES
from demur.read.cells import read_cells
from demur.read.columns_from_rows import Row
from demur.read.paths import with_paths
from demur.read.tables import FileTable, format_of, missing_column, opened_table, role_names
from demur.types import Flags

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration

ROLES = ("cluster", "abstained", "prediction", "truth", "loss", "score")
DECISION = "decision"
_WORDS = ("decline", "accept")
_CHUNK = 4096
_Encode = Callable[[list[Row], list[str]], bytes]


def _way_out() -> str:
    return f"mark abstentions in a column abstained, or give {as_option('unlabelled')}"


@dataclass(frozen=True, slots=True)
class Applied:
    """The outcome of applying a rule: the numbers of rows, accepted rows, and abstentions of the system (`abstained`).

    Answers without a confidence are `unrated`, and declined. Of the abstentions, `without_loss` are known only by an
    empty loss. `decisions` is empty if they were written to a file, and `watched` is None unless the rule was checked.
    """

    rows: int
    accepted: int
    abstained: int
    decisions: tuple[str, ...] = ()
    watched: Watched | None = None
    unrated: int = 0
    without_loss: int = 0

    @property
    def declined(self) -> int:
        """The number of declined rows."""
        return self.rows - self.accepted

    def __str__(self) -> str:
        share = f" ({100 * self.accepted / self.rows:.3g} %)" if self.rows else ""
        counts = ((self.abstained, "by the system itself"), (self.unrated, "for want of a confidence"))
        reasons = [f"{number} of them {reason}" for number, reason in counts if number]
        declined = ", ".join([f"{self.declined} declined", *reasons])
        lines = [f"{self.rows} rows: {self.accepted} accepted{share}, {declined}"]
        if self.without_loss:
            lines.append(
                f"{self.without_loss} rows without a loss count as abstained; if they have no label yet, {_way_out()}"
            )
        return "\n".join([*lines, *([str(self.watched)] if self.watched else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        counts = [("accepted", str(self.accepted)), ("declined", str(self.declined))]
        return html_table(("decision", "rows"), counts, str(self.watched or ""))


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading a table: the columns of the roles, a calibration, the score range, unlabelled rows.

    An empty loss is an abstention, as in an evaluation, or with `unlabelled` a missing label.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    calibration: AnyCalibration | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    unlabelled: bool = False


def apply(  # noqa: PLR0913  (the rule, the rows, where decisions go, and what is expected of the rule)
    rule: Rule,
    table: Any,
    output: str | Path | None = None,
    *,
    reading: Reading | None = None,
    watch: Watch | None = None,
    signal: str | None = None,
    noun: str | None = None,
    direction: str | None = None,
    inputs: Iterable[str | Path] = (),
) -> Applied:
    """Accept or decline every row of a table, a path or a frame, by a rule.

    With an `output` the rows are written to that file unchanged, with a column `decision` added that is accept or
    decline; this is done a chunk at a time, so that a file of any length takes little memory. A row is declined if a
    column `abstained` is true, or if there is none, if its `prediction` or, for a rule about given losses, its loss is
    empty; so is a row without a confidence. Columns that played a role when the rule was chosen play it again. An empty
    truth only means that a row has no label. An empty loss means that by `Reading(unlabelled=True)`; without that, it
    is an error if no row has a loss, or if the rule was chosen on data without abstentions. With a `watch` the rule is
    checked for drift as well. It is an error if the rule is for another `signal`, `noun` or `direction`, and `inputs`
    are never overwritten.

    >>> from demur import choose, grade_units
    >>> rule = choose(grade_units([3, 2, 1], loss=[0, 0, 1], clusters=[1, 2, 3]), risk="0", seed=1)
    >>> apply(rule, {"confidence": [2.5, 0.5]}).decisions
    ('accept', 'decline')
    """
    check_rule(rule, {"signal": signal, "noun": noun, "direction": direction})
    reading, read = reading or Reading(), [*inputs, *rule.input_paths]
    if output is not None:
        read += [table] if isinstance(table, (str, Path)) else []
        check_target(output, read, rule.input_hashes)
        _check_format(table, output)
    with opened_table(table, nan_kept=()) as (opened, _):
        application = _Application(rule, opened, reading, watch)
        if output is None:
            decisions = [word for _, words in application.chunks() for word in words]
            return application.result(tuple(decisions))
        write_whole(output, application.encoded(_encoder(opened, output)), inputs=read, hashes=rule.input_hashes)
        return application.result(())


def check_rule(rule: Rule, expected: Mapping[str, str | None]) -> None:
    """Raise an error unless the rule is for this signal, noun and direction."""
    for name, value in expected.items():
        if value is not None and value != getattr(rule, name):
            raise UserError(f"the rule is for the {name} {shown(getattr(rule, name))}, not for {shown(value)}")
    if rule.signal in VARIANTS and (rule.direction == "at_most") != lower_is_surer(rule.signal):
        higher = "higher" if rule.direction == "at_most" else "lower"
        raise UserError(
            f"the rule is for the direction {rule.direction}, and {shown(rule.signal)} is more confident the {higher}"
        )


class _Application:
    """Decides on the rows of a table by a rule, and counts the decisions."""

    def __init__(self, rule: Rule, table: FileTable, reading: Reading, watch: Watch | None) -> None:
        self.rule, self.table, self.reading, self.watch = rule, table, reading, watch
        self.rows = self.accepted = self.abstained = self.unrated = self.without_loss = 0
        header = with_paths(table, [*rule.columns.values(), *reading.columns.values()]).header
        recorded = {role: name for role, name in rule.columns.items() if role in ROLES and name in header}
        self.columns = recorded | dict(reading.columns)
        self.names = role_names(self.columns, ROLES)
        for role, name in reading.columns.items():
            if name not in header:
                raise UserError(f"no column {shown(name)} for {role}; columns: {', '.join(map(shown, table.header))}")
        if DECISION in table.header:
            raise UserError("there is a column decision already: rename it")
        if watch is not None and self.names["cluster"] not in header:
            raise missing_column(self.names["cluster"], "cluster", header)

    def chunks(self) -> Iterator[tuple[list[Row], list[str]]]:
        """The rows and their decisions, in chunks."""
        rows = self.table.rows(self.table.header)
        while batch := [*islice(rows, _CHUNK)]:
            part = replace(self.table, rows=lambda _, batch=batch: iter(batch), column=None)  # type: ignore[misc]
            cells = read_cells(with_paths(part, self.columns.values()), self.columns)
            chunk = Chunk(cells, [position for position, _ in batch], self.names, self.reading.score_range)
            answered = self._answered(chunk)
            accepted = self._accepted(chunk, answered)
            if self.watch is not None:
                self.watch.add(chunk, accepted)
            self.rows += len(batch)
            self.accepted += int(accepted.sum())
            self.abstained += int((~answered).sum())
            yield [row for _, row in batch], [_WORDS[flag] for flag in accepted.tolist()]
        if not self.rows:
            raise UserError("there are no rows: nothing can be decided")
        if self.without_loss == self.rows:
            raise UserError(f"no row has a loss: did the system abstain, or are there no labels yet? {_way_out()}")

    def encoded(self, encode: _Encode) -> Iterator[bytes]:
        """The rows and their decisions as bytes of a file, in chunks."""
        yield encode([], [])
        for rows, words in self.chunks():
            yield encode(rows, words)

    def result(self, decisions: tuple[str, ...]) -> Applied:
        watched = None if self.watch is None else self.watch.result()
        counts = self.rows, self.accepted, self.abstained
        return Applied(*counts, decisions, watched, self.unrated, self.without_loss)

    def _answered(self, chunk: Chunk) -> Flags:
        """Which rows the system answered, by the column `abstained`, or else a loss or prediction; all without any."""
        if name := chunk.column("abstained"):
            flags = Column.of_codes(chunk.cells.flags(name))
            flags.refuse(~flags.is_flag(), shown(name), "true or false, or 1 or 0", chunk.positions.__getitem__)
            return ~flags.is_true()
        answered = np.ones(chunk.cells.rows, bool)
        if name := chunk.column("prediction"):
            answered = ~chunk.cells.column(name).abstains()
        if self.reading.unlabelled or self.rule.loss.name in LOSSES:
            return answered
        return self._with_loss(chunk, answered)

    def _with_loss(self, chunk: Chunk, answered: Flags) -> Flags:
        """Which rows have a loss or a score, for a rule about such; if there is no such column, those answered."""
        name = chunk.column("loss") or chunk.column("score")
        if name is None:
            return answered
        empty = chunk.cells.numbers(name).abstains()
        unclear = np.flatnonzero(empty & answered)
        if unclear.size and self.rule.answered == self.rule.units:
            row = f"{chunk.positions[int(unclear[0])]}: {shown(name)} is empty"
            raise UserError(f"{row}: did the system abstain, or is there no label yet? {_way_out()}")
        self.without_loss += unclear.size
        return ~empty

    def _accepted(self, chunk: Chunk, answered: Flags) -> Flags:
        rule, cells, size = self.rule, chunk.cells, chunk.cells.rows
        if rule.threshold is None:
            return np.zeros(size, bool)
        known = {*self.names.values()} - {rule.signal}
        units = RawUnits(
            clusters=[*range(self.rows + 1, self.rows + size + 1)],
            items=chunk.positions,
            loss=LossColumn(Column.of([0] * size), "loss"),
            abstained=Column.of((~answered).tolist()),
            signals={name: cells.column(name) for name in cells.values if name not in known},
            noun="row",
        )
        try:
            rated = answered & ~unrated(Items.of(units), rule.signal, self.reading.calibration)
            units = replace(units, abstained=Column.of((~rated).tolist()))
            values = confidence(Items.of(units), rule.signal, self.reading.calibration).values
        except UserError as error:
            raise UserError(f"the rule is for the signal {shown(rule.signal)}: {error}") from None
        self.unrated += int((answered & ~rated).sum())
        threshold = rule.threshold if rule.direction == "at_least" else -rule.threshold
        if rule.direction == "at_most" and not lower_is_surer(rule.signal):
            values = -values
        return np.asarray(rated & (np.nan_to_num(values, nan=-np.inf) >= threshold))


def _check_format(source: Any, output: str | Path) -> None:
    expected = ".csv" if isinstance(source, (str, Path)) and format_of(source) in (".csv", ".tsv") else ".jsonl"
    if Path(output).suffix.lower() != expected:
        raise UserError(f"{output}: decisions of this table are written as {expected}: name such a file")


def _encoder(table: FileTable, output: str | Path) -> _Encode:
    """The function that encodes rows as CSV or as JSON Lines, by the suffix of the output."""

    def as_csv(rows: list[Row], words: list[str]) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=";" if table.decimal_comma else ",", lineterminator="\n")
        if not words:
            writer.writerow([*table.header, DECISION])
        writer.writerows([*row.values(), word] for row, word in zip(rows, words, strict=True))
        return text.getvalue().encode()

    def as_json(rows: list[Row], words: list[str]) -> bytes:
        decided = ({**row, DECISION: word} for row, word in zip(rows, words, strict=True))
        return "".join(f"{_json_line(row)}\n" for row in decided).encode()

    return as_csv if Path(output).suffix.lower() == ".csv" else as_json


def _json_line(row: Row) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError(f"a row cannot be written as JSON: {error}") from None
