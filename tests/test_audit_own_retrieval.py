"""An artifact of `demur retrieval` and the data it was made from: all of it agrees, and every change is found."""

import csv
import io
import json
import random

import pytest

from audits import by_key, changed, differing, printed
from commands import demur
from demur.audit import own_retrieval, plain_draws
from demur.audit.own_retrieval import audited_own_retrieval
from demur.audit.reported.reading import queries_to_audit
from demur.errors import UserError
from demur.simulate_queries import simulated_queries
from runs import written

POLICIES = ("fixed:3", "threshold:0.7", "gap", "elbow")
ASKED = (
    "--k",
    "2,10",
    "--effective-k",
    "--threshold",
    "0.5",
    *(word for one in POLICIES for word in ("--policy", one)),
)
RECORDED, FEWER = 200, 180
NOT_FIGURES = (
    "schema_version",
    "kind",
    "created_at",
    "tool",
    "inputs",
    "settings",
    "bootstrap",
    "convention",
    "warnings",
)


def uneven(text):
    """Simulated queries made awkward: short and empty lists, broken bounds, a criterion with gold never, one always."""
    rng, kept = random.Random(1), ("A1", "A2", "A8", "A9")
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["criterion_id"] in kept]
    for row in rows:
        if row["criterion_id"] in ("A8", "A9"):
            row["gold_ids"] = row["reranked_topk"].split("|")[1] if row["criterion_id"] == "A8" else ""
        row["retriever_scores"] = "|".join(f"{-rank / 2}" for rank in range(10))
        for system in ("retriever", "reranked"):
            length = rng.choice([0, 1, 3, 7, 10, 10])
            for column in (f"{system}_topk", f"{system}_scores"):
                row[column] = "|".join(row[column].split("|")[:length])
            shown = row[f"{system}_topk"].split("|")[: rng.choice([0, 1, 2, 9])]
            row[f"{system}_selected_ids"] = "|".join(shown)
        row["reranked_prob"], row["retriever_prob"] = row.pop("prob"), f"{rng.random():.2f}"
        row["post_id"] = str(7 * int(row["post_id"]) % 1009)
    out = io.StringIO()
    table = csv.DictWriter(out, [*rows[0]], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def evaluated(folder, text, *arguments, resamples=RECORDED):
    """The artifact of `demur retrieval`."""
    written(folder, text, "q.csv")
    flags = ("--seed", 5, "--bootstrap-resamples", resamples, "--quiet", "--output", "r.json")
    found = demur(folder, "retrieval", "--data", "q.csv", *arguments, *flags)
    assert (found.returncode, found.stderr) == (0, "")
    return json.loads((folder / "r.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="module")
def artifact(folder):
    return evaluated(folder, uneven(simulated_queries(12, seed=1)), *ASKED)


@pytest.fixture(scope="module")
def queries(folder, artifact):
    assert artifact["inputs"][0]["path"] == "q.csv"
    return queries_to_audit(folder / "q.csv")


def audited(queries, content, resamples=RECORDED):
    return audited_own_retrieval(queries, printed(content), resamples=resamples)


def statuses(findings):
    return {one.status for one in findings}


def figures(content, place=()):
    """The keys of everything in an artifact that is a number or a switch; a column of a curve is one."""
    if (place[:1] and place[0] in NOT_FIGURES) or place[-1:] in (("post",), ("k",)):
        return
    if isinstance(content, dict):
        for name, value in content.items():
            yield from figures(value, (*place, name))
    elif isinstance(content, list) and place[-2:-1] == ("curve",):
        yield ".".join(place)
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from figures(value, (*place, str(number)))
    elif isinstance(content, (bool, int, float)):
        yield ".".join(place)


def nudged(content, place=()):
    """Every figure a little larger, every switch turned."""
    if (place[:1] and place[0] in NOT_FIGURES) or place[-1:] == ("post",):
        return content
    if isinstance(content, dict):
        return {name: nudged(value, (*place, name)) for name, value in content.items()}
    if isinstance(content, list):
        return [nudged(value, (*place, str(number))) for number, value in enumerate(content)]
    if isinstance(content, bool):
        return not content
    if isinstance(content, (int, float)):
        return content + 1 if isinstance(content, int) else content * 1.0001 + 1e-7
    return content


def test_every_figure_of_our_own_artifact_is_recognised_and_agrees(artifact, queries):
    found = audited(queries, artifact)
    assert statuses(found) == {"match"}
    assert {*figures(artifact)} <= by_key(found).keys()
    assert len(by_key(found)) == len(found) > 3000


def test_every_figure_that_is_a_little_larger_is_found(artifact, queries):
    found = by_key(audited(queries, nudged(artifact)))
    unnoticed = {key for key in figures(artifact) if found[key].status != "differs"}
    ties_of_fractions = {key for key, one in found.items() if key.endswith("share_above") and one.band is not None}
    assert unnoticed <= ties_of_fractions  # rounding may break such a tie either way
    assert len([key for key in figures(artifact) if key.endswith("share_above")]) > 2 * len(unnoticed)


CHANGES = {
    "systems/reranked/positives_only/micro/recall@10/value": 0.5,
    "systems/reranked/all_queries/macro/ndcg@10/ci95/0": lambda low: low - 0.001,
    "systems/reranked/all_queries/micro/hit@2/ci95_recommended/high": lambda high: high + 0.001,
    "systems/retriever/positives_only/per_criterion/A1/metrics/mrr@10/std_error": lambda error: error * 1.01,
    "systems/retriever/positives_only/per_criterion/A9/metrics/mrr@10/drop_rate": 0.5,
    "systems/retriever/positives_only/per_criterion/A9/metrics/mrr@10/value": 0.5,
    "systems/reranked/candidates/p25": lambda count: count + 0.5,
    "systems/reranked/queries_abstained": lambda count: count + 1,
    "systems/reranked/empty_decision/f1/value": lambda value: value + 0.01,
    "systems/reranked/detection/macro/auprc/ci95/1": lambda high: high + 0.001,
    "systems/reranked/detection/threshold_at_fpr/0.05/threshold": 0.5,
    "systems/reranked/detection/single_class": True,
    "systems/reranked/gate/metrics/augrc/ci95_recommended/low": lambda low: low - 0.001,
    "systems/reranked/gate/defined": False,
    "systems/reranked/gate/upper_bound95": {"aurc": 0.5},
    "systems/reranked/gate/curve/selective_risk/7": lambda risk: risk + 0.001,
    "systems/reranked/dynamic_k/abstained": 0,
    "systems/reranked/dynamic_k/breaches/3/selected": lambda count: count + 1,
    "systems/reranked/dynamic_k/breaches/3/allowed/1": 11,
    "systems/reranked/policies/elbow/evidence_f1/value": lambda value: value + 0.001,
    "systems/reranked/folds/positives_only/ndcg@10/std": lambda std: std * 1.1,
    "systems/reranked/folds/detection/auroc/values/2": 0.51,
    ("systems", "reranked", "folds", "policies/threshold:0.7", "average_k", "mean"): lambda mean: mean + 0.01,
    ("deltas", "reranked", "positives_only/micro", "map@10", "delta"): lambda delta: -delta,
    ("deltas", "reranked", "positives_only/micro", "map@10", "ci95_recommended", "low"): lambda low: low - 0.001,
    ("deltas", "reranked", "policies/elbow", "evidence_f1", "std_error"): lambda error: error * 1.01,
    "deltas/reranked/gate/aurc/ci95_recommended/high": lambda high: high + 0.001,
    "deltas/reranked/dynamic_k/average_k/share_above": lambda share: share - 0.01,
    "reference_ranges/1/value": 0.9,
    "reference_ranges/1/good/0": 0.91,
    "queries/queries_with_positives": 1,
}
OF_COLUMNS = "systems.reranked.gate.curve.selective_risk"
OF_BOUNDS = "systems.reranked.gate.upper_bound95"


def test_one_changed_number_of_each_kind_is_found_and_only_it(artifact, queries):
    content = artifact
    for key, value in CHANGES.items():
        content = changed(content, key, value)
    keys = {".".join(key.split("/") if isinstance(key, str) else key) for key in CHANGES}
    found = audited(queries, content)
    told = {f"{OF_COLUMNS}.7": OF_COLUMNS, OF_BOUNDS: f"{OF_BOUNDS}.aurc"}
    assert {*differing(found)} == {told.get(key, key) for key in keys}
    assert by_key(found)[OF_COLUMNS].cause == "the first of them at place 7"


def test_a_selection_left_out_or_made_up_is_found(artifact, queries):
    left_out, made_up = (artifact["systems"][name]["dynamic_k"]["breaches"][0] for name in ("retriever", "reranked"))
    content = changed(artifact, "systems/retriever/dynamic_k/breaches", lambda listed: listed[1:])
    content = changed(content, "systems/reranked/dynamic_k/breaches/0/criterion", "A77")
    found = by_key(audited(queries, content))
    assert [found[f"systems.{name}.dynamic_k.breaches"].cause for name in ("retriever", "reranked")] == [
        f"post {left_out['post']}, criterion {left_out['criterion']} is not listed",
        f"post {made_up['post']}, criterion A77 breaks no bound",
    ]


def test_swapped_systems_are_told(artifact, queries):
    systems = artifact["systems"]
    swapped = artifact | {"systems": {"retriever": systems["reranked"], "reranked": systems["retriever"]}}
    found = by_key(audited(queries, swapped))
    for key in ("micro.recall@10.value", "macro.ndcg@10.ci95.1", "per_criterion.A1.metrics.map@2.std_error"):
        one = found[f"systems.reranked.positives_only.{key}"]
        assert (one.status, one.cause) == ("differs", "it is the figure of retriever")
    assert "retriever" in found["systems.reranked.gate.curve.threshold"].cause


def test_a_figure_of_another_place_is_told(artifact, queries):
    system, content = artifact["systems"]["reranked"], artifact
    taken = {
        "positives_only.micro.mrr@10.value": system["all_queries"]["micro"]["mrr@10"]["value"],
        "positives_only.macro.mrr@10.ci95.0": system["positives_only"]["micro"]["mrr@10"]["ci95"][0],
        "detection.micro.auroc.value": system["detection"]["macro"]["auroc"]["value"],
    }
    for key, value in taken.items():
        content = changed(content, f"systems.reranked.{key}".replace(".", "/"), value)
    found = by_key(audited(queries, content))
    assert [found[f"systems.reranked.{key}"].cause for key in taken] == [
        "other population: all queries",
        "micro: pairs pooled, not the mean over criteria",
        "macro: the mean over criteria, not pairs pooled",
    ]


def test_fewer_draws_than_recorded_leave_a_band_and_still_find_what_is_far_off(artifact, queries):
    near, far = (f"systems/reranked/{one}/micro/ndcg@10/std_error" for one in ("positives_only", "all_queries"))
    found = audited(queries, changed(artifact, far, 0.5), resamples=FEWER)
    assert {one.key for one in found if one.status != "match"} == {far.replace("/", ".")}
    low, high = by_key(found)[near.replace("/", ".")].band
    assert low < artifact["systems"]["reranked"]["positives_only"]["micro"]["ndcg@10"]["std_error"] < high


def test_what_lies_outside_a_band_is_decided_by_all_recorded_draws(artifact, queries, monkeypatch):
    monkeypatch.setattr(own_retrieval, "RESAMPLES", FEWER)
    monkeypatch.setattr(plain_draws, "SIGMAS", 0.1)  # bands that hardly anything lies within
    assert "differs" in statuses(audited(queries, artifact, resamples=FEWER))
    assert statuses(audited(queries, artifact, resamples=None)) == {"match"}


def test_without_draws_and_with_many_or_single_posts_everything_agrees(tmp_path):
    for posts, resamples in ((1, 5), (2, 40), (3, 0), (200, 3)):
        content = evaluated(tmp_path, uneven(simulated_queries(posts, seed=posts)), "--k", 5, resamples=resamples)
        assert statuses(audited(queries_to_audit(tmp_path / "q.csv"), content)) == {"match"}


def test_posts_are_drawn_in_numeric_order_from_csv_and_as_texts_from_json_lines(tmp_path):
    header = ("post_id", "criterion_id", "gold_ids", "ranked_ids")
    rows = [(str(post), "A", "g", "|".join(["x", "g"][: 1 + post % 2])) for post in range(12)]
    listed = [{**dict(zip(header, row)), "gold_ids": ["g"], "ranked_ids": row[3].split("|")} for row in rows]
    written(tmp_path, "\n".join(map(",".join, (header, *rows))), "q.csv")
    written(tmp_path, "\n".join(map(json.dumps, listed)), "q.jsonl")
    for name in ("q.csv", "q.jsonl"):
        flags = ("--seed", 1, "--bootstrap-resamples", 50, "--quiet", "--output", "r.json")
        assert demur(tmp_path, "retrieval", "--data", name, *flags).returncode == 0
        found = demur(tmp_path, "audit", "--data", name, "--reported", "r.json", "--only", "differs,not-recognised")
        assert found.returncode == 0
        assert found.stdout.endswith(" match, 0 differs, 0 not recognised\n")
        assert len(found.stdout.splitlines()) == 1


def test_what_the_data_lack_is_listed_with_the_reason(artifact, folder):
    lacking = ("prob", "fold", "selected_ids", "scores")
    rows = [*csv.reader((folder / "q.csv").read_text(encoding="utf-8").splitlines())]
    kept = [place for place, name in enumerate(rows[0]) if not name.endswith(lacking) and "retriever" not in name]
    written(folder, "\n".join(",".join(row[place] for place in kept) for row in rows), "less.csv")
    found = audited(queries_to_audit(folder / "less.csv"), changed(artifact, "settings/gate_threshold", None))
    reasons = {key: one.cause for key, one in by_key(found).items() if one.status == "not recognised"}
    assert {
        key: reasons[f"systems.{key}"]
        for key in (
            "reranked.detection.micro.auroc.value",
            "reranked.gate.curve.coverage",
            "reranked.folds.all_queries.mrr@10.std",
            "reranked.policies.gap.average_k.value",
            "reranked.dynamic_k.breaches",
            "retriever.candidates.p5",
        )
    } == {
        "reranked.detection.micro.auroc.value": "it needs a column prob, and the data have none",
        "reranked.gate.curve.coverage": "it needs a column prob, and the data have none",
        "reranked.folds.all_queries.mrr@10.std": "it needs a column fold, and the data have none",
        "reranked.policies.gap.average_k.value": "it needs a column scores, and the data have none",
        "reranked.dynamic_k.breaches": "the data have no selection of this system",
        "retriever.candidates.p5": "no system of the data is called retriever; say which column it is with "
        "--system NAME=COLUMN",
    }
    assert "systems.reranked.policies.fixed:3.average_k.value" not in reasons


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": None}, "expected settings with k"),
        ({"settings": {"k": [0]}}, "k is missing or no integer of 1 or more"),
        ({"settings": {"k": [1], "k_min": 2, "hard_cap": 10, "k_max_ratio": 0}}, "k_max_ratio is missing"),
        ({"systems": {"bm25": {}}}, "no system of it is in the data (retriever, reranked); say which column one is"),
        ({"systems": []}, "no system of it is in the data"),
    ],
)
def test_an_artifact_that_cannot_be_audited_is_one_line(artifact, queries, change, message):
    with pytest.raises(UserError) as told:
        audited(queries, artifact | change)
    assert message in str(told.value)


def test_figures_nobody_knows_and_texts_in_place_of_figures_are_listed(artifact, queries):
    one = {"value": "0.5", "ci95": [[[0.1]]], "kept": True}
    content = changed(artifact, "systems/reranked/empty_decision/recall", one)
    found = by_key(audited(queries, content))
    place = "systems.reranked.empty_decision.recall"
    assert {found[f"{place}.{key}"].status for key in ("value", "ci95.0.0.0", "kept")} == {"not recognised"}
    assert found[f"{place}.value"].cause == "not a number"


def test_the_command_lists_what_is_asked_for_and_counts_all(folder, artifact):
    written(folder, changed(artifact, "queries/posts", 1), "other.json")
    pair = ("audit", "--data", "q.csv", "--reported", "other.json")
    few = demur(folder, *pair, "--only", "differs")
    header, line, empty, total, *_, ranges = few.stdout.splitlines()
    assert (few.returncode, header.split()[0], empty) == (3, "status", "")
    assert line.split()[:4] == ["differs", "queries.posts", "1", "12"]
    assert " match, 1 differs, 0 not recognised" in total
    assert ranges.startswith("a range is what Monte-Carlo error allows, 4 standard errors of both sets of draws")
    machine = json.loads(demur(folder, *pair, "--only", "differs", "--only", "not-recognised", "--json").stdout)
    assert [one["key"] for one in machine["findings"]] == ["queries.posts"]
    assert machine["counts"]["match"] > 1000
    wrong = demur(folder, *pair, "--only", "wrong")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "no status is called wrong" in wrong.stderr


def test_resamples_must_be_of_use(folder, artifact):
    written(folder, {"reranked": {"recall@10": 0.5}}, "summary.json")
    pair = ("audit", "--data", "q.csv", "--reported")
    useless = demur(folder, *pair, "summary.json", "--resamples", 5)
    assert (useless.returncode, "--resamples says nothing about figures without draws" in useless.stderr) == (2, True)
    none = demur(folder, *pair, "r.json", "--resamples", 0)
    assert (none.returncode, "resamples 0, expected 1 or more" in none.stderr) == (2, True)
    assert artifact["bootstrap"]["n_resamples"] == RECORDED
