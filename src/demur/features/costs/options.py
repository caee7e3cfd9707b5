"""Options of costs: the prices of an abstention, and the folds of the cross-fitted cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from demur.errors import UserError, literal
from demur.features.costs.prices import price_of, price_text
from demur.options import as_blank, as_option, option, section
from demur.results.features import FeatureOptions

FOLDS = 10


@section("costs")
@dataclass(frozen=True, slots=True, init=False)
class Costs(FeatureOptions):
    """Prices of an abstention, as shares of the largest loss, to report the lowest cost at.

    The cost of the procedure is cross-fitted over so many folds of clusters.

    >>> Costs("0.1", "1:4").prices
    ('0.1', '0.25')
    """

    feature: ClassVar[str] = "costs"

    prices: tuple[str, ...] = option(
        (),
        "Price of an abstention as a share of the largest loss, 0.1 or 1:10.",
        flag="--abstention-cost",
        metavar="PRICE",
        repeated=True,
        also=(float,),
        call="Costs('1:10')",
    )
    cross_fit: int = option(FOLDS, "Folds of clusters for the cross-fitted cost.", kind=int)

    def __init__(self, *prices: str | float | Fraction, cross_fit: int = FOLDS) -> None:
        texts = tuple(price_text(price_of(price)) for price in prices)
        if len({*texts}) < len(texts):
            raise UserError("the prices of an abstention have one twice")
        if type(cross_fit) is not int or cross_fit < 2:  # noqa: PLR2004
            raise UserError(f"{as_option('cross_fit')} {literal(cross_fit)}, expected a number of folds, 2 or more")
        if cross_fit != FOLDS and not texts:
            raise UserError(f"{as_option('cross_fit')} is for costs: give a price, {as_blank('prices')}")
        object.__setattr__(self, "prices", texts)
        object.__setattr__(self, "cross_fit", cross_fit)

    @classmethod
    def typed(cls, prices: Iterable[str] = (), cross_fit: int = FOLDS) -> Costs:
        """Costs from the command line or a file."""
        return cls(*prices, cross_fit=cross_fit)
