"""Logs of Inspect: every container gives the same units, and each way a log can disappoint is one line."""

import json
import math
import zipfile

import pytest

from importing import imported, kinds, read_back, refused
from inspect_logs import (
    archive,
    compress,
    header,
    json_log,
    members_of,
    needs_zstd,
    samples,
    scored,
    zstd_archive,
)
from parametrized import parametrize_few

CONTAINERS = {
    "json": json_log,
    "deflated": lambda: archive(members_of()),
    "stored": lambda: archive(members_of(), zipfile.ZIP_STORED),
    "chunked": lambda: archive(members_of(chunked=True)),
    "mixed": lambda: archive(members_of(samples()[:9])[:-3] + members_of(samples()[9:], chunked=True)[1:]),
    "zstd": lambda: zstd_archive(members_of(), compress),
    "zstd, chunked": lambda: zstd_archive(members_of(chunked=True), compress),
}
marks = [pytest.param(name, marks=needs_zstd if "zstd" in name else ()) for name in CONTAINERS]


@parametrize_few("container", marks, 3)
def test_every_container_gives_the_same_counts_and_units(log, container):
    exact = ("--scorer", "exact", "--cluster", "metadata.document")
    expected = imported(log(json_log()), "inspect", "log.eval", *exact)
    found, units, printed = imported(log(CONTAINERS[container]()), "inspect", "log.eval", *exact)
    assert kinds(found) == (20, 3, 1)
    assert [unit["loss"] for unit in units].count(1) == 11
    assert found["counts"]["by_rule"] == {"value=N": 3, "unscored": 0, "null": 0}
    assert found["counts"]["by_cause"] == {"error": 1}
    assert found["counts"]["clusters"] == 6
    assert units == expected[1]
    assert printed == expected[2]
    found["source"]["sha256"] = expected[0]["source"]["sha256"]
    assert found == expected[0]


def test_a_unit_says_all_that_is_known_of_it(log):
    found, units, _ = imported(
        log(json_log()), "inspect", "log.eval", "--scorer", "exact", "--group", "language=metadata.language"
    )
    assert units[1] == {
        "cluster": "doc0-q1",
        "item": "doc0-q1",
        "repeat": 1,
        "loss": 1,
        "status": "ok",
        "groups": {"language": "en"},
        "signals": {
            "confidence": 0.83,
            "token_msp": pytest.approx(0.83),
            "token_pe": pytest.approx(
                -(a := 0.83 / (c := 0.83 + 0.153)) * math.log(a) - (b := 0.153 / c) * math.log(b)
            ),
            "token_energy": pytest.approx(math.log(0.983)),
        },
    }
    assert units[-1] | {"groups": {}} == {
        "cluster": "doc5-q1",
        "item": "doc5-q1",
        "repeat": 2,
        "loss": None,
        "status": "failed",
        "groups": {},
        "signals": {},
        "cause": "error",
    }
    assert found["source"] == {
        "format": "inspect",
        "tool_version": "0.3.285",
        "sha256": found["source"]["sha256"],
        "task": "capitals",
        "model": "mockllm/model",
        "run_id": "RCRcc",
        "created": "2026-11-16T06:06:55+00:00",
        "cost": {
            "input_tokens": 230, "output_tokens": 92, "total_tokens": 322, "error_retries": 0, "total_time": 11.75
        },
    }  # fmt: skip


def test_no_text_of_an_answer_is_kept_unless_it_is_asked_for(log):
    folder = log(json_log())
    _, units, _ = imported(folder, "inspect", "log.eval", "--scorer", "exact")
    assert "know" not in json.dumps(units)
    _, units, _ = imported(folder, "inspect", "log.eval", "--scorer", "exact", "--include-text")
    assert (units[0]["answer"], units[1]["answer"]) == ("I don't know", "Rome")


def test_importing_twice_gives_the_same_bytes(log):
    folder = log(archive(members_of()))
    written = []
    for _ in range(2):
        imported(folder, "inspect", "log.eval", "--scorer", "graded")
        written.append((folder / "units.jsonl").read_bytes())
    assert written[0] == written[1]


def test_a_graded_score_is_a_graded_loss_and_nan_abstains_with_its_reason(log):
    found, units, _ = imported(log(json_log()), "inspect", "log.eval", "--scorer", "graded")
    assert kinds(found) == (20, 3, 1)
    assert found["counts"]["by_rule"]["unscored"] == 3
    assert units[0]["abstain_reason"] == "declined"
    assert next(unit["loss"] for unit in units if (unit["item"], unit["repeat"]) == ("doc2-q0", 2)) == 0.75


def test_a_null_among_several_values_abstains(log):
    found, _, _ = imported(log(json_log()), "inspect", "log.eval", "--scorer", "both", "--value-key", "polite")
    assert (kinds(found), found["counts"]["by_rule"]["null"]) == ((20, 3, 1), 3)
    assert found["mapping"]["loss"] == "1 - scores.both.value.polite"


@pytest.mark.parametrize(
    ("value", "options", "loss"),
    [
        ("P", (), 0.5),
        (0.9, (), 0.1),
        (True, (), 0),
        (False, (), 1),
        ("Yes", (), 0),
        ("false", (), 1),
        ("0.25", (), 0.75),
        (7, ("--score-range", "0:10"), 0.3),
        (-1, ("--score-range", "-1:1"), 1),
    ],
)
def test_a_score_becomes_a_loss(log, value, options, loss):
    _, units, _ = imported(log(json_log([scored(value)])), "inspect", "log.eval", *options)
    assert units[0]["loss"] == loss


def test_rules_of_abstention_are_counted_one_by_one_and_the_first_that_applies_counts(log):
    rules = ("--abstain", "answer~=I don.*", "--abstain", "field:metadata.topic=america")
    found, _, printed = imported(log(json_log()), "inspect", "log.eval", "--scorer", "exact", *rules)
    by_rule = {"value=N": 3, "unscored": 0, "null": 0, "answer~=I don.*": 0, "field:metadata.topic=america": 10}
    assert found["counts"]["by_rule"] == by_rule
    counts = "value=N 3, unscored 0, null 0, answer~=I don.* 0, field:metadata.topic=america 10"
    assert f"abstained by: {counts}\n" in printed


@pytest.mark.parametrize(
    ("rules", "by_rule"),
    [
        (["value=N"], {"value=N": 3}),
        (["value=N", "value=I"], {"value=N": 3, "value=I": 11}),
        (["answer~=I don.*", "value=P"], {"answer~=I don.*": 3, "value=P": 0}),
        (["unscored", "value=N"], {"value=N": 3, "unscored": 0}),
    ],
)
def test_a_rule_about_the_score_replaces_those_of_the_format(log, rules, by_rule):
    given = [word for rule in rules for word in ("--abstain", rule)]
    found, _, _ = imported(log(json_log()), "inspect", "log.eval", "--scorer", "exact", *given)
    assert found["counts"]["by_rule"] == found["counts"]["by_rule"] | by_rule
    assert {*found["counts"]["by_rule"]} == {*rules} == {*found["mapping"]["abstain"]}


@pytest.mark.parametrize(
    ("value", "several"),
    [
        (math.nan, False),
        (None, False),
        (math.nan, True),
        (None, True),
        ({"correct": math.nan}, True),
        ({"correct": None}, True),
    ],
)
def test_a_score_that_says_nothing_abstains_by_default_and_fails_where_the_default_is_off(log, value, several):
    key = ("--value-key", "correct") if several else ()
    folder = log(json_log([scored(value), scored("C" if not key else {"correct": 1}) | {"epoch": 2}]))
    assert kinds(imported(folder, "inspect", "log.eval", *key)[0]) == (1, 1, 0)
    found, units, _ = imported(folder, "inspect", "log.eval", *key, "--abstain", "value=N")
    assert (kinds(found), found["counts"]["by_cause"]) == ((1, 0, 1), {"unscored": 1})
    assert (units[0]["status"], units[0]["loss"]) == ("failed", None)


def test_no_abstention_is_told(log):
    _, _, printed = imported(log(json_log([scored("C"), scored("I") | {"epoch": 2}])), "inspect", "log.eval")
    assert "no unit abstained under these rules\n" in printed


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"error": {"message": "x"}}, "error"),
        ({"invalidation": {"reason": "x"}}, "invalidation"),
        ({"limit": {"type": "token"}, "scores": {}}, "limit"),
        ({"scores": {}}, "no score"),
        ({"scores": None}, "no score"),
    ],
)
def test_a_sample_that_failed_is_a_failed_unit(log, changes, cause):
    found, units, _ = imported(
        log(json_log([scored("C") | changes, scored("I") | {"epoch": 2}])), "inspect", "log.eval"
    )
    assert found["counts"]["by_cause"] == {cause: 1}
    assert (units[0]["status"], units[0]["loss"]) == ("failed", None)


def test_a_score_after_a_limit_counts(log):
    found, _, _ = imported(log(json_log([scored("C") | {"limit": {"type": "token"}}])), "inspect", "log.eval")
    assert kinds(found) == (1, 0, 0)


def test_a_signal_is_found_by_its_path(log):
    found, units, _ = imported(
        log(json_log([scored("C") | {"store": {"a.b": {"sure": 3}}}])),
        *("inspect", "log.eval", "--confidence", "store.a.b.sure", "--confidence", "asked=epoch"),
    )
    assert (units[0]["signals"]["sure"], units[0]["signals"]["asked"]) == (3, 1)
    assert found["mapping"]["signals"]["sure"] == "store.a.b.sure"


def codes(found):
    return [warning["code"] for warning in found["warnings"]]


def test_each_question_its_own_cluster_is_a_warning(log):
    found, _, printed = imported(log(json_log()), "inspect", "log.eval", "--scorer", "exact")
    assert codes(found) == ["independent_rows"]
    assert "warning: cluster: each question is its own cluster (12 for 24 units): give --cluster" in printed
    found, _, printed = imported(
        log(json_log([scored("C")], eval=header()["eval"] | {"dataset": {}})), "inspect", "log.eval"
    )
    message = "cluster: 1 of 1 units are their own cluster: give --cluster to group questions of one document"
    assert found["warnings"] == [{"code": "independent_rows", "message": message}]


def test_a_run_that_was_killed_is_read_with_a_warning(log):
    members = [(name, content) for name, content in members_of(samples()[:5]) if name != "header.json"]
    found, units, _ = imported(
        log(archive(members)), "inspect", "log.eval", "--scorer", "exact", "--cluster", "metadata.document"
    )
    assert len(units) == 5
    assert codes(found) == ["incomplete_log", "samples_differ"]
    assert "the header announces 24 samples, the log holds 5" in found["warnings"][1]["message"]


def test_another_version_of_the_log_is_tried_with_a_warning(log):
    found, _, _ = imported(
        log(json_log(version=3)), "inspect", "log.eval", "--scorer", "exact", "--cluster", "metadata.document"
    )
    assert codes(found) == ["unknown_log_version"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_a_member_that_appears_twice_the_last_counts(log):
    first, second = (("samples/doc0-q0_epoch_1.json", scored(value)) for value in "IC")
    start, *_, end = members_of([])
    _, units, _ = imported(log(archive([start, first, second, end])), "inspect", "log.eval")
    assert [unit["loss"] for unit in units] == [0]


AWKWARD = ["a/b", "../../up", "two\nlines", "C:\\x", "é", "samples/x_epoch_1/sample.json", "loss", "1"]


@pytest.mark.parametrize("chunked", [False, True])
def test_ids_are_data_and_never_paths(log, chunked):
    folder = log(archive(members_of([scored("C") | {"id": item} for item in AWKWARD], chunked=chunked)))
    before = {path.name for path in folder.parent.iterdir()}
    _, units, _ = imported(folder, "inspect", "log.eval")
    assert [unit["item"] for unit in units] == AWKWARD
    assert read_back(folder, "token_msp")["items_total"] == len(AWKWARD)
    assert {path.name for path in folder.iterdir()} == {"log.eval", "units.jsonl", "results.json"}
    assert {path.name for path in folder.parent.iterdir()} == before


def test_a_number_is_the_text_of_it(log):
    _, units, _ = imported(log(json_log([scored("C") | {"id": 7}])), "inspect", "log.eval", "--cluster", "id")
    assert (units[0]["item"], units[0]["cluster"]) == ("7", "7")


def test_parts_of_one_run_are_imported_together(log):
    folder = log(json_log(samples()[:12]))
    (folder / "rest.json").write_bytes(json_log(samples()[12:]))
    found, units, _ = imported(folder, "inspect", "log.eval", "rest.json", "--scorer", "exact")
    assert (kinds(found), len(units)) == ((20, 3, 1), 24)
    other = header()["eval"] | {"model": "another"}
    (folder / "rest.json").write_bytes(json_log(samples()[12:], eval=other))
    assert refused(folder, "inspect", "log.eval", "rest.json", "--scorer", "exact") == (
        "rest.json: model 'another', and 'mockllm/model' in a log before it: import each alone"
    )
