"""Reported figures of systems and criteria whose names are words of ours, prefixes of one another, or hard to split."""

import statistics

import pytest

import pipeline
from demur.extensions.audit.figures import Printed, flattened
from demur.extensions.audit.reported.queries import audited_retrieval
from demur.extensions.retrieval.rankings import Query
from reported_queries import parsed

NAMES = [
    "bge",
    "bge/large",
    "bge:large",
    "a@5",
    "x=1",
    "two words",
    'it\'s "so"',
    "recall@1",
    "micro",
    "5",
    "a.b",
    "all",
]


@pytest.mark.slow
def test_systems_and_criteria_may_be_called_anything():
    """A name that is a prefix of another, a word of ours, or what a path would be split at."""
    both = {}
    for place, name in enumerate(NAMES):
        gold = [[f"s{query}"] if query <= place else [] for query in range(len(NAMES))]
        ranked = [f"s{query}" for query in range(place % 3, len(NAMES))]
        both[name] = [Query(query, criterion, gold[query], ranked) for query, criterion in enumerate(NAMES)]
    content = {
        name: {
            "recall@5": statistics.fmean(pipeline.recall(q.gold, q.ranked, 5) for q in queries),
            "per_criterion": {q.criterion: {"recall@5": pipeline.recall(q.gold, q.ranked, 5)} for q in queries},
        }
        for name, queries in both.items()
    }
    found = audited_retrieval(both, parsed(content))
    assert [one.path for one in found] == [path for path, _ in flattened(content)]
    assert {one.status for one in found} == {"match"}
    for name, criterion in zip(NAMES, reversed(NAMES)):
        wrong = parsed(content)
        wrong[name]["per_criterion"][criterion]["recall@5"] = Printed.of("0.1234")
        differs = [one.path for one in audited_retrieval(both, wrong) if one.status == "differs"]
        assert differs == [(name, "per_criterion", criterion, "recall@5")]
