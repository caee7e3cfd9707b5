"""From transcripts to an evaluation: scores and signals are what plain arithmetic makes of the answers given."""

import hashlib
import json
import math
import re
import statistics
from collections import Counter
from dataclasses import dataclass

import pytest

from commands import demur
from demur import GAD7, PHQ8
from demur.extensions.lab.interviews import simulated_interviews
from demur.extensions.produce.scripted_answers import Script
from faults import FaultyEndpoint
from parametrized import parametrize_few

pytest.importorskip("httpx")

SAMPLES, SEED = 3, 1
MODES = ("zero_shot", "few_shot")
TOLERANCE = 2e-12  # similarities are rounded to 12 decimals


@dataclass(frozen=True)
class Road:
    """What was walked: the interviews, everything the endpoint was asked and said, the run, and its evaluation."""

    made: object
    exchanges: list
    run: dict
    metrics: dict


def produced(folder, made, *words):
    """The run of some interviews, and what was asked and said for it."""
    made.write(folder / "interviews")
    with FaultyEndpoint(Script.of(made.answers()), keep=True) as endpoint:
        told = demur(
            folder,
            *("produce", "--config", "interviews/produce.toml", "--base-url", endpoint.base_url),
            *("--run-folder", "first", "--output", "run.json", "--quiet", *words),
        )
        assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
    return json.loads((folder / "run.json").read_text()), endpoint.exchanges


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    folder = tmp_path_factory.mktemp("road")
    made = simulated_interviews(8, seed=SEED)
    run, exchanges = produced(folder, made, "--mode", "both", "--consistency-samples", SAMPLES)
    told = demur(
        folder,
        *("evaluate", "run.json", "run.json", "--mode", "zero_shot", "--mode", "few_shot", "--confidence", "all"),
        *("--seed", 7, "--bootstrap-resamples", 0, "--output", "metrics.json"),
    )
    assert told.returncode == 0
    return Road(made, exchanges, run, json.loads((folder / "metrics.json").read_text()))


def entries(road, mode):
    (experiment,) = (each for each in road.run["experiments"] if each["provenance"]["mode"] == mode)
    return experiment["results"]["results"]


def assessed(road):
    return [*zip(road.made.interviews, road.made.truth)][road.made.training :]


def completion(exchange):
    """The content of a chat answer, as text and as a value, and its tokens."""
    choice = exchange.response["choices"][0]
    text = choice["message"]["content"]
    return text, json.loads(text), (choice["logprobs"] or {}).get("content")


def seed_of(mode, participant, step, sample):
    digest = hashlib.sha256(f"{SEED}|{mode}|{participant}|{step}|{sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def evidence(road, participant):
    """The one answer that held quotes, for both modes."""
    (exchange,) = (each for each in road.exchanges if (each.step, each.participant) == ("evidence", str(participant)))
    assert exchange.request["seed"] == seed_of("both", participant, "evidence", 1)
    return completion(exchange)[1]


def samples(road, mode, participant):
    """The answers that held scores, in the order of their samples."""
    found = {
        each.request["seed"]: each
        for each in road.exchanges
        if (each.step, each.participant) == ("score", str(participant))
    }
    assert len(found) == len(MODES) * SAMPLES
    return [completion(found[seed_of(mode, participant, "score", sample)]) for sample in range(1, SAMPLES + 1)]


def grounded(quotes, interview):
    """Quotes somebody said; the lines are ASCII, in lower case, with single spaces."""
    spoken = " ".join(interview.own)
    return [quote for quote in dict.fromkeys(quotes) if quote in spoken and len(re.findall(r"\w", quote)) >= 3]


def decided(scores):
    counts = Counter(scores)
    best = [score for score, count in counts.items() if count == max(counts.values())]
    return None if None in best else min(best)


def probability(token):
    return math.exp(token["logprob"])


def token_numbers(text, tokens, item):
    """The token signals of an item: those of the token that its score is in, a space before it included."""
    joined = b"".join(bytes(token["bytes"]) for token in tokens).decode()
    offset = joined.index(text)
    opening = text.index(f'"{item}": {{')
    value = text.index('"score": ', opening) + len('"score": ')
    span = (value + offset, value + offset + len(re.match(r"null|\d", text[value:])[0]))
    inner = (opening + len(f'"{item}": ') + offset, text.index("}", value) + 1 + offset)
    place, spans = 0, []
    for token in tokens:
        spans.append((place, place + len(token["bytes"]), token))
        place += len(token["bytes"])
    (chosen,) = (token for start, end, token in spans if start < span[1] and end > span[0])
    within = [token for start, end, token in spans if start < inner[1] and end > inner[0]]
    tops = {each["token"].strip(): probability(each) for each in chosen["top_logprobs"]}
    mass = math.fsum(tops.values())
    allowed = math.fsum(tops.get(answer, 0) for answer in ("0", "1", "2", "3", "null"))
    said = chosen["token"].strip()
    return {
        "token_msp": probability(chosen),
        "token_pe": -math.fsum(share / mass * math.log(share / mass) for share in tops.values()),
        "token_energy": math.log(mass),
        "token_answer_prob": tops[said] / allowed if said in tops else None,
        "token_answer_mass": allowed,
        "token_msp_object": statistics.fmean(map(probability, within)),
        "token_msp_completion": statistics.fmean(map(probability, tokens)),
    }


def consistency_numbers(scores):
    numeric = [score for score in scores if score is not None]
    modal = decided(scores)
    return {
        "consistency_samples": scores,
        "consistency_modal_score": modal,
        "consistency_modal_count": scores.count(modal),
        "consistency_modal_confidence": scores.count(modal) / SAMPLES,
        "consistency_score_std": statistics.pstdev(numeric) if numeric else 0.0,
        "consistency_na_rate": scores.count(None) / SAMPLES,
    }


def vectors(road):
    embedded = [each for each in road.exchanges if each.step == "embed"]
    return {
        text: answer["embedding"]
        for each in embedded
        for text, answer in zip(each.request["input"], each.response["data"])
    }


def chunks(lines):
    starts = [*range(0, max(len(lines) - 8, 0) + 1, 2)]
    if starts[-1] + 8 < len(lines):
        starts.append(len(lines) - 8)
    return ["\n".join(lines[start : start + 8]) for start in starts]


def similarity(left, right):
    dot = math.fsum(a * b for a, b in zip(left, right))
    return (1 + dot / math.hypot(*left) / math.hypot(*right)) / 2


def retrieval_numbers(road, quotes):
    """Over the two nearest chunks of the training participants, for the quotes of an item together."""
    query, known = "\n".join(quotes), vectors(road)
    if len(query) < 8:
        return {"retrieval_reference_count": 0, "retrieval_similarity_mean": None, "retrieval_similarity_max": None}
    training = road.made.interviews[: road.made.training]
    every = sorted(
        (similarity(known[query], known[chunk]) for each in training for chunk in chunks(each.own)), reverse=True
    )
    return {
        "retrieval_reference_count": 2,
        "retrieval_similarity_mean": statistics.fmean(every[:2]),
        "retrieval_similarity_max": every[0],
    }


def by_hand(road, mode, interview, item):
    """Prediction and signals of one item of one participant."""
    given = samples(road, mode, interview.participant)
    scores = [value[item]["score"] for _, value, _ in given]
    decision = decided(scores)
    text, value, tokens = given[scores.index(decision)]
    quoted = evidence(road, interview.participant)[item]
    kept = grounded(quoted, interview)
    nothing = {"retrieval_reference_count": 0, "retrieval_similarity_mean": None, "retrieval_similarity_max": None}
    return decision, {
        "llm_evidence_count": len(kept),
        "keyword_evidence_count": 0,
        "evidence_source": "llm" if kept else None,
        "evidence_rejected_count": len(dict.fromkeys(quoted)) - len(kept),
        **(retrieval_numbers(road, kept) if mode == "few_shot" else nothing),
        **token_numbers(text, tokens, item),
        "verbalized_confidence": None if decision is None else value[item]["confidence"],
        **consistency_numbers(scores),
    }


def different(given, expected):
    """The signals that are not the same, with both values."""
    assert given.keys() == expected.keys()
    pairs = {name: (given[name], expected[name]) for name in expected}
    return {name: pair for name, pair in pairs.items() if not (pair[0] == pair[1] or near(*pair))}


def near(left, right):
    return None not in (left, right) and math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


@parametrize_few("mode", MODES, 1)
def test_every_score_and_every_signal_is_the_one_worked_out_by_hand(road, mode):
    people = entries(road, mode)
    assert [entry["participant_id"] for entry in people] == [each.participant for each, _ in assessed(road)]
    assert len(people) == 3
    for entry, (interview, truth) in zip(people, assessed(road)):
        assert (entry["success"], entry["error"]) == (True, None)
        assert entry["ground_truth_items"] == dict(zip(PHQ8.items, truth))
        for item in PHQ8.items:
            decision, signals = by_hand(road, mode, interview, item)
            assert entry["predicted_items"][item] == decision
            assert different(entry["item_signals"][item], signals) == {}, (interview.participant, item)


@pytest.mark.parametrize("mode", MODES)
def test_totals_are_of_what_was_answered(road, mode):
    assert any(entry["na_items"] for entry in entries(road, mode))
    for entry in entries(road, mode):
        predicted = [score for score in entry["predicted_items"].values() if score is not None]
        missing = len(PHQ8.items) - len(predicted)
        assert entry["ground_truth_total"] == sum(entry["ground_truth_items"].values())
        assert (entry["available_items"], entry["na_items"]) == (len(predicted), missing)
        assert entry["predicted_total"] == entry["predicted_total_min"] == sum(predicted)
        assert entry["predicted_total_max"] == sum(predicted) + 3 * missing


def test_no_confidence_is_left_out_but_those_that_need_a_calibration(road):
    left_out = {each["name"] for each in road.metrics["skipped_variants"]}
    assert left_out == {"calibrated", "verbalized_calibrated"}


def test_the_run_says_that_it_is_made_up(road):
    assert road.run["run_metadata"]["synthetic"] is True


def test_the_scripted_answers_are_partly_wrong_and_some_quotes_are_invented(road):
    pairs = [
        (entry["predicted_items"][item], entry["ground_truth_items"][item])
        for entry in entries(road, "few_shot")
        for item in PHQ8.items
    ]
    answered = [predicted == truth for predicted, truth in pairs if predicted is not None]
    assert 0.3 < sum(answered) / len(answered) < 1
    assert 0 < len(answered) < len(pairs)
    rejected = [
        signals["evidence_rejected_count"]
        for entry in entries(road, "few_shot")
        for signals in entry["item_signals"].values()
    ]
    assert sum(rejected) > 0


@pytest.mark.slow
def test_another_instrument_with_prompts_that_let_the_model_infer(tmp_path):
    made = simulated_interviews(8, seed=2, instrument=GAD7)
    run, _ = produced(tmp_path, made, "--prompts", "infer", "--mode", "few_shot")
    (people,) = (each["results"]["results"] for each in run["experiments"])
    assert len(people) == 3
    for entry in people:
        assert [*entry["predicted_items"]] == [*entry["item_signals"]] == [*GAD7.items]
        for signals in entry["item_signals"].values():
            assert signals["inference_used"] is False  # a script infers nothing
            assert signals["consistency_modal_confidence"] is None
    told = demur(tmp_path, "evaluate", "run.json", "--instrument", "GAD-7", "--seed", 7, "--bootstrap-resamples", 0)
    assert told.returncode == 0
    assert "21 items" in told.stdout
