"""Retrieval through the public names: what makes what, which definition numbers follow, and what is refused."""

import json

import pytest

import demur
from demur import Plan, UserError
from demur.extensions.retrieval.study import study_of
from demur.quantities.signature import Signature
from golden_runs import GOLDEN


@pytest.mark.parametrize(
    "call",
    [
        lambda: demur.evaluate_retrieval("queries.csv", plan=Plan(9, seed=1)),
        lambda: demur.evaluate_retrieval({"A": "queries.csv"}, plan=Plan(9, seed=1)),
        lambda: demur.evaluate({"A": demur.rankings_of(gold=[["x"]], ranked=[["x"]])}),
        lambda: study_of(demur.load(GOLDEN / "one.json")),
    ],
)
def test_calls_of_retrieval_that_take_something_else_say_what_makes_it(call, message):
    with pytest.raises(UserError) as told:
        call()
    message(told.value)


def test_results_have_a_signature():
    golden = json.loads((GOLDEN / "retrieval.json").read_text(encoding="utf-8"))
    line = golden["convention"]["signature"]
    assert str(Signature.parse(line)) == line == str(demur.load(GOLDEN / "retrieval.json").study.signature())
    assert line == (
        "loss:given.1-score|unit:query|cluster:post|abst:in|ties:plateau|start:first|rule:trapezoid|dom:cmax|x:1|"
        "opt:none|hull:none|conf:many|boot:cluster.50.s7|v:0.2.0"
    )
