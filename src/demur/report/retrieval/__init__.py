"""The page of an evaluation of retrieval."""

from demur.report.names import systems_of
from demur.report.sections import PageKind

PAGE = PageKind(task="retrieval", systems=systems_of, switched=lambda results: results.systems)
