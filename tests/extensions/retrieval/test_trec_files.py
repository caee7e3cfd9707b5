"""TREC files: trec_eval's order, abstentions that count, and mistakes in one line."""

import ctypes
import gzip
import random

import ir_measures
import numpy as np
import pytest
import pytrec_eval_ext
from ir_measures import AP, P, R, nDCG

from demur import Measure, UserError, read_trec
from demur.extensions.retrieval.quantities.ranking import per_query

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\nq3 0 d9 0\n"
RUN = "q1 Q0 d1 1 0.5 bm25\nq1 Q0 d2 2 0.7 bm25\nq1 Q0 d3 3 0.7 bm25\nq3 Q0 d1 1 3 bm25\n"
NIST = ctypes.CDLL(pytrec_eval_ext.__file__)


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / "qrels", tmp_path / "run"

    return write


def test_scores_decide_the_order_and_the_greater_id_breaks_ties(files):
    qrels, run = files(qrels=QRELS, run=RUN)
    found = read_trec(qrels, [run])
    assert [*found] == ["bm25"]
    facts = found["bm25"]
    assert facts.post_ids == ("q1", "q2", "q3")
    assert facts.gold_count.tolist() == [2, 1, 0]
    assert facts.hit_rank.tolist() == [1, 3]  # d3, d2, d1: the ranks in the file are not looked at
    assert facts.scores.tolist() == [np.float32(0.7), np.float32(0.7), 0.5, 3]


def test_a_topic_missing_from_the_run_is_an_abstention_and_one_that_is_not_judged_is_told(files):
    qrels, run = files(qrels=QRELS, run=RUN + "q9 Q0 d1 1 1 bm25\n")
    facts = read_trec(qrels, {"mine": run})["mine"]
    assert facts.candidates.tolist() == [3, 0, 1]
    assert facts.unjudged == 1


def test_scores_that_are_equal_as_32_bit_numbers_are_ties(files):
    qrels, run = files(qrels="q 0 a 1\n", run="q Q0 a 1 1.00000001 t\nq Q0 b 2 1.0 t\n")
    assert read_trec(qrels, [run])["t"].hit_rank.tolist() == [2]


def test_topics_can_hold_a_post_and_a_criterion(files):
    qrels, run = files(qrels="p/1/A 0 d 1\np/1/B 0 d 0\n", run="p/1/A Q0 d 1 1 t\n")
    facts = read_trec(qrels, [run], split_topics="/")["t"]
    assert (facts.post_ids, facts.criteria) == (("p/1",), ("A", "B"))


def test_gzipped_files_are_unpacked(tmp_path):
    (tmp_path / "qrels.gz").write_bytes(gzip.compress(QRELS.encode()))
    (tmp_path / "run.gz").write_bytes(gzip.compress(RUN.encode()))
    assert read_trec(tmp_path / "qrels.gz", [tmp_path / "run.gz"])["bm25"].hit_rank.tolist() == [1, 3]


def as_nist_reads(kind, path):
    """What trec_eval's own C code makes of a file: the numbers of documents by topic, or None if it is malformed."""

    class Entry(ctypes.Structure):
        _fields_ = (("docno", ctypes.c_char_p), ("number", ctypes.c_long if kind == "qrels" else ctypes.c_float))

    class Entries(ctypes.Structure):
        _fields_ = (("count", ctypes.c_long), ("room", ctypes.c_long), ("of", ctypes.POINTER(Entry)))

    class Topic(ctypes.Structure):
        names = ("qid", "format") if kind == "qrels" else ("qid", "tag", "format")
        _fields_ = (*((name, ctypes.c_char_p) for name in names), ("entries", ctypes.POINTER(Entries)))

    class Topics(ctypes.Structure):
        _fields_ = (("count", ctypes.c_long), ("room", ctypes.c_long), ("of", ctypes.POINTER(Topic)))

    found = Topics()
    read = {"qrels": NIST.te_get_qrels, "run": NIST.te_get_trec_results}[kind]
    if read(ctypes.create_string_buffer(4096), str(path).encode(), ctypes.byref(found)) != 1:
        return None
    return {
        topic.qid.decode(): {
            entry.docno.decode(): entry.number for entry in topic.entries.contents.of[: topic.entries.contents.count]
        }
        for topic in found.of[: found.count]
    }


QRELS_LINES = ["q1 0 d1 1", "q1 0 d2 0 \t", "  q2 0 d1 2\r", "#q3 0 d1 1", "q4\x0b0 d1 1", "q5\xa0x 0 d1 1", "# q 6 1"]
RUN_LINES = [
    "q1 Q0 d1 1 0.5 t",
    "q1 Q0 d2 1 0.7 t and words after it",
    "q1 Q0 d3 1 0.6 t # a remark",
    "#q3 Q0 d1 1 0.5 t",
    "",
    "  \t\r",
    "q2\tQ0\x0cd1 1 3 #",
]


@pytest.mark.parametrize("lines", [QRELS_LINES, RUN_LINES], ids=["qrels", "run"])
def test_lines_are_read_as_nists_own_code_reads_them(files, lines):
    kind = "qrels" if lines is QRELS_LINES else "run"
    for count in range(1, len(lines) + 1):
        for text in ("\n".join(lines[:count]), "\n".join(reversed(lines[:count])) + "\n"):
            paths = files(**{"qrels": QRELS, "run": RUN} | {kind: text})
            theirs = as_nist_reads(kind, paths[kind == "run"])
            facts = read_trec(paths[0], {"mine": paths[1]})["mine"]
            judged = theirs if kind == "qrels" else as_nist_reads("qrels", paths[0])
            scored = as_nist_reads("run", paths[1])
            assert facts.post_ids == tuple(sorted(judged))
            gold = [sum(number > 0 for number in judged[post].values()) for post in facts.post_ids]
            assert facts.gold_count.tolist() == gold
            assert facts.candidates.tolist() == [len(scored.get(post, {})) for post in facts.post_ids]
            assert facts.scores.tolist() == [
                score for post in facts.post_ids for score in sorted(scored.get(post, {}).values(), reverse=True)
            ]
            assert facts.unjudged == len(scored.keys() - judged.keys())


@pytest.mark.parametrize("comment", ["#", "# bm25", "# made by bm25 with k1 and b as usual", "  #remark", "#q 0 d x"])
def test_a_comment_is_passed_over_in_qrels_and_in_runs(files, comment):
    qrels, run = files(qrels=QRELS, run=RUN)
    plain = read_trec(qrels, [run])["bm25"]
    qrels, run = files(qrels=f"{comment}\n{QRELS}\n{comment}\n", run=f"{comment}\n\n{RUN}{comment}")
    facts = read_trec(qrels, [run])["bm25"]
    assert (facts.post_ids, facts.unjudged) == (plain.post_ids, 0)
    assert (facts.hit_rank.tolist(), facts.scores.tolist()) == (plain.hit_rank.tolist(), plain.scores.tolist())


def test_words_after_the_tag_are_ignored_and_the_last_line_has_the_tag(files):
    qrels, run = files(qrels=QRELS, run=RUN.replace("bm25", "first and more") + "q3 Q0 d2 2 2 last and more\n")
    assert [*read_trec(qrels, [run])] == ["last"]


def test_every_query_agrees_with_trec_eval_ties_included(files):
    rng = random.Random(2)
    documents = [f"d{number}" for number in range(25)]
    judged = [(f"q{topic}", one, rng.randint(0, 1)) for topic in range(60) for one in documents if rng.random() < 0.6]
    scored = [
        (f"q{topic}", one, rng.randint(0, 6) / 3) for topic in range(60) for one in documents if rng.random() < 0.7
    ]
    qrels, run = files(
        qrels="".join(f"{topic} 0 {one} {relevant}\n" for topic, one, relevant in judged),
        run="".join(f"{topic} Q0 {one} 0 {score!r} t\n" for topic, one, score in scored),
    )
    measures = {"recall@5": R @ 5, "precision@5": P @ 5, "map_trec@10": AP @ 10, "ndcg@10": nDCG @ 10}
    facts = read_trec(qrels, [run])["t"]
    per_measure = per_query(facts, [Measure.of(name) for name in measures])
    ours = {str(measure): values for measure, values in per_measure.items()}
    theirs = ir_measures.iter_calc(
        [*measures.values()], [*ir_measures.read_trec_qrels(str(qrels))], [*ir_measures.read_trec_run(str(run))]
    )
    found = {(str(metric.measure), metric.query_id): metric.value for metric in theirs}
    for name, measure in measures.items():
        for place, post in enumerate(facts.post_ids):
            assert ours[name][place] == pytest.approx(found[str(measure), post], abs=1e-12)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("", RUN),
        (QRELS, ""),
        ("q1 0 d1 1 x\n", RUN),
        ("# no row\n\n", RUN),
        ("#q1 0 d1 1\n#q1 0 d1 1\n", RUN),
        ("q1 0 d1\n", RUN),
        ("q1 0 d1 x\n", RUN),
        (QRELS + "q1 0 d1 1\n", RUN),
        (QRELS, RUN + "q1 Q0 d1 9 0.1 bm25\n"),
        (QRELS, "q1 Q0 d1 1 nan t\n"),
        (QRELS, "q1 Q0 d1 1 1e39 t\n"),
        ("q1 0 d1 1_0\n", RUN),
        (QRELS, "q1 Q0 d1 1 1\n"),
    ],
)
def test_a_bad_file_is_one_line(files, qrels, run, message):
    with pytest.raises(UserError) as caught:
        read_trec(*[[one] if place else one for place, one in enumerate(files(qrels=qrels, run=run))])
    message(caught.value)


def test_two_runs_of_one_name_and_topics_that_do_not_split_are_refused(files):
    qrels, run = files(qrels=QRELS, run=RUN)
    with pytest.raises(UserError, match="another run is called bm25 too; name the runs"):
        read_trec(qrels, [run, run])
    assert [*read_trec(qrels, [("one", run), ("two", run)])] == ["one", "two"]
    with pytest.raises(UserError, match="topic q1: expected a post and a criterion with '/' between them"):
        read_trec(qrels, [run], split_topics="/")
    with pytest.raises(UserError, match="split_topics '', expected the text between"):
        read_trec(qrels, [run], split_topics="")
