"""The leaderboard as it is shown: ranks, a tie set in a sentence, and what the comparison rests on."""

import json

import pytest

from demur import Plan, Settings, evaluate, report_html
from demur.results.load import results_of
from demur.show.console import evaluation_text
from demur.show.statements.leaderboard import best_systems, board_to_show, leaderboard_statements
from demur.show.table_rows import Layout
from demur.show.tables import table_text
from made_up import units_of
from parametrized import parametrize_few

PLAN = Plan(300, seed=5)


def best_sentence(results):
    return best_systems(results, results.leaderboard()).sentence


def sentences(results):
    return " ".join(statement.sentence for statement in leaderboard_statements(results, results.leaderboard()))


SYSTEMS = {
    "one": units_of(1, 0.3),
    "<two>": units_of(2, 0.33, 0.9),
    "poor": units_of(3, 0.8),
    "brief": units_of(4, 0.3, 0.2),
    "silent": units_of(5, 0.3, 0.0),
}


def ranked(*names, plan=PLAN, **settings):
    chosen = {name: SYSTEMS[name] for name in names}
    return evaluate(chosen, settings=Settings(confidence="sure", **settings), plan=plan)


@pytest.fixture(scope="module")
def three():
    return ranked("one", "<two>", "poor", "silent")


def test_the_console_prints_it_first_and_the_baseline_view_after(three):
    lines = evaluation_text(three).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("Leaderboard: AUGRC to C_common"))
    assert [line.split()[:2] for line in lines[start + 2 : start + 6]] == [
        ["1–2", "one"],
        ["1–2", "<two>"],
        ["3", "poor"],
        ["–", "silent"],
    ]
    assert lines[start + 5].split()[2:] == ["nothing", "is", "answered", "0"]
    assert start < next(n for n, line in enumerate(lines) if line.endswith("operating points"))


def test_the_best_are_a_tie_set_and_not_an_order(three):
    tied = "one and <two> are tied for best of 3 systems: none of them is shown to be worse than another."
    assert best_sentence(three) == tied
    assert tied in evaluation_text(three)


@pytest.mark.slow
def test_everybody_or_nobody_is_the_best():
    same = ranked("one", "<two>", "brief", area_coverage="0.1")
    assert best_sentence(same).startswith("All 3 systems are tied for best")
    none = ranked("one", "<two>", "poor", plan=Plan(0, None))
    assert best_sentence(none) == "No system is ranked above another: nothing was resampled."
    alone = ranked("one", "<two>", "silent", area_coverage="0.88")
    assert best_sentence(alone) == "No two systems can be compared, so none is ranked."


@pytest.mark.slow
def test_who_drags_the_common_coverage_down_is_said_with_the_way_out():
    found = ranked("one", "<two>", "poor", "brief")
    text = sentences(found)
    common = found.leaderboard().coverage
    assert (
        f"C_common ({common:.1%}) is the smallest Cmax of these 4 systems: adding or leaving out a system changes every"
        in text
    )
    without = ranked("one", "<two>", "poor").leaderboard().coverage
    assert f"brief answers least and sets it; without brief the others compare up to {without:.1%}" in text
    assert "(--exclude brief). --area-coverage fixes the coverage beforehand." in text
    fixed = ranked("one", "<two>", "poor", "brief", area_coverage="0.5")
    assert "C_common" not in sentences(fixed)


@pytest.mark.slow
def test_two_systems_have_their_difference_and_no_leaderboard_on_console_and_page():
    two = ranked("one", "poor")
    assert board_to_show(two) is None
    assert "Leaderboard" not in evaluation_text(two) + report_html(two)


def test_the_page_has_it_with_names_as_text(three):
    page = report_html(three)
    section = page.partition('id="leaderboard"')[2].partition("</section>")[0]
    assert section.count("<tr>") == 1 + 4
    assert section.count('class="diamond') == 2, "the first is what the others are compared with"
    assert "<two>" not in section
    assert "&lt;two&gt;" in section


@parametrize_few("names", [("silent", "mute", "dumb"), ("one", "silent", "mute")], 1)
@pytest.mark.slow
def test_where_nobody_or_one_answers_nothing_is_ranked_and_nothing_fails(names):
    systems = SYSTEMS | dict.fromkeys(("mute", "dumb"), SYSTEMS["silent"])
    found = evaluate({name: systems[name] for name in names}, settings=Settings(confidence="sure"), plan=PLAN)
    assert found.leaderboard().best == ()
    assert "No two systems can be compared, so none is ranked." in evaluation_text(found)
    assert 'id="leaderboard"' in report_html(found)
    assert table_text(found, "sentence").startswith("We evaluated")
    assert table_text(found, "markdown", Layout(("leaderboard",))).count("| – |") >= 3
    assert results_of(json.loads(found.text)).text == found.text
