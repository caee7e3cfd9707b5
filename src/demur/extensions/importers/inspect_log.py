"""Importer for Inspect AI: `.eval` archives, with whole or chunked samples, and `.json` logs.

The format is versioned, but changes: only the members listed in `_READ` are read, and all others are skipped. Inspect's
own `results` and `reductions` count an abstention as a wrong answer, and are never read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from demur.confidences.model_output import token_signals
from demur.errors import UserError, literal, located, shown
from demur.extensions.importers.archive import Archive, Member
from demur.extensions.importers.hashing import sha256_of
from demur.extensions.importers.json_cursor import JsonCursor
from demur.extensions.importers.registry import ImportOptions, LogEntry, LogFacts, importer
from demur.extensions.importers.user_choices import OneOf
from demur.extensions.importers.values import is_nan, is_number, object_at
from demur.facts.paths import at_path
from demur.files.numbers import finite_float
from demur.files.strict_json import decode, decoder
from demur.types import Json

_ZIP = b"PK"
_VERSION = 2
_WHOLE = re.compile(r"samples/.+_epoch_[0-9]+\.json", re.DOTALL)
_CHUNKED = re.compile(r"samples/.+_epoch_[0-9]+/sample\.json", re.DOTALL)
_HEADER = ("version", "status", "eval")
_READ = {"id", "epoch", "metadata", "store", "output", "error", "limit", "invalidation", "model_usage", "total_time"}
_READ |= {"error_retries", "scores"}
_SCORES = decoder(constant=float)  # accepts NaN and Infinity, which only the value of a score may be
_CODES = {"C": 1.0, "I": 0.0, "P": 0.5, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_COSTS = ("input_tokens", "output_tokens", "total_tokens")
# Reasons that Inspect gives where the grader or the scorer failed; `grade_parse_failure` is the one before 0.3.261.
_NO_VERDICT = {"grader_failed", "scoring_failed", "grade_parse_failure"}
# Reasons that scorers of others give for a score that says nothing: about the grader, not about the answer.
_OF_THE_SCORER = re.compile(
    r"(?<![a-z])(?:grad(?:e|er|ing)|judge?|scor(?:e|er|ing)|fail|error|exception|time_?out)", re.IGNORECASE
)
_NO_GRADE = "Grade not found in model output"  # how Inspect explains such a score; before 0.3.233 its value is I
_GRADER_FAILED = "grader_failed"
_SHORT = re.compile(r"[\w -]{1,40}")


@dataclass(slots=True)
class _Reading:
    """The state of reading a log."""

    options: ImportOptions
    facts: LogFacts
    scorer: OneOf
    header: Json = field(default_factory=dict)
    samples: int = 0
    cost: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)


def _records(path: Path) -> Iterator[Json]:
    return _samples(path, _Reading(ImportOptions(), LogFacts(), OneOf("scorer", "--scorer", None)))


@importer(
    "inspect",
    noun="sample",
    rules=("value", "answer", "field", "unscored"),
    own=("value=N", "unscored", "null"),
    codes=_CODES,
    expected="C, I, P, N, a number, true or false",
    records=_records,
)
def read_inspect(paths: Sequence[Path], options: ImportOptions, facts: LogFacts) -> Iterator[LogEntry]:
    """Read the samples of a log, which may be in several files."""
    reading = _Reading(options, facts, OneOf("scorer", "--scorer", options.choices.get("scorer")))
    facts.source["sha256"] = sha256_of(paths)
    for path in paths:
        facts.path = path
        reading.header, before = {}, reading.samples
        for sample in _samples(path, reading):
            with located(path):
                yield from _entries(sample, reading)
        with located(path):
            _describe(reading, reading.samples - before)
    with located(paths[0]):
        reading.scorer.check(f"{reading.samples} samples")
    facts.source["cost"] = {**reading.cost, "total_time": _total(reading.times)}
    value_key = options.choices.get("value_key")
    value = f"scores.{reading.scorer.chosen}.value" if reading.scorer.chosen is not None else "score"
    value += f".{value_key}" if value_key else ""
    facts.mapping |= {"item": "id", "repeat": "epoch", "loss": f"1 - {value}"}


def _samples(path: Path, reading: _Reading) -> Iterator[Json]:
    with path.open("rb") as file:
        packed = file.read(2) == _ZIP
    return _of_archive(path, reading) if packed else _of_json(path, reading)


def _of_archive(path: Path, reading: _Reading) -> Iterator[Json]:
    with located(path), Archive.opened(path, reading.options.largest_member) as archive:

        def cursor(member: Member) -> JsonCursor:
            data = archive.read(member)
            with located(shown(member.name)):
                return JsonCursor.of_text(decode(data))

        header = archive.find("header.json")
        start = header or archive.find("_journal/start.json")  # there is no header if the run was killed
        if start is None:
            raise UserError("not an Inspect log: it has neither header.json nor _journal/start.json")
        position = cursor(start)
        with located(start.name):
            for _ in _header(position, reading):
                raise UserError("it holds samples, which are in members of their own")
        if header is None:
            reading.header["status"] = "started"
        for member in archive:
            chunked = _CHUNKED.fullmatch(member.name)
            if not chunked and not _WHOLE.fullmatch(member.name):
                continue
            position = cursor(member)
            with located(shown(member.name)):
                sample = _sample(position)
            if chunked and (metadata := archive.find(member.name.removesuffix("sample.json") + "metadata.json")):
                position = cursor(metadata)
                with located(shown(metadata.name)):
                    sample["metadata"] = position.value()
            yield sample


def _of_json(path: Path, reading: _Reading) -> Iterator[Json]:
    with JsonCursor.opened(path) as cursor:
        for number, _ in enumerate(_header(cursor, reading)):
            with located(f"samples[{number}]"):
                sample = _sample(cursor)
            yield sample


def _header(cursor: JsonCursor, reading: _Reading) -> Iterator[None]:
    """Read the members of a log that are needed, and stop at each sample."""
    for member in cursor.members((*_HEADER, "samples")):
        if member in _HEADER:
            reading.header[member] = cursor.value()
        elif cursor.peek() == "[":
            if not isinstance(reading.header.get("eval"), dict):
                raise UserError("not an Inspect log: eval, which comes before the samples, is missing")
            yield from cursor.elements()
        else:
            cursor.skip()
    if not isinstance(reading.header.get("eval"), dict):
        raise UserError("not an Inspect log: eval is missing, expected an object")


def _sample(cursor: JsonCursor) -> Json:
    return {name: cursor.value(_SCORES) if name == "scores" else cursor.value() for name in cursor.members(_READ)}


def _entries(sample: Json, reading: _Reading) -> Iterator[LogEntry]:
    """The entry of a sample; none if it has several scores and no scorer was requested."""
    item, epoch, scores = sample.get("id"), sample.get("epoch", 1), sample.get("scores") or {}
    if not isinstance(item, (int, str)) or type(epoch) is not int or epoch < 1 or not isinstance(scores, dict):
        raise UserError(f"sample {literal(item)}, epoch {literal(epoch)}: expected an id, an epoch from 1, and scores")
    where = f"sample {shown(item)}, epoch {epoch}"
    reading.samples += 1
    _add_cost(sample, reading)
    taken = [name for name in scores if reading.scorer.takes(name)]
    if len(scores) > 1 and reading.scorer.is_guess:
        return
    score = scores[taken[0]] if taken else None
    failed, value = _failure(sample, has_score=score is not None), None
    with located(where):
        if score is not None and not failed:
            value = _value(score, taken[0], reading.options.choices.get("value_key"))
            failed = _scorer_failure(score, value)
        _check_finite({name: _without_value(part) for name, part in scores.items()})
        signals = _signals(sample, score, taken[0] if taken else "", reading.facts)
    answer = score.get("answer") if isinstance(score, dict) else None
    yield LogEntry(
        where=where,
        item=str(item),
        repeat=epoch,
        value=value,
        answer=answer if isinstance(answer, str) else None,
        record={**sample, "eval": reading.header["eval"]},
        signals=signals,
        failed=failed,
        reason=_reason(score),
    )


def _failure(sample: Json, *, has_score: bool) -> str | None:
    """The reason why a sample has no answer to judge, even if the log as a whole says success."""
    for cause in ("error", "invalidation"):
        if sample.get(cause):
            return cause
    if has_score:
        return None
    return "limit" if sample.get("limit") else "no score"


def _scorer_failure(score: Any, value: Any) -> str | None:
    """Why a score is no verdict on the answer, if its grader or its scorer failed.

    A score of NaN, null or N is a failure too if the reason is about the scorer, or if it has none and the answer went
    to a grader. A value that somebody corrected is a verdict, even if the reason was left as it was.
    """
    if not isinstance(score, dict):
        return None
    reason, metadata, history = _reason(score), object_at(score, "metadata"), score.get("history")
    silent = value in (None, "N") or is_nan(value)
    edits = history[1:] if isinstance(history, list) else []
    if not silent and any(isinstance(edit, dict) and edit.get("value", "UNCHANGED") != "UNCHANGED" for edit in edits):
        return None
    if reason is not None and (reason in _NO_VERDICT or (silent and _OF_THE_SCORER.search(reason))):
        return reason if _SHORT.fullmatch(reason) else _GRADER_FAILED
    graded = not metadata.keys().isdisjoint(("grading", "panel"))
    if str(score.get("explanation")).startswith(_NO_GRADE) or (silent and value != "N" and graded and reason is None):
        return _GRADER_FAILED
    return None


def _reason(score: Any) -> str | None:
    """The reason of an abnormal score; before 0.3.261 it is in the metadata."""
    own, metadata = score if isinstance(score, dict) else {}, object_at(score, "metadata")
    reasons = (own.get("reason"), metadata.get("unscored_reason"), metadata.get("reason"))
    return next((reason for reason in reasons if isinstance(reason, str) and reason.strip()), None)


def _value(score: Any, scorer: str, key: str | None) -> Any:
    value = score.get("value") if isinstance(score, dict) else score
    if isinstance(value, dict):
        if key is None or key not in value:
            missing = "" if key is None else f", none of them {shown(key)}"
            names = ", ".join(map(shown, value))
            raise UserError(
                f"scorer {shown(scorer)} gives several values: {names}{missing}; choose one with --value-key"
            )
        return value[key]
    if value is None or is_nan(value):  # the score as a whole is missing, even of a scorer that gives several values
        return math.nan
    if key is not None:
        raise UserError(f"scorer {shown(scorer)} gives one value: leave out --value-key")
    if isinstance(value, list):
        raise UserError(f"scorer {shown(scorer)} gives a list, expected one value")
    return value


def _without_value(score: Any) -> Any:
    """A score without its value and its history of values, which may be NaN; the rest must be strict JSON."""
    return (
        {name: part for name, part in score.items() if name not in ("value", "history")}
        if isinstance(score, dict)
        else score
    )


def _check_finite(part: Any) -> None:
    if isinstance(part, float) and not math.isfinite(part):
        raise UserError(f"not valid JSON: {part} is not a JSON number; it is allowed only as a score's value")
    if isinstance(part, (dict, list)):
        for inner in part.values() if isinstance(part, dict) else part:
            _check_finite(inner)


def _signals(sample: Json, score: Any, scorer: str, facts: LogFacts) -> dict[str, float]:
    """The numbers in the metadata of a score, and the signals of the tokens if the log has their probabilities."""
    noted = {name: value for name, value in object_at(score, "metadata").items() if is_number(value)}
    tokens = at_path(sample, "output.choices.0.logprobs.content")
    of_tokens = token_signals(tokens) if isinstance(tokens, list) and tokens else {}
    for name in noted.keys() - facts.signal_paths.keys():
        facts.signal_paths[name] = f"scores.{scorer}.metadata.{name}"
    for name in of_tokens:
        facts.signal_paths[name] = "output.choices.0.logprobs"
    return noted | of_tokens


def _add_cost(sample: Json, reading: _Reading) -> None:
    for counts in object_at(sample, "model_usage").values():
        for name in _COSTS:
            if isinstance(counts, dict) and _is_count(counts.get(name)):
                reading.cost[name] += counts[name]
    seconds = finite_float(sample.get("total_time"))
    if seconds is not None:
        reading.times.append(seconds)
    retries = sample.get("error_retries")
    reading.cost["error_retries"] += len(retries) if isinstance(retries, list) else 0


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and finite_float(value) is not None


def _total(times: Sequence[float]) -> float | None:
    try:
        return math.fsum(times)
    except OverflowError:
        return None


def _describe(reading: _Reading, samples: int) -> None:
    """Record what the header says of the run, and warn if it is incomplete or the samples differ from it."""
    evaluation, source, warn = reading.header["eval"], reading.facts.source, reading.facts.warn
    version, status = reading.header.get("version"), reading.header.get("status")
    known = {
        "tool_version": at_path(evaluation, "packages.inspect_ai"),
        "task": evaluation.get("task"),
        "model": evaluation.get("model"),
    }
    for name, value in known.items():
        text = value if isinstance(value, str) else None
        if name != "tool_version" and source[name] not in (None, text):
            raise UserError(
                f"{name} {literal(text)}, and {literal(source[name])} in a log before it: import each alone"
            )
        source[name] = text
    for name, value in {"run_id": evaluation.get("run_id"), "created": evaluation.get("created")}.items():
        texts = [text for text in (source[name], value) if isinstance(text, str)]
        source[name] = ", ".join(texts) if texts else None
    if version != _VERSION:
        warn("unknown_log_version", f"log version {literal(version)}, and {_VERSION} is the one that is known")
    if status != "success":
        warn("incomplete_log", f"the log says {literal(status)}, not success: the run may not have ended")
    ids, epochs = at_path(evaluation, "dataset.sample_ids"), at_path(evaluation, "config.epochs")
    expected = len(ids) * (epochs if _is_count(epochs) else 1) if isinstance(ids, list) else samples
    if expected != samples:
        warn("samples_differ", f"the header announces {expected} samples, the log holds {samples}")
