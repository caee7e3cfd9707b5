"""What a page needs of a rule: whoever makes rules has more to say of them."""

from collections.abc import Sequence
from typing import Protocol

from demur.results.parts import Input


class ShownRule(Protocol):
    """A rule that a page marks on the curve it was made from."""

    @property
    def signal(self) -> str:
        """The confidence that the rule looks at."""

    @property
    def threshold(self) -> float | None:
        """Its threshold; None declines everything."""

    @property
    def inputs(self) -> Sequence[Input]:
        """The files that it was made from."""

    @property
    def is_certified(self) -> bool:
        """Whether its threshold was certified, not only chosen."""

    @property
    def sentence(self) -> str:
        """The rule in one sentence."""

    @property
    def lines(self) -> Sequence[str]:
        """The rule in full, line by line."""
