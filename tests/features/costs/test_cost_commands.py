"""Prices of abstentions on the command line: what is printed, and that a mistake writes nothing."""

import pytest

from commands import demur

UNITS = "cluster,item,loss,sure\nA,1,0,.9\nA,2,1,.9\nB,1,0,.8\nB,2,0,.7\nC,1,1,.7\nC,2,,0\nD,1,0,.6\nD,2,,0\n"
EVALUATE = ("evaluate", "units.csv", "--confidence", "sure", "--loss-max", "1", "--seed", "7")
EVALUATE += ("--bootstrap-resamples", "50", "--output", "out.json")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "units.csv").write_text(UNITS)
    return tmp_path


def test_a_price_of_the_worst_error_is_said_in_words(folder):
    found = demur(folder, *EVALUATE, "--abstention-cost", "1:10")
    assert (found.returncode, found.stderr) == (0, "")
    said = "If a silence costs a tenth of the worst error, declining everything is cheapest: 0.1 per unit"
    assert said in found.stdout


@pytest.mark.parametrize(
    "told", [("--cross-fit", "5"), ("--abstention-cost", "2"), ("--cross-fit", "1", "--abstention-cost", "1")]
)
def test_a_mistake_is_one_line_and_writes_nothing(folder, told, message):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = demur(folder, *EVALUATE, *told)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    message(found.stderr)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_losses_without_a_maximum_have_no_price(folder):
    words = [word for word in EVALUATE if word not in ("--loss-max", "1")]
    found = demur(folder, *words, "--abstention-cost", "0.1")
    assert found.returncode == 2
    assert "the largest loss is not known" in found.stderr
    assert "--loss-max" in found.stderr
