"""The base classes of statements about results."""

from abc import ABC, abstractmethod


class Statement(ABC):
    """A statement about results: a frozen dataclass with its numbers, which words them.

    `words` are plain text without a full stop, in which names from files are isolated. Console, page, LaTeX and
    Markdown escape them, and never look into them: whoever needs a number of a statement takes it from its fields.
    """

    __slots__ = ()

    @property
    def starts_with_name(self) -> bool:
        """Whether the words start with a name, which must not be capitalised."""
        return False

    @property
    @abstractmethod
    def words(self) -> str:
        """The statement in plain text, without capital and full stop."""

    @property
    def sentence(self) -> str:
        """The statement as a sentence, with capital and full stop."""
        text = self.words
        return f"{text}." if self.starts_with_name else f"{text[:1].upper()}{text[1:]}."


class Fact(Statement):
    """A statement with a label, as in a list of definitions."""

    __slots__ = ()

    @property
    @abstractmethod
    def label(self) -> str:
        """The subject of the statement."""

    @property
    def line(self) -> str:
        """The label and the words on one line."""
        return f"{self.label}: {self.words}"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the singular for 1.

    >>> counted(1, "post"), counted(0, "post")
    ('1 post', '0 posts')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
