"""The leaderboard: ranges of ranks, which systems are tied for best, and each against the first."""

import shlex
from collections.abc import Iterator

from demur.drawing.labels import isolated
from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.report.names import by_name
from demur.report.sections import Content, section
from demur.report.text import (
    UNDEFINED,
    bounded_interval,
    four,
    interval_row,
    interval_text,
    level_of,
    listing,
    table,
    three,
    title_of,
    with_interval,
)
from demur.report.verdict import decide
from demur.results.gaps import deciding
from demur.results.leaderboard import Leaderboard, Standing, leaderboard_of, pair_difference, pair_key
from demur.results.table import Results

_FEWEST = 3
_MUCH_FARTHER = 1.2


def board_to_show(results: Results) -> Leaderboard | None:
    """The leaderboard of three or more systems; None for fewer."""
    return leaderboard_of(results) if len(results.systems) >= _FEWEST else None


def ranks_text(standing: Standing) -> str:
    """The rank of a system, or the range of ranks it may have."""
    if standing.ranks is None:
        return "–"
    low, high = standing.ranks
    return f"{low}" if low == high else f"{low}–{high}"


def why_not_ranked(board: Leaderboard, standing: Standing) -> str:
    """Why a system has no rank; empty where it has one."""
    if standing.ranks is not None:
        return ""
    return f"ends at {standing.reaches:.1%}, before {board.coverage:.1%}" if standing.reaches else "nothing is answered"


def best_sentence(results: Results, board: Leaderboard) -> str:
    """The sentence on the best system, or on those tied for best."""
    names, total = by_name(results), len(board.ranked)
    best = [names[system].name for system in board.best]
    if total < 2:  # noqa: PLR2004  (a comparison)
        return "No two systems can be compared, so none is ranked."
    if board.undecided:
        return f"No system is ranked above another: {board.undecided}."
    if len(best) == total:
        return f"All {total} systems are tied for best: none is shown to be worse than another."
    doubts = [*dict.fromkeys(filter(None, _doubts(results, board)))]
    if doubts:
        looks = "looks the" if len(best) == 1 else "look tied for"
        return f"{listing(best)} {looks} best of {total} systems, but {listing(doubts)}."
    if len(best) > 1:
        return f"{listing(best)} are tied for best of {total} systems: none of them is shown to be worse than another."
    beaten = all(board.best[0] in standing.worse_than for standing in board.ranked if not standing.best)
    others = "each of the others is shown to be worse" + ("" if beaten else " than it or than another")
    return f"{best[0]} is the best of {total} systems: {others}."


def sentences(results: Results, board: Leaderboard) -> Iterator[str]:
    """The basis of the ranks, doubts about them, and the effect of adding or excluding a system."""
    pairs = len(board.ranked) * (len(board.ranked) - 1) // 2
    if pairs > 1 and not board.undecided:
        yield f"The ranks are those that 95 % intervals for all {pairs} differences at once do not rule out."
    doubts = _doubts(results, board)
    for doubt in dict.fromkeys(filter(None, doubts)):
        yield f"In {doubts.count(doubt)} of the {len(doubts)} differences shown, {doubt}: treat those with care."
    if board.common_to:
        common = f"C_common ({board.coverage:.1%}) is the smallest Cmax of these {len(board.common_to)} systems"
        yield f"{common}: adding or leaving out a system changes every area and every difference."
    standing, without = board.shortest or (board.standings[0], 0.0)
    if without >= _MUCH_FARTHER * board.coverage > 0:
        name = by_name(results)[standing.system].name
        option = f"--exclude {isolated(shlex.quote(standing.system))}"
        yield (
            f"{name} answers least and sets it; without {name} the others compare up to {without:.1%} ({option}). "
            "--area-coverage fixes the coverage beforehand."
        )


def _doubts(results: Results, board: Leaderboard) -> list[str]:
    """For every shown difference the reason to doubt it, or an empty text."""
    keys = (pair_key(results, ranked.system, other) for ranked in board.ranked for other in ranked.worse_than)
    return [decide(results, key).doubt for key in keys if key is not None]


def leaderboard_text(results: Results) -> Iterator[str]:
    """The systems with their ranks and the basis of the ranks; nothing for fewer than three."""
    board = board_to_show(results)
    if board is None:
        return
    systems = by_name(results)
    title = title_of(board.standings[0].estimate)
    yield from ("", f"Leaderboard: {title} under {shown(board.number.confidence)}, lower is better")
    rows = [("  rank", "system", "AUGRC", level_of(results), "Cmax")]
    for standing in board.standings:
        ends = bounded_interval(results, standing.estimate)
        numbers = (four(standing.estimate.value), ends) if standing.ranks else ("", why_not_ranked(board, standing))
        rows.append((f"  {ranks_text(standing)}", systems[standing.system].label, *numbers, four(standing.reaches)))
    yield from table(rows, to_the_left=(0, 1))
    yield from (best_sentence(results, board), *sentences(results, board))


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
        "best": best_sentence(results, board),
        "sentences": [*sentences(results, board)],
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
    return {
        "system": systems[standing.system],
        "ranks": ranks_text(standing),
        "number": why_not_ranked(board, standing) or with_interval(results, standing.estimate, three),
        "difference": UNDEFINED if difference is None else f"{three(difference.value)} {interval_text(interval)}",
        "reaches": f"{standing.reaches:.1%}",
        "worse_than": ", ".join(systems[name].label for name in standing.worse_than) or "nobody",
    }
