"""Definitions: what a quantity says of itself."""

import inspect
from dataclasses import dataclass

from demur.quantities import Quantity


@dataclass(frozen=True, slots=True)
class Definition:
    """A quantity by name, and what it means."""

    name: str
    title: str
    meaning: str


def definition(quantity: Quantity) -> Definition:
    """The heading of its docstring and the paragraph below it."""
    heading, _, rest = inspect.cleandoc(quantity.function.__doc__ or "").partition("\n\n")
    return Definition(quantity.name, heading, rest.partition("\n\n")[0].replace("\n", " "))
