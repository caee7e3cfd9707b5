"""`demur audit` of rankings as a user calls it: what is printed, the exit code, and what is refused."""

import hashlib
import json
import random
import re

import pytest

import pipeline
from commands import ROOT, demur
from damage import damaged
from pipeline import as_csv, made_queries, ranking, section
from runs import written

QUERIES = made_queries()
PAIR = ("--data", "per_query.csv", "--reported", "summary.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("audit")
    written(made, as_csv(QUERIES), "per_query.csv")
    written(made, pipeline.summary(QUERIES), "summary.json")
    return made


def audit(folder, content, *arguments):
    written(folder, content, "other.json")
    return demur(folder, "audit", "--data", "per_query.csv", "--reported", "other.json", *arguments)


def test_an_untampered_pair_is_listed_and_exits_0(folder):
    found = demur(folder, "audit", *PAIR)
    header, *lines, empty, last = found.stdout.splitlines()
    assert (found.returncode, found.stderr, empty) == (0, "", "")
    assert header.split() == ["status", "figure", "reported", "recomputed", "cause"]
    assert {line.split()[0] for line in lines} == {"match"}
    assert last == f"{len(lines)} figures: {len(lines)} match, 0 differs, 0 not recognised"
    keys = {line.split()[1] for line in lines}
    assert {"retriever.positives_only.recall@1", "reranked.skip_no_positives", "detection.tpr@fpr=0.05"} <= keys


def test_a_figure_that_differs_is_shown_with_both_values_and_the_exit_code_is_3(folder):
    found = audit(folder, '{"reranked": {"recall@1": 0.999, "queries_total": 1, "hours": 5}}')
    recomputed = f"{ranking(QUERIES, 'reranked')['recall@1']:.12g}"
    first, second, third = (line.split() for line in found.stdout.splitlines()[1:4])
    assert found.returncode == 3
    assert first[:4] == ["differs", "reranked.recall@1", "0.999", recomputed]
    assert second[:4] == ["differs", "reranked.queries_total", "1", str(len(QUERIES))]
    assert third[:5] == ["not", "recognised", "reranked.hours", "5", "–"]
    assert found.stdout.endswith(
        "\n3 figures: 0 match, 2 differs, 1 not recognised\n\ndiffers  cause\n      2  no known cause\n"
    )


@pytest.mark.slow
def test_causes_are_counted_and_figures_that_all_differ_for_none_point_to_other_data(folder):
    right = ranking(QUERIES, "reranked")
    names = ("recall@1", "recall@5", "ndcg@5", "mrr@5")
    percent = audit(folder, {"reranked": {name: 100 * right[name] for name in names} | {"hit@1": 0.12345}})
    assert percent.stdout.endswith(
        "\n\ndiffers  cause\n      4  would equal it, given in percent (× 100)\n      1  no known cause\n"
    )
    made_up = {"reranked": {name: 0.12345 + place / 1000 for place, name in enumerate(names)} | {"hours": 1}}
    hint = "most figures differ, and no cause would explain two of them: they point to other data"
    assert audit(folder, made_up).stdout.endswith(f"\n      4  no known cause\n\n{hint}\n")
    assert json.loads(audit(folder, made_up, "--json").stdout)["hint"] == hint


def test_a_cause_is_a_possibility_with_the_number_of_figures_it_would_explain(folder):
    """Two digits agree with much: a figure is not told what it is."""
    right = ranking(QUERIES, "reranked")
    pairs = (("recall@1", "recall@5"), ("recall@5", "hit@5"), ("ndcg@5", "mrr@5"), ("map@5", "precision@5"))
    found = audit(folder, {"reranked": {name: round(right[other], 2) for name, other in pairs}})
    rows = [line for line in found.stdout.splitlines() if line.startswith("differs  reranked")]
    assert (len(rows), found.returncode) == (4, 3)
    assert all(re.search(r"  would equal .* \(would explain 1 of 4 that differ\)$", row) for row in rows), rows
    percent = {name: round(100 * right[name], 2) for name in ("recall@1", "mrr@5", "ndcg@5")}
    content = json.loads(audit(folder, {"reranked": {**percent, "map@5": 0.987}}, "--json").stdout)
    explained = {each["key"]: (each["cause"], each["explains"]) for each in content["findings"]}
    assert explained.pop("reranked.map@5") == ("no known cause", None)
    assert {*explained.values()} == {("would equal it, given in percent (× 100)", 3)}


def test_what_is_not_recognised_is_listed_and_no_reason_to_fail(folder):
    found = audit(folder, {"reranked": {"hours": 5}})
    assert found.returncode == 0
    assert "no known figure is called hours" in found.stdout


def test_columns_line_up(folder):
    lines = demur(folder, "audit", *PAIR).stdout.splitlines()[:-2]
    start = lines[0].index("figure")
    assert all(line[start - 1] == " " and line[start] != " " for line in lines)


@pytest.mark.slow
def test_a_system_can_be_named(folder):
    content = {"reranker": ranking(QUERIES, "reranked"), "retriever": ranking(QUERIES, "retriever")}
    unnamed = audit(folder, content)
    assert unnamed.returncode == 0
    assert "say which column it is with --system reranker=COLUMN" in unnamed.stdout
    named = audit(folder, content, "--system", "reranker=reranked_topk")
    assert named.stdout.endswith(" 0 differs, 0 not recognised\n")
    crossed = audit(folder, content, "--system", "reranker=retriever_topk", "--system", "retriever=reranked_topk")
    assert crossed.returncode == 3
    assert "would equal the figure of retriever" in crossed.stdout


def test_a_selection_that_two_systems_would_share_is_of_the_one_that_is_named(tmp_path):
    written(tmp_path, as_csv(QUERIES).replace("reranked_selected_ids", "selected_ids"), "per_query.csv")
    content = {"reranked": {"avg_k": pipeline.dynamic_k(QUERIES)["avg_k"]}}
    assert audit(tmp_path, content).returncode == 2
    found = audit(tmp_path, content, "--system", "reranked=reranked_topk")
    assert found.stdout.endswith("1 figure: 1 match, 0 differs, 0 not recognised\n")


def test_columns_of_another_name_are_mapped(tmp_path):
    text = as_csv(QUERIES).replace("post_id", "doc").replace("gold_ids", "truth")
    written(tmp_path, text, "per_query.csv")
    content = {"reranked": section(QUERIES, "reranked", skip=True)}
    found = audit(tmp_path, content, "--column", "post_id=doc", "--column", "gold_ids=truth")
    assert (found.returncode, found.stderr) == (0, "")


def test_json_holds_every_finding_and_the_hashes_of_both_files(folder):
    found = demur(folder, "audit", *PAIR, "--json")
    content = json.loads(found.stdout)
    data, reported = (
        {"path": name, "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()} for name in PAIR[1::2]
    )
    assert (content["data"], content["reported"]) == ([data], reported)
    assert content["counts"] == {"match": len(content["findings"]), "differs": 0, "not_recognised": 0}
    assert content["findings"][0] == {
        "key": "retriever.positives_only.recall@1",
        "path": ["retriever", "positives_only", "recall@1"],
        "status": "match",
        "reported": repr(pipeline.summary(QUERIES)["retriever"]["positives_only"]["recall@1"]),
        "recomputed": content["findings"][0]["recomputed"],
        "band": None,
        "cause": None,
        "explains": None,
    }
    flag = next(one for one in content["findings"] if one["key"] == "reranked.skip_no_positives")
    assert (flag["reported"], flag["recomputed"]) == ("true", True)
    assert (content["causes"], content["hint"]) == ({}, None)
    wrong = audit(folder, {"reranked": {"recall@1": 2}}, "--json")
    assert (wrong.returncode, json.loads(wrong.stdout)["causes"]) == (3, {"no known cause": 1})


@pytest.mark.parametrize(
    "name", ["\x1b[31mred", "a\nmatch  retriever.recall@1  1  1", "\u202e", "[bold]x[/bold]", "\r\x07"]
)
def test_hostile_names_are_shown_harmlessly(folder, name):
    right = ranking(QUERIES, "retriever")["recall@1"]
    content = {"retriever": {"recall@1": right, name: 1, "per_criterion": {name: {"hit@1": 1}}}, name: {"hit@1": name}}
    found = audit(folder, content)
    assert found.returncode == 0
    assert all(character.isprintable() or character == "\n" for character in found.stdout)
    assert len(found.stdout.splitlines()) == 1 + 4 + 2
    assert found.stdout.endswith("4 figures: 1 match, 0 differs, 3 not recognised\n")


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"a": 1, "a": 2}',
        '{"reranked": {"recall@1": NaN}}',
        '{"reranked": {"recall@1": 1e999}}',
        "{}",
        "[0.5]",
        '{"bm25": {"recall@1": 0.5}}',
    ],
)
def test_a_reported_file_that_cannot_be_audited_is_one_line_and_exit_code_2(folder, content, message):
    found = audit(folder, content)
    assert (found.returncode, found.stdout) == (2, "")
    message(found.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        "--data per_query.csv --reported nope.json",
        "--data per_query.csv --reported per_query.csv",
        "--data per_query.csv --reported summary.json --system x",
        "--data per_query.csv --reported summary.json --column =x",
        "--data per_query.csv --reported summary.json --system a=b --system a=c",
        "--data per_query.csv --reported summary.json --data per_query.csv",
        "--data run.json --reported summary.json --system a=b",
        "--data per_query.csv --reported summary.json --resamples 100",
        "--data per_query.csv --reported summary.json --instrument PHQ-9",
        "--data run.json --reported summary.json --rater R=r.csv",
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(folder, arguments, message):
    found = demur(folder, "audit", *arguments.split())
    assert (found.returncode, found.stdout) == (2, "")
    message(found.stderr)


def test_the_page_shows_what_the_command_prints(tmp_path):
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    data, reported, command, printed = re.search(
        r"```csv\n(.*?)```.*?```json\n(.*?)```.*?```console\n\$ demur (.*?)\n```.*?```text\n(.*?)```", page, re.DOTALL
    ).groups()
    written(tmp_path, data, "per_query.csv")
    written(tmp_path, reported, "summary.json")
    found = demur(tmp_path, *command.split())
    assert (found.returncode, found.stdout) == (3, printed)


@pytest.mark.slow
def test_a_damaged_report_is_a_clean_error_or_a_list(folder):
    rng, content, codes = random.Random(5), pipeline.summary(QUERIES), set()
    for _ in range(25):
        data = damaged(rng, content)
        found = audit(folder, data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        codes.add(found.returncode)
        assert (found.stdout == "") == (found.returncode == 2)
        assert found.stderr.count("\n") == (found.returncode == 2)
    assert codes == {0, 2, 3}
