"""What one side's curve gives for the figures of an artifact, and what other ways of counting would give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Expected, Printed
from demur.audit.plain_curve import coverage_of

if TYPE_CHECKING:
    from fractions import Fraction

    from demur.audit.plain_curve import PlainCurve

Path = tuple[str, ...]
AREAS = ("aurc_at_c", "augrc_at_c")
RISKS = "mae_at_coverage"
_ASKED_FOR = ("requested", "coverage", "target")
_GIVEN = ("value", "mae", "risk")
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """The coverages a side is reported at: of each area its cut, of each risk its target, by their paths."""

    cuts: Mapping[Path, Fraction]
    targets: Mapping[Path, Fraction]

    @classmethod
    def of(cls, reported: Mapping[str, Any], usual: Fraction) -> Asked:
        """What a side says of them; areas are cut at the usual coverage where it says nothing."""
        cuts: dict[Path, Fraction] = {(area,): usual for area in AREAS}
        for area in AREAS:
            given = reported.get(area)
            if isinstance(given, Mapping) and isinstance(given.get("requested"), Printed):
                cuts[area,] = coverage_of(given["requested"].text) or usual
            elif isinstance(given, Mapping):
                cuts |= {(area, key): at for key in given if (at := coverage_of(key)) is not None}
        return cls(cuts, dict(_targets(reported)))

    @property
    def by_key(self) -> dict[str, Fraction]:
        """The targets that have a coverage for their key."""
        return {path[1]: at for path, at in self.targets.items() if coverage_of(path[1]) is not None}


def _targets(reported: Mapping[str, Any]) -> Iterator[tuple[Path, Fraction]]:
    """The risks reported at a coverage: keys of an object, or entries of a list that say theirs."""
    given = reported.get(RISKS)
    if isinstance(given, list):
        for place, entry in enumerate(given):
            at = _coverage_in(entry)
            if at is not None:
                yield (RISKS, str(place)), at
    bootstrap = reported.get("bootstrap")
    others = [*bootstrap.values(), bootstrap] if isinstance(bootstrap, Mapping) else []
    for held in (given, *(one.get(RISKS) for one in others if isinstance(one, Mapping))):
        for key in held if isinstance(held, Mapping) else ():
            at = coverage_of(key)
            if at is not None:
                yield (RISKS, key), at


def _coverage_in(entry: Any) -> Fraction | None:
    if isinstance(entry, list) and len(entry) == _PAIR:
        said = entry[0]
    else:
        said = next((entry[name] for name in _ASKED_FOR if name in entry), None) if isinstance(entry, Mapping) else None
    return coverage_of(said.text) if isinstance(said, Printed) else None


def figures_of(curve: PlainCurve, asked: Asked) -> dict[Path, float | None]:
    """Every number of a curve by its path."""
    aurc, augrc = curve.aurc(), curve.augrc()
    best, best_joint, achievable = curve.aurc_optimal, curve.augrc_optimal, curve.aurc_achievable
    joint = curve.generalized_risk[-1] if curve.count else 0.0
    found: dict[Path, float | None] = {
        ("cmax",): curve.cmax,
        ("aurc_full",): aurc,
        ("augrc_full",): augrc,
        ("naurc",): _ratio(aurc, curve.cmax),
        ("naugrc",): _ratio(augrc, curve.cmax),
        ("aurc_optimal",): best,
        ("augrc_optimal",): best_joint,
        ("eaurc",): aurc - best,
        ("eaugrc",): augrc - best_joint,
        ("aurc_achievable",): achievable,
        ("aurc_random",): joint,
        ("augrc_random",): curve.cmax * joint / 2,
        ("mae",): curve.risk,
        ("interpretation", "aurc_gap_pct"): _ratio(100 * (aurc - best), best),
        ("interpretation", "augrc_gap_pct"): _ratio(100 * (augrc - best_joint), best_joint),
        ("interpretation", "achievable_gain_pct"): _ratio(100 * (aurc - achievable), aurc),
    }
    for path, at in asked.cuts.items():
        area = curve.aurc(at) if path[0] == "aurc_at_c" else curve.augrc(at)
        found |= {path: area, (*path, "value"): area, (*path, "used"): min(float(at), curve.cmax)}
    for path, at in asked.targets.items():
        found |= _risk_at(curve, path, at)
    return found


def _risk_at(curve: PlainCurve, path: Path, at: Fraction) -> dict[Path, float | None]:
    """The risk at a coverage, in every shape it is reported in; None where no point reaches it."""
    place = curve.first_reaching(at)
    value = None if place is None else curve.selective_risk[place]
    achieved = None if place is None else curve.coverage[place]
    found = {path: value, (*path, "achieved"): achieved, (*path, "0"): float(at), (*path, "1"): value}
    return found | {(*path, name): float(at) for name in _ASKED_FOR} | {(*path, name): value for name in _GIVEN}


def arrays_of(curve: PlainCurve) -> dict[Path, list[float]]:
    """The columns of a curve and of the best order by their paths."""
    names = ("coverage", "selective_risk", "generalized_risk")
    found = {("curve", name): list(getattr(curve, name)) for name in (*names, "threshold")}
    bends = curve.bends_of_best_order
    return found | {("reference", "oracle", name): list(getattr(bends, name)) for name in names}


def expected_of(
    figures: Mapping[Path, float | None], others: Mapping[str, Mapping[Path, float | None]]
) -> dict[Path, Expected]:
    """The figures, each with what the other ways would give for it."""
    return {
        path: Expected(value, otherwise={way: other.get(path) for way, other in others.items()})
        for path, value in figures.items()
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
