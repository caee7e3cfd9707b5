"""Importer for OpenAI evals: JSON Lines of events, sorted by id because they are written out of order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, located, shown
from demur.extensions.importers.hashing import sha256_of
from demur.extensions.importers.registry import ImportOptions, LogEntry, LogFacts, importer
from demur.extensions.importers.values import answer_text, is_number, object_at
from demur.files.strict_json import json_objects
from demur.read.stream import stream
from demur.types import Json

_ABOUT = {"task": "eval_name", "model": "completion_fns.0", "run_id": "run_id", "created": "created_at"}
_TYPES = ("match", "metrics", "error", "sampling")


@dataclass(slots=True)
class _Sample:
    """The events of one sample, each with its id."""

    first: int
    matches: list[tuple[int, Json]] = field(default_factory=list)
    metrics: list[tuple[int, Json]] = field(default_factory=list)
    error: bool = False


@importer("oai-evals", noun="sample", rules=("answer", "field", "value"))
def read_oai_evals(paths: Sequence[Path], options: ImportOptions, facts: LogFacts) -> Iterator[LogEntry]:
    """Read the samples in the order of their first events; several matches of one sample are repeats."""
    (path,) = paths
    facts.source["sha256"] = sha256_of(paths)
    facts.mapping |= {"item": "sample_id", "repeat": "running number", "loss": "1 - match.correct"}
    pattern = _pattern(options)
    if pattern:
        facts.mapping["cluster"] = f"sample_id ~ {pattern.pattern}"
    samples: dict[str, _Sample] = {}
    with stream(path) as file:
        for line, event in json_objects(file.lines):
            with located(line):
                _take(event, samples, facts)
    if samples and not any(sample.matches for sample in samples.values()):
        facts.warn(
            "no_matches", "no sample has a match: what an eval records as metrics alone is not imported as a score"
        )
    with located(path):
        for item, sample in sorted(samples.items(), key=lambda pair: pair[1].first):
            yield from _entries(item, sample, _cluster(item, pattern), facts)


def _take(event: Json, samples: dict[str, _Sample], facts: LogFacts) -> None:
    run = object_at(event, "spec").get("run_id") if "spec" in event else event.get("run_id")
    if isinstance(run, str) and facts.source["run_id"] not in (None, run):
        raise UserError(
            f"run {shown(run)}, and {shown(facts.source['run_id'])} before it: import each in a file of its own"
        )
    facts.describe({"run_id": run}, {"run_id": "run_id"})
    if "spec" in event:
        facts.describe(object_at(event, "spec"), _ABOUT)
        return
    if "final_report" in event:
        return
    item, number, kind = event.get("sample_id"), event.get("event_id"), event.get("type")
    if not isinstance(item, str) or type(number) is not int or not isinstance(kind, str):
        raise UserError("not an event of OpenAI evals: expected sample_id, event_id and type")
    if kind not in _TYPES:
        return
    sample = samples.setdefault(item, _Sample(number))
    sample.first = min(sample.first, number)
    if kind == "match":
        sample.matches.append((number, object_at(event, "data")))
    elif kind == "metrics":
        sample.metrics.append((number, object_at(event, "data")))
    elif kind == "error":
        sample.error = True


def _entries(item: str, sample: _Sample, cluster: str | None, facts: LogFacts) -> Iterator[LogEntry]:
    matches, metrics = (
        [data for _, data in sorted(events, key=itemgetter(0))] for events in (sample.matches, sample.metrics)
    )
    where = f"sample {shown(item)}"
    if not matches:
        cause = "error" if sample.error else "no match"
        yield LogEntry(where=where, item=item, failed=cause, cluster=cluster, record={"sample_id": item})
        return
    if len(matches) == 1:
        metrics = [{name: value for data in metrics for name, value in data.items()}]
    elif metrics and len(metrics) != len(matches):
        raise UserError(
            f"{where}: {len(matches)} matches and {len(metrics)} metrics: the log does not say which belong together"
        )
    for repeat, match in enumerate(matches, 1):
        own_metrics = metrics[repeat - 1] if metrics else {}
        signals = {name: value for name, value in own_metrics.items() if is_number(value)}
        facts.signal_paths |= {name: f"metrics.{name}" for name in signals}
        yield LogEntry(
            where=where if len(matches) == 1 else f"{where}, repeat {repeat}",
            item=item,
            repeat=repeat,
            value=match.get("correct"),
            answer=_answer(match),
            record={"sample_id": item, "match": match, "metrics": own_metrics},
            signals=signals,
            cluster=cluster,
        )


def _answer(match: Json) -> str | None:
    answer: Any = match.get("picked") if match.get("picked") is not None else match.get("sampled")
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    return answer_text(answer)


def _pattern(options: ImportOptions) -> re.Pattern[str] | None:
    text = options.choices.get("cluster_regex")
    if text is None:
        return None
    if options.cluster:
        raise UserError("--cluster and --cluster-regex: give one of them")
    try:
        pattern = re.compile(text, re.DOTALL)
    except re.error as error:
        raise UserError(f"--cluster-regex {literal(text)} is not a regular expression: {error}") from None
    if pattern.groups != 1:
        raise UserError(f"--cluster-regex {literal(text)}, expected one group in parentheses, the cluster")
    return pattern


def _cluster(item: str, pattern: re.Pattern[str] | None) -> str | None:
    if pattern is None:
        return None
    match = pattern.fullmatch(item)
    if not match or not match[1]:
        raise UserError(f"sample {shown(item)} does not match --cluster-regex {literal(pattern.pattern)}")
    return str(match[1])
