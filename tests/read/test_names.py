"""Names and ids of any spelling come through every reader as they are, and are told apart."""

import csv
import gzip
import hashlib
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from awkward import IDS, NAMES
from demur import Instrument, UserError, read_items, read_queries, read_run, read_table, read_trec
from demur.read import read_inputs
from runs import experiment, participant, run, written

FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
NAMES_OF_SYSTEMS = ["few shot", "it's", 'the "best"', "bge", "bge/large", "a:b", "a@10", " spaced ", "a|b", "ä"]
CLUSTERS = IDS.map(lambda text: text.replace(".", "·"))  # 2.0 in CSV is refused: a number that lost its integer
DISTINCT_IDS = st.lists(IDS, min_size=1, max_size=5, unique=True)


def as_csv(rows):
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([[*rows[0]], *(row.values() for row in rows)])
    return text.getvalue()


def as_json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


class TestInputs:
    @pytest.fixture
    def path(self, tmp_path):
        return written(tmp_path, run(experiment(participant(1)), experiment(participant(1), mode="zero_shot")))

    @pytest.mark.parametrize("name", NAMES_OF_SYSTEMS)
    def test_an_input_can_be_given_a_name(self, path, name):
        labelled, plain = read_inputs([f"{name}={path}", str(path)], modes=["few_shot", "zero_shot"])
        assert (labelled.source.label, plain.source.label) == (name, None)
        assert labelled.source.path == plain.source.path == str(path)

    def test_any_number_of_inputs_keep_their_order(self, path):
        items = read_inputs([f"{name}={path}" for name in NAMES_OF_SYSTEMS], modes=["few_shot"])
        assert [system.source.label for system in items] == NAMES_OF_SYSTEMS

    def test_a_path_is_never_split_and_nor_is_the_text_of_a_file_that_exists(self, tmp_path, monkeypatch):
        written(tmp_path, run(experiment(participant(1))), "a=b.json")
        monkeypatch.chdir(tmp_path)
        for given_input in ("a=b.json", Path("a=b.json")):
            source = read_inputs([given_input])[0].source
            assert (source.path, source.label) == ("a=b.json", None)
        assert read_inputs(["x=a=b.json"])[0].source.label == "x", "the name ends at the first ="
        for read in (read_items, lambda path: read_inputs([Path(path)])):
            with pytest.raises(UserError, match="^c=b.json: cannot be read"):
                read("c=b.json")

    def test_one_name_for_two_inputs_is_refused(self, path):
        with pytest.raises(UserError, match="two inputs are called bge: give each a name of its own, NAME=FILE"):
            read_inputs([f"bge={path}", f"bge/large={path}", f"bge={path}"], modes=["few_shot"])

    @pytest.mark.parametrize("given_input", ["=run.json", "name=", " =run.json"])
    def test_half_a_name_is_refused(self, given_input):
        with pytest.raises(UserError, match="expected FILE or NAME=FILE"):
            read_inputs([given_input])

    def test_every_kind_of_file_may_be_gzipped(self, tmp_path, path):
        packed = tmp_path / "run.json.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        source = read_items(packed, mode="few_shot").source
        assert source.sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()
        table = tmp_path / "t.csv.gz"
        table.write_bytes(gzip.compress(b"cluster,item,truth,prediction\n1,q,0,1\n"))
        items = read_items(f"{table}", instrument="none")
        assert (items.cluster_ids, items.source.path) == ((1,), str(table))


@FUZZ
@given(who=DISTINCT_IDS)
def test_participants_of_a_run(tmp_path, who):
    items = read_run(written(tmp_path, run(experiment(*map(participant, who)))))
    assert items.cluster_ids == tuple(sorted(who))
    assert len(items) == 8 * len(who)


@FUZZ
@given(names=DISTINCT_IDS)
def test_items_of_an_instrument(tmp_path, names):
    person = {"participant_id": "a", "success": True, "item_signals": {name: {} for name in names}}
    person["ground_truth_items"] = person["predicted_items"] = {name: rank % 2 for rank, name in enumerate(names)}
    path = written(tmp_path, run(experiment(person)))
    items = read_run(path, instrument=Instrument("any", tuple(names), 0, 1))
    assert items.item_names == tuple(names)
    assert items.truth.tolist() == [rank % 2 for rank in range(len(names))]


@FUZZ
@given(
    units=st.lists(
        st.tuples(CLUSTERS, IDS, st.integers(0, 9)), min_size=1, max_size=8, unique_by=lambda unit: unit[:2]
    ),
    write=st.sampled_from([("t.csv", as_csv), ("t.jsonl", as_json_lines)]),
)
def test_clusters_and_items_of_a_table(tmp_path, units, write):
    rows = [{"cluster": who, "item": item, "truth": truth, "prediction": truth} for who, item, truth in units]
    name, text = write
    path = written(tmp_path, text([{"cluster": "zz", "item": "q", "truth": 0, "prediction": 0}, *rows]), name)
    items = read_table(path, instrument=None)
    found = {
        (items.cluster_ids[cluster], items.item_names[item], truth)
        for cluster, item, truth in zip(items.cluster, items.item, items.truth.tolist(), strict=True)
    }
    assert found == {*units, ("zz", "q", 0)}


def test_a_point_is_an_id_and_a_decimal_number_is_not(tmp_path):
    head = "cluster,item,truth,prediction\n"
    points = written(tmp_path, f"{head}.,q,0,0\n-.,q,0,0\n1.b,q,0,0\n", "t.csv")
    assert read_table(points, instrument=None).cluster_ids == ("-.", ".", "1.b")
    whole = written(tmp_path, f"{head}2.0,q,0,0\n2,r,0,0\n-3.,q,0,0\n", "t.csv")
    assert read_table(whole, instrument=None).cluster_ids == (-3, 2)
    for decimal in ("2.5", "02.0", ".5"):
        with pytest.raises(UserError, match="cluster id .*, expected an integer or text"):
            read_table(written(tmp_path, f"{head}{decimal},q,0,0\n", "t.csv"), instrument=None)


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
