"""Raters: answers to the units of an evaluation, sorted as its units are, and judged by its truths."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from demur.errors import UserError, literal, shown
from demur.facts.codes import Codes
from demur.facts.columns import Column, State
from demur.facts.ids import ClusterId
from demur.facts.instruments import score_bounds
from demur.facts.items import Items, Source
from demur.facts.labels import Spelling, folded
from demur.facts.losses import LossColumn
from demur.types import Flags, Indices

Unit = tuple[ClusterId, str]


@dataclass(frozen=True, slots=True, eq=False)
class RaterAnswers:
    """The answers of a rater: a prediction or a loss for each unit, null where the rater abstained."""

    units: Sequence[Unit]
    answers: Sequence[Any]
    by: str
    truths: Sequence[Any] | None = None
    source: Source | None = None

    @classmethod
    def of_items(cls, items: Items) -> RaterAnswers:
        """The answers of a run as those of a rater."""
        answered = items.answered.tolist()
        if items.losses is not None:
            values = (items.losses.numerators / items.losses.divisor).tolist()
        elif items.labels is not None:
            values = [items.labels[answer] for answer in items.answer.tolist()]
        else:
            values = items.answer.tolist()
        answers = [value if known else None for value, known in zip(values, answered, strict=True)]
        by = "prediction" if items.losses is None else "loss"
        return cls(items.unit_names, answers, by, source=items.source)

    def aligned(self, like: Items, left_out: Collection[ClusterId] = (), lost: Collection[Unit] = ()) -> Items:
        """The answers as facts with the units of a system; it is an error if the two have different units.

        Clusters that are `left_out` of the evaluation, and units that are `lost` to it, are left out here too.
        """
        rows = self._rows(like, left_out, lost)
        values = Column.of([self.answers[row] for row in rows.tolist()])
        answered = ~values.abstains()
        if not answered.any():
            raise UserError("rater_answers_nothing: a rater without an answer has no risk")
        nan = np.asarray(values.is_(State.NUMBER) & np.isnan(values.values))
        rated = replace(like, answered=answered, nan_answer=nan, signals=MappingProxyType({}), source=self.source)
        if self.by == "loss":
            return replace(rated, losses=_losses(values, answered, like), labels=None)
        if like.losses is not None:
            raise UserError("the evaluation is of losses, and this rater gives predictions: give a column loss")
        self._check_truths(like, rows)
        return _predicted(rated, values, answered)

    def _rows(self, like: Items, left_out: Collection[ClusterId], lost: Collection[Unit]) -> Indices:
        """The row of the rater's table with the answer to each unit of the evaluation."""
        known = ((unit, row) for row, unit in enumerate(self.units) if unit[0] not in left_out)
        row_of = {unit: row for unit, row in known if unit not in lost}
        wanted = like.unit_names
        missing, extra = [unit for unit in wanted if unit not in row_of], {*row_of}.difference(wanted)
        if missing or extra:
            first = missing[0] if missing else min(extra, key=str)
            unit = f"{like.noun} {shown(first[0])}, {shown(first[1])}"
            raise UserError(
                f"the rater and the evaluation hold different units: {len(missing)} of {len(wanted)} are not in the "
                f"rater's table, {len(extra)} are only there ({unit}, …)"
            )
        return np.array([row_of[unit] for unit in wanted], dtype=np.intp)

    def _check_truths(self, like: Items, rows: Indices) -> None:
        """Check that truths in the rater's table, if any, equal those of the evaluation."""
        if self.truths is None:
            return
        for unit, row in enumerate(rows.tolist()):
            own: Any = int(like.truth[unit]) if like.labels is None else like.labels[like.truth[unit]]
            if self.truths[row] != own and folded(self.truths[row]) != folded(own):
                both = f"{literal(self.truths[row])} of the rater, {literal(own)} of the evaluation"
                raise UserError(f"{like.place(unit)}: truth {both}")


def _losses(values: Column, answered: Flags, like: Items) -> Any:
    largest = None
    if like.losses is not None and like.losses.largest is not None:
        largest = like.losses.largest / like.losses.divisor
    column = LossColumn(values, "loss", maximum=largest)
    values.refuse(column.wrong(answered), "loss", f"{column.expected} or null", like.place)
    return column.losses(answered)


def _predicted(rated: Items, values: Column, answered: Flags) -> Items:
    """The facts with predictions, which are scores of the instrument or labels."""
    if rated.labels is None:
        low, high, score = score_bounds(rated.instrument)
        wrong = answered & ~values.within(low, high, whole=True)
        values.refuse(wrong, "prediction", f"{score} or null", rated.place)
        return replace(rated, answer=np.where(answered, values.values, 0).astype(np.int64))
    cells = [values.cell(unit) if known else None for unit, known in enumerate(answered.tolist())]
    truths, answers = Codes.numbered(rated.truth, rated.labels), Codes.of(cells)
    texts = [text if text is None else str(text) for text in Spelling.of(truths, answers).texts(truths, answers)[1]]
    labels = (*rated.labels, *sorted({text for text in texts if text is not None}.difference(rated.labels)))
    number = {label: index for index, label in enumerate(labels)}
    answer = np.array([0 if text is None else number[text] for text in texts], dtype=np.int64)
    return replace(rated, labels=labels, answer=answer)
