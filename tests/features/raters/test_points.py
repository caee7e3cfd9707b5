"""Points that are typed or written in a file: counts, or what a paper prints."""

import pytest

from demur import UserError, read_points, typed_point


def test_points_of_a_file_are_those_that_are_typed(tmp_path):
    path = tmp_path / "points.toml"
    path.write_text(
        '["A paper"]\ncoverage = 0.5\nrisk = 0.25\nci = [0.1, 0.4]\nsource = "Smith 2020"\npopulation = "a clinic"\n'
        '["Counts"]\nunits = 8\nanswered = 6\nloss_sum = 1\n'
    )
    paper, counts = read_points(path)
    assert (paper.ends, paper.source, paper.population) == ((0.1, 0.4), "Smith 2020", "a clinic")
    assert (counts.kind, counts.coverage, counts.risk) == ("counts", 0.75, 1 / 6)


@pytest.mark.parametrize(
    "content",
    [
        "P = 1",
        "[P]\ncoverage = true\nrisk = 1",
        "[P]\ncoverage = 1\nrisk = 0.1\nsource = 5",
        "[P",
        "# none yet\n",
    ],
)
def test_a_file_that_is_wrong_is_one_line_with_its_name(tmp_path, content, message):
    path = tmp_path / "points.toml"
    path.write_text(content)
    with pytest.raises(UserError) as caught:
        read_points(path)
    message(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "P coverage=1",
        "P: coverage=0.5",
        "P: coverage=0, risk=0.1",
        "P: coverage=1.2, risk=0.1",
        "P: units=8, answered=0, loss=0",
        "P: units=8, answered=9, loss=0",
        "P: units=8.5, answered=9, loss=0",
        "P: coverage=1, risk=0.5, ci=0.6..0.7",
        "P: coverage=1, risk=0.5, ci=0.6",
        "P: coverage=1, riks=0.5",
    ],
)
def test_a_point_that_is_none_is_one_line(text, message):
    with pytest.raises(UserError) as caught:
        typed_point(text)
    message(caught.value)
