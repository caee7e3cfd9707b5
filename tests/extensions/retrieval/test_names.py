"""Names and ids of any spelling come through the readers of rankings as they are, and are told apart."""

import csv
import io
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from awkward import IDS, NAMES
from demur import read_queries, read_trec
from runs import written

FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def as_csv(rows):
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([[*rows[0]], *(row.values() for row in rows)])
    return text.getvalue()


def as_json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@FUZZ
@given(
    queries=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=6, unique=True),
    ids=st.lists(IDS, min_size=1, max_size=6, unique=True),
    systems=st.lists(NAMES, min_size=1, max_size=3, unique=True),
)
def test_posts_criteria_documents_and_systems_of_a_per_query_file(tmp_path, queries, ids, systems):
    rows = [
        {"post_id": post, "criterion_id": criterion, "gold_ids": ids[:1]}
        | {f"column {rank}": ids[rank % len(ids) :] for rank, _ in enumerate(systems)}
        for post, criterion in queries
    ]
    path = written(tmp_path, as_json_lines(rows), "q.jsonl")
    rankings = read_queries(path, systems={name: f"column {rank}" for rank, name in enumerate(systems)})
    assert [*rankings] == systems
    for rank, facts in enumerate(rankings.values()):
        found = {(facts.post_ids[post], facts.criteria[c]) for post, c in zip(facts.post, facts.criterion, strict=True)}
        assert found == {*queries}
        assert facts.hit_rank.tolist() == ([1] * len(queries) if rank % len(ids) == 0 else [])


@FUZZ
@given(queries=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=6, unique=True), document=IDS)
def test_posts_and_criteria_of_a_csv_where_only_a_list_of_ids_is_split(tmp_path, queries, document):
    plain = document.replace("|", "").strip() or "d"
    rows = [{"post_id": p, "criterion_id": c, "gold_ids": plain, "ranked_ids": f"{plain}|other"} for p, c in queries]
    facts = read_queries(written(tmp_path, as_csv([*rows, rows[0] | {"post_id": "zz"}]), "q.csv"))["ranked"]
    assert {*facts.post_ids} == {"zz", *(post for post, _ in queries)}
    assert {*facts.criteria} == {criterion for _, criterion in queries}
    assert facts.hit_rank.tolist() == [1] * len(facts)


@FUZZ
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_runs_of_trec_by_name(tmp_path, names):
    judged = written(tmp_path, "p/1 0 d/1 1\np/1/2 0 d 1\n", "qrels")
    scored = written(tmp_path, "p/1 Q0 d/1 1 2 bge\np/1/2 Q0 d/1 1 2 bge\n", "scores")
    rankings = read_trec(judged, dict.fromkeys(names, scored))
    assert [*rankings] == names
    assert all(facts.post_ids == ("p/1", "p/1/2") and len(facts.hit_rank) == 1 for facts in rankings.values())
