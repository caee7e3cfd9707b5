"""The nested file of one run or two: valid by the schema that is shipped, read back as it was, or refused."""

import json
from functools import cache
from importlib.resources import files

import jsonschema
import pytest
from make_golden import GOLDEN as MADE

from demur import Plan, Settings, UserError, evaluate, load, read_table
from demur.extensions.lab.runs import simulated_run
from demur.results.load import results_of
from golden_runs import GOLDEN, RUN, evaluated
from parametrized import parametrize_few


@cache
def validator(name):
    """Of a schema that is shipped: that it is a schema, and current, has a test of its own."""
    text = files("demur").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


@parametrize_few("modes", [("zero_shot",), ("zero_shot", "few_shot")], 1)
@pytest.mark.slow
def test_it_validates_and_reads_back(tmp_path, modes):
    found = evaluated(*modes, confidence="all", level=0.9)
    path = found.save(tmp_path / "m.json")
    validator("metrics").validate(json.loads(path.read_text(encoding="utf-8")))
    assert load(path).text == path.read_text(encoding="utf-8") == found.text


def test_the_run_schema_allows_what_we_read():
    validator("run").validate(json.loads(RUN.read_text(encoding="utf-8")))
    validator("run").validate(simulated_run(3, seed=1, failures=1))
    wrong = simulated_run(1, seed=1)
    wrong["experiments"][0]["results"]["results"][0]["predicted_items"]["Sleep"] = 7
    with pytest.raises(jsonschema.ValidationError):
        validator("run").validate(wrong)


@parametrize_few("name", MADE, 2)
def test_a_golden_file_is_valid_and_the_same_when_written_again(name):
    content = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    validator("metrics" if content["schema_version"] == "1" else "results").validate(content)
    assert load(GOLDEN / f"{name}.json").to_json() == content


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("population.participants_total", 9),
        ("population.items_total", 9999),
        (
            "confidence_variants.llm.by_item",
            {"Sleep": {"n": 23, "answered": 11, "coverage": 11 / 23, "risk": 0.5, "bias": 0.0}},
        ),
        ("population.items_predicted", 99),
        ("population.items_predicted", 12),
        ("population.cmax", 1),
        ("population.cmax", {"left": 11 / 24, "right": 11 / 24}),
        ("confidence_variants.llm.cmax", 0.5),
        ("confidence_variants.llm.curve.coverage", [0.3, 0.2, 11 / 24]),
        ("confidence_variants.llm.curve.threshold", [1, 2, 3]),
        ("confidence_variants.llm.curve.threshold", [2, 1]),
        ("confidence_variants.llm.bootstrap.ci95.cmax", [0.9, 0.1]),
        ("confidence_variants.llm.defined", False),
        ("comparison.enabled", True),
        ("schema_version", "3"),
        ("inputs", []),
    ],
)
def test_what_does_not_hold_together_is_refused(path, value, message):
    content = evaluated("zero_shot").to_json()
    *parents, last = path.split(".")
    members = content
    for name in parents:
        members = members[name]
    members[last] = value
    with pytest.raises(UserError) as raised:
        results_of(content)
    message(raised.value)
    assert "\n" not in str(raised.value)


def test_members_nobody_knows_are_ignored_on_reading():
    results = evaluated("zero_shot")
    content = results.to_json() | {"note": "from another tool"}
    content["population"]["countries"] = 3
    content["confidence_variants"]["llm"]["curve"]["colour"] = "blue"
    assert results_of(content).text == results.text


def test_a_missing_interval_has_its_reason_in_the_file():
    """Every answer is right but one, and that one is the least confident: the order cannot be better."""
    clusters = [f"p{index:02}" for index in range(40)]
    table = {"cluster": clusters, "loss": [0] * 39 + [1], "sure": list(range(40, 0, -1))}
    results = evaluate(read_table(table), settings=Settings(confidence="sure"), plan=Plan(200, seed=1))
    reasons = json.loads(results.text)["confidence_variants"]["sure"]["bootstrap"]["no_interval"]
    assert reasons["eaugrc"].startswith("perfect_order")
    assert reasons["mae_at_coverage"]["0.30"] == "no answer in its range has a loss"
    assert "aurc_full" not in reasons
    again = results_of(json.loads(results.text))
    assert again.one(quantity="eaugrc").no_interval == reasons["eaugrc"]
