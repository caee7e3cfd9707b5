"""Bridges between conventions: exact in fractions on any answers without ties, and what two signatures differ in."""

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conventions import OURS, SORTED
from demur import UserError
from demur.features.conventions.bridges import (
    BRIDGES,
    CONVENTIONS,
    EFFECTS,
    KnownOfAnswers,
    comparable,
    convention_of,
    converted,
    differences,
    ties_matter,
)
from demur.quantities.signature import KEYS, Signature
from reference.conventions import ALSO_REPORTED, TOOLS, in_order, number, risks
from reference.selective import PlainCurve, Unit


def known_of(rows):
    ordered = in_order(rows, "given.first")
    cmax = F(len(ordered), len(rows))
    return KnownOfAnswers(answered=len(ordered), cmax=cmax, first_risk=ordered[0], risk=risks(ordered)[-1])


def numbers_of(rows, quantity):
    """The number of every convention that has a bridge, by plain loops; what sele calls an AURC leads to the AUGRC."""
    curve = PlainCurve(rows)
    ours = {"demur": curve.aurc if quantity == "aurc" else curve.augrc}
    named = {name: "aurc" if name == "sele" else quantity for name in BRIDGES[quantity] if name in TOOLS}
    return ours | {name: number(TOOLS[name], each, (), rows) for name, each in named.items()}


untied = st.lists(st.integers(0, 1) | st.none(), min_size=2, max_size=12).filter(
    lambda each: sum(x is not None for x in each) > 1
)


@given(untied)
@pytest.mark.slow
def test_every_bridge_is_exact_without_ties(losses):
    rows = [Unit(None if loss is None else F(loss), -rank) for rank, loss in enumerate(losses)]
    for quantity in BRIDGES:
        values = numbers_of(rows, quantity)
        for name, value in values.items():
            for other, expected in values.items():
                assert converted(value, (name, other), quantity, known_of(rows)) == expected, (name, other)


tied = st.lists(st.tuples(st.integers(0, 3) | st.none(), st.integers(0, 3)), min_size=1, max_size=12).filter(
    lambda rows: any(loss is not None for loss, _ in rows)
)


@given(tied)
def test_where_no_tool_breaks_ties_a_bridge_is_exact_with_them(rows):
    rows = [Unit(None if loss is None else F(loss), sure) for loss, sure in rows]
    assert not ties_matter("demur", "fd-shifts")
    for quantity in BRIDGES:
        values = numbers_of(rows, quantity)
        assert converted(values["demur"], ("demur", "fd-shifts"), quantity, known_of(rows)) == values["fd-shifts"]


@given(untied)
def test_the_number_on_a_plot_of_torch_uncertainty_is_a_bridge_away(losses):
    rows = [Unit(None if loss is None else F(loss), -rank) for rank, loss in enumerate(losses)]
    n = known_of(rows).answered
    plotted = number(ALSO_REPORTED["a plot of torch-uncertainty"], "aurc", (), rows)
    assert plotted == (1 - F(1, n)) * number(TOOLS["torch-uncertainty"], "aurc", (), rows)


def test_the_worked_five_answers_lead_from_one_to_the_other():
    five = KnownOfAnswers(answered=5, cmax=F(1), first_risk=F(0), risk=F(2, 5))
    ours = OURS["T2"]["aurc"]
    assert converted(ours, ("demur", "fd-shifts"), "aurc", five) == F(47, 300) * 1000
    assert converted(ours, ("demur", "torch-uncertainty"), "aurc", five) == F(47, 240)
    assert converted(ours, ("demur", "prefix-mean"), "aurc", five) == F(59, 300)
    assert converted(OURS["T2"]["augrc"], ("demur", "sele"), "augrc", five) == SORTED["sele", "aurc"]["T2"][0]


@pytest.mark.parametrize(
    ("ways", "quantity", "known"),
    [
        (("demur", "fd-shifts"), "aurc", {}),
        (("demur", "geifman"), "aurc", {}),
        (("sele", "demur"), "aurc", {}),
        (("demur", "demur"), "eaurc", {}),
        (("demur", "torch-uncertainty"), "aurc", {"answered": 1, "cmax": F(1), "first_risk": F(0)}),
    ],
)
def test_where_no_bridge_leads_the_error_says_so(ways, quantity, known, message):
    with pytest.raises(UserError) as refused:
        converted(F(1), ways, quantity, KnownOfAnswers(**known))
    message(refused.value)


@pytest.mark.parametrize("wrong", [{"answered": 0}, {"cmax": F(0)}, {"cmax": F(2)}])
def test_what_cannot_be_known_is_refused(wrong):
    with pytest.raises(UserError, match="expected"):
        KnownOfAnswers(**wrong)


LINE = Signature(loss="zero_one", cluster="document", conf="sure", boot="none", v="0.2.0")


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_signature_of_a_convention_is_recognised(name):
    assert convention_of(str(LINE.under(CONVENTIONS[name])))[0] == name
    assert convention_of(name) == (name, CONVENTIONS[name])


def test_a_signature_of_nobody_and_an_unknown_name():
    assert convention_of(str(LINE.under({"abst": "zero"})))[0] is None
    with pytest.raises(UserError, match="no convention is called fd-shift; did you mean fd-shifts"):
        convention_of("fd-shift")


def test_what_differs_is_told_with_what_it_does():
    ours, theirs = dict(LINE.items()), CONVENTIONS["fd-shifts"]
    assert [lines[0] for lines in differences(ours, theirs)] == [
        "abst: in against drop",
        "dom: cmax against one",
        "x: 1 against 1000",
        "opt: oracle against closed",
        "hull: risk against roc",
    ]
    assert [*differences(ours, ours)] == []
    assert {*EFFECTS} | {"x"} == {*KEYS}


@pytest.mark.parametrize(
    ("changes", "alike"),
    [
        ({}, True),
        ({"x": "1000"}, True),
        ({"opt": "closed", "hull": "roc"}, True),
        ({"conf": "other", "boot": "cluster.10.s1", "v": "1"}, True),
        *(({key: value}, False) for key, value in [("loss", "abs"), ("unit", "query"), ("abst", "drop")]),
        *(({key: value}, False) for key, value in [("ties", "best"), ("start", "zero"), ("rule", "mean")]),
        ({"dom": "one"}, False),
    ],
)
def test_two_numbers_are_comparable_where_their_definitions_agree(changes, alike):
    assert comparable(dict(LINE.items()), dict(LINE.under(changes).items())) is alike
