"""The leaderboard of a page: the ranks that are left open, and every system against the one with the lowest number."""

from demur.drawing.forest import IntervalRow, around_zero, difference_strip, scale_strip
from demur.report.leaderboard import best_sentence, board_to_show, ranks_text, sentences, why_not_ranked
from demur.report.names import NamedSystem, by_name
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, interval_row, interval_text, three, title_of, with_interval
from demur.results.leaderboard import Leaderboard, Standing, deciding, pair_difference
from demur.results.table import Results


@section("leaderboard", "Leaderboard", task="selective", order=20)
def leaderboard(results: Results) -> Content | None:
    """Nothing of fewer than three systems, and where their differences are not all there."""
    board = board_to_show(results)
    if board is None:
        return None
    systems, first = by_name(results), board.standings[0]
    drawn = {each.system: _drawn(results, systems, first, each) for each in board.standings if each.ranks is not None}
    frame = around_zero(drawn.values())
    return {
        "best": best_sentence(results, board),
        "sentences": [*sentences(results, board)],
        "first": systems[first.system],
        "title": title_of(first.estimate),
        "scale": scale_strip(frame),
        "rows": [
            (_row(results, board, systems, each), difference_strip(drawn[each.system], frame))
            if each.system in drawn and each is not first
            else (_row(results, board, systems, each), "")
            for each in board.standings
        ],
    }


def _drawn(results: Results, systems: dict[str, NamedSystem], first: Standing, each: Standing) -> IntervalRow:
    difference = None if each is first else pair_difference(results, each.system, first.system)
    style = systems[first.system].style if first.system in each.worse_than else "neither"
    label = systems[each.system].label
    return (
        interval_row(label, style, difference.value, deciding(difference))
        if difference
        else IntervalRow(label, style, None)
    )


def _row(results: Results, board: Leaderboard, systems: dict[str, NamedSystem], each: Standing) -> Content:
    apart, first = UNDEFINED, board.standings[0].system
    if each.ranks is not None and each.system != first:
        difference = pair_difference(results, each.system, first)
        if difference is not None:
            apart = f"{three(difference.value)} {interval_text(deciding(difference))}"
    return {
        "system": systems[each.system],
        "ranks": ranks_text(each),
        "best": each.best,
        "number": why_not_ranked(board, each) or with_interval(results, each.estimate, three),
        "difference": apart,
        "reaches": f"{each.reaches:.1%}",
        "worse_than": ", ".join(systems[name].label for name in each.worse_than) or "nobody",
    }
