"""The page of an evaluation of answers."""

from demur.report.names import systems_of
from demur.report.sections import PageKind, page_kind
from demur.report.selective.operating import operating_data

page_kind(
    PageKind(
        task="selective",
        systems=systems_of,
        switched=lambda results: results.selective.confidences,
        scripts=("copy.js", "script.js"),
        data=operating_data,
    )
)
