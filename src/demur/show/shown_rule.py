"""The interface of a decision rule that a page can show."""

from collections.abc import Sequence
from typing import Protocol

from demur.results.file_models import Input


class ShownRule(Protocol):
    """A decision rule that a page marks on the curve it was made from."""

    @property
    def signal(self) -> str:
        """The name of the confidence that the rule is about."""

    @property
    def threshold(self) -> float | None:
        """The threshold of the rule; None if it declines everything."""

    @property
    def inputs(self) -> Sequence[Input]:
        """The files that the rule was made from."""

    @property
    def is_certified(self) -> bool:
        """Whether the threshold was certified, not only chosen."""

    @property
    def sentence(self) -> str:
        """The rule in one sentence."""

    @property
    def lines(self) -> Sequence[str]:
        """The full description of the rule, line by line."""
