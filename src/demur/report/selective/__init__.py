"""The page of an evaluation of answers."""

from demur.report.names import systems_of
from demur.report.sections import PageKind
from demur.report.selective.operating import operating_data

PAGE = PageKind(
    task="selective",
    systems=systems_of,
    switched=lambda results: results.selective.confidences,
    scripts=("copy.js", "script.js"),
    data=operating_data,
)
