"""Importer for promptfoo: the results that `-o results.json` writes, one row per provider, prompt, test and repeat."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from demur.confidences.model_output import token_msp
from demur.errors import UserError, literal, located, shown
from demur.extensions.importers.hashing import sha256_of
from demur.extensions.importers.json_cursor import JsonCursor
from demur.extensions.importers.registry import ImportOptions, LogEntry, LogFacts, importer
from demur.extensions.importers.user_choices import OneOf, no_such
from demur.extensions.importers.values import answer_text, is_number, object_at
from demur.facts.paths import at_path
from demur.types import Json

_VERSION = 3
_ERROR = 2  # no response; 1 is a failed assertion, which has a text in `error` too
_DISPLAY = ".csv"
_NO_GRADE = ("Could not extract JSON from", "llm-rubric produced malformed response")  # reasons of a grader that failed
_ABOUT = {"evalId": ("run_id", ""), "metadata": ("tool_version", "promptfooVersion"), "config": ("task", "description")}


def _records(path: Path) -> Iterator[Json]:
    return (row for _, row in _placed_rows(path, LogFacts()))


def _placed_rows(path: Path, facts: LogFacts) -> Iterator[tuple[str, Json]]:
    """The rows, each after its position."""
    with JsonCursor.opened(path) as cursor:
        for number, _ in enumerate(_rows(cursor, facts)):
            with located(f"results[{number}]"):
                row = cursor.value()
                if not isinstance(row, dict):
                    raise UserError("expected an object")
            yield f"results[{number}]", row


@importer("promptfoo", noun="row", rules=("answer", "named", "field", "value"), records=_records)
def read_promptfoo(paths: Sequence[Path], options: ImportOptions, facts: LogFacts) -> Iterator[LogEntry]:
    """Read the rows of one provider and one prompt."""
    (path,) = paths
    if path.suffix.lower() == _DISPLAY:
        raise UserError(f"{path}: this is results.csv of promptfoo: import results.json")
    facts.source["sha256"] = sha256_of(paths)
    reading = _Rows(options)
    for position, row in _placed_rows(path, facts):
        with located(path), located(position):
            entry = reading.entry(row, facts)
        if entry:
            yield entry
    with located(path):
        reading.check()
    facts.source["model"] = reading.systems.chosen
    facts.mapping |= {"item": "testCase.description", "repeat": "running number", "loss": f"1 - {reading.metric}"}


def _rows(cursor: JsonCursor, facts: LogFacts) -> Iterator[None]:
    """Stop at each row, and record what the file says of the run."""
    for member in cursor.members((*_ABOUT, "results")):
        if member in _ABOUT:
            name, path = _ABOUT[member]
            facts.source[name] = _text(at_path(cursor.value(), path))
        elif cursor.peek() == "{":
            yield from _rows_of_results(cursor, facts)
        else:
            raise UserError("not results of promptfoo: results is not an object that has the rows in its own results")


def _rows_of_results(cursor: JsonCursor, facts: LogFacts) -> Iterator[None]:
    version = None
    for member in cursor.members(("version", "timestamp", "results")):
        if member == "version":
            version = cursor.value()
        elif member == "timestamp":
            facts.source["created"] = _text(cursor.value())
        else:
            yield from cursor.elements()
    if version != _VERSION:
        message = f"version of the results {literal(version)}, and {_VERSION} is the one that is known"
        facts.warn("unknown_log_version", message)


class _Rows:
    """Turns rows into entries: it knows the chosen system and metric, and counts the repeats of each test."""

    def __init__(self, options: ImportOptions) -> None:
        self.options = options
        self.metric = options.choices.get("metric")
        self.systems = OneOf("system", "--provider and --prompt", None)
        self._others: dict[str, None] = {}
        self._repeats: Counter[str] = Counter()
        self._vars: dict[str, str] = {}

    def entry(self, row: Json, facts: LogFacts) -> LogEntry | None:
        """The entry of a row; None for a row of another system."""
        if not self._is_wanted(row):
            return None
        item = self._item(row)
        self._repeats[item] += 1
        repeat = self._repeats[item]
        where = f"test {shown(item)}, repeat {repeat}"
        response = object_at(row, "response")
        unanswered = row.get("failureReason") == _ERROR or (row.get("error") and response.get("output") is None)
        failed = "error" if unanswered else None
        with located(where):
            value = None if failed else self._value(row)
            return LogEntry(
                where=where,
                item=item,
                repeat=repeat,
                value=value,
                answer=answer_text(response.get("output")),
                record=row,
                signals=_signals(response, facts),
                failed=failed or ("grader_failed" if self._grader_failed(row) else None),
            )

    def _grader_failed(self, row: Json) -> bool:
        """Whether the score is 0 because a grader gave no verdict, and not because of the answer."""
        components = at_path(row, "gradingResult.componentResults")
        return any(
            self.metric in (at_path(part, "assertion.metric"), "success", "score")
            and (at_path(part, "metadata.graderError") is True or str(at_path(part, "reason")).startswith(_NO_GRADE))
            for part in (components if isinstance(components, list) else [object_at(row, "gradingResult")])
        )

    def _is_wanted(self, row: Json) -> bool:
        provider, prompt = row.get("provider"), row.get("promptIdx", 0)
        names = [provider.get("label"), provider.get("id")] if isinstance(provider, dict) else [provider]
        names = [name for name in names if isinstance(name, str)] or [""]
        requested = [self.options.choices.get(name) for name in ("provider", "prompt")]
        system = f"{names[0]} (prompt {prompt})"
        if requested[0] not in (None, *names) or requested[1] not in (None, str(prompt)):
            self._others[system] = None
            return False
        return self.systems.takes(system)

    def check(self) -> None:
        """Check after all rows that exactly one system was chosen."""
        if self._others and self.systems.chosen is None:
            raise UserError(f"no row of this --provider and --prompt; there are: {', '.join(map(shown, self._others))}")
        self.systems.check()

    def _item(self, row: Json) -> str:
        """The description of a test, or a hash of its variables: promptfoo gives each repeat an index of its own."""
        variables = json.dumps(row.get("vars"), sort_keys=True)
        digest = hashlib.sha256(variables.encode()).hexdigest()[:16]
        item = _text(at_path(row, "testCase.description")) or digest
        if self._vars.setdefault(item, digest) != digest:
            raise UserError(
                f"two tests are called {shown(item)} and differ in vars: give each a description of its own"
            )
        return item

    def _value(self, row: Json) -> Any:
        named = object_at(row, "namedScores")
        if self.metric is None:
            if len(named) > 1:
                names = ", ".join(map(shown, [*named, "success", "score"]))
                raise UserError(f"{len(named) + 2} metrics: {names}; choose one with --metric")
            self.metric = next(iter(named), "score")
        if self.metric in named:
            return named[self.metric]
        if self.metric in ("success", "score"):
            return row.get(self.metric)
        raise no_such("metric", self.metric, [*named, "success", "score"])


def _signals(response: Json, facts: LogFacts) -> dict[str, float]:
    noted = {name: value for name, value in object_at(response, "metadata").items() if is_number(value)}
    facts.signal_paths |= {"token_msp": "response.logProbs"} | {name: f"response.metadata.{name}" for name in noted}
    return noted | ({"token_msp": token_msp(response["logProbs"])} if response.get("logProbs") else {})


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
