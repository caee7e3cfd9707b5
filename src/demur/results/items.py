"""Item by item: how often each is answered, how wrong the answers are, and which way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.graded import Graded

ITEM_NUMBERS = ("units", "answered", "cmax", "risk", "bias")


def by_item(system: str, graded: Graded) -> Iterator[Estimate]:
    """The numbers of every item; which confidence ranks the answers makes no difference to them."""
    items = graded.items
    if items is None:
        return
    loss = np.zeros(len(items), graded.loss.dtype)
    loss[items.answered] = graded.loss  # summed as integers, where they are, and divided once
    for index, name in enumerate(items.item_names):
        here = items.item == index
        answered = here & items.answered
        n, k = int(here.sum()), int(answered.sum())
        risk = float(loss[answered].sum() / (k * graded.divisor)) if k else np.nan
        bias = float((items.answer - items.truth)[answered].sum() / k) if k else np.nan
        for quantity, value in zip(ITEM_NUMBERS, (float(n), float(k), k / n if n else 0.0, risk, bias), strict=True):
            undefined = "no unit is answered" if np.isnan(value) else ""
            yield Estimate(Key(system, quantity, group=Group("item", name)), value, undefined=undefined)
