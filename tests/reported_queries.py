"""Reported figures of retrieval, audited against the queries they are of."""

import json

import pipeline
from demur.extensions.audit.figures import Printed
from demur.extensions.audit.rankings import queries_to_audit
from demur.extensions.audit.reported.queries import audited_retrieval
from demur.files.strict_json import loads
from pipeline import as_csv, made_queries
from runs import written

QUERIES = made_queries()


def parsed(content):
    return loads(json.dumps(content), number=Printed.of)


def read_back(folder, queries, columns=pipeline.COLUMNS):
    return queries_to_audit(written(folder, as_csv(queries, columns), "per_query.csv"))


def audited(both_queries, content):
    return {one.key: one for one in audited_retrieval(both_queries, parsed(content))}


def differing(both_queries, content):
    return {key: one.cause for key, one in audited(both_queries, content).items() if one.status == "differs"}


def only(both_queries, **members):
    """What became of the one figure in a file of one section."""
    return audited(both_queries, {"reranked": members})
