"""What our own draws give for the bands of one side's curve."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from demur.audit.columns import Column
from demur.audit.figures import Printed
from demur.audit.plain_bands import band, how_many_reached, places_with_bands, risks_drawn
from demur.audit.plain_intervals import Evidence
from demur.audit.selective_bootstrap import scaled

if TYPE_CHECKING:
    from demur.audit.selective_draws import Drawn
    from demur.audit.selective_points import Path

_USUAL = 0.95


def band_columns(one: Drawn, reported: Any) -> dict[Path, Column]:
    """Every column of `bands` by its path, at the level it names; none where that is no level.

    Whether a coverage that about half of the draws reach has a band depends on the draws: where other draws may have
    decided otherwise, as many coverages are expected as are reported.
    """
    said = reported if isinstance(reported, Mapping) else {}
    level = _level(said)
    if level is None:
        return {}
    curve = one.curve
    places = places_with_bands(len(curve.count)) if one.varies else []
    drawn = risks_drawn(one.pool, one.weights, [Fraction(curve.count[place], curve.units) for place in places])
    must, may = how_many_reached(drawn[0], one.resampling.draws)
    given = said.get("coverage")
    places = places[: min(max(len(given) if isinstance(given, list) else 0, must), may)]
    found: dict[Path, Column] = {("bands", "coverage"): Column.of([curve.coverage[place] for place in places])}
    for name, values in zip(("selective_risk", "generalized_risk"), drawn, strict=True):
        risk = getattr(curve, name)
        evidence = [
            Evidence(risk[place], values[:, column], one.pool.clusters, one.resampling.draws)
            for column, place in enumerate(places)
        ]
        for end, numbers in band(evidence, level, one.side.largest).items():
            found["bands", name, end] = Column([scaled(number, one.side) for number in numbers])
    return found


def _level(said: Mapping[str, Any]) -> float | None:
    """The level the bands name, 95 % where they name none; None where it is none."""
    if "level" not in said:
        return _USUAL
    level = said["level"]
    return level.value if isinstance(level, Printed) and 0 < level.value < 1 else None
