"""`demur retrieval` as a user types it: files in, artifact out, and one line for everything that is wrong."""

import json

import pytest

from commands import demur, real_demur
from demur import Key, load
from demur.extensions.retrieval.console import retrieval_text

HEAD = "post_id,criterion_id,gold_ids,retriever_topk,reranked_topk,prob,fold"
ROWS = [
    "1,A,s1|s2,s3|s1|s4,s1|s3|s4,0.9,1",
    "1,B,,s1|s2|s3,s2|s1|s3,0.4,1",
    "2,A,s4,s4|s5|s6,s5|s4|s6,0.8,1",
    "2,B,s9,s1|s9|s2,s9|s1|s2,0.3,1",
    "3,A,,s7|s8|s9,,0.2,2",
    "3,B,s1,s2|s3|s4,s1|s2|s3,0.7,2",
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "q.csv").write_text("\n".join([HEAD, *ROWS]) + "\n", encoding="utf-8")
    return tmp_path


def run(folder, *more):
    return demur(folder, "retrieval", "--data", "q.csv", "--seed", "7", "--bootstrap-resamples", "50", *more)


@pytest.mark.slow
def test_the_report_says_what_the_artifact_holds(folder):
    done = run(
        folder, "--output", "r.json", "--k", "1,10", "--policy", "fixed:2", "--verbose", "--reference", "phq8-evidence"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = load(folder / "r.json")
    assert done.stdout == f"{retrieval_text(found, verbose=True)}\nwrote r.json\n"
    assert found.systems == ("retriever", "reranked")
    assert found.study.settings.k == (1, 10)
    for said in (
        "6 queries of 3 posts and 2 criteria: 4 (66.7%) have evidence to find",
        "Reference ranges: phq8-evidence, from document 002, evidence retrieval",
        "Resampling: 50 bootstrap resamples of posts, seed 7; in brackets the 95 % interval",
        "over 2 folds, mean ± std (ddof 0)",
        "reranked − retriever, on the same queries",
        "fixed:2",
        "warning (few_clusters): posts: 3 posts",
        "warning (abstained): reranked: 1 queries have an empty list: they count, as 0",
    ):
        assert said in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("  nDCG@10 "))
    first = found.one(system="retriever", quantity="ndcg@10", among="with_gold", group=None, minus=None)
    assert f"{first.value:.4g} [" in line
    assert line.endswith("below baseline")


def test_the_short_report_has_what_is_read_first(folder):
    done = run(folder, "--output", "r.json", "--metrics", "nDCG@10 P@5, AP")
    found = load(folder / "r.json")
    assert done.stdout == f"{retrieval_text(found)}\nwrote r.json\n"
    table = done.stdout.partition("\n\n")[2].splitlines()
    assert [line.split()[0] for line in table[1:4]] == ["nDCG@10", "Precision@5", "MAP"]
    assert table[0].split()[-2:] == ["retriever", "reranked"]
    assert "reranked − retriever" in table[5]
    assert "no evidence here, by the list: 2 of 6 queries have nothing to find" in done.stdout
    assert "empty lists: 0 of retriever, 1 of reranked" in done.stdout
    assert "over 2 folds" not in done.stdout
    assert f"\nSignature: {found.study.convention['signature']}\n\n" in done.stdout
    assert len(done.stdout.splitlines()) <= 41


@pytest.mark.slow
def test_graded_judgments_are_told_with_their_level(folder):
    (folder / "qrels").write_text("1 0 d1 3\n1 0 d2 1\n2 0 d1 -1\n3 0 d2 2\n", encoding="utf-8")
    (folder / "run").write_text("1 Q0 d2 1 2 t\n1 Q0 d1 1 2 t\n3 Q0 d2 1 2 t\n4 Q0 d2 1 2 t\n", encoding="utf-8")
    arguments = ("retrieval", "--qrels", "qrels", "--run", "run", "--bootstrap-resamples", "0", "--output", "r.json")
    done = demur(folder, *arguments, "--relevance-level", "2")
    assert done.returncode == 0, done.stderr
    assert "3 queries: 2 (66.7%) have evidence to find\n" in done.stdout
    assert "Graded judgments: 1 (1 ids), 2 (1 ids), 3 (1 ids); grades are the gains of the nDCG, and" in done.stdout
    assert "counts ids of grade 2 or more as relevant\n" in done.stdout
    found = load(folder / "r.json")
    assert found.study.settings.relevance_level == 2
    assert found[Key("t", "mrr@1", among="with_gold")].value == 1 / 2  # of two tied documents the greater id is first
    refused = demur(folder, *arguments, "--relevance-level", "4")
    assert refused.stderr == "demur: relevance level 4, and the highest judgment is 3: give 3 at most\n"


@pytest.mark.slow
def test_two_runs_of_one_command_give_the_same_bytes(folder):
    for name in ("a.json", "b.json"):
        run(folder, "--output", name, "--created-at", "2026-01-31T12:00:00Z")
    one, other = (
        (folder / name).read_text(encoding="utf-8").replace("b.json", "a.json") for name in ("a.json", "b.json")
    )
    assert one == other


@pytest.mark.slow
def test_it_prints_the_artifact_or_nothing_and_names_a_file_of_its_own(folder):
    done = run(folder, "--metrics", "RR", "--json")
    assert json.loads(done.stdout)["task"] == "retrieval"
    assert len([*(folder / "data/outputs").glob("retrieval-*.json")]) == 1
    assert run(folder, "--metrics", "RR", "--quiet", "--output", "r.json").stdout == ""


def test_trec_files(folder):
    (folder / "qrels").write_text("1/A 0 d1 1\n1/B 0 d1 0\n2/A 0 d2 1\n", encoding="utf-8")
    (folder / "run").write_text("1/A Q0 d1 1 2 bm25\n2/A Q0 d1 1 2 bm25\n", encoding="utf-8")
    arguments = ("retrieval", "--qrels", "qrels", "--run", "run", "--run", "other=run", "--split-topics", "/")
    done = demur(folder, *arguments, "--seed", "1", "--bootstrap-resamples", "20", "--output", "r.json")
    assert done.returncode == 0, done.stderr
    found = load(folder / "r.json")
    assert found.systems == ("bm25", "other")
    assert found.study.systems[0].abstained == 1
    assert [source.path for source in found.study.inputs] == ["qrels", "run"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--data", "q.csv", "--seed", "1", "--k", "0"],
        ["--data", "q.csv", "--seed", "1", "--k", ""],
        ["--data", "q.csv", "--seed", "1", "--k", "1,x"],
        ["--data", "q.csv", "--seed", "1", "--column", "gold_ids=nope"],
        ["--data", "q.csv", "--seed", "1", "--column", "gold_ids"],
        ["--data", "q.csv", "--seed", "1", "--system", "x=retreiver_topk"],
        ["--data", "q.csv", "--seed", "1", "--system", "x=q", "--system", "x=r"],
        ["--data", "q.csv", "--seed", "1", "--baseline", "retreiver"],
        ["--data", "q.csv", "--seed", "1", "--policy", "gap"],
        ["--data", "q.csv", "--seed", "1", "--k-min", "0"],
        ["--data", "q.csv", "--seed", "1", "--hard-cap", "4"],
        ["--data", "q.csv", "--seed", "1", "--json", "--quiet"],
        ["--data", "q.csv", "--bootstrap-resamples", "0", "--output", "q.csv"],
        ["--data", "q.csv", "--qrels", "x", "--seed", "1"],
        ["--qrels", "q.csv", "--seed", "1"],
        ["--data", "q.csv", "--seed", "1", "--k", "1000000000"],
        ["--data", "q.csv", "--seed", "1", "--split-topics", ""],
        ["--data", "q.csv", "--seed", "1", "--created-at", "now"],
        [],
        ["--data", "q.csv", "--seed", "1", "--metrics", "P@5", "--k", "5"],
        ["--data", "q.csv", "--seed", "1", "--metrics", "ndgc@5 nDCG@5 P"],
        ["--data", "q.csv", "--seed", "1", "--metrics", " "],
        ["--data", "q.csv", "--seed", "1", "--relevance-level", "0"],
        ["--data", "q.csv", "--seed", "1", "--reference", "phq8"],
        ["--data", "q.csv", "--seed", "1", "--reference", "no.json"],
        ["--data", "absent.csv", "--seed", "1"],
        ["--data", "empty.csv", "--seed", "1"],
    ],
)
def test_a_mistake_is_one_line_exit_code_2_and_nothing_written(folder, arguments, message):
    (folder / "empty.csv").write_text("", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = demur(folder, "retrieval", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    message(done.stderr)
    assert done.stderr.startswith("demur: ")
    assert done.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_hostile_names_are_shown_and_not_obeyed(folder):
    nasty = "\x1b[31mred\x1b[0m"
    text = f"post_id,criterion_id,gold_ids,ranked_ids\n{nasty},{nasty},a,a\n2,B,a,b\n"
    (folder / "q.csv").write_text(text, encoding="utf-8")
    done = run(folder, "--output", "r.json")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


@pytest.mark.slow
def test_the_installed_command_runs(folder):
    done = real_demur(folder, "retrieval", "--data", "q.csv", "--bootstrap-resamples", "0", "--output", "r.json")
    assert done.returncode == 0, done.stderr
    assert "Resampling: nothing was resampled" in done.stdout
    assert load(folder / "r.json").study.bootstrap is None
