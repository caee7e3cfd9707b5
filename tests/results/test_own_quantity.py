"""A quantity of one's own: one registration, and it is measured, estimated, compared, written and read back."""

import json

import jsonschema
import numpy as np
import pytest

from demur import QUANTITIES, Key, Minus, Plan, compare, estimate, grade, measure, quantity, read_run
from demur.facts.alignment import aligned
from demur.quantities import registry
from demur.quantities.areas import cmax
from demur.quantities.excess import aurc_random
from demur.quantities.operating import aurc_at, risk_at
from demur.quantities.registry import COVERAGE, CUT
from demur.results import json_table, json_v1
from demur.results.load import results_of
from golden_runs import RUN, evaluated_anew
from parametrized import parametrize_few

MODES = ("zero_shot", "few_shot")
NAMES = ("answered_right", "half_aurc@0.5", "double_risk@0.2")


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """One quantity of each kind, in a copy of the registry: a plain one, one that is cut, one at a coverage."""
    monkeypatch.setattr(registry, "QUANTITIES", dict(QUANTITIES))

    @quantity("answered_right", of="curve", better="higher", title="answered right")
    def answered_right(s):
        """Share of all units that are answered and right, if losses are 0 or 1."""
        return cmax(s) - aurc_random(s)

    @quantity("half_aurc@C", of="curve", key="half_aurc_at_c", parameter=CUT, defaults=("0.5",), title="half AURC")
    def half_aurc_at(s, coverage):
        """Half the area up to a coverage."""
        return aurc_at(s, coverage) / 2

    @quantity("double_risk@C", of="curve", parameter=COVERAGE, key="double_risk", undefined="not reached")
    def double_risk_at(s, coverage):
        """Twice the risk at a coverage."""
        return 2 * risk_at(s, coverage)


def graded(mode):
    return grade(read_run(RUN, mode=mode), loss="zero_one", confidence="llm")


def test_it_is_measured():
    found = measure("llm", data=read_run(RUN, mode="zero_shot"), loss="zero_one", metrics=[*NAMES, "cmax", "risk"])
    assert found["answered_right"] == pytest.approx(found["cmax"] * (1 - found["risk"]))
    assert "answered_right" in measure("llm", data=read_run(RUN, mode="zero_shot"), loss="zero_one")


def test_it_is_estimated_from_the_same_draws():
    found = estimate(graded("zero_shot"), [*NAMES, "aurc@0.5", "risk@0.2"], plan=Plan(40, seed=1))
    assert np.array_equal(found["half_aurc@0.5"].evidence.values, found["aurc@0.5"].evidence.values / 2)
    assert np.array_equal(
        found["double_risk@0.2"].evidence.values, 2 * found["risk@0.2"].evidence.values, equal_nan=True
    )
    assert found["answered_right"].recommended.low < found["answered_right"].value
    everything = estimate(graded("zero_shot"), plan=Plan(10, seed=1))
    assert {"answered_right", "half_aurc@0.5"} <= {row.key.quantity for row in everything}


def test_it_is_compared_in_common_too():
    systems = aligned({mode: read_run(RUN, mode=mode) for mode in MODES}).systems
    halved = {mode: grade(items, loss="zero_one", confidence="llm") for mode, items in systems.items()}
    found = compare(halved, plan=Plan(40, seed=1))
    halves, areas = (
        found[Key("few_shot", f"{name}@C_common", minus=Minus("system", "zero_shot"))] for name in ("half_aurc", "aurc")
    )
    assert halves.evidence.values == pytest.approx(areas.evidence.values / 2, abs=1e-15)
    assert halves.value == pytest.approx(areas.value / 2)


@parametrize_few("systems", [1, 2, 3], 1)
@pytest.mark.slow
def test_it_is_in_the_file_in_its_schema_and_comes_back(systems):
    names = ("a", "b", "c")[:systems]
    found = evaluated_anew(
        *(*MODES, "zero_shot")[:systems], names=names, loss="zero_one", confidence="llm", coverages=("0.2", "0.9")
    )
    content = json.loads(found.text)
    schema = json_v1.schema() if systems < 3 else json_table.schema()
    jsonschema.Draft202012Validator(schema).validate(content)
    again = results_of(content)
    assert again.text == found.text
    cut = "0.5" if systems == 1 else "C_common"
    for name in names:
        for quantity_name in ("answered_right", f"half_aurc@{cut}", "double_risk@0.2"):
            key = Key(name, quantity_name, "llm")
            assert again[key].value == found[key].value
            assert again[key].percentile == found[key].percentile is not None
        assert np.isnan(again[Key(name, "double_risk@0.9", "llm")].value) == np.isnan(
            again[Key(name, "risk@0.9", "llm")].value
        )
    if systems > 1:
        minus = Minus("system", "a")
        assert again[Key("b", "answered_right", "llm", minus=minus)].value == pytest.approx(
            found[Key("b", "answered_right", "llm")].value - found[Key("a", "answered_right", "llm")].value
        )


@pytest.mark.slow
def test_it_is_a_member_of_the_nested_file_beside_the_others():
    content = evaluated_anew(*MODES, loss="zero_one", confidence="llm").to_json()
    left = content["confidence_variants"]["llm"]["left"]
    assert left["half_aurc_at_c"]["value"] == pytest.approx(left["aurc_at_c"]["value"] / 2)
    assert {*left["double_risk"]} == {*left["mae_at_coverage"]}
    for members in (left["bootstrap"]["ci95"], content["comparison"]["deltas"]["llm"]):
        assert {"answered_right", "half_aurc_at_c", "double_risk"} <= members.keys()
    properties = json_v1.schema()["$defs"]["RunNumbers"]["properties"]
    assert {"answered_right", "half_aurc_at_c", "double_risk"} <= properties.keys()


@pytest.mark.slow
def test_nobody_else_has_it(monkeypatch):
    """A file with a quantity that is not registered here is refused, not misread."""
    content = evaluated_anew("zero_shot", loss="zero_one", confidence="llm").to_json()
    monkeypatch.setattr(registry, "QUANTITIES", QUANTITIES)
    assert "answered_right" not in json_v1.schema()["$defs"]["RunNumbers"]["properties"]
    with pytest.raises(ValueError, match="only mae_at_coverage holds a number for each coverage"):
        results_of(content)
