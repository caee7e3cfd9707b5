"""The parts of a guess about a table: what the user specified, candidates for each role, and open questions.

Nothing is guessed silently: guesses are reported and recorded, and a question comes with the options that answer it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from demur.errors import shown
from demur.facts.column_names import Meaning, core, meaning
from demur.facts.columns import MISSING
from demur.facts.instruments import BY_ITEMS
from demur.options import Answer
from demur.read.cells import as_flag, text_value
from demur.read.tables import FileTable

# Names that other tools give to the columns of each role, the likeliest first; what they are called exactly is taken,
# and what a name only suggests (`demur.facts.column_names`) is asked about.
NAMES = {
    "cluster": ("participant", "patient", "subject", "user", "mrn", "document", "doc", "conversation", "session"),
    "item": ("question_id", "example_id", "sample_id", "item_id", "qid", "id", "question"),
    "system": ("model", "model_name", "system_name"),
    "truth": ("y_true", "gold", "ground_truth", "target", "label", "labels", "reference", "expected"),
    "prediction": ("y_pred", "prediction", "predicted", "pred", "predictions", "predicted_label", "answer"),
    "loss": ("loss", "wrong", "error", "incorrect", "mistake", "hallucinated"),
    "score": ("correct", "is_correct", "exact_match", "acc", "accuracy", "passed"),
}
CONFIDENCES = ("confidence", "conf", "probability", "proba", "prob", "max_prob", "max_proba", "certainty", "score")
INDEXES = ("", "index", "level_0", "row")  # row numbers; pandas writes them without a name, or as Unnamed: 0
_SAME = 1e-9  # 1 - 0.9 is not exactly 0.1
_STATES = re.compile("ok|failed(:.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Given:
    """What the user specified about the input; `usual` are the signals that the default confidences need.

    A table is `alone` if it is the only input.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    instrument: object = BY_ITEMS
    own_clusters: bool = False
    score_range: object = None
    loss: str | None = None
    confidence: bool = False
    lower_is_surer: Sequence[str] = ()
    usual: frozenset[str] = frozenset()
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the table leaves open, and the options that would answer it."""

    about: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """The guessed column of each role, the loss and the confidence where they are clear, and the open questions."""

    columns: Mapping[str, str]
    loss: str | None
    confidence: str | None
    questions: tuple[Question, ...]

    @property
    def notes(self) -> list[str]:
        """The guesses as sentences."""
        taken = ", ".join(f"{shown(name)} as {role}" for role, name in self.columns.items())
        columns = [f"took {taken}"] if taken else []
        loss = [f"the loss is {self.loss}"] if self.loss else []
        return [*columns, *loss, *([ranked_by(self.confidence)] if self.confidence else [])]


def ranked_by(signal: str) -> str:
    """The sentence that reports a guessed confidence."""
    return f"answers are ranked by {shown(signal)}"


def plain_name(name: str) -> str:
    """The name of a column in lower case with _ between words, as in the lists of common names.

    >>> plain_name("Participant ID"), plain_name("isCorrect"), plain_name("Unnamed: 0")
    ('participant_id', 'is_correct', '')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    return re.sub(r"^unnamed_\d+$", "", "_".join(re.findall(r"\w+", words)).strip("_"))


@dataclass(frozen=True)
class Candidate:
    """A column with its cells, and tests of which roles it can play."""

    name: str
    values: Sequence[Any]

    @classmethod
    def of(cls, name: str, cells: Iterable[Any], table: FileTable) -> Self:
        """Build a candidate from cells; cells of a table of texts are parsed."""
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
        """Whether every row has a name or an integer."""
        return len(self.filled) == len(self.values) and self.kinds in ({int}, {str})

    @property
    def is_cluster(self) -> bool:
        """Whether the values can be clusters, empty cells aside: names, integers, or whole decimals."""
        wholes = all(type(value) is int or (type(value) is float and value.is_integer()) for value in self.filled)
        return bool(self.kinds) and (self.kinds <= {int, str} or wholes)

    @property
    def no_cluster(self) -> str:
        """The reason why the column cannot be the cluster, whatever its name; empty if it can."""
        empty = len(self.values) - len(self.filled)
        if empty:
            return f"is empty in {empty} row{'s' * (empty > 1)}"
        return "" if self.is_cluster else "holds neither names nor integers"

    @property
    def is_text(self) -> bool:
        """Whether the reader treats the values as texts, not as numbers."""
        return bool(self.kinds & {str, bool})

    @property
    def meaning(self) -> Meaning:
        """What its name suggests."""
        return meaning(self.name)

    def is_called(self, role: str) -> bool:
        """Whether the column has one of the common names of a role, in any case."""
        return plain_name(self.name) == role or _core(self.name, role) in _CORES.get(role, ())

    def plays(self, role: str) -> bool:
        """Whether the column has a common name of a role, and values that fit the role."""
        return self.is_called(role) and self.fits(role)

    def may_play(self, role: str) -> bool:
        """Whether the name suggests a loss or a score, and the values fit it in some score range."""
        kind, is_score = self.meaning.kind, role == "score"
        fits = self.is_flag or (self.is_number if is_score else self.fits(role))
        return (kind == role and fits) or (is_score and kind == "key" and self.is_flag)

    def fits(self, role: str) -> bool:
        """Whether the values are valid for a role."""
        if role == "cluster":
            return not self.no_cluster
        if role in ("item", "system"):
            return self.is_id
        if role in ("loss", "score"):
            highest = 1 if role == "score" else math.inf
            return self.is_flag or (self.is_number and min(self.filled) >= 0 and max(self.filled) <= highest)
        tests = {
            "abstained": self.is_flag,
            "success": self.kinds == {bool},
            "status": self.kinds == {str} and all(map(_STATES.fullmatch, self.filled)),
            "repeat": self.kinds == {int} and min(self.filled) >= 1,
        }
        return tests.get(role, bool(self.kinds) and ... not in self.filled)

    def rank_among(self, names: Sequence[str]) -> int:
        """Index of the first of `names` that this column's name begins or ends with; their number if none."""
        own = f"_{plain_name(self.name)}_"
        matches = (own.startswith(f"_{name}_") or own.endswith(f"_{name}_") for name in names)
        return next((index for index, match in enumerate(matches) if match), len(names))


def agree(judged: tuple[str, Candidate], other: tuple[str, Candidate]) -> bool:
    """Whether two columns, each with its role, give the same losses: they are equal, or a loss is 1 minus a score."""
    (role, one), (other_role, two) = judged, other
    if not all(column.is_number or column.is_flag for column in (one, two)):
        return False
    sign, start = (1, 0) if role == other_role else (-1, 1)
    return all(
        (left is None) == (right is None) and (left is None or abs(start + sign * left - right) < _SAME)
        for left, right in zip(one.values, two.values, strict=True)
    )


def _core(name: str, role: str) -> tuple[str, ...]:
    words = core(name)
    return words[:-1] if role == "cluster" and words[-1:] == ("id",) else words


_CORES = {role: {_core(name, role) for name in names} for role, names in NAMES.items()}


def cell_value(cell: Any, table: FileTable) -> Any:
    """The value of a cell: a number, text or truth value; None if missing, and … for a list, object or the like."""
    value = as_flag(text_value(cell, decimal_comma=table.decimal_comma) if table.text_only else cell)
    if value is None or value is MISSING or value == "" or value != value:  # noqa: PLR0124  (NaN differs from itself)
        return None
    return value if isinstance(value, (str, int, float)) else ...
