"""How many draws were reported and how many are ours, and how far apart they may lie by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

SIGMAS = 4.0
_RARE = 3e-5  # as rare as 4 standard errors to one side


@dataclass(frozen=True, slots=True)
class Draws:
    """How many draws were reported (None: nobody says) and how many are ours; whether ours repeat those."""

    reported: int | None
    own: int
    repeated: bool

    @property
    def worth(self) -> float:
        """As how many draws both are worth when they are held against each other."""
        others = self.own if self.reported is None else self.reported
        return 1 / (1 / max(others, 1) + 1 / max(self.own, 1))

    def between(self, share: float) -> tuple[float, float]:
        """Where a share of other draws may lie: within 4 standard errors, ours or, by Wilson's formula, its own."""
        extra = SIGMAS**2 / self.worth
        middle = (share + extra / 2) / (1 + extra)
        away = SIGMAS * math.sqrt((share * (1 - share) + extra / 4) / self.worth) / (1 + extra)
        plain = SIGMAS * math.sqrt(share * (1 - share) / self.worth)
        return max(min(middle - away, share - plain), 0.0), min(max(middle + away, share + plain), 1.0)

    def may_lie_beyond(self, share: float) -> bool:
        """Whether the quantile of other draws at a share may well lie below all of ours.

        It does if the smallest draws of both, as many as there are up to that quantile, are all of theirs.
        """
        others = max(self.own if self.reported is None else self.reported, 1)
        return bool((others / (others + self.own)) ** (int(share * (others - 1)) + 1) > _RARE)

    def among(self, share: float) -> Draws:
        """Those of the draws, a share of all, in which there is a number."""
        reported = None if self.reported is None else int(self.reported * share)
        return replace(self, reported=reported, own=int(self.own * share))
