"""Curves as they are known to be computed otherwise, against the plain loops."""

import random
from fractions import Fraction

import pytest

from cases import graded_of, random_units
from demur.extensions.audit.reported.curves import CURVES, of_curve
from demur.extensions.audit.reported.names import SELECTIVE, ReportedQuantity
from parametrized import parametrize_few
from reference import LOOPS
from reference.selective import PlainCurve, Unit

SHORT = "no flat start: integrated from the first operating point"


def untied(rows):
    answers = sorted((row for row in rows if row.loss is not None), key=lambda row: row.confidence, reverse=True)
    ranked = [row._replace(confidence=-rank) for rank, row in enumerate(answers)]
    return [*ranked, *(row for row in rows if row.loss is None)]


PLAIN = {
    "abstentions left out of the denominator": lambda rows: PlainCurve(row for row in rows if row.loss is not None),
    SHORT: lambda rows: PlainCurve(rows, anchored=False),
    "ties broken: each unit an operating point": lambda rows: PlainCurve(untied(rows)),
    f"ties broken, {SHORT}": lambda rows: PlainCurve(untied(rows), anchored=False),
}


@pytest.mark.parametrize("way", CURVES)
@parametrize_few("name", sorted(name for name in SELECTIVE if "@threshold" not in name), 5)
def test_every_figure_of_another_curve_is_that_of_the_loops(way, name):
    rng = random.Random(f"{way} {name}")
    for _ in range(25):
        rows = [*random_units(rng, most=15), Unit(Fraction(1), 0.5)]  # the loops divide by the answers
        for at in (Fraction(1, 10), Fraction(1, 2), Fraction(1)) if "@" in name else (Fraction(0),):
            expected = LOOPS[name](PLAIN[way](rows), *([at] if "@" in name else []))
            found = of_curve(ReportedQuantity(name, at), CURVES[way](graded_of(rows)))
            assert found == (None if expected is None else pytest.approx(float(expected), abs=1e-12)), rows
