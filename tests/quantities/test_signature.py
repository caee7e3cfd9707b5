"""The signature: it prints as it parses, whatever names it holds, and an unknown key or value is named."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import UserError
from demur.quantities.signature import KEYS, MEANINGS, Signature, meaning

LINE = (
    "loss:abs_norm.3|unit:item|cluster:participant|abst:in|ties:plateau|start:first|rule:trapezoid|dom:cmax|x:1|"
    "opt:oracle|hull:risk|conf:llm|boot:cluster.10000.s7|v:0.2.0"
)


def test_the_line_of_the_specification_is_ours():
    made = Signature(loss="abs_norm.3", cluster="participant", conf="llm", boot="cluster.10000.s7", v="0.2.0")
    assert str(made) == LINE
    assert Signature.parse(LINE) == made


closed = {key.replace(".", "_"): st.sampled_from([*values]) for key, values in MEANINGS.items()}
SIGNS = "az09._@+-AZ%:|~ \n\0'\"ü字\ud800"  # all that may stand in a line, and what must not
names = st.text(SIGNS, min_size=1)
signatures = st.builds(
    Signature,
    **closed,
    loss=st.sampled_from(["abs", "abs_norm.3", "abs_norm.27", "zero_one", "given", "given.1-score"]),
    unit=names,
    cluster=names,
    conf=st.text(SIGNS),
    boot=st.just("none")
    | st.builds("{}.{}.s{}".format, st.sampled_from(["cluster", "item"]), st.integers(0), st.integers(0)),
    v=names,
)


@given(signatures)
def test_it_prints_as_it_parses_in_the_signs_that_are_allowed(signature):
    line = str(signature)
    assert Signature.parse(line) == signature
    assert str(Signature.parse(line)) == line
    assert re.fullmatch(r"[a-z0-9._@+|:%A-F-]*", line)
    assert not re.search(r"[A-F]", re.sub(r"%[0-9A-F]{2}", "", line))


@given(signatures)
def test_every_signature_can_be_said_in_words(signature):
    assert [key for key, _ in signature.items()] == [*KEYS]
    assert all(meaning(key, value) for key, value in signature.items())


def test_the_start_of_the_generalized_risk_is_printed_only_where_it_deviates():
    assert Signature.parse(f"{LINE}|g.start:zero") == Signature.parse(LINE)
    other = Signature.parse(f"{LINE}|g.start:none")
    assert str(other).endswith("|v:0.2.0|g.start:none")


def test_keys_may_come_in_any_order():
    assert Signature.parse("|".join(reversed(LINE.split("|")))) == Signature.parse(LINE)


def test_a_name_is_escaped_byte_by_byte():
    made = Signature.parse(LINE).under({"conf": "Secondary:a|b ü%"})
    assert "|conf:%53econdary%3Aa%7Cb%20%C3%BC%25|" in str(made)


@pytest.mark.parametrize(
    "line",
    [
        "",
        LINE.replace("abst", "abstentions"),
        LINE.replace("abst:in", "abst:out"),
        LINE.replace("|x:1|", "|x:10|"),
        LINE.replace("|x:1|", "|"),
        LINE.replace("|x:1|", "|").replace("|dom:cmax", ""),
        f"{LINE}|x:1",
        LINE.replace("llm", "LLM"),
        LINE.replace("conf:llm", "conf"),
        LINE.replace("llm", "%FF"),
        LINE.replace("abs_norm.3", "abs_norm"),
        LINE.replace("abs_norm.3", "abs.3"),
        LINE.replace("abs_norm.3", "mse"),
        LINE.replace("cluster.10000.s7", "cluster.s7"),
    ],
)
def test_a_mistake_is_named(line, message):
    with pytest.raises(UserError) as refused:
        Signature.parse(line)
    message(refused.value)
