"""Settings of an evaluation: what to compute, with everything checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from demur.errors import UserError, literal, repeated, shown
from demur.inference.held_out import FOLDS
from demur.inference.uncertainty import Request
from demur.quantities import Measure
from demur.quantities.losses import check_loss
from demur.quantities.registry import COMMON
from demur.results.costs import checked_prices
from demur.results.groups import GroupSettings
from demur.results.study import reported
from demur.sampling.coverage import Coverage

TENTHS = tuple(Coverage.of(f"0.{tenth}") for tenth in range(1, 10))
HALF = Coverage.of("0.5")


@dataclass(frozen=True, slots=True)
class Settings:
    """What to compute. Without a `loss` it is the one a table gives, zero_one of texts, and abs_norm of scores.

    Without `area_coverage` areas are cut at 0.5, and at the common coverage of several systems.

    `level` and `interval` request one more interval of every number, beside those at 95 %. Systems are compared with
    the `baseline`, the first if none is named, and the verdict is on the `primary` confidence, the first if none is
    named. A signal in `lower_is_surer` ranks its lowest values first. Systems to `exclude` are left out by name, as if
    they had not been given. `groups` are names of groupings that the facts hold, or `item`, or `GroupSettings`, which
    say more. `abstention_costs` are prices of an abstention, as shares of the largest loss ("0.1" or "1:10"), to report
    the lowest cost at, cross-fitted over so many folds of clusters. `conventions` of other tools add their numbers.
    """

    loss: str | None = None
    confidence: str | Sequence[str] = "default"
    grid: Sequence[Coverage | str | float] = TENTHS
    area_coverage: Coverage | str | float | None = None
    level: float | None = None
    interval: str | None = None
    baseline: str | None = None
    primary: str | None = None
    lower_is_surer: Sequence[str] = ()
    exclude: Sequence[str] = ()
    groups: GroupSettings | Sequence[str] = ()
    abstention_costs: Sequence[str | float | Fraction] = ()
    cross_fit: int = FOLDS
    conventions: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_loss(self.loss)
        if not isinstance(self.confidence, str):
            names = tuple(self.confidence)  # one without a comma is the same as a text
            one = len(names) == 1 and "," not in names[0]
            object.__setattr__(self, "confidence", names[0] if one else names)
        object.__setattr__(self, "conventions", _known(self.conventions))
        object.__setattr__(self, "groups", self.by_group)
        object.__setattr__(self, "abstention_costs", checked_prices(self.abstention_costs))
        if type(self.cross_fit) is not int or self.cross_fit < 2:  # noqa: PLR2004
            raise UserError(f"cross-fit {literal(self.cross_fit)}, expected a number of folds, 2 or more")
        if self.cross_fit != FOLDS and not self.abstention_costs:
            raise UserError("cross-fit is for costs: give the price of an abstention, or leave it out (--cross-fit)")
        object.__setattr__(self, "grid", tuple(Coverage.of(target).plain for target in self.grid))
        if duplicates := repeated(self.lower_is_surer):
            raise UserError(f"{shown(duplicates[0])} is given twice: say once that lower is surer")
        if self.area_coverage is not None:
            object.__setattr__(self, "area_coverage", Coverage.of(self.area_coverage).plain)
        values = [target.value for target in self.targets]
        if len(set(values)) < len(values):
            raise UserError("the coverage grid has a coverage twice")
        Request.of(self.interval, self.level)

    @property
    def targets(self) -> tuple[Coverage, ...]:
        """The coverages the risk is reported at."""
        return tuple(map(Coverage.of, self.grid))

    @property
    def by_group(self) -> GroupSettings:
        """The settings of groups."""
        return self.groups if isinstance(self.groups, GroupSettings) else GroupSettings(self.groups)

    @property
    def prices(self) -> tuple[str, ...]:
        """The prices of an abstention, as quantity names spell them."""
        return tuple(map(str, self.abstention_costs))

    @property
    def request(self) -> Request | None:
        """One more interval, if it was requested."""
        return Request.of(self.interval, self.level)

    def cut(self, systems: int) -> str:
        """The coverage that areas are cut at, as quantity names spell it."""
        if self.area_coverage is None:
            return HALF.text if systems == 1 else COMMON
        return Coverage.of(self.area_coverage).text

    def measures(self, systems: int) -> list[Measure]:
        """Every reported quantity, in the order of the registry."""
        coverages = [target.text for target in self.targets]
        return [Measure.of(name, "curve") for _, name, _ in reported(self.cut(systems), coverages)]


def _known(conventions: Sequence[str]) -> tuple[str, ...]:
    """Conventions of other tools, each known and named once."""
    if not conventions:
        return ()
    from demur.quantities.conventions.emulations import checked_conventions  # noqa: PLC0415  (seldom used)

    return checked_conventions(conventions)
