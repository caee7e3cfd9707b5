"""Token signals of each item: recorded answers of a real server, and what alignment by bytes has to get right."""

import gzip
import json
import math
from pathlib import Path

import pytest

from demur.extensions.produce.failures import ParticipantFailure
from demur.extensions.produce.signals import Tokens, item_token_signals, score_spans

DATA = Path(__file__).parent / "data"
SCORES = (0, 1, 2, 3)


def recorded(name):
    """The content and the tokens of an answer that llama.cpp gave."""
    (choice,) = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))["choices"]
    return choice["message"]["content"].strip(), choice["logprobs"]["content"]


def by_hand(content, tokens):
    """The token signals by a plain loop over characters, for an answer of ASCII."""
    raw = "".join(bytes(token["bytes"]).decode("latin-1") for token in tokens)
    offset, ends, signals = raw.index(content), 0, {}
    spans = []
    for token in tokens:
        spans.append((ends - offset, ends - offset + len(token["bytes"]), token))
        ends += len(token["bytes"])

    def mean(values):
        values = [*values]
        return sum(values) / len(values)

    def met(start, end):
        return [token for first, last, token in spans if first < end and last > start]

    for item, value in json.loads(content).items():
        start = content.index("{", content.index(f'"{item}"'))
        end = content.index("}", start) + 1
        score = content.index('"score"', start) + len('"score"')
        while content[score] in " \t\n:":
            score += 1
        text = "null" if value["score"] is None else str(value["score"])
        own = met(score, score + len(text))
        tops = [[math.exp(top["logprob"]) for top in token["top_logprobs"]] for token in own]
        first = {top["token"].strip(): math.exp(top["logprob"]) for top in own[0]["top_logprobs"]}
        mass = sum(share for name, share in first.items() if name in {"0", "1", "2", "3", "n", "nul", "null"})
        chosen = sum(share for name, share in first.items() if name and text.startswith(name))
        signals[item] = {
            "token_msp": mean(math.exp(token["logprob"]) for token in own),
            "token_pe": mean(-sum(p / sum(top) * math.log(p / sum(top)) for p in top) for top in tops),
            "token_energy": mean(math.log(sum(top)) for top in tops),
            "token_answer_prob": chosen / mass if chosen else None,
            "token_answer_mass": mass,
            "token_msp_object": mean(math.exp(token["logprob"]) for token in met(start, end)),
            "token_msp_completion": mean(math.exp(token["logprob"]) for token in tokens),
        }
    return signals


def test_the_worked_values_of_an_answer_with_free_text():
    content, tokens = recorded("chat_free_text_schema")
    found = item_token_signals(tokens, content, SCORES)
    assert round(found["NoInterest"]["token_msp"], 4) == 0.0633
    assert round(found["NoInterest"]["token_msp_object"], 4) == 0.0236
    assert round(found["Appetite"]["token_msp"], 4) == 0.0162
    assert (found["Appetite"]["token_answer_mass"], found["Appetite"]["token_answer_prob"]) == (0, None)
    assert {round(each["token_msp_completion"], 5) for each in found.values()} == {0.02719}


@pytest.mark.parametrize("name", ["chat_free_text_schema", "chat_closed_schema"])
def test_every_signal_of_a_recorded_answer_is_that_of_a_plain_loop(name):
    content, tokens = recorded(name)
    found, expected = item_token_signals(tokens, content, SCORES), by_hand(content, tokens)
    assert found.keys() == expected.keys()
    for item, signals in expected.items():
        numbers = {name: value for name, value in signals.items() if value is not None}
        assert {name: found[item][name] for name in numbers} == pytest.approx(numbers, rel=1e-12)
        assert {name for name, value in found[item].items() if value is None} == signals.keys() - numbers.keys()


def test_the_tokens_of_the_recorded_answer_hold_a_code_fence_that_the_content_does_not():
    content, tokens = recorded("chat_free_text_schema")
    joined = b"".join(bytes(token["bytes"]) for token in tokens)
    assert (len(joined), len(content.encode())) == (682, 670)
    assert Tokens.aligned(tokens, content).offsets[0] == -joined.index(content.encode()) < 0


def token(text, share=0.5, top=None, data=None):
    given = top or {text: share}
    alternatives = [{"token": name, "logprob": math.log(p)} for name, p in given.items()]
    spelled = [*text.encode()] if data is None else data
    return {"token": text, "bytes": spelled, "logprob": math.log(share), "top_logprobs": alternatives}


def signals_of(content, tokens, answers=SCORES):
    return item_token_signals(tokens, content, answers)


def test_a_token_that_straddles_score_and_neighbours_counts_whole():
    tokens = [token('{"A": {"score":', 0.9), token(" 2}", 0.25, {" 2}": 0.25, " 1}": 0.5}), token("}", 0.8)]
    found = signals_of('{"A": {"score": 2}}', tokens)["A"]
    assert found["token_msp"] == pytest.approx(0.25)
    assert found["token_answer_prob"] == pytest.approx(1 / 3)
    assert found["token_answer_mass"] == pytest.approx(0.75)
    assert found["token_msp_object"] == pytest.approx((0.9 + 0.25) / 2)


def test_a_score_of_several_tokens_is_their_mean():
    tokens = [token('{"A": {"score": ', 0.9), token("nu", 0.5, {"nu": 0.5, "1": 0.25}), token("ll", 0.25), token("}}")]
    found = signals_of('{"A": {"score": null}}', tokens)["A"]
    assert found["token_msp"] == pytest.approx(3 / 8)
    assert found["token_answer_prob"] == pytest.approx(2 / 3)


def test_characters_of_several_bytes_are_aligned_by_bytes():
    """One character is spread over two tokens, each of which spells U+FFFD by itself."""
    content = '{"A": {"reason": "é", "score": 1}}'
    before, after = content.split("é")
    tokens = [token(before), token("\ufffd", data=[0xC3]), token("\ufffd", data=[0xA9])]
    start, rest = after.split("1")
    tokens += [token(start), token("1", 0.125), token(rest)]
    assert signals_of(content, tokens)["A"]["token_msp"] == pytest.approx(0.125)


def test_the_last_of_two_equal_answers_is_the_answer():
    once = [token('{"A": {"score": '), token("3", 0.5), token("}}")]
    again = [token('{"A": {"score": '), token("3", 0.25), token("}}")]
    assert signals_of('{"A": {"score": 3}}', [*once, *again])["A"]["token_msp"] == pytest.approx(0.25)


def test_a_probability_of_zero_is_the_lowest_number_there_is():
    tokens = [token('{"A": {"score": '), {**token("3"), "logprob": -3.4028234663852886e38}, token("}}")]
    assert signals_of('{"A": {"score": 3}}', tokens)["A"]["token_msp"] == 0


@pytest.mark.parametrize("tokens", [None, [], "text", ["a"], [{"token": "x", "bytes": ["a"], "logprob": 0}]])
def test_tokens_that_are_none_are_missing(tokens):
    with pytest.raises(ParticipantFailure) as failure:
        signals_of('{"A": {"score": 3}}', tokens)
    assert failure.value.category == "logprobs_missing"


@pytest.mark.parametrize("change", [{"logprob": None}, {"top_logprobs": []}, {"logprob": 1.0}, {"top_logprobs": None}])
def test_a_token_without_its_numbers_is_missing(change):
    tokens = [token('{"A": {"score": '), {**token("3"), **change}, token("}}")]
    with pytest.raises(ParticipantFailure) as failure:
        signals_of('{"A": {"score": 3}}', tokens)
    assert failure.value.category == "logprobs_missing"


def test_tokens_that_spell_something_else_are_unaligned():
    with pytest.raises(ParticipantFailure) as failure:
        signals_of('{"A": {"score": 3}}', [token('{"A": {"score": '), token("2"), token("}}")])
    assert failure.value.category == "logprobs_unaligned"


def test_spans_are_found_whatever_the_spaces_and_the_strings():
    content = '{ "A"\n:\t{"reason": "\\"score\\": 0 {é", "score" : 2 } ,"B":{"score":null}}'
    data = content.encode()
    spans = score_spans(content)
    assert [data[start:end] for _, (start, end) in spans.values()] == [b"2", b"null"]
    assert data[slice(*spans["B"][0])] == b'{"score":null}'
