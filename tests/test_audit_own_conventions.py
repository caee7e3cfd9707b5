"""The plain loops behind the audit of `demur retrieval`: conventions in draws, bounds without errors, what is shown."""

import csv
import io
import json
import math
from fractions import Fraction as F

import numpy as np
import pytest

from audits import by_key, changed, differing, printed
from commands import demur
from demur.audit.own_detection import Detection
from demur.audit.own_estimates import Number, difference, estimated
from demur.audit.own_queries import Facts
from demur.audit.own_retrieval import audited_own_retrieval
from demur.audit.own_selection import Bounds, shown_by
from demur.audit.plain_draws import Draws
from demur.audit.reported.reading import queries_to_audit
from demur.rankings import Query
from demur.simulate_queries import simulated_queries
from runs import written

BOUNDS = Bounds(2, 10, F("0.5"))


def drawn(weights):
    """Detection in one draw of three posts: the first has both classes, the others one query each, of one class."""
    asked = [(0, "A", True, 0.9), (0, "A", False, 0.2), (1, "A", True, 0.1), (2, "B", False, 0.6)]
    queries = [Query(post, criterion, ["g"] if gold else [], ["g"], prob=prob) for post, criterion, gold, prob in asked]
    found = Detection(Facts.of(queries)).drawn(np.array([weights], np.float64))
    return {path: float(values[0]) for path, values in found.items()}


def test_a_draw_of_one_class_has_the_conventional_values():
    only_gold = drawn([0, 3, 0])
    assert [only_gold["micro", name] for name in ("auroc", "auprc", "tpr@fpr=0.05")] == [F(1, 2), 1, 0]
    no_gold = drawn([0, 0, 3])
    assert [no_gold["micro", name] for name in ("auroc", "auprc", "tpr@fpr=0.05")] == [F(1, 2), 0, 0]


def test_the_mean_over_criteria_takes_the_conventional_values_and_leaves_out_criteria_without_a_query():
    both = drawn([2, 0, 1])
    assert both["per_criterion", "A", "auroc"] == 1
    assert both["macro", "auroc"] == F(3, 4)
    assert both["macro", "auprc"] == F(1, 2)
    one = drawn([1, 2, 0])
    assert math.isnan(one["per_criterion", "B", "auroc"])
    assert one["macro", "auroc"] == one["per_criterion", "A", "auroc"] == 1 / 3


def test_a_threshold_that_no_score_reaches_shows_nothing_and_others_at_least_the_fewest():
    scores = [0.9, 0.5, 0.4, 0.3]
    shown = {policy: shown_by(policy, scores, BOUNDS) for policy in ("threshold:0.95", "threshold:0.9", "fixed:1")}
    assert shown == {"threshold:0.95": 0, "threshold:0.9": 2, "fixed:1": 2}


def test_the_most_that_may_be_shown_is_the_floor_of_the_decimal_ratio():
    assert Bounds(1, 100, F("0.29")).of(100) == (1, 29)  # 100 × 0.29 in doubles is 28.999…


@pytest.mark.parametrize(("width", "ends"), [(1e-13, [None, None]), (1e-9, [0.5, 0.5 + 1e-9])])
def test_replicates_that_are_the_same_but_for_rounding_leave_no_interval(width, ends):
    values = np.array([0.5, 0.5 + width] * 50)
    members = estimated(Number(0.5, values, values), 12, Draws(100, 100, repeated=True))
    assert [members["ci95", end].value for end in ("0", "1")] == ends


def test_a_difference_from_itself_is_a_tie_in_every_draw_and_has_no_interval():
    number = Number(0.5, np.array([0.25, 0.75, 0.5]), np.array([0.0, 1.0]))
    members = difference(number.minus(number), 12, Draws(3, 3, repeated=True))
    assert (members["share_above",].value, members["ci95",].value, members["std_error",].value) == (0.5, None, 0)


def rewritten(text, change):
    """A table with every row changed."""
    rows = [change(row) for row in csv.DictReader(io.StringIO(text))]
    out = io.StringIO()
    table = csv.DictWriter(out, [*rows[0]], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def evaluated(folder, change, *arguments):
    """The artifact of a changed simulated table, and the queries."""
    written(folder, rewritten(simulated_queries(5, seed=2), change), "q.csv")
    flags = ("--k", 10, "--seed", 5, "--bootstrap-resamples", 30, "--quiet", "--output", "r.json")
    found = demur(folder, "retrieval", "--data", "q.csv", *arguments, *flags)
    assert (found.returncode, found.stderr) == (0, "")
    return json.loads((folder / "r.json").read_text(encoding="utf-8")), queries_to_audit(folder / "q.csv")


def always_gold(row):
    return row | {"gold_ids": row["gold_ids"] or "elsewhere"}


def never_gold(row):
    return row | {"gold_ids": ""}


def gates_of_their_own(row):
    said = row.pop("prob")
    return row | {"reranked_prob": said, "retriever_prob": str(1 - float(said))}


def nothing_ranked(row):
    return row | {name: "" for name in row if name.endswith(("_topk", "_scores", "_selected_ids"))}


@pytest.mark.parametrize("change", [always_gold, never_gold, gates_of_their_own, nothing_ranked])
def test_an_artifact_of_one_class_of_two_gates_or_of_no_answer_agrees(tmp_path, change):
    content, queries = evaluated(tmp_path, change, "--policy", "threshold:0.7")
    assert {one.status for one in audited_own_retrieval(queries, printed(content))} == {"match"}
    assert ("gate" in content["deltas"]["reranked"]) == (change is gates_of_their_own)


def test_bounds_in_place_of_the_intervals_of_an_error_free_gate_are_checked(tmp_path):
    content, queries = evaluated(tmp_path, always_gold)
    rare = 1 - 0.05 ** (1 / 5)
    bounds = content["systems"]["reranked"]["gate"]["upper_bound95"]
    assert bounds == pytest.approx({"aurc": rare * (1 - math.log(rare)), "augrc": rare}, rel=1e-12)
    place = "systems/reranked/gate/upper_bound95"
    content = changed(changed(content, f"{place}/aurc", 0.5), f"{place}/augrc", lambda bound: bound * 1.001)
    found = audited_own_retrieval(queries, printed(content))
    assert differing(found) == [f"{place.replace('/', '.')}.{name}" for name in ("aurc", "augrc")]


def test_a_policy_of_a_system_without_scores_is_not_recognised(tmp_path):
    content, queries = evaluated(tmp_path, lambda row: row, "--policy", "gap")
    systems = content["systems"]
    assert "gap" not in systems["retriever"]["policies"]
    content = changed(content, "systems/retriever/policies", systems["reranked"]["policies"])
    one = by_key(audited_own_retrieval(queries, printed(content)))["systems.retriever.policies.gap.average_k.value"]
    assert (one.status, one.cause) == ("not recognised", "it needs a column scores, and the data have none")
