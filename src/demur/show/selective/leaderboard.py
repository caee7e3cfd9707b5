"""The leaderboard as a section: the ranks, and each system against the first."""

from demur.inference.estimates import Estimate, deciding
from demur.results.leaderboard import Leaderboard, Standing, pair_difference
from demur.results.table import Results
from demur.show.names import by_name
from demur.show.sections import Content, section
from demur.show.statements.leaderboard import best_systems, board_to_show, leaderboard_statements, rank
from demur.show.text import UNDEFINED, interval_row, interval_text, three, title_of, with_interval


@section("leaderboard", "Leaderboard", task="selective", order=20)
def leaderboard(results: Results) -> Content | None:
    """The leaderboard; None for fewer than three systems, or where a pairwise difference is missing."""
    board = board_to_show(results)
    if board is None:
        return None
    from demur.drawing.forest import IntervalRow, around_zero, difference_strip, scale_strip  # noqa: PLC0415  (for pages)

    systems, first = by_name(results), board.standings[0]
    differences: dict[str, Estimate] = {}
    drawn: dict[str, IntervalRow] = {}
    for ranked in board.ranked:
        difference = pair_difference(results, ranked.system, first.system)
        if difference is not None:  # the first has none
            style = systems[first.system].style if first.system in ranked.worse_than else "neither"
            drawn[ranked.system] = interval_row(
                systems[ranked.system].label, style, difference.value, deciding(difference)
            )
            differences[ranked.system] = difference
    frame = around_zero(drawn.values())
    return {
        "best": best_systems(results, board),
        "statements": [*leaderboard_statements(results, board)],
        "first": systems[first.system],
        "title": title_of(first.estimate),
        "scale": scale_strip(frame),
        "rows": [
            (
                _row(results, board, standing, differences.get(standing.system)),
                difference_strip(drawn[standing.system], frame) if standing.system in drawn else "",
            )
            for standing in board.standings
        ],
    }


def _row(results: Results, board: Leaderboard, standing: Standing, difference: Estimate | None) -> Content:
    systems, interval = by_name(results), None if difference is None else deciding(difference)
    ranked = rank(board, standing)
    return {
        "system": systems[standing.system],
        "rank": ranked,
        "number": ranked.why_none or with_interval(results, standing.estimate, three),
        "difference": UNDEFINED if difference is None else f"{three(difference.value)} {interval_text(interval)}",
        "reaches": f"{standing.reaches:.1%}",
        "worse_than": ", ".join(systems[name].label for name in standing.worse_than) or "nobody",
    }
