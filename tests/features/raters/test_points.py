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
    ("content", "message"),
    [
        ("P = 1", "P 1, expected a table of the numbers of a point"),
        ("[P]\ncoverage = true\nrisk = 1", "point P: coverage True, expected a number"),
        ("[P]\ncoverage = 1\nrisk = 0.1\nsource = 5", "point P: source 5, expected a text"),
        ("[P", "not valid TOML: "),
        ("# none yet\n", "there are no points in it: expected a table for each"),
    ],
)
def test_a_file_that_is_wrong_is_one_line_with_its_name(tmp_path, content, message):
    path = tmp_path / "points.toml"
    path.write_text(content)
    with pytest.raises(UserError) as caught:
        read_points(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P coverage=1", "point 'P coverage=1', expected NAME: units="),
        ("P: coverage=0.5", "point P: 'coverage=0.5', expected NAME: units="),
        ("P: coverage=0, risk=0.1", "point P: coverage 0, rater_answers_nothing: it has no risk"),
        ("P: coverage=1.2, risk=0.1", "point P: coverage 1.2, expected a share above 0 and at most 1"),
        ("P: units=8, answered=0, loss=0", "point P: answered 0, rater_answers_nothing: it has no risk"),
        ("P: units=8, answered=9, loss=0", "point P: answered 9, expected at most units, 8"),
        ("P: units=8.5, answered=9, loss=0", "point P: units '8.5', expected a whole number, 0 or more"),
        ("P: coverage=1, risk=0.5, ci=0.6..0.7", r"point P: expected ci=LOW..HIGH around the risk 0.5"),
        ("P: coverage=1, risk=0.5, ci=0.6", "point P: ci '0.6', expected LOW..HIGH"),
        ("P: coverage=1, riks=0.5", "no number of the point P is called riks; did you mean risk"),
    ],
)
def test_a_point_that_is_none_is_one_line(text, message):
    with pytest.raises(UserError) as caught:
        typed_point(text)
    assert str(caught.value).startswith(message)
