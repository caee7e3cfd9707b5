"""Groups as a section: coverage and risk at the shared threshold, groups too small to judge first, and curves."""

from dataclasses import replace

from demur.drawing.forest import bar_strip, scale_strip, value_strip
from demur.drawing.picture import Frame
from demur.drawing.risk_coverage import RiskCurve, risk_coverage
from demur.features.groups.statements import GroupTable, group_tables, row_text
from demur.features.groups.study import GroupCurve, groups_of
from demur.results.table import Results
from demur.show.sections import Content, section
from demur.show.text import interval_row, title_of

_SMALL = (320, 230)


@section("groups", "Who is served", task="selective", order=40)
def groups(results: Results) -> Content | None:
    """The groups of every confidence; None if none were requested."""
    record = groups_of(results)
    if record is None:
        return None
    tables = [group_tables(results, confidence) for confidence in results.selective.confidences]
    return {
        "by_confidence": [[_content(table) for table in listed] for listed in tables],
        "min_clusters": record.min_clusters,
        "unlabelled": {row.name: row.without_label for row in record.groupings if row.without_label},
    }


def _content(table: GroupTable) -> Content:
    drawn = {
        line.label: interval_row(
            line.label, "small" if line.small else table.system.style, line.risk.value, line.risk.simultaneous
        )
        for line in table.lines
    }
    numbers = [number for row in drawn.values() for number in (row.value, *(row.interval or ())) if number is not None]
    frame = Frame(xs=(min([*numbers, 0.0]), 1.04 * max([*numbers, 0.0]) or 1.0))
    top = max((max(line.curve.selective_risk, default=0.0) for line in table.lines), default=0.0)
    within = [title_of(row) for row in table.lines[0].within]
    return {
        "table": table,
        "scale": scale_strip(frame),
        "rows": [
            (line, value_strip(drawn[line.label], frame), bar_strip(line.coverage.value, drawn[line.label].style))
            for line in table.lines
        ],
        "curves": [(line, _curve(line.label, line.curve, table.system.style, top)) for line in table.lines],
        "headings": within,
        "within": [(line, [row_text(row) for row in line.within]) for line in table.lines],
    }


def _curve(label: str, curve: GroupCurve, style: str, top: float) -> str:
    end = curve.coverage[-1] if curve.coverage else 0.0
    drawn = RiskCurve(label, style, curve.coverage, curve.selective_risk, end)
    picture = risk_coverage([drawn], top=top, units="items of the group", size=_SMALL)
    return replace(picture, kind="multiple", data={}).svg
