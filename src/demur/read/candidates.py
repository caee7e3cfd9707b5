"""Candidates for roles: which role a column can play, by its name and by its values."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from demur.facts.columns import MISSING, written_number
from demur.read.tables import FileTable

# Names that other tools give to the columns of each role, the likeliest first; in lower case, with _ between words.
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
INDEXES = ("", "index", "level_0", "row")  # row numbers; pandas writes them without a name, or as Unnamed: 0
_BOOLS = {"true": True, "false": False}
_MOST_DIGITS = 300


def plain_name(name: str) -> str:
    """A column's name in lower case, with _ between its words, as the lists of names have it.

    >>> plain_name("Participant ID"), plain_name("isCorrect"), plain_name("Unnamed: 0")
    ('participant_id', 'is_correct', '')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    return re.sub(r"^unnamed_\d+$", "", "_".join(re.findall(r"\w+", words)).strip("_"))


@dataclass(frozen=True)
class Candidate:
    """A column, with the tests that say which roles it can play."""

    name: str
    values: Sequence[Any]

    @classmethod
    def of(cls, name: str, cells: Iterable[Any], table: FileTable) -> Self:
        """A column of these cells; those of a table of texts are parsed."""
        return cls(name, [cell_value(cell, table) for cell in cells])

    @cached_property
    def filled(self) -> list[Any]:
        """The values that are not missing."""
        return [value for value in self.values if value is not None]

    @cached_property
    def kinds(self) -> set[type]:
        """The types of its values."""
        return {*map(type, self.filled)}

    @property
    def is_number(self) -> bool:
        """Whether all values are numbers, and none is a truth value."""
        return bool(self.kinds) and self.kinds <= {int, float}

    @property
    def is_flag(self) -> bool:
        """Whether all values are true or false, or 1 or 0."""
        return bool(self.kinds) and self.kinds <= {int, float, bool} and {*self.filled} <= {0, 1}

    @property
    def is_id(self) -> bool:
        """Whether it has a name or an integer in every row."""
        return len(self.filled) == len(self.values) and self.kinds in ({int}, {str})

    @property
    def is_text(self) -> bool:
        """Whether the reader would treat its values as texts, not as numbers."""
        return bool(self.kinds & {str, bool})

    def is_called(self, role: str) -> bool:
        """Whether it has a common name of a role; that of a cluster may end in _id."""
        suffixes = ("", "_id") if role == "cluster" else ("",)
        return plain_name(self.name) in {name + suffix for name in NAMES[role] for suffix in suffixes}

    def plays(self, role: str) -> bool:
        """Whether it has a common name of a role, and values that fit the role."""
        if not self.is_called(role):
            return False
        if role == "score":
            return self.is_flag or (self.is_number and min(self.filled) >= 0 and max(self.filled) <= 1)
        return self.is_id if role in ("cluster", "item", "system") else bool(self.kinds) and ... not in self.filled

    @property
    def is_doubt(self) -> bool:
        """Whether the last word of its name suggests that lower values mean more confident."""
        return plain_name(self.name).rpartition("_")[2] in LOWER_IS_SURER

    @property
    def likeness(self) -> tuple[bool, int]:
        """The sort key of signals: names of confidences first, those of which lower means more confident last."""
        return self.is_doubt, self.rank_among(CONFIDENCES)

    def rank_among(self, names: Sequence[str]) -> int:
        """The index of the first of some names that this column's name begins or ends with; their number if none."""
        own = f"_{plain_name(self.name)}_"
        matches = (own.startswith(f"_{name}_") or own.endswith(f"_{name}_") for name in names)
        return next((index for index, match in enumerate(matches) if match), len(names))


def cell_value(cell: Any, table: FileTable) -> Any:
    """A number, a text or a truth value; None for a missing cell, and … for a list, an object or the like."""
    if isinstance(cell, str):
        number = _number(cell.replace(",", ".") if table.decimal_comma else cell) if table.text_only else None
        cell = _BOOLS.get(cell.lower(), cell) if number is None else number
    if cell is None or cell is MISSING or cell == "" or cell != cell:  # noqa: PLR0124  (NaN differs from itself)
        return None
    return cell if isinstance(cell, (str, int, float)) else ...


def _number(text: str) -> float | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < _MOST_DIGITS else written_number(text)
