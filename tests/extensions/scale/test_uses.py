"""What summaries serve: many systems, groups, decisions and bins, as the data themselves do."""

import json

import numpy as np
import pytest

import demur as library
from commands import demur
from demur import Coverage, Curve, Graded
from demur.extensions.scale.bins import binned, exponent_for
from demur.quantities.bin_bounds import area_bounds
from demur.quantities.operating import augrc_at, aurc_at
from parametrized import parametrize_few
from sharded import same_in_both, shards, table, units

HOW = ("--column", "cluster=user", "--confidence", "sure", "--loss-max", "1")
DRAWN = ("--seed", "7", "--bootstrap-resamples", "60", "--created-at", "2026-01-31T12:00:00Z", "--quiet")


def outcome_of(folder, *words):
    outcome = demur(folder, *words)
    assert outcome.returncode == 0, outcome.stderr
    return outcome


@pytest.fixture(scope="module")
def systems(tmp_path_factory):
    folder = tmp_path_factory.mktemp("systems")
    for number, name in enumerate("ABC"):
        rows = units(rows=400, system=number)
        table(folder / f"{name}.csv", rows)
        shards(folder / name, rows, 2 + number, seed=number)
        outcome_of(folder, "summarize", name, *HOW, "--group", "sex=sex", "-o", f"{name}.sum")
    return folder


@parametrize_few("names", ["AB", "ABC"], 1)
@pytest.mark.slow
def test_systems_are_compared_as_their_tables_are(systems, names):
    more = ("--group", "sex", "--stratify", "sex", *DRAWN)
    tables = [f"{name}={name}.csv" for name in names]
    outcome_of(systems, "evaluate", *tables, *HOW, *("--group", "sex=sex", *more[2:]), "--output", "tables.json")
    outcome_of(systems, "evaluate", *(f"{name}={name}.sum" for name in names), *more, "--output", "sums.json")
    expected, got = ((systems / name).read_text() for name in ("tables.json", "sums.json"))
    rows = [_without_items(json.loads(same_in_both(text))) for text in (expected, got)]
    assert rows[0] == rows[1]


def _without_items(content):
    """The table of many systems has rows of items, the study cases: single units both."""
    if "estimates" in content:
        columns = content["estimates"]
        kept = [n for n, group in enumerate(columns["group"]) if not (group and group[0] == "item")]
        content["estimates"] = {name: [column[n] for n in kept] for name, column in columns.items()}
    for study in (content, content.get("study", {})):
        study.pop("confident_errors", None)
        for system in study.get("systems", []):
            system.pop("needless_abstentions", None) if isinstance(system, dict) else None
    return content


def test_where_two_systems_saw_another_truth_is_told(systems, tmp_path):
    rows = units(rows=400, system=1)
    rows[5]["item"] = "other"
    table(tmp_path / "other.csv", rows)
    outcome_of(tmp_path, "summarize", "other.csv", *HOW, "-o", "other.sum")
    outcome = demur(systems, "evaluate", "A=A.sum", f"B={tmp_path / 'other.sum'}", *DRAWN)
    assert outcome.returncode == 2
    place = f"cluster {rows[5]['user']}: other units, or another ground truth, in A than in B"
    assert outcome.stderr == f"demur: {place}\n"


@pytest.mark.slow
def test_that_lower_is_surer_is_said_once_when_a_summary_is_made(systems):
    turned = (*HOW, "--lower-is-surer", "sure")
    outcome_of(systems, "summarize", "A", *turned, "-o", "turned.sum")
    outcome_of(systems, "evaluate", "A=A.csv", *turned, *DRAWN, "--output", "table.json")
    outcome_of(systems, "evaluate", "A=turned.sum", *DRAWN, "--output", "sum.json")
    table, summary = (same_in_both((systems / name).read_text()) for name in ("table.json", "sum.json"))
    assert table == summary
    rule = ("--risk", "0.4", "--seed", "7", "--json")
    chosen = [outcome_of(systems, "choose", *words, *rule).stdout for words in (("A.csv", *turned), ("turned.sum",))]
    assert len({json.loads(text)["threshold"] for text in chosen}) == 1


def test_a_summary_is_not_paired_with_a_table(systems):
    outcome = demur(systems, "evaluate", "A=A.sum", "B=B", *HOW[:-2], *DRAWN)
    assert outcome.returncode == 2
    outcome = demur(systems, "evaluate", "A=A.sum", "B=B.csv", "--confidence", "sure", "--seed", "1")
    assert outcome.returncode == 2
    assert "A is a summary, B is not: not paired; summarize both" in outcome.stderr


@parametrize_few(
    "target",
    [
        ("--risk", "0.3"),
        ("--coverage", "0.5"),
        ("--errors-per-100", "20"),
        ("--abstention-cost", "0.3"),
        ("--risk", "0.6", "--certify", "guarded_t", "--grid", "0.9,0.5", "--max-units", "40"),
        ("--risk", "0.6", "--certify", "guarded_t", "--grid", "0.9,0.5", "--max-units", "40", "--split"),
    ],
    2,
)
def test_a_threshold_is_chosen_and_certified_as_from_the_table(systems, target):
    made = [
        outcome_of(systems, "choose", *data, *target, "--seed", "7", "--created-at", "2026-01-31T12:00:00Z", "--json")
        for data in (("A.csv", *HOW), ("A.sum",))
    ]
    assert same_in_both(made[0].stdout) == same_in_both(made[1].stdout)


def bounded(seed):
    """An exact curve, the one in bins, and the bounds: of ties or none, right and wrong or real losses."""
    rng = np.random.default_rng(seed)
    units_of, answered = 200, int(rng.integers(20, 200))
    confidence = rng.random(answered) if seed % 3 else np.round(rng.random(answered), 2)
    loss = (rng.random(answered) > confidence).astype(int) if seed % 2 else rng.integers(0, 4, answered)
    exponent = exponent_for(np.unique(confidence), int(rng.integers(2, 20)))
    in_bins = Graded(units_of, loss, binned(confidence, exponent))
    curve = Curve.of(in_bins)
    return Curve.of(Graded(units_of, loss, confidence)), curve, area_bounds(in_bins, curve)


@pytest.mark.parametrize("number", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_the_bounds_hold_on_random_data_sets(number):
    tightest = []
    for seed in range(number):
        exact, curve, bounds = bounded(seed)
        for coverage in map(Coverage.of, ("1", "0.25", "0.5")):
            off = [abs(area(exact, coverage) - area(curve, coverage)) for area in (aurc_at, augrc_at)]
            assert off[0] <= bounds.aurc
            assert off[1] <= bounds.augrc
        tightest.append(off[1] / bounds.augrc)
    assert max(tightest) > 0.2  # bounds that hold because they are huge would say nothing


def test_bins_and_their_bounds_are_in_the_file(tmp_path):
    rng = np.random.default_rng(3)
    sure = rng.random(300)
    rows = [{"user": i % 30, "loss": int(rng.random() > s), "sure": repr(float(s))} for i, s in enumerate(sure)]
    table(tmp_path / "all.csv", rows)
    shards(tmp_path / "parts", rows, 3)
    more = ("--column", "cluster=user", "--bins", "64")
    for parts, output in ((["all.csv"], "all.sum"), (["parts"], "run.sum")):
        outcome_of(tmp_path, "summarize", *parts, *more, "-o", output)
    outcome_of(tmp_path, "evaluate", "A=run.sum", *DRAWN, "--output", "sums.json")
    outcome_of(tmp_path, "evaluate", "A=all.sum", *DRAWN, "--output", "one.json")
    assert same_in_both((tmp_path / "sums.json").read_text()) == same_in_both((tmp_path / "one.json").read_text())
    run = json.loads((tmp_path / "sums.json").read_text())["confidence_variants"]["sure"]
    assert (run["bins"]["number"], run["bins"]["width"]) == (len(np.unique(np.floor(sure * 64))), 1 / 64)
    exact = library.evaluate(tmp_path / "all.csv", columns={"cluster": "user"}, confidence="sure", resamples=0)
    for name, bound in run["bins"]["bounds"].items():
        assert 0 < abs(exact[name].value - run[f"{name}_full"]) <= bound < 0.05
    assert library.load(tmp_path / "sums.json").curves["A", "sure"].bins.width == 1 / 64
    outcome = demur(tmp_path, "evaluate", "A=run.sum", "--lower-is-surer", "sure", *DRAWN)
    assert (outcome.returncode, "is in bins for the other direction" in outcome.stderr) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("fields",),
        ("calibrate", "--method", "isotonic", "--output", "c.json", "--input"),
        ("audit", "--reported", "figures.json", "--data"),
    ],
)
def test_other_commands_refuse_a_summary_by_name(systems, words, message):
    outcome = demur(systems, *words, "A.sum")
    assert (outcome.returncode, outcome.stderr.count("\n")) == (2, 1)
    message(outcome.stderr)


def test_what_summaries_do_not_hold_is_not_shown_as_if_there_were_none(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.csv").write_text("cluster,loss,sure\na,0,4\na,1,3\nb,0,2\nb,1,1\n")
    outcome_of(tmp_path, "evaluate", "A=parts", "--bootstrap-resamples", "0", "--report", "r.html", "--quiet")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "made of summaries, which hold no single answers" in page
    assert "Summaries do not tell items apart." in page
    assert 'id="items"' not in page
    assert "Confident errors" not in page
