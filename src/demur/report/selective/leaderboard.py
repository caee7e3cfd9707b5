"""The section with the leaderboard: ranges of ranks, and every system against the one with the lowest number."""

from demur.drawing.forest import IntervalRow, around_zero, difference_strip, scale_strip
from demur.report.leaderboard import best_sentence, board_to_show, ranks_text, sentences, why_not_ranked
from demur.report.names import NamedSystem, by_name
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, interval_row, interval_text, three, title_of, with_interval
from demur.results.leaderboard import Leaderboard, Standing, deciding, pair_difference
from demur.results.table import Results


@section("leaderboard", "Leaderboard", task="selective", order=20)
def leaderboard(results: Results) -> Content | None:
    """The leaderboard; None for fewer than three systems, or where a pairwise difference is missing."""
    board = board_to_show(results)
    if board is None:
        return None
    systems, first = by_name(results), board.standings[0]
    drawn = {ranked.system: _drawn(results, systems, first, ranked) for ranked in board.ranked}
    frame = around_zero(drawn.values())
    return {
        "best": best_sentence(results, board),
        "sentences": [*sentences(results, board)],
        "first": systems[first.system],
        "title": title_of(first.estimate),
        "scale": scale_strip(frame),
        "rows": [
            (_row(results, board, systems, standing), difference_strip(drawn[standing.system], frame))
            if standing.system in drawn and standing is not first
            else (_row(results, board, systems, standing), "")
            for standing in board.standings
        ],
    }


def _drawn(results: Results, systems: dict[str, NamedSystem], first: Standing, standing: Standing) -> IntervalRow:
    difference = None if standing is first else pair_difference(results, standing.system, first.system)
    style = systems[first.system].style if first.system in standing.worse_than else "neither"
    label = systems[standing.system].label
    return (
        interval_row(label, style, difference.value, deciding(difference))
        if difference
        else IntervalRow(label, style, None)
    )


def _row(results: Results, board: Leaderboard, systems: dict[str, NamedSystem], standing: Standing) -> Content:
    difference_text, first = UNDEFINED, board.standings[0].system
    if standing.ranks is not None and standing.system != first:
        difference = pair_difference(results, standing.system, first)
        if difference is not None:
            difference_text = f"{three(difference.value)} {interval_text(deciding(difference))}"
    return {
        "system": systems[standing.system],
        "ranks": ranks_text(standing),
        "best": standing.best,
        "number": why_not_ranked(board, standing) or with_interval(results, standing.estimate, three),
        "difference": difference_text,
        "reaches": f"{standing.reaches:.1%}",
        "worse_than": ", ".join(systems[name].label for name in standing.worse_than) or "nobody",
    }
