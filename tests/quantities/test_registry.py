"""Whatever is registered says all there is to know about itself, once; names print as they parse."""

import inspect
import re
from fractions import Fraction

import pytest

import demur
from demur import QUANTITIES, Measure, UserError, quantity
from demur.features.costs.quantities import HeldOut
from demur.inference.rules import RULES
from demur.quantities import default_measures, quantities, registry
from parametrized import parametrize_few

SECTIONS = ("Formula", "Ties", "Abstentions", "Undefined", "Reference")
FAMILIES = ("curve", "costs", "held_out", "units", "groups", "forecasts")
ALL = [*QUANTITIES.values()]


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_quantity_says_all_there_is_to_know(entry):
    text = inspect.getdoc(entry.function)
    title, meaning = text.split("\n\n")[:2]
    parts = {name: re.search(rf"^{name}: (.+)", text, re.MULTILINE) for name in SECTIONS}
    assert title.endswith(".")
    assert meaning
    assert all(parts.values()), [name for name, part in parts.items() if part is None]
    assert ">>> " in text
    assert bool(entry.undefined) == (not parts["Undefined"].group(1).startswith("never"))


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_what_a_quantity_declares_exists(entry):
    assert entry.of in registry.FAMILIES
    assert set(entry.intervals) <= RULES.keys()
    assert entry.better in ("lower", "higher", "neither")
    assert entry.comparable in ("", "cmax", "range", "coverage", "risk")
    assert (entry.parameter is not None) == ("@" in entry.name)
    if entry.parameter is not None:
        assert entry.name == f"{entry.stem}@{entry.parameter.symbol}"


def test_names_and_artifact_keys_are_unique_and_stable():
    """The names others cite: change one here only with a line under Numbers in the CHANGELOG."""
    assert {entry.name: entry.key for entry in quantities("curve")} == {
        "cmax": "cmax",
        "risk": "mae",
        "aurc": "aurc_full",
        "augrc": "augrc_full",
        "aurc@C": "aurc_at_c",
        "augrc@C": "augrc_at_c",
        "risk@C": "mae_at_coverage",
        "coverage@risk=R": "coverage_at_risk",
        "coverage@threshold=T": "coverage_at_threshold",
        "risk@threshold=T": "risk_at_threshold",
        "matched_risk@C": "matched_risk",
        "naurc": "naurc",
        "naugrc": "naugrc",
        "aurc_optimal": "aurc_optimal",
        "augrc_optimal": "augrc_optimal",
        "eaurc": "eaurc",
        "eaugrc": "eaugrc",
        "aurc_achievable": "aurc_achievable",
        "aurc_gap_pct": "aurc_gap_pct",
        "augrc_gap_pct": "augrc_gap_pct",
        "achievable_gain_pct": "achievable_gain_pct",
        "aurc_random": "aurc_random",
        "augrc_random": "augrc_random",
        "aurc_harmonic": "aurc_harmonic",
        "aurc_sele": "aurc_sele",
    }


@pytest.mark.uses("groups", "costs")
def test_the_names_of_the_other_families_are_stable():
    core = {entry.name for entry in ALL if ".extensions." not in entry.function.__module__}
    others = [family for family in FAMILIES if family != "curve"]
    assert {family: [e.name for e in quantities(family) if e.name in core] for family in others} == {
        "costs": [
            "cost@A",
            "saving@A",
            "cost_of_all@A",
            "cost_at_threshold@A",
            "cost_area",
            "cost_area_random",
            "cost_area_optimal",
        ],
        "held_out": ["cost_crossfit@A"],
        "units": [
            "units",
            "answered",
            "bias",
            "clusters",
            "accepted@threshold=T",
            "errors@threshold=T",
            "loss_sum@threshold=T",
        ],
        "groups": ["worst_risk@threshold=T", "worst_minus_best@threshold=T"],
        "forecasts": [
            "nll",
            "brier",
            "brier_reliability",
            "brier_resolution",
            "brier_uncertainty",
            "brier_within_bins",
            "ece",
            "ece_open",
            "ece_adaptive",
            "auroc",
        ],
    }


def test_a_name_cannot_be_registered_twice():
    for name, key in (("bias", ""), ("ece", ""), ("aurc", "other"), ("other", "aurc_full")):
        of = QUANTITIES[name].of if name in QUANTITIES else "curve"
        with pytest.raises(ValueError, match="registered already"):
            quantity(name, of=of, key=key)(lambda _: 0.0)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "groups"])  # they are all at a threshold
def test_every_default_prints_as_it_parses(family):
    names = [*map(str, default_measures(family))]
    assert names
    assert [str(Measure.of(name)) for name in names] == names
    assert [str(Measure.of(name, family)) for name in names] == names
    assert len({*names}) == len(names)


@pytest.mark.parametrize(
    ("alias", "name"),
    [("mae", "risk"), ("mae@0.3", "risk@0.3"), ("mae@C_common", None), ("aurc@C_common", "aurc@C_common")],
)
def test_earlier_names_are_aliases(alias, name):
    if name is None:
        with pytest.raises(UserError, match="coverage 'C_common', expected a number"):
            Measure.of(alias)
    else:
        assert str(Measure.of(alias)) == name


@pytest.mark.parametrize(
    "name",
    [
        "auruc",
        "aurc_full",
        "cmax@0.5",
        "coverage",
        "coverage@0.1",
        "coverage@risk=",
        "coverage@risk=-0.1",
        "coverage@risk=nan",
        "coverage@risk=1e-3",
        "coverage@fpr=0.1",
        "risk@threshold=",
        "risk@threshold=nan",
        "risk@0",
        "aurc@1.5",
        3,
    ],
)
def test_a_name_that_is_none_is_one_line(name, message):
    with pytest.raises(UserError) as caught:
        Measure.of(name)
    message(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_of_another_family_is_refused_where_it_makes_no_sense():
    with pytest.raises(UserError, match=r"no quantity is called ece here: reliability computes it"):
        Measure.of("ece", "curve")
    with pytest.raises(UserError, match=r"no quantity is called ece here: reliability computes it"):
        demur.estimate(demur.grade_units([1, 2], loss=[0, 1]), "ece", plan=demur.Plan(0, seed=None))


SPELLED = {"risk=R": "risk=0.02", "threshold=T": "threshold=0.5", "fpr=F": "fpr=0.05", "policy": "gap"}


def spelled(entry):
    """The name of a quantity, with a value for its parameter."""
    if entry.parameter is None:
        return entry.name
    return f"{entry.stem}@{SPELLED.get(entry.parameter.symbol, entry.parameter.example)}"


@parametrize_few("entry", ALL, 15, ids=lambda entry: entry.name)
def test_any_quantity_is_a_number_or_one_line_that_says_who_computes_it(entry):
    name, columns = spelled(entry), {"confidence": [3, 2, 1, 0], "loss": [0, 1, 0, None]}
    units = demur.grade_units(**columns, clusters=[1, 2, 3, 4])
    results = demur.evaluate({"cluster": [1, 2, 3, 4], **columns}, resamples=0)
    for asked in (
        lambda: demur.measure(**columns, metrics=[name])[name],
        lambda: demur.measure(**columns, metrics=[Measure.of(name)])[name],
        lambda: demur.estimate(units, [name], plan=demur.Plan(20, seed=1))[name].value,
        lambda: results[name].value,
    ):
        try:
            assert isinstance(asked(), float)
        except UserError as error:
            assert re.fullmatch(r"no quantity .*is called .*: .*(comput|count|asks for).*", str(error)), error


@pytest.mark.parametrize("name", ["coverage@risk=0.02", "coverage@risk=0.1", "risk@0.25", "auroc", "risk@threshold=2"])
def test_results_offer_no_other_number_for_one_that_exists(name):
    results = demur.evaluate({"cluster": [1, 2], "loss": [0, 1], "sure": [0.9, 0.1]}, resamples=0)
    with pytest.raises(UserError, match=f"no quantity of these results is called {name}: ") as caught:
        _ = results[name]
    assert "did you mean" not in str(caught.value)


def test_titles_hold_the_parameter():
    expected = {
        "aurc": "AURC",
        "coverage@risk=0.1": "coverage@risk ≤ 0.1",
    }
    assert {name: Measure.of(name).title for name in expected} == expected


def test_a_new_quantity_is_one_registration(monkeypatch):
    """Registered, it parses, is computed and is among the defaults, with no second list to keep."""
    monkeypatch.setattr(registry, "QUANTITIES", dict(QUANTITIES))

    @quantity("operating_points", of="curve", better="neither")
    def operating_points(s):
        return s.constant(len(s.table.plateaus))

    assert demur.measure([2, 1, 1], loss=[0, 1, 0], metrics=["operating_points"])["operating_points"] == 2
    assert "operating_points" in map(str, default_measures())


def test_a_fraction_is_rounded_once():
    rounded = registry.QUANTITIES["cost_crossfit@A"].function(HeldOut(Fraction(0), 0, 3), Fraction(1, 3))
    assert rounded == 1 / 3
    assert isinstance(rounded, float)
