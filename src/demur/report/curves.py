"""Curves: risk against coverage as steps, with what a random and the best order would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from demur.report.numbers import Drawn, band_is_stepped, runs_of, threshold_at
from demur.report.sides import sides_of
from demur.report.svg import Frame, element, label, line, marker, picture, place, steps
from demur.report.thinning import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from demur.artifact import Metrics
    from demur.artifact_numbers import Reference, VariantNumbers
    from demur.report.sides import Side

    Kind = Literal["selective", "generalized"]

KINDS: tuple[Kind, ...] = ("selective", "generalized")
_WIDTH, _HEIGHT = 760, 400
_MOST_MARKERS = 40
_PIECES = 12


class Drawable(Drawn, Protocol):
    """What has a curve: one run under a variant, or a gate."""

    @property
    def defined(self) -> bool:
        """Whether anything is answered."""

    @property
    def cmax(self) -> float:
        """The largest coverage."""

    @property
    def mae(self) -> float | None:
        """The risk of all answers."""

    @property
    def reference(self) -> Reference | None:
        """The best possible order, where it is stored."""


@dataclass(frozen=True, slots=True)
class CurvePicture:
    """One variant's curves of one kind of risk."""

    kind: Kind
    svg: str


@dataclass(frozen=True, slots=True)
class CurvesOfVariant:
    """One variant: its pictures, how many working points each run has, and tables of those that are few."""

    pictures: tuple[CurvePicture, ...]
    points: tuple[tuple[Side, int], ...]
    tables: tuple[tuple[Side, list[tuple[str, ...]]], ...]
    has_bands: bool
    has_oracle: bool


def curves(metrics: Metrics) -> list[CurvesOfVariant]:
    """The pictures of every variant, all of a kind on one scale."""
    entries = [runs_of(entry) for entry in metrics.confidence_variants.values()]
    tops = {kind: max((highest(one, kind) for runs in entries for one in runs), default=0.0) for kind in KINDS}
    sides = sides_of(metrics)
    return [
        CurvesOfVariant(
            pictures=tuple(CurvePicture(kind, risk_picture(runs, sides, kind, tops[kind] or 1.0)) for kind in KINDS),
            points=tuple((side, len(one.curve.coverage)) for side, one in zip(sides, runs, strict=True)),
            tables=tuple(
                (side, [*_rows(one, metrics.population.items_total)])
                for side, one in zip(sides, runs, strict=True)
                if 0 < len(one.curve.coverage) <= _MOST_MARKERS
            ),
            has_bands=any(one.bands is not None for one in runs),
            has_oracle=any(one.reference is not None for one in runs),
        )
        for runs in entries
    ]


def _rows(one: VariantNumbers, items: int) -> Iterator[tuple[str, ...]]:
    curve = one.curve
    columns = (curve.coverage, curve.selective_risk, curve.generalized_risk)
    for point, (coverage, selective, generalized) in enumerate(zip(*columns, strict=True)):
        accepted = f"{round(coverage * items)}"
        yield threshold_at(one, point), f"{coverage:.1%}", accepted, f"{selective:.4g}", f"{generalized:.4g}"


def _risk(curve: Any, kind: Kind) -> Any:
    return getattr(curve, f"{kind}_risk")


def highest(one: Drawable, kind: Kind) -> float:
    """The highest point of a curve or of the band around it."""
    highs = _risk(one.bands, kind).high if one.bands else ()
    return max([*_risk(one.curve, kind), *highs], default=0.0)


def risk_picture(
    runs: Sequence[Drawable], sides: Sequence[Side], kind: Kind, top: float, what: str = "items that are answered"
) -> str:
    """Curves of one kind of risk in one frame, with what they are to be held against."""
    frame = Frame(_WIDTH, _HEIGHT, ys=(0.0, top * 1.04), top=40)
    floor = frame.up(0)
    parts = [*frame.axes(f"coverage (share of all {what})", f"{kind} risk", percent=True)]
    for draw in (_band, _references, _steps):
        for side, one in zip(sides, runs, strict=True):
            parts += _of_side(side, draw(frame, one, side, kind))
    for side, one in zip(sides, runs, strict=True):
        parts += _of_side(side, _cmax(frame, one, side))
    parts += [_here(side) for side in sides]
    heights = {"data_floor": place(floor), "data_unit": repr((floor - frame.up(frame.ys[1])) / frame.ys[1])}
    across = {"data_left": place(frame.left), "data_right": place(frame.across(1))}
    return picture(_WIDTH, _HEIGHT, _in_words(runs, sides, kind), parts, class_="curves", **across, **heights)


def _of_side(side: Side, parts: Iterator[str]) -> list[str]:
    """What can be hidden together."""
    inside = [*parts]
    return [element("g", *inside, class_=f"of-{side.style}")] if inside else []


def _in_words(runs: Sequence[Drawable], sides: Sequence[Side], kind: Kind) -> str:
    said = [
        f"{side.word}: {_risk(one.curve, kind)[0]:.4g} at a coverage of {one.curve.coverage[0]:.1%}, "
        f"{_risk(one.curve, kind)[-1]:.4g} at {one.cmax:.1%}"
        if one.defined
        else f"{side.word}: nothing is answered"
        for side, one in zip(sides, runs, strict=True)
    ]
    return f"{kind.capitalize()} risk against coverage, as steps. {'; '.join(said)}."


def _steps(frame: Frame, one: Drawable, side: Side, kind: Kind) -> Iterator[str]:
    """Steps where each can be told from the next; of very many points a line, through those that can be told apart."""
    risk = _risk(one.curve, kind)
    kept = visible(one.curve.coverage, risk).tolist()
    if not kept:
        return
    spots = [(frame.across(one.curve.coverage[i]), frame.up(risk[i])) for i in kept]
    start = frame.across(0)
    path = steps(spots, start) if len(kept) == len(risk) else line([(start, spots[0][1]), *spots])
    yield element("path", d=path, class_=f"line {side.style}")
    if len(spots) <= _MOST_MARKERS:
        yield from (marker(x, y, side.style) for x, y in spots)


def _band(frame: Frame, one: Drawable, side: Side, kind: Kind) -> Iterator[str]:
    """The band that holds at all coverages at once, and on it the intervals at each of them."""
    if one.bands is None:
        return
    ends, stepped = _risk(one.bands, kind), band_is_stepped(one)
    for low, high, name in (
        (ends.low_simultaneous, ends.high_simultaneous, "simultaneous"),
        (ends.low, ends.high, "pointwise"),
    ):
        there, back = (_edge(frame, one.bands.coverage, heights, stepped=stepped) for heights in (low, high))
        yield element("path", d=line([*there, *reversed(back)]) + "Z", class_=f"band {name} {side.style}")


def _edge(
    frame: Frame, coverage: Sequence[float], heights: Sequence[float], *, stepped: bool
) -> list[tuple[float, float]]:
    """One edge of a band, from coverage 0 on; what lies above the frame ends at it."""
    ups = [frame.up(min(height, frame.ys[1])) for height in heights]
    spots = [(frame.across(0), ups[0])]
    for here, up in zip(coverage, ups, strict=True):
        if stepped:
            spots.append((spots[-1][0], up))
        spots.append((frame.across(here), up))
    return spots


def _references(frame: Frame, one: Drawable, side: Side, kind: Kind) -> Iterator[str]:
    if one.mae is None:
        return
    end = one.mae if kind == "selective" else one.mae * one.cmax
    start = end if kind == "selective" else 0.0
    random = [(frame.across(0), frame.up(start)), (frame.across(one.cmax), frame.up(end))]
    yield element("path", d=line(random), class_=f"reference random {side.style}")
    if one.reference is not None:
        best = [(frame.across(x), frame.up(y)) for x, y in _best_order(one, kind)]
        yield element("path", d=line(best), class_=f"reference oracle {side.style}")


def _best_order(one: Drawable, kind: Kind) -> Iterator[tuple[float, float]]:
    """Straight between the bends in generalized risk; in selective risk that is divided by the coverage, and curved."""
    assert one.reference is not None  # noqa: S101  (asked for where there is one)
    bends = one.reference.oracle
    yield 0.0, bends.selective_risk[0] if kind == "selective" else 0.0
    before = (0.0, 0.0)
    for here in zip(bends.coverage, bends.generalized_risk, strict=True):
        for piece in range(1, _PIECES + 1):
            coverage, risk = (a + (b - a) * piece / _PIECES for a, b in zip(before, here, strict=True))
            if kind == "selective":
                yield coverage, risk / coverage
        if kind == "generalized":
            yield here
        before = here


def _cmax(frame: Frame, one: Drawable, side: Side) -> Iterator[str]:
    x, height = frame.across(one.cmax), 13 if side.style == "left" else 31
    yield element("path", d=f"M{place(x)} {place(height + 4)}V{place(frame.up(0))}", class_=f"cmax {side.style}")
    name = "Cmax" if side.word == "run" else f"Cmax {side.word}"
    yield label(x, height, f"{name} {one.cmax:.1%}", anchor="end" if one.cmax > 0.85 else "middle", kind="name")  # noqa: PLR2004


def _here(side: Side) -> str:
    return element("circle", r=8, class_=f"here {side.style}", visibility="hidden")
