"""TREC files: qrels say what is relevant to each topic, runs what systems returned, gzipped or not.

As trec_eval has it: a document is relevant if its judgment is above 0, and a run is ordered by score, held as a 32-bit
number, with ties broken by the document's id, the greater first; the ranks in the file are not looked at. Otherwise
than in trec_eval, a topic that is judged but missing from the run is an abstention, and counts.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from demur.errors import UserError, literal, located, shown
from demur.facts.columns import written_number
from demur.facts.items import Source
from demur.facts.ranking_columns import RankingsBuilder
from demur.facts.rankings import Query, Rankings
from demur.read.stream import Progress, stream

_QRELS, _RUN = ("topic", "iteration", "document", "relevance"), ("topic", "Q0", "document", "rank", "score", "tag")
_TOPIC, _DOCUMENT, _RELEVANCE, _SCORE = 0, 2, 3, 4

_INTEGER = re.compile("[+-]?[0-9]{1,18}")

T = TypeVar("T")


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
    judged, judgments, _ = _read(qrels, _QRELS, _is_relevant, progress)
    systems: dict[str, Rankings] = {}
    for name, path in _named(runs):
        scored, source, tag = _read(path, _RUN, _score, progress)
        system = name or tag
        if system in systems:
            raise UserError(f"{path}: a run called {shown(system)} is there already; name the runs: NAME=FILE")
        builder = RankingsBuilder()
        for topic, documents in judged.items():
            post, criterion = _post_and_criterion(topic, split_topics)
            ranked, scores = _ordered(scored.get(topic, {}))
            gold = [document for document, relevant in documents.items() if relevant]
            builder.add(Query(post, criterion, gold, ranked, scores))
        unjudged = len(scored.keys() - judged.keys())
        systems[system] = builder.done(text_ids=True).with_sources(judgments, source, unjudged=unjudged)
    return systems


def _named(runs: Any) -> Iterator[tuple[str | None, str | Path]]:
    for run in runs.items() if isinstance(runs, Mapping) else runs:
        yield run if isinstance(run, tuple) else (None, run)


def _ordered(scored: Mapping[str, float]) -> tuple[list[str], list[float]]:
    """Documents by score, and among equals the greater id first: by the bytes of it, as trec_eval compares them."""
    ordered = sorted(scored.items(), key=lambda entry: (entry[1], entry[0].encode()), reverse=True)
    return [document for document, _ in ordered], [score for _, score in ordered]


def _post_and_criterion(topic: str, separator: str | None) -> tuple[str, str]:
    if separator is None:
        return topic, "all"
    post, _, criterion = topic.rpartition(separator)
    if not (post and criterion):
        raise UserError(f"topic {shown(topic)}: expected a post and a criterion with {literal(separator)} between them")
    return post, criterion


def _read(
    path: str | Path, names: Sequence[str], value: Callable[[list[str]], T], progress: Progress | None
) -> tuple[dict[str, dict[str, T]], Source, str]:
    """The value of every document by topic, the source, and the last cell of the first line: the tag of a run."""
    topics: dict[str, dict[str, T]] = {}
    last = ""
    with stream(path, progress) as file:
        for number, line in enumerate(file.lines, 1):
            cells = line.removeprefix("\ufeff").split()
            if not cells:
                continue
            with located(f"line {number}"):
                if len(cells) != len(names):
                    raise UserError(f"{len(cells)} cells, expected {len(names)}: {', '.join(names)}")
                documents = topics.setdefault(cells[_TOPIC], {})
                if cells[_DOCUMENT] in documents:
                    raise UserError(f"topic {shown(cells[_TOPIC])}, document {shown(cells[_DOCUMENT])} appears twice")
                documents[cells[_DOCUMENT]] = value(cells)
            last = last or cells[-1]
        if not topics:
            raise UserError("the file has no rows: there is nothing to evaluate")
        return topics, file.source(), last


def _is_relevant(cells: list[str]) -> bool:
    if not _INTEGER.fullmatch(cells[_RELEVANCE]):
        raise UserError(f"relevance {literal(cells[_RELEVANCE])}, expected an integer")
    return int(cells[_RELEVANCE]) > 0


def _score(cells: list[str]) -> float:
    number = written_number(cells[_SCORE])
    with np.errstate(over="ignore"):  # too large for 32 bits is not finite
        score = math.nan if number is None else float(np.float32(number))
    if not math.isfinite(score):
        raise UserError(f"score {literal(cells[_SCORE])}, expected a finite number")
    return score
