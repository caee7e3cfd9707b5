"""Results in a chosen table format: LaTeX, Markdown, CSV, sentences, or a block of JSON."""

from collections.abc import Callable, Sequence
from typing import Any

from demur.errors import UserError, registered
from demur.files.write import json_text
from demur.inference.key import Key
from demur.results.study import SIGNATURE
from demur.results.table import Results
from demur.show import latex, markdown, spreadsheets
from demur.show.leaderboard_tables import board_csv, board_latex, board_markdown
from demur.show.sentence import paper_text
from demur.show.statements.decisions import is_measured
from demur.show.statements.signatures import OURS, signatures
from demur.show.table_rows import LEADERBOARD, USUAL, Layout


def table_text(results: Results, form: str, layout: Layout = USUAL) -> str:
    """Format results as a table or as sentences; as the leaderboard, if that is the only row requested."""
    write = registered("table format", form, FORMS)
    if layout.rows == (LEADERBOARD,):
        write = registered("format of a leaderboard", form, BOARD_FORMS)
    return write(results, layout)


_METRICS = ("aurc", "aurc_optimal", "eaurc", "aurc_achievable", "augrc", "augrc_optimal", "eaugrc", "cmax")
_INTERPRETATION = ("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct")


def json_block(results: Results, layout: Layout) -> str:
    """A JSON block with the members `metrics` and `interpretation`, and the signature; undefined numbers are null.

    Of several confidences or systems, one such block each is in `confidence_variants`.
    """
    if layout.rows:
        raise UserError("json-003 has the members that its document gives it: leave out --rows, or take csv")

    def members(names: Sequence[str], system: str, confidence: str) -> dict[str, float | None]:
        numbers = {name: results[Key(system, name, confidence)] for name in names}
        return {
            name: None if not is_measured(results, number) else layout.rounded(number.value)
            for name, number in numbers.items()
        }

    def block(*of: str) -> dict[str, dict[str, float | None]]:
        return {"metrics": members(_METRICS, *of), "interpretation": members(_INTERPRETATION, *of)}

    confidences, signed = results.selective.confidences, {SIGNATURE: str(signatures(results)[OURS])}
    if len(results.systems) == 1:
        blocks: dict[str, Any] = {confidence: block(results.systems[0], confidence) for confidence in confidences}
    else:
        blocks = {each: {system: block(system, each) for system in results.systems} for each in confidences}
    if len(confidences) == len(results.systems) == 1:
        return json_text({**blocks[confidences[0]], **signed})
    return json_text({"confidence_variants": blocks, **signed})


Form = Callable[[Results, Layout], str]
FORMS: dict[str, Form] = {
    "latex": latex.table,
    "markdown": markdown.table,
    "csv": spreadsheets.table,
    "sentence": paper_text,
    "json-003": json_block,
}
BOARD_FORMS: dict[str, Form] = {"latex": board_latex, "markdown": board_markdown, "csv": board_csv}
