"""The emulations against the tools themselves, as their packages install. Run by `make test-conventions`."""

import json
import math
import os
import random
import subprocess
from fractions import Fraction as F
from pathlib import Path

import pytest

from conventions import LM_POLYGRAPH, SORTED, TABLES, graded, rows_of
from demur.features.conventions.emulations import EMULATIONS, Answers
from reference.conventions import ALSO_REPORTED, number
from reference.selective import Unit

PYTHON = os.environ.get("DEMUR_CONVENTIONS_PYTHON")
pytestmark = [
    pytest.mark.conventions,
    pytest.mark.skipif(not PYTHON, reason="make test-conventions installs the tools"),
]
SINGLE = 1e-6  # torch-uncertainty computes coverages in single precision


def reported(tables):
    """What the tools report of answers, each a list of (loss, confidence)."""
    asked = json.dumps([[*map(list, zip(*table, strict=True))] for table in tables])
    script = Path(__file__).with_name("real_tools.py")
    return json.loads(subprocess.run([PYTHON, script], input=asked, capture_output=True, text=True, check=True).stdout)


def answered(table, flipped):
    return [row for row in rows_of(table, bool(flipped)) if row[0] is not None]


def test_the_table_is_what_the_tools_report():
    cells = [(table, flipped) for table in TABLES for flipped in (0, 1)]
    for (table, flipped), found in zip(cells, reported([answered(*cell) for cell in cells]), strict=True):
        assert found["lm-polygraph"]["aurc"] == pytest.approx(float(LM_POLYGRAPH[table][flipped]), abs=1e-12)
        assert ("torch-uncertainty" in found) == (table != "T3")
        for name, value in found.get("torch-uncertainty", {}).items():
            expected = SORTED["torch-uncertainty", name][table][flipped]
            if expected is not None:
                assert value == pytest.approx(float(expected), abs=SINGLE, nan_ok=True), (table, flipped, name)


def made_up(rng, *, ties):
    size = rng.randint(2, 40)
    sure = [rng.randint(0, 5) / 10 for _ in range(size)] if ties else rng.sample(range(1, 1000), size)
    return [(rng.randint(0, 1), value if ties else value / 1000) for value in sure]


@pytest.mark.parametrize("ties", [False, True])
def test_emulations_are_what_the_tools_report_of_random_answers(ties):
    rng = random.Random(1)
    tables = [made_up(rng, ties=ties) for _ in range(100)]
    for rows, found in zip(tables, reported(tables), strict=True):
        answers = Answers(graded(rows))
        for name, value in found["torch-uncertainty"].items():
            ours = EMULATIONS["torch-uncertainty"].emulated(name, answers)
            low, high = ours.over_ties or (None, math.nan)
            if math.isnan(value):
                assert low is None
            else:
                assert (value if low is None else low) - SINGLE <= value <= high + SINGLE
            if not ties:
                assert value == pytest.approx(ours.value, abs=SINGLE, nan_ok=True)
        units = [Unit(F(loss), sure) for loss, sure in rows]
        polygraph = number(ALSO_REPORTED["lm-polygraph"], "aurc", (), units)
        assert found["lm-polygraph"]["aurc"] == pytest.approx(float(polygraph), abs=1e-12)
