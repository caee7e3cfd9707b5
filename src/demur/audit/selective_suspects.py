"""A cause that takes draws of its own to name: intervals made by resampling single items instead of participants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from demur.audit.plain_replicates import Pool
from demur.audit.selective_bootstrap import bootstrap_figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.audit.figures import Expected, Printed
    from demur.audit.selective_draws import Drawn
    from demur.audit.selective_points import Path

ITEM_LEVEL = "items resampled, not participants"
_MEMBERS = ("ci95", "std_error")
_MOST_CELLS = 10**7


@dataclass(frozen=True, eq=False)
class ItemLevel:
    """What the intervals and errors of one side would be if every item were a cluster; drawn only when asked."""

    drawn: Drawn
    confidence: Sequence[float]

    def explains(self, path: Path, reported: Printed) -> bool:
        """Whether a figure at a path of the side is one of those."""
        if path[:1] != ("bootstrap",) or path[1] not in _MEMBERS:
            return False
        expected = self._figures.get(path)
        return expected is not None and expected.agrees(reported)

    @cached_property
    def _figures(self) -> dict[Path, Expected]:
        side, curve = self.drawn.side, self.drawn.curve
        if side.units * len(curve.count) > _MOST_CELLS:
            return {}
        units = np.arange(side.units)
        alone = replace(side, items=replace(side.items, cluster_ids=tuple(units.tolist()), cluster=units))
        pool = Pool.of(alone, self.confidence)
        return bootstrap_figures(replace(self.drawn, side=alone, pool=pool, rival=None, studentised=False), {}, None)
