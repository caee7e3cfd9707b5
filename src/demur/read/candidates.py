"""Columns as candidates for roles: what other tools call them, and what they can be by what they hold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from demur.facts.columns import MISSING, written_number
from demur.read.tables import FileTable

# What the columns of other tools are called, the likeliest first; small letters, with _ between words.
NAMES = {
    "cluster": ("participant", "patient", "subject", "user", "document", "doc", "conversation", "session"),
    "item": ("question_id", "example_id", "sample_id", "item_id", "qid", "id", "question"),
    "system": ("model", "model_name", "system_name"),
    "truth": ("y_true", "gold", "ground_truth", "target", "label", "labels", "reference", "expected"),
    "prediction": ("y_pred", "prediction", "predicted", "pred", "predictions", "predicted_label", "answer"),
    "score": ("correct", "is_correct", "exact_match", "acc", "accuracy", "passed"),
}
CONFIDENCES = ("confidence", "conf", "probability", "proba", "prob", "max_prob", "max_proba", "certainty", "score")
LOWER_IS_SURER = ("entropy", "uncertainty", "perplexity", "variance", "std", "nll")
INDEXES = ("", "index", "level_0", "row")  # numbers of rows, which pandas writes under no name or as Unnamed: 0
_BOOLS = {"true": True, "false": False}
_MOST_DIGITS = 300


def plain_name(name: str) -> str:
    """A name as the lists above have it.

    >>> plain_name("Participant ID"), plain_name("isCorrect"), plain_name("Unnamed: 0")
    ('participant_id', 'is_correct', '')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    return re.sub(r"^unnamed_\d+$", "", "_".join(re.findall(r"\w+", words)).strip("_"))


@dataclass(frozen=True)
class Candidate:
    """A column, and what it can be."""

    name: str
    values: Sequence[Any]

    @classmethod
    def of(cls, name: str, cells: Iterable[Any], table: FileTable) -> Self:
        """A column of these cells, which are texts alone in some tables."""
        return cls(name, [cell_value(cell, table) for cell in cells])

    @cached_property
    def filled(self) -> list[Any]:
        """The cells that hold something."""
        return [value for value in self.values if value is not None]

    @cached_property
    def kinds(self) -> set[type]:
        """The types of what it holds."""
        return {*map(type, self.filled)}

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, and no truth values."""
        return bool(self.kinds) and self.kinds <= {int, float}

    @property
    def is_flag(self) -> bool:
        """Whether it holds true and false, or 1 and 0."""
        return bool(self.kinds) and self.kinds <= {int, float, bool} and {*self.filled} <= {0, 1}

    @property
    def is_id(self) -> bool:
        """Whether it can name something in every row."""
        return len(self.filled) == len(self.values) and self.kinds in ({int}, {str})

    @property
    def is_text(self) -> bool:
        """Whether the reader takes answers of this column for texts."""
        return bool(self.kinds & {str, bool})

    def is_called(self, role: str) -> bool:
        """Whether its name is one of a role; a cluster may also be called by its id."""
        ends = ("", "_id") if role == "cluster" else ("",)
        return plain_name(self.name) in {each + end for each in NAMES[role] for end in ends}

    def plays(self, role: str) -> bool:
        """Whether it is called like a role, and holds what such a column would hold."""
        if not self.is_called(role):
            return False
        if role == "score":
            return self.is_flag or (self.is_number and min(self.filled) >= 0 and max(self.filled) <= 1)
        return self.is_id if role in ("cluster", "item", "system") else bool(self.kinds) and ... not in self.filled

    @property
    def is_doubt(self) -> bool:
        """Whether its last word says that less of it is surer."""
        return plain_name(self.name).rpartition("_")[2] in LOWER_IS_SURER

    @property
    def likeness(self) -> tuple[bool, int]:
        """The order of signals: those called like a confidence first, those of which less is surer last."""
        return self.is_doubt, self.rank_among(CONFIDENCES)

    def rank_among(self, names: Sequence[str]) -> int:
        """The first of some names that its own is, or begins or ends with; after all of them if it is like none."""
        name = f"_{plain_name(self.name)}_"
        like = (name.startswith(f"_{each}_") or name.endswith(f"_{each}_") for each in names)
        return next((index for index, alike in enumerate(like) if alike), len(names))


def cell_value(cell: Any, table: FileTable) -> Any:
    """A number, a text or a truth value; None where there is nothing, … for all the rest."""
    if isinstance(cell, str):
        number = _number(cell.replace(",", ".") if table.decimal_comma else cell) if table.text_only else None
        cell = _BOOLS.get(cell.lower(), cell) if number is None else number
    if cell is None or cell is MISSING or cell == "" or cell != cell:  # noqa: PLR0124  (NaN is not what it is)
        return None
    return cell if isinstance(cell, (str, int, float)) else ...


def _number(text: str) -> float | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < _MOST_DIGITS else written_number(text)
