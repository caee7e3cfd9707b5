"""Columns as candidates for roles: what other tools call them, and what they can be by what they hold."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# What the columns of other tools are called, the likeliest first; small letters, with _ between words.
NAMES = {
    "cluster": ("participant", "patient", "subject", "user", "document", "doc", "conversation", "session"),
    "item": ("question_id", "example_id", "sample_id", "item_id", "qid", "id"),
    "system": ("model", "model_name", "system_name"),
    "truth": ("y_true", "gold", "ground_truth", "target", "label", "labels", "reference", "expected"),
    "prediction": ("y_pred", "prediction", "predicted", "pred", "predictions", "predicted_label", "answer"),
    "score": ("correct", "is_correct", "exact_match", "acc", "accuracy", "passed"),
}
CONFIDENCES = ("confidence", "conf", "probability", "proba", "prob", "max_prob", "max_proba", "certainty", "score")
LOWER_IS_SURER = ("entropy", "uncertainty", "perplexity", "variance", "std", "nll")
INDEXES = ("", "index", "level_0", "row")  # numbers of rows, which pandas writes under no name or as Unnamed: 0
_BOOLS = {"true": True, "false": False}


def plain_name(name: str) -> str:
    """A name as the lists above have it.

    >>> plain_name("Participant ID"), plain_name("isCorrect"), plain_name("Unnamed: 0")
    ('participant_id', 'is_correct', '')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    return re.sub(r"^unnamed_\d+$", "", "_".join(re.findall(r"\w+", words)).strip("_"))


def plain_cell(value: Any) -> Any:
    """A cell as a guess needs it: numbers, texts and truth values; None where there is nothing, … for the rest."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return _BOOLS.get(value.lower(), value)
    return value if isinstance(value, (int, float)) else ...


@dataclass(frozen=True)
class Candidate:
    """A column, and what it can be."""

    name: str
    values: Sequence[Any]

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

    def plays(self, role: str) -> bool:
        """Whether it is called like a role, and holds what such a column would hold."""
        name = plain_name(self.name)
        names = NAMES[role] if role != "cluster" else {each + end for each in NAMES[role] for end in ("", "_id")}
        if name not in names:
            return False
        if role == "score":
            return self.is_flag or self.is_number
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
