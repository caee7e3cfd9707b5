"""Draw the pictures of the concept pages, each computed anew from simulated runs.

Run by `make docs`; a test fails when one is not current.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from demur import Curve, Measure, Plan, estimate
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#777777"
WIDTH, HEIGHT, LEFT, TOP = 520, 320, 56, 16
RIGHT, BOTTOM = WIDTH - 16, HEIGHT - 48
STUDIES, PEOPLE = 40, 41


def frame(parts: Iterator[str], across: str, up: str, label: str) -> str:
    """Axes with their names around the parts of a picture, on a white ground."""
    middle = (TOP + BOTTOM) // 2
    axes = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="black"/>',
        f'<text x="{(LEFT + RIGHT) // 2}" y="{HEIGHT - 10}" text-anchor="middle">{across}</text>',
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{up}</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
        f'aria-label="{label}" font-family="sans-serif" font-size="12">{"".join([*axes, *parts])}</svg>\n'
    )


def across(share: float) -> float:
    """Where a share of the width lies."""
    return LEFT + share * (RIGHT - LEFT)


def up(share: float) -> float:
    """Where a share of the height lies."""
    return BOTTOM - share * (BOTTOM - TOP)


def text(x: float, y: float, content: str, anchor: str = "middle", colour: str = "black") -> str:
    """A text at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{content}</text>'


def two_curves() -> str:
    """The demo's two systems: risk against coverage, and the coverage both reach."""
    people = make_people(PEOPLE, seed=0)
    curves = [
        Curve.of(run_system(people, system, seed=seed).graded("abs", "llm"))
        for seed, system in enumerate((ZERO_SHOT, FEW_SHOT))
    ]
    top = 1.0
    common = min(curve.cmax for curve in curves)

    def parts() -> Iterator[str]:
        yield f'<path d="M{across(common):.1f} {TOP}V{BOTTOM}" stroke="{GREY}" stroke-dasharray="4 4"/>'
        yield text(across(common) + 6, TOP + 10, "C_common", "start", GREY)
        for curve, colour, dash, name in zip(
            curves, (BLUE, ORANGE), ("", "6 4"), ("zero-shot", "few-shot"), strict=True
        ):
            xs, ys = [0.0, *curve.coverage.tolist()], [float(curve.selective_risk[0]), *curve.selective_risk.tolist()]
            spots = [(across(x), up(y / top)) for x, y in zip(xs, ys, strict=True)]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
            yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in spots[1:])
            yield text(spots[-1][0] + 8, spots[-1][1] + 4, name, "start", colour)
        for tick in (0.0, 0.5, 1.0):
            yield text(across(tick), BOTTOM + 16, f"{tick:g}")
            yield text(LEFT - 6, up(tick / top) + 4, f"{tick:g}", "end")

    return frame(parts(), "coverage", "selective risk (MAE)", "Selective risk against coverage of two systems")


def forty_studies() -> str:
    """The interval of the AURC in forty simulated studies of 41 people, and the true value."""
    population = run_system(make_people(20_000, seed=99), ZERO_SHOT, seed=99).graded("abs", "llm")
    truth = Measure.of("aurc")(Curve.of(population))
    estimates = [
        estimate(
            run_system(make_people(PEOPLE, seed=seed), ZERO_SHOT, seed=seed).graded("abs", "llm"),
            ["aurc"],
            plan=Plan(1000, seed=seed),
        )["aurc"]
        for seed in range(STUDIES)
    ]
    top = max(number.recommended.high for number in estimates) * 1.05

    def parts() -> Iterator[str]:
        yield f'<path d="M{LEFT} {up(truth / top):.1f}H{RIGHT}" stroke="{GREY}" stroke-dasharray="4 4"/>'
        missed = 0
        for index, number in enumerate(estimates):
            ends = number.recommended
            covers = ends.low <= truth <= ends.high
            missed += not covers
            x, colour = across((index + 0.5) / STUDIES), BLUE if covers else ORANGE
            dash = "" if covers else ' stroke-dasharray="3 2"'
            yield f'<path d="M{x:.1f} {up(ends.low / top):.1f}V{up(ends.high / top):.1f}" stroke="{colour}" stroke-width="2"{dash}/>'
            yield f'<circle cx="{x:.1f}" cy="{up(number.value / top):.1f}" r="3" fill="{colour}"/>'
        caption = f"{STUDIES} simulated studies of {PEOPLE} participants; dashed: the true AURC, outside {missed} of the intervals"
        yield text(across(0.5), BOTTOM + 16, caption)
        for tick in (0.0, 0.25, 0.5):
            yield text(LEFT - 6, up(tick / top) + 4, f"{tick:g}", "end")

    return frame(parts(), "", "AURC and its 95 % interval", "Intervals of forty simulated studies")


FIGURES = {"risk-coverage.svg": two_curves, "uncertainty.svg": forty_studies}

if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
        print(f"wrote docs/{name}")
