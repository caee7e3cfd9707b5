"""TREC files, gzipped or not: qrels list the relevant documents of each topic, runs what a system returned.

As in NIST's trec_eval, a judgment is a grade, and a document with a grade of 0 or less, or without one, is not
relevant. A run is ordered by score, stored as a 32-bit number; ties are broken by the document's id, the greater first,
and the ranks in the file are ignored. Unlike in trec_eval, a judged topic that is missing from the run is an
abstention, and counts.

Lines are read as `get_qrels.c` and `get_trec_results.c` read them. Words are separated by ASCII white space. A line of
qrels has exactly four words. A line of a run has six, and words after the tag are ignored; empty lines of a run are
skipped, and the tag of the last line is the tag of the run. `#` means nothing to trec_eval: `#q1 0 d1 1` judges a topic
called `#q1`, and a comment of six words or more is a result, of score 0, for an unjudged topic `#`; a shorter one, and
any in qrels that is not four words long, is a malformed line. So here a line that starts with `#` is a row if it can be
parsed as one, and otherwise a comment, in either file; empty lines of qrels are skipped too.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from demur.errors import UserError, literal, located, shown
from demur.extensions.retrieval.ranking_columns import RankingsBuilder
from demur.extensions.retrieval.rankings import Query, Rankings
from demur.facts.columns import written_number
from demur.facts.items import Source
from demur.read.stream import Progress, stream

_QRELS = ("topic", "iteration", "document", "relevance")
_RUN = ("topic", "Q0", "document", "rank", "score", "tag")
_WORD = re.compile(r"\S+", re.ASCII)
ONE_CRITERION = "all"  # of topics that are not split
_INTEGER = re.compile("[+-]?[0-9]{1,18}")

T = TypeVar("T")


Runs = Mapping[str, str | Path] | Sequence[str | Path | tuple[str | None, str | Path]]


class JudgedRun(NamedTuple):
    """A TREC run: its queries as judged, the files it was read from, and how many of its topics nobody judged."""

    queries: Iterator[Query]
    sources: tuple[Source, Source]
    unjudged: int


def read_trec(
    qrels: str | Path, runs: Runs, *, split_topics: str | None = None, progress: Progress | None = None
) -> dict[str, Rankings]:
    """The facts of TREC runs, judged by one file of qrels, for each run.

    Runs are a mapping from names to files, or a list of files or pairs of a name and a file; without a name a run is
    called by its tag. Each topic is a post of its own, unless `split_topics` is the text between the post and the
    criterion in the topic's name: with "/" the topic `p1/A` asks for criterion A in post p1.
    """
    systems: dict[str, Rankings] = {}
    for name, run in judged_runs(qrels, runs, split_topics=split_topics, progress=progress):
        builder = RankingsBuilder()
        for query in run.queries:
            builder.add(query)
        systems[name] = builder.done(text_ids=True).with_sources(*run.sources, unjudged=run.unjudged)
    return systems


def judged_runs(
    qrels: str | Path, runs: Runs, *, split_topics: str | None = None, progress: Progress | None = None
) -> Iterator[tuple[str, JudgedRun]]:
    """The queries of each run by its name, for a computation that shares no code with `Rankings`."""
    if split_topics == "":
        raise UserError("split_topics '', expected the text between the post and the criterion, such as /")
    judged, judgments, _ = _read(qrels, _grade, progress)
    systems: set[str] = set()
    for run in runs.items() if isinstance(runs, Mapping) else runs:
        name, path = run if isinstance(run, tuple) else (None, run)
        scored, source, last_line = _read(path, _score, progress)
        system = name or last_line[5]
        if system in systems:
            raise UserError(f"{path}: another run is called {shown(system)} too; name the runs: NAME=FILE")
        systems.add(system)
        unjudged = len(scored.keys() - judged.keys())
        yield system, JudgedRun(_queries(judged, scored, split_topics), (judgments, source), unjudged)


def _queries(
    judged: Mapping[str, Mapping[str, int]], scored: Mapping[str, Mapping[str, float]], split_topics: str | None
) -> Iterator[Query]:
    """Every judged topic with its ranking; among equal scores, the greater id comes first, compared by bytes."""
    for topic, documents in judged.items():
        post, criterion = _post_and_criterion(topic, split_topics)
        scores = scored.get(topic, {})
        ranked = sorted(scores, key=lambda document: (scores[document], document.encode()), reverse=True)
        ordered, grades = [scores[document] for document in ranked], [*documents.values()]
        yield Query(post, criterion, [*documents], ranked, ordered, grades=grades)


def _post_and_criterion(topic: str, separator: str | None) -> tuple[str, str]:
    if separator is None:
        return topic, ONE_CRITERION
    post, _, criterion = topic.rpartition(separator)
    if not (post and criterion):
        raise UserError(f"topic {shown(topic)}: expected a post and a criterion with {literal(separator)} between them")
    return post, criterion


def _read(
    path: str | Path, value: Callable[[list[str]], T], progress: Progress | None
) -> tuple[dict[str, dict[str, T]], Source, list[str]]:
    """The value of every document by topic, the source, and the words of the last line."""
    topics: dict[str, dict[str, T]] = {}
    last: list[str] = []
    with stream(path, progress) as file:
        for number, line in enumerate(file.lines, 1):
            words = _WORD.findall(line.removeprefix("\ufeff"))
            if not words or _is_comment(words, value):
                continue
            with located(f"line {number}"):
                parsed = value(words)
                topic, _, document, *_ = last = words
                documents = topics.setdefault(topic, {})
                if document in documents:
                    raise UserError(f"topic {shown(topic)}, document {shown(document)} appears twice")
                documents[document] = parsed
        if not topics:
            raise UserError("the file has no rows: there is nothing to evaluate")
        return topics, file.source(), last


def _is_comment(words: list[str], value: Callable[[list[str]], object]) -> bool:
    """Whether a line starts with # and cannot be parsed as a row."""
    if words[0].startswith("#"):
        try:
            value(words)
        except UserError:
            return True
    return False


def _grade(words: list[str]) -> int:
    if len(words) != len(_QRELS):
        raise UserError(f"{len(words)} cells, expected {len(_QRELS)}: {', '.join(_QRELS)}")
    if not _INTEGER.fullmatch(words[3]):
        raise UserError(f"relevance {literal(words[3])}, expected an integer")
    return int(words[3])


def _score(words: list[str]) -> float:
    if len(words) < len(_RUN):
        raise UserError(f"{len(words)} cells, expected {len(_RUN)}: {', '.join(_RUN)}")
    number = written_number(words[4])
    with np.errstate(over="ignore"):  # too large for 32 bits is not finite
        score = math.nan if number is None else float(np.float32(number))
    if not math.isfinite(score):
        raise UserError(f"score {literal(words[4])}, expected a finite number")
    return score
