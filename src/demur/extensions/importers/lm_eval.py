"""Importer for lm-evaluation-harness: `samples_<task>_<date>.jsonl`, one line for each document and filter.

The files write numbers as text. The picked choice is the first maximum, as in the harness, and is checked against the
metric on every line.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from demur.errors import UserError, literal, located, shown
from demur.extensions.importers.hashing import sha256_of
from demur.extensions.importers.registry import ImportOptions, LogEntry, LogFacts, importer, json_lines
from demur.extensions.importers.user_choices import OneOf, no_such
from demur.facts.columns import written_number
from demur.facts.paths import at_path
from demur.files.numbers import finite_float
from demur.files.strict_json import json_objects, read_as
from demur.read.stream import stream
from demur.read.tool_logs import samples_hint
from demur.types import Json

_NAME = re.compile(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[0-9.:-]+)?\.jsonl(?:\.gz)?")
_REFUSED = {
    "acc_mutual_info": "weighs a choice against the choice alone",
    "word_perplexity": "is of a whole text, and no text is right or wrong",
    "byte_perplexity": "is of a whole text, and no text is right or wrong",
    "bits_per_byte": "is of a whole text, and no text is right or wrong",
}
_UNIT_OF_LENGTH: dict[str, Callable[[str], int]] = {
    "acc_norm": len,
    "acc_bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
}
_PAIR = 2
_ORIGIN = {
    "choice_max_prob": "softmax of filtered_resps",
    "choice_margin": "softmax of filtered_resps",
    "choice_entropy": "softmax of filtered_resps",
    "choice_max_prob_norm": "softmax of filtered_resps by length",
    "consistency_modal_confidence": "resps.0",
}


def _records(path: Path) -> Iterator[Json]:
    _check_samples(path)
    return json_lines(path)


@importer("lm-eval", noun="document", rules=("choice", "answer", "field", "value"), records=_records)
def read_lm_eval(paths: Sequence[Path], options: ImportOptions, facts: LogFacts) -> Iterator[LogEntry]:
    """Read the documents of one file, under one filter and one metric."""
    (path,) = paths
    _check_samples(path)
    facts.source["sha256"] = sha256_of(paths)
    _describe_run(path, facts)
    facts.signal_paths |= _ORIGIN
    filters = OneOf("filter", "--filter", options.choices.get("filter"))
    metric = options.choices.get("metric")
    with stream(path) as file:
        for line, row in json_objects(file.lines):
            with located(line):
                if "doc_id" not in row or "filtered_resps" not in row:
                    raise UserError("not a sample of lm-evaluation-harness: it has no doc_id or no filtered_resps")
                if not filters.takes(str(row.get("filter", "none")), line):
                    continue
                metric = metric or _metric(row)
                entry = _entry(row, metric)
            yield entry
        filters.check()
    facts.mapping |= {"item": "doc_id", "filter": filters.chosen, "loss": f"1 - {metric}"}


def _check_samples(path: Path) -> None:
    if hint := samples_hint(path):
        raise UserError(f"{path}: {hint}")


def _describe_run(path: Path, facts: LogFacts) -> None:
    """Record what the name of the file says of the run, and the file of results in the same folder, if there is one."""
    name = _NAME.fullmatch(path.name)
    facts.source["task"] = name[1] if name else None
    file = path.with_name(f"results{name[2] or ''}.json" if name else "results.json")
    if file.is_file():
        facts.read_beside.append(file)
        try:
            results = read_as(file, lambda content: content if isinstance(content, dict) else {})
        except UserError as error:  # the samples are what was asked for
            facts.warn("results_unread", f"the model and the version are unknown: {error}")
            return
        model = "model_name" if results.get("model_name") else "config.model"
        facts.describe(results, {"tool_version": "lm_eval_version", "model": model})
        facts.source["created"] = _time(results.get("date"))


def _time(seconds: Any) -> str | None:
    from demur.files.strict_model import TIME_FORMAT  # noqa: PLC0415  (pydantic is large, and few logs have results)

    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime(TIME_FORMAT)
    except (OSError, OverflowError, TypeError, ValueError):
        return None


def _metric(row: Json) -> str:
    """The default metric: accuracy, an exact match, or the only one."""
    names = _metrics(row)
    usual = [name for name in ("acc", "exact_match") if name in names]
    if usual or len(names) == 1:
        return (usual or names)[0]
    if not names:
        raise UserError("no metric: it has no list of metrics, and no number that could be one")
    raise UserError(f"{len(names)} metrics: {', '.join(map(shown, names))}; choose one with --metric")


def _metrics(row: Json) -> list[str]:
    """The names of the metrics; early versions do not list them, and every number but the id is one."""
    listed = row.get("metrics")
    if isinstance(listed, list):
        return [name for name in listed if isinstance(name, str)]
    return [name for name, value in row.items() if name != "doc_id" and isinstance(value, (int, float))]


def _entry(row: Json, metric: str) -> LogEntry:
    refused = metric if metric in _REFUSED else "acc_mutual_info" if "acc_mutual_info" in _metrics(row) else None
    if refused:
        raise UserError(f"{refused} {_REFUSED[refused]}: it cannot be imported")
    if metric not in row:
        raise no_such("metric", metric, _metrics(row))
    item = row["doc_id"]
    if not isinstance(item, (int, str)):
        raise UserError(f"doc_id {literal(item)}, expected a number or a text")
    where = f"doc_id {shown(item)}"
    answers = row["filtered_resps"]
    with located(where):
        if not isinstance(row[metric], bool) and finite_float(row[metric]) is None:
            raise UserError(f"{shown(metric)} is {literal(row[metric])}, expected a number")
        choices = _choices(row, answers)
        if choices:
            weights = _weights(choices, metric)
            picked = weights.index(max(weights))
            _check_pick(row, metric, picked)
            return LogEntry(
                where=where,
                item=str(item),
                value=row[metric],
                choice=choices[picked].text,
                answer=choices[picked].text,
                record=row,
                signals=_choice_signals(choices, metric),
            )
    text = answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], str) else None
    signals = _consistency(row.get("resps"))
    return LogEntry(where=where, item=str(item), value=row[metric], answer=text, record=row, signals=signals)


class _Choice(NamedTuple):
    """A choice and its log-likelihood."""

    text: str
    loglikelihood: float


def _choices(row: Json, answers: Any) -> list[_Choice]:
    """The choices of a document; none if the answer was generated."""
    if not isinstance(answers, list) or len(answers) < _PAIR:
        return []
    if not all(isinstance(answer, list) and len(answer) == _PAIR for answer in answers):
        return []
    choices = []
    for index, (written, _) in enumerate(answers):
        number = finite_float(written_number(written) if isinstance(written, str) else written)
        if number is None:
            raise UserError(f"log-likelihood {literal(written)} of choice {index}, expected a finite number")
        text = at_path(row, f"arguments.gen_args_{index}.arg_1")
        if not isinstance(text, str):
            raise UserError(f"arguments.gen_args_{index}.arg_1, which is the text of a choice, is not a text")
        choices.append(_Choice(text.removeprefix(" "), number))
    return choices


def _weights(choices: Sequence[_Choice], metric: str) -> list[float]:
    length = _UNIT_OF_LENGTH.get(metric)
    return [choice.loglikelihood / (length(choice.text) or 1 if length else 1) for choice in choices]


def _check_pick(row: Json, metric: str, picked: int) -> None:
    """Check that the picked choice is right exactly if the metric says so, where the gold choice is known."""
    gold = row.get("target")
    gold = int(gold) if isinstance(gold, str) and re.fullmatch("[0-9]{1,6}", gold) else gold
    if type(gold) is not int or gold >= len(row["filtered_resps"]) or metric not in ("acc", *_UNIT_OF_LENGTH):
        return
    right = int(gold == picked)
    if row[metric] != right:
        raise UserError(f"{metric} says {row[metric]:g}, the log-likelihoods say {right}; is it another --metric?")


def _choice_signals(choices: Sequence[_Choice], metric: str) -> dict[str, float]:
    shares = _softmax([choice.loglikelihood for choice in choices])
    first, second, *_ = sorted(shares, reverse=True)
    by_length = metric if metric in _UNIT_OF_LENGTH else "acc_norm"
    return {
        "choice_max_prob": first,
        "choice_margin": first - second,
        "choice_entropy": max(0.0, -math.fsum(share * math.log(share) for share in shares if share)),
        "choice_max_prob_norm": max(_softmax(_weights(choices, by_length))),
    }


def _softmax(weights: Sequence[float]) -> list[float]:
    top = max(weights)
    powers = [math.exp(weight - top) for weight in weights]
    total = math.fsum(powers)
    return [power / total for power in powers]


def _consistency(responses: Any) -> dict[str, float]:
    texts = responses[0] if isinstance(responses, list) and responses else None
    if not isinstance(texts, list) or len(texts) < _PAIR or not all(isinstance(text, str) for text in texts):
        return {}
    return {"consistency_modal_confidence": Counter(texts).most_common(1)[0][1] / len(texts)}
