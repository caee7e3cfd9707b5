"""Retrieval of the passages in references' transcripts that are most similar to the evidence of an item."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from demur.extensions.produce.config import ReferenceSettings
from demur.extensions.produce.failures import EndpointError, ParticipantFailure
from demur.extensions.produce.inputs import Inputs
from demur.extensions.produce.prompts import ShownPassage
from demur.files.numbers import finite_float
from demur.files.write import write_whole
from demur.types import Floats, Json

Embed = Callable[[Sequence[str]], list[Any]]
_BATCH = 32
_DECIMALS = 12  # so that machines that sum in another order agree
_SHORTEST, _LONGEST = 1e-150, 1e150  # lengths whose squares are neither 0 nor infinite
SIMILARITY_SCALE = "half"  # (1 + cosine) / 2


def chunks(lines: Sequence[str], size: int, step: int) -> list[str]:
    r"""Split lines into chunks of `size` lines that start every `step` lines; the last reaches the end.

    >>> chunks(["a", "b", "c", "d"], 2, 3)
    ['a\nb', 'c\nd']
    """
    last = max(len(lines) - size, 0)
    starts = [*range(0, last + 1, step)]
    if starts[-1] < last:
        starts.append(last)
    return ["\n".join(lines[start : start + size]) for start in starts]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a reference's transcript, with its known scores."""

    person: str
    number: int
    text: str
    scores: Mapping[str, int | None]


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """All passages, with embeddings normalised to length 1."""

    passages: Sequence[Passage]
    vectors: Floats
    settings: ReferenceSettings

    def retrieved(self, quotes: Mapping[str, Sequence[str]], embed: Embed) -> Json:
        """Select the references of each item, and count the items that the character budget left without any."""
        joined = {item: "\n".join(own) for item, own in quotes.items()}
        texts = {item: text for item, text in joined.items() if text and len(text) >= self.settings.min_evidence_chars}
        if not texts or not self.passages:
            return {"references": {item: [] for item in quotes}, "emptied": 0}
        queries = unit_vectors(embed([*texts.values()]), self.vectors.shape[1])
        similarity = dict(zip(texts, np.round((1 + queries @ self.vectors.T) / 2, _DECIMALS), strict=True))
        chosen = {item: self._best(item, similarity[item]) if item in texts else ([], False) for item in quotes}
        return {
            "references": {item: references for item, (references, _) in chosen.items()},
            "emptied": sum(emptied for _, emptied in chosen.values()),
        }

    def _best(self, item: str, similarity: Floats) -> tuple[list[list[Any]], bool]:
        """The most similar passages, as (person, chunk, similarity), and whether the budget left none of them."""
        settings, chosen, characters = self.settings, list[list[Any]](), 0
        order = np.argsort(-similarity, kind="stable")[: settings.top_k]
        near = [int(index) for index in order if similarity[index] >= settings.min_similarity]
        for index in near:
            passage = self.passages[index]
            characters += len(passage.text)
            if settings.max_chars_per_item and characters > settings.max_chars_per_item:
                break
            if passage.scores[item] is not None:
                chosen.append([passage.person, passage.number, float(similarity[index])])
        return chosen, bool(near) and characters > settings.max_chars_per_item > 0 and not chosen

    def shown(self, references: Mapping[str, Sequence[Sequence[Any]]]) -> list[ShownPassage]:
        """The passages of these references as the prompt shows them."""
        known = {(passage.person, passage.number): passage for passage in self.passages}
        passages = []
        for item, listed in references.items():
            for person, number, _ in listed:
                passage = known[person, number]
                passages.append(ShownPassage(item, passage.scores[item] or 0, passage.text))
        return passages


def retrieval_signals(references: Sequence[Sequence[Any]]) -> Json:
    """The signals of an item's references: their number, and their mean and largest similarity."""
    near = [float(similarity) for _, _, similarity in references]
    return {
        "retrieval_reference_count": len(near),
        "retrieval_similarity_mean": math.fsum(near) / len(near) if near else None,
        "retrieval_similarity_max": max(near, default=None),
    }


def unit_vectors(rows: Sequence[Any], dimension: int | None = None) -> Floats:
    """Normalise embeddings to length 1; raise a failure if one is invalid."""
    try:
        vectors = np.array([[finite_float(value) for value in row] for row in rows], dtype=np.float64)  # None: nan
    except (TypeError, ValueError):  # not lists, or not of one length
        raise ParticipantFailure("embedding_invalid", "embed") from None
    shaped = vectors.ndim == 2 and vectors.shape[1] > 0 and dimension in (None, vectors.shape[1])  # noqa: PLR2004
    shaped = shaped and bool((abs(vectors) < _LONGEST).all())  # nan is not
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True) if shaped else np.zeros(1)
    if not (lengths > _SHORTEST).all():
        raise ParticipantFailure("embedding_invalid", "embed", numbers={"vectors": len(rows)})
    return np.asarray(vectors / lengths)


def passages_of(inputs: Inputs) -> list[Passage]:
    """Split the transcripts of all references into passages."""
    settings, passages = inputs.settings.retrieval, []
    for person in map(str, inputs.references):
        lines = inputs.transcripts.read(person)
        known = (inputs.chunk_scores or {}).get(person)
        for number, text in enumerate(chunks(lines, settings.chunk_lines, settings.chunk_step)):
            scores: Mapping[str, int | None] = inputs.truth[person]
            if inputs.chunk_scores is not None:
                scores = known[number] if known and number < len(known) else dict.fromkeys(inputs.instrument.items)
            passages.append(Passage(person, number, text, scores))
    return passages


def embedded(
    passages: Sequence[Passage], settings: ReferenceSettings, model: str, cache: Path, embed: Embed
) -> Library:
    """Embed the passages; those in the cache are not requested again."""
    keys = [sha256(f"{model}\0{passage.text}".encode()).hexdigest() for passage in passages]
    known = _cached(cache)
    missing = [index for index, key in enumerate(keys) if key not in known]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        try:
            vectors = unit_vectors(embed([passages[index].text for index in batch]))
        except ParticipantFailure as failure:
            raise EndpointError(f"the endpoint gave no usable embeddings of references ({failure.category})") from None
        known |= {keys[index]: vector for index, vector in zip(batch, vectors, strict=True)}
    rows = [known[key] for key in keys]
    if len({len(row) for row in rows}) > 1:
        raise EndpointError("the endpoint gave embeddings of different dimensions")
    if missing:
        _save(cache, {key: known[key] for key in keys})
    return Library(passages, np.array(rows), settings)


def _cached(path: Path) -> dict[str, Floats]:
    try:
        data = io.BytesIO(path.read_bytes())
        if any(entry.compress_type != ZIP_STORED for entry in ZipFile(data).infolist()):
            return {}  # a few bytes could unpack to more than any memory; what _save writes is not packed
        with np.load(data, allow_pickle=False) as content:
            keys, vectors = content["keys"], content["vectors"]
            good = vectors.dtype == np.float64 and vectors.ndim == 2 and np.isfinite(vectors).all()  # noqa: PLR2004
            return dict(zip(keys.tolist(), vectors, strict=True)) if good else {}
    except (OSError, TypeError, ValueError, KeyError, EOFError, BadZipFile):  # missing or damaged: it is written again
        return {}


def _save(path: Path, vectors: Mapping[str, Floats]) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, keys=np.array([*vectors]), vectors=np.array([*vectors.values()]))
    write_whole(path, buffer.getvalue())
