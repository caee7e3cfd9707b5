"""The page of an evaluation of answers."""

from demur.report.sections import PageKind
from demur.report.selective.operating import operating_data
from demur.report.text import systems_of

PAGE = PageKind(
    task="selective",
    systems=systems_of,
    switched=lambda results: results.selective.confidences,
    scripts=("copy.js", "script.js"),
    data=operating_data,
)
