"""The costs at each price as rows of a table."""

from demur.features.costs.quantities import AT_THRESHOLD, COST, CROSSFIT, OF_ALL, SAVING
from demur.features.costs.statements import policy
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.results.table import Results
from demur.show.names import NamedSystem
from demur.show.text import UNDEFINED, cell, four, interval_text, shown_interval

HEADINGS = (
    "price",
    "decline below",
    "coverage",
    "lowest cost",
    "threshold kept",
    "cross-fitted",
    "answer all",
    "saved",
)


def cost_row(results: Results, system: NamedSystem, confidence: str, price: str) -> tuple[str, ...]:
    """The costs of a system at a price as a row of a table."""

    def estimate(stem: str) -> Estimate | None:
        return results.get(Key(system.system, f"{stem}@{price}", confidence))

    cost, answer_all = estimate(COST), estimate(OF_ALL)
    if cost is None or answer_all is None:
        return price, *[UNDEFINED] * (len(HEADINGS) - 1)
    crossfit, saving = (cell(results, estimate(stem)) for stem in (CROSSFIT, SAVING))
    fixed = estimate(AT_THRESHOLD)
    kept = interval_text(None if fixed is None else shown_interval(results, fixed))
    declined = policy(results, system.system, confidence, cost).declined
    numbers = (cell(results, cost), kept, crossfit, four(answer_all.value), saving)
    return price, declined, f"{cost.at or 0.0:.1%}", *numbers
