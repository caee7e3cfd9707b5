"""`demur audit` of rankings in TREC files."""

import json

import pytest

from commands import demur
from parametrized import parametrize_few
from runs import written


def audited(folder, *arguments):
    found = demur(folder, "audit", *arguments, "--json")
    assert found.stderr == ""
    return json.loads(found.stdout)["counts"]


QRELS = "p1/A 0 d1 1\np1/A 0 d2 0\np1/B 0 d3 2\np2/A 0 d1 1\np2/B 0 d9 1\n"
RUN = "p1/A Q0 d1 1 3 tag\np1/A Q0 d5 2 2 tag\np1/B Q0 d4 1 1 tag\np1/B Q0 d3 2 .5 tag\np2/A Q0 d1 1 3 tag\n"


class TestTrecFiles:
    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("trec")
        for name, text in {
            "qrels.txt": QRELS,
            "a.run": RUN,
            "b.run": RUN.replace("d4", "d9").replace("d5", "d2"),
        }.items():
            written(folder, text, name)
        return folder

    @pytest.mark.parametrize("split", [(), ("--split-topics", "/")])
    def test_typed_figures_are_held_against_them(self, made, split):
        content = {"tag": {"recall@1": 0.5, "mrr@10": 0.625, "queries_total": 4, "ndcg@10": 0.3}}
        written(made, content, "typed.json")
        found = demur(made, "audit", "--qrels", "qrels.txt", "--run", "a.run", "--reported", "typed.json", *split)
        assert (found.returncode, found.stderr) == (3, "")
        assert [line.split()[0] for line in found.stdout.splitlines()[1:5]] == ["match"] * 3 + ["differs"]

    @parametrize_few("split", [(), ("--split-topics", "/")], 1)
    @pytest.mark.slow
    def test_own_results_are_recomputed_from_them_or_from_the_recorded_ones(self, made, split):
        trec = ("--qrels", "qrels.txt", "--run", "bm25=a.run", "--run", "dense=b.run", *split)
        settings = ("--k", "1", "--seed", "1", "--bootstrap-resamples", "9", "--quiet", "--output", "own.json")
        assert demur(made, "retrieval", *trec, *settings).returncode == 0
        for given in (trec, split):
            counts = audited(made, *given, "--reported", "own.json")
            assert (counts["differs"], counts["not_recognised"]) == (0, 0)
            assert counts["match"] > 300
        if split:
            refused = demur(made, "audit", "--reported", "own.json")
            message = "the file has the criteria A, B: give --split-topics as well"
            assert (refused.returncode, refused.stderr) == (2, f"demur: {message}\n")

    @pytest.mark.parametrize(
        "arguments",
        [
            "--qrels qrels.txt",
            "--qrels qrels.txt --run a.run --data q.csv",
            "--data q.csv --split-topics /",
            "--qrels qrels.txt --run a.run --system a=b",
            "--qrels none.txt --run a.run",
        ],
    )
    def test_a_wrong_call_is_one_line(self, made, arguments, message):
        written(made, {"recall@1": 0.5}, "typed.json")
        done = demur(made, "audit", *arguments.split(), "--reported", "typed.json")
        assert (done.returncode, done.stdout) == (2, "")
        message(done.stderr)
