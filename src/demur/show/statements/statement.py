"""The common type of everything that is said of results."""

from abc import ABC, abstractmethod


class Statement(ABC):
    """Something that is said of results: a frozen dataclass that holds its numbers and words them.

    `words` are plain text without a full stop, in which names from files are isolated. Console, page, LaTeX and
    Markdown escape them, and never look into them: whoever needs a number of a statement takes it from its fields.
    """

    __slots__ = ()

    @property
    def starts_with_name(self) -> bool:
        """Whether the words start with a name, which is not capitalised."""
        return False

    @property
    @abstractmethod
    def words(self) -> str:
        """The statement in plain text, to stand inside a line."""

    @property
    def sentence(self) -> str:
        """The statement as a sentence."""
        text = self.words
        return f"{text}." if self.starts_with_name else f"{text[:1].upper()}{text[1:]}."


class Fact(Statement):
    """A statement under a label, as in a list of definitions."""

    __slots__ = ()

    @property
    @abstractmethod
    def label(self) -> str:
        """What the statement is about."""

    @property
    def line(self) -> str:
        """The label and the words."""
        return f"{self.label}: {self.words}"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "post"), counted(0, "post")
    ('1 post', '0 posts')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
