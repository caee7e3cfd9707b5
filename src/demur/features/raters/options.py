"""Options: raters of the same units, published points and forced runs to compare systems with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from demur.errors import UserError, literal
from demur.options import as_option, declared, named_values, number_of, option, section
from demur.results.features import FeatureOptions

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.features.raters.comparators import Comparators
    from demur.features.raters.points import NumbersOfPoint


@section("raters")
@dataclass(frozen=True, slots=True, init=False)
class Raters(FeatureOptions):
    """Raters of the same units by name, published points and forced runs, to compare systems with.

    A rater is a table of answers, or its path. `points` are published numbers as `demur evaluate --point` takes them,
    or a TOML file of them. `forced` maps systems to runs that answer everything, and may be the run alone if there is
    one system. With a `margin`, it is tested whether a system's risk exceeds a rater's by at most that. Below the
    `handover_threshold` a system hands over to each rater, and the result is tested.
    """

    feature: ClassVar[str] = "raters"

    raters: Mapping[str, Any] = option(
        (),
        "A rater of the same units, NAME=FILE: cluster, item, and prediction or loss.",
        flag="--rater",
        metavar="NAME=FILE",
        repeated=True,
        call="Raters(ann='ann.csv')",
        file=True,
        by_name={str: "a file"},
    )
    points: Sequence[str | Path | NumbersOfPoint] = option(
        (),
        'A published point, "NAME: coverage=0.9, risk=0.2, ci=0.1..0.3", or with counts; or a .toml file of points.',
        flag="--point",
        aliases=("--points",),
        repeated=True,
        file=True,
    )
    forced: Any = option(
        (),
        "A run of a system that was forced to answer everything: FILE, or SYSTEM=FILE.",
        repeated=True,
        also=(dict,),
        file=True,
    )
    margin: float | None = option(None, "Test whether a system's risk exceeds a rater's by at most this.", kind=float)
    handover_threshold: float | None = option(
        None, "Hand over units below this confidence to each rater, and test the result.", kind=float
    )

    def __init__(
        self,
        named: Mapping[str, Any] | None = None,
        /,
        *,
        points: str | Path | NumbersOfPoint | Sequence[str | Path | NumbersOfPoint] = (),
        forced: Any = None,
        margin: float | None = None,
        handover_threshold: float | None = None,
        **raters: Any,
    ) -> None:
        if named is not None and not isinstance(named, Mapping):
            raise UserError(
                f"{as_option('raters')} {literal(named)}, expected names of raters with their tables, {{'ann': …}}"
            )
        values = {
            "raters": {**(named or {}), **raters},
            "points": tuple(points) if isinstance(points, (list, tuple)) else (points,) if points else (),
            "forced": forced,
            "margin": margin,
            "handover_threshold": handover_threshold,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        number_of("margin", margin)
        number_of("handover_threshold", handover_threshold)

    @classmethod
    def typed(cls, raters: Iterable[str] = (), forced: Any = (), **others: Any) -> Raters:
        """Raters of the command line, NAME=FILE, over those of a file; forced runs are SYSTEM=FILE or the only FILE."""
        runs = forced
        if isinstance(forced, (list, tuple)):
            alone = forced[0] if len(forced) == 1 and "=" not in forced[0] else None
            runs = alone or named_values(forced, "--forced", "SYSTEM=FILE, each system once") or None
        known = declared(cls)
        of_file = {name: others.pop(name) for name in [*others] if name not in known}
        typed = named_values(raters, "--rater", "NAME=FILE, each name once")
        return cls({**of_file, **typed}, forced=runs, **others)

    @property
    def files(self) -> list[str | Path]:
        """The files of raters, points and forced runs."""
        forced = self.forced.values() if isinstance(self.forced, Mapping) else [self.forced]
        listed = [given for given in self.points if is_file(given)]
        return [path for path in (*listed, *self.raters.values(), *forced) if isinstance(path, (str, Path))]

    def read(self, runs: Sequence[Items], columns: Mapping[str, str]) -> Comparators:
        """The raters, points and forced runs to compare these runs with."""
        from demur.features.raters.reading import read_comparators  # noqa: PLC0415  (only an evaluation reads)

        return read_comparators(self, runs, columns)


def is_file(given: object) -> bool:
    """Whether what was given as a point is a file of points."""
    return isinstance(given, Path) or (isinstance(given, str) and given.lower().endswith(".toml"))
