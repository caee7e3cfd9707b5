"""TREC files: qrels say what is relevant to each topic, runs what systems returned, gzipped or not.

As trec_eval has it: a document is relevant if its judgment is above 0, and a run is ordered by score, held as a 32-bit
number, with ties broken by the document's id, the greater first; the ranks in the file are not looked at. Otherwise
than in trec_eval, a topic that is judged but missing from the run is an abstention, and counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UserError, literal, shown
from demur.ranking_columns import RankingsBuilder
from demur.rankings import Query, Rankings
from demur.read.stream import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from demur.items import Source
    from demur.read.stream import Progress

_QRELS, _RUN = ("topic", "iteration", "document", "relevance"), ("topic", "Q0", "document", "rank", "score", "tag")

_INTEGER = re.compile("[+-]?[0-9]{1,18}")

Judged = dict[str, dict[str, bool]]
Scored = dict[str, dict[str, float]]


def read_trec(
    qrels: str | Path,
    runs: Mapping[str, str | Path] | Sequence[str | Path | tuple[str | None, str | Path]],
    *,
    split_topics: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Rankings]:
    """The facts of TREC runs against one file of judgments, for each run.

    Runs come by name, or as files or pairs of a name and a file; without a name a run is called by the tag in it. Each
    topic is a post of its own, unless `split_topics` says what stands between the post and the criterion in a topic's
    name: with "/" the topic `p1/A` asks for criterion A in post p1.
    """
    if split_topics == "":
        raise UserError("split_topics '', expected what stands between the post and the criterion, such as /")
    judged, judgments = _judged(qrels, progress)
    found: dict[str, Rankings] = {}
    for name, path in _named(runs):
        tag, scored, source = _scored(path, progress)
        system = name or tag or Path(path).name
        if system in found:
            raise UserError(f"{path}: a run called {shown(system)} is there already; name the runs: NAME=FILE")
        made = RankingsBuilder()
        for topic, documents in judged.items():
            post, criterion = _asked(topic, split_topics)
            ranked, scores = _ordered(scored.get(topic, {}))
            gold = [document for document, relevant in documents.items() if relevant]
            made.add(Query(post, criterion, gold, ranked, scores))
        unjudged = len(scored.keys() - judged.keys())
        found[system] = made.done(text_ids=True).with_sources(judgments, source, unjudged=unjudged)
    return found


def _named(runs: Any) -> Iterator[tuple[str | None, str | Path]]:
    for run in runs.items() if isinstance(runs, Mapping) else runs:
        yield run if isinstance(run, tuple) else (None, run)


def _ordered(scored: Mapping[str, float]) -> tuple[list[str], list[float]]:
    """Documents by score, and among equals the greater id first: by the bytes of it, as trec_eval compares them."""
    ordered = sorted(scored.items(), key=lambda entry: (entry[1], entry[0].encode()), reverse=True)
    return [document for document, _ in ordered], [score for _, score in ordered]


def _asked(topic: str, separator: str | None) -> tuple[str, str]:
    if separator is None:
        return topic, "all"
    post, found, criterion = topic.rpartition(separator)
    if not (found and post and criterion):
        raise UserError(f"topic {shown(topic)}: expected a post and a criterion with {literal(separator)} between them")
    return post, criterion


def _judged(path: str | Path, progress: Progress | None) -> tuple[Judged, Source]:
    judged: Judged = {}
    with stream(path, progress) as opened:
        for place, (topic, _, document, relevance) in _cells(opened.lines, _QRELS):
            documents = judged.setdefault(topic, {})
            if document in documents:
                raise UserError(f"{place}: topic {shown(topic)}, document {shown(document)} is judged twice")
            if not _INTEGER.fullmatch(relevance):
                raise UserError(f"{place}: relevance {literal(relevance)}, expected an integer")
            documents[document] = int(relevance) > 0
        if not judged:
            raise UserError("the file has no judgments: there is nothing to evaluate")
        return judged, opened.source()


def _scored(path: str | Path, progress: Progress | None) -> tuple[str, Scored, Source]:
    scored: Scored = {}
    tag = ""
    with stream(path, progress) as opened:
        for place, (topic, _, document, _, score, said) in _cells(opened.lines, _RUN):
            documents = scored.setdefault(topic, {})
            if document in documents:
                raise UserError(f"{place}: topic {shown(topic)}, document {shown(document)} is ranked twice")
            documents[document] = _score(score, place)
            tag = tag or said
        if not scored:
            raise UserError("the file has no rows: there is nothing to evaluate")
        return tag, scored, opened.source()


def _score(text: str, place: str) -> float:
    try:
        with np.errstate(over="ignore"):  # too large for 32 bits is not finite, and told below
            score = float(np.float32(float(text))) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise UserError(f"{place}: score {literal(text)}, expected a finite number")
    return score


def _cells(lines: Any, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(lines, 1):
        cells = line.removeprefix("\ufeff").split()
        if cells and len(cells) != len(names):
            raise UserError(f"line {number}: {len(cells)} cells, expected {len(names)}: {', '.join(names)}")
        if cells:
            yield f"line {number}", cells
