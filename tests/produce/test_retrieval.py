"""References: how transcripts are cut, which passages are nearest, and what a floor and a budget leave."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import UserError
from demur.extensions.produce.config import ReferenceSettings
from demur.extensions.produce.failures import EndpointError, ParticipantFailure
from demur.extensions.produce.inputs import read_inputs_of
from demur.extensions.produce.references import (
    Library,
    Passage,
    chunks,
    embedded,
    passages_of,
    retrieval_signals,
    unit_vectors,
)
from producing import interviews, settings_of

VECTORS = {"near": [1.0, 0.0], "far": [-1.0, 0.0], "right": [0.0, 1.0], "nearer": [2.0, 0.2]}


def embed(texts):
    return [VECTORS[text.split(" ")[0]] for text in texts]


def library(texts, scores=None, **settings):
    known = scores or {}
    passages = [Passage("300", number, text, {"A": known.get(text, 1)}) for number, text in enumerate(texts)]
    return Library(passages, unit_vectors(embed(texts)), ReferenceSettings(**settings))


def found(quotes, texts, **settings):
    return library(texts, **settings).retrieved({"A": quotes}, embed)


def test_chunks_of_eight_lines_every_two_and_the_last_full_one():
    lines = [*map(str, range(11))]
    assert [chunk.split("\n")[0] for chunk in chunks(lines, 8, 2)] == ["0", "2", "3"]
    assert [chunk.split("\n")[0] for chunk in chunks(lines[:10], 8, 2)] == ["0", "2"]
    assert chunks(["a", "b"], 8, 2) == ["a\nb"]


@given(st.integers(1, 40), st.integers(1, 10), st.integers(1, 10))
def test_chunks_are_full_and_reach_the_end(count, size, step):
    lines = [*map(str, range(count))]
    cut = [chunk.split("\n") for chunk in chunks(lines, size, step)]
    assert cut[0][0] == "0"
    assert cut[-1][-1] == lines[-1]
    assert {len(chunk) for chunk in cut} == {min(size, count)}
    assert len({*map(tuple, cut)}) == len(cut)


def test_the_two_nearest_on_the_scale_of_half_of_one_and_the_cosine():
    references = found(["near the quote"], ["far", "right", "nearer", "near"])["references"]["A"]
    assert [number for _, number, _ in references] == [3, 2]
    assert [similarity for *_, similarity in references] == [1, pytest.approx((1 + 2 / math.hypot(2, 0.2)) / 2)]
    assert retrieval_signals(references)["retrieval_reference_count"] == 2


def test_the_first_of_equally_near_passages():
    assert [number for _, number, _ in found(["near the quote"], ["near", "near", "near"])["references"]["A"]] == [0, 1]


def test_short_evidence_asks_for_nothing():
    for quotes in ([], ["near"]):
        assert found(quotes, ["near"]) == {"references": {"A": []}, "emptied": 0}
    assert found(["near"], ["near"], min_evidence_chars=4)["references"]["A"] == [["300", 0, 1.0]]


def test_a_floor():
    assert found(["near the quote"], ["far", "right"], min_similarity=0.3)["references"]["A"] == [["300", 1, 0.5]]


def test_a_reference_that_does_not_fit_ends_the_list():
    texts = ["near", "nearer", "right"]
    assert len(found(["near the quote"], texts, max_chars_per_item=10)["references"]["A"]) == 2
    assert len(found(["near the quote"], texts, max_chars_per_item=9)["references"]["A"]) == 1
    emptied = found(["near the quote"], ["near but long", "right"], max_chars_per_item=9)
    assert emptied == {"references": {"A": []}, "emptied": 1}


def test_passages_without_a_score_are_not_shown():
    scored = library(["near", "nearer"], {"near": None})
    assert [number for _, number, _ in scored.retrieved({"A": ["near the quote"]}, embed)["references"]["A"]] == [1]


def test_signals_without_references():
    nothing = {"retrieval_reference_count": 0, "retrieval_similarity_mean": None, "retrieval_similarity_max": None}
    assert retrieval_signals([]) == nothing
    assert retrieval_signals([["300", 0, 0.5], ["300", 1, 0.25]]) == {
        "retrieval_reference_count": 2,
        "retrieval_similarity_mean": 0.375,
        "retrieval_similarity_max": 0.5,
    }


@pytest.mark.parametrize("rows", [[[0.0, 0.0]], [[1.0], [1.0, 2.0]], [[math.nan]], [[math.inf]], [["a"]], [None], [[]]])
def test_what_is_no_embedding(rows):
    with pytest.raises(ParticipantFailure) as failure:
        unit_vectors(rows)
    assert failure.value.category == "embedding_invalid"


def test_an_embedding_of_another_dimension():
    with pytest.raises(ParticipantFailure):
        unit_vectors([[1.0, 2.0]], 3)


def test_embeddings_of_references_are_asked_for_once(tmp_path):
    passages, asked = [Passage("300", 0, "near", {}), Passage("300", 1, "far", {})], []

    def counted(texts):
        asked.extend(texts)
        return embed(texts)

    make = [passages, ReferenceSettings(), "model", tmp_path / "references.npz", counted]
    first = embedded(*make)
    again = embedded(*make)
    assert asked == ["near", "far"]
    assert np.array_equal(first.vectors, again.vectors)
    embedded(passages, ReferenceSettings(), "another model", tmp_path / "references.npz", counted)
    assert len(asked) == 4
    (tmp_path / "references.npz").write_bytes(b"PK\x03\x04 torn")
    assert np.array_equal(embedded(*make).vectors, first.vectors)


def test_references_without_usable_embeddings_end_the_run(tmp_path):
    with pytest.raises(EndpointError, match=r"no usable embeddings of references \(embedding_invalid\)"):
        embedded([Passage("300", 0, "x", {})], ReferenceSettings(), "m", tmp_path / "c", lambda _: [[0.0]])


def with_chunk_scores(folder, text):
    """The inputs of made-up interviews, of whose references single chunks have these scores."""
    (interviews(folder) / "chunks.json").write_text(text)
    changes = {"data": {"chunk_scores": "chunks.json"}, "retrieval": {"chunk_lines": 1}}
    settings = settings_of(folder, "http://127.0.0.1:1/v1", **changes)
    return read_inputs_of(settings, folder)


def test_scores_of_chunks_replace_those_of_the_participant_and_without_one_nothing_is_known(tmp_path):
    reference = read_inputs_of(settings_of(interviews(tmp_path / "plain"), "http://127.0.0.1:1/v1"), tmp_path / "plain")
    first, second = map(str, reference.references[:2])
    inputs = with_chunk_scores(tmp_path / "scored", json.dumps({first: [{"Sleep": 3, "Tired": None}]}))
    known = {(passage.person, passage.number): passage.scores for passage in passages_of(inputs)}
    assert known[first, 0] == {"Sleep": 3, "Tired": None}
    assert known[first, 1] == known[second, 0] == {"Sleep": None, "Tired": None}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"300": 1}',
        '{"300": [{"Sleep": 1}]}',
        '{"300": [{"Sleep": 9, "Tired": 1}]}',
    ],
)
def test_scores_of_chunks_that_are_wrong_are_refused_with_the_file(tmp_path, text, message):
    with pytest.raises(UserError) as refused:
        with_chunk_scores(tmp_path / "interviews", text)
    message(refused.value)
