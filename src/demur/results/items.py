"""Item by item: how often each is answered, how wrong the answers are, and which way."""

import math
from collections.abc import Iterator

import numpy as np

from demur.graded import Graded
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.quantities import QUANTITIES, quantities
from demur.quantities.units import UnitSums


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
        sums = UnitSums(n, k, int((items.answer - items.truth)[answered].sum()))
        numbers = {entry.name: entry.function(sums) for entry in quantities("units")}
        numbers["cmax"] = k / n if n else 0.0
        numbers["risk"] = float(loss[answered].sum() / (k * graded.divisor)) if k else math.nan
        for quantity, value in numbers.items():
            undefined = QUANTITIES[quantity].undefined if math.isnan(value) else ""
            yield Estimate(Key(system, quantity, group=Group("item", name)), value, undefined=undefined)
