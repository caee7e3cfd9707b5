"""Recognises logs of other tools by their first bytes; the error names the command that imports them."""

import re
import shlex
from pathlib import Path

from demur.errors import UserError
from demur.files.strict_json import shown_path

_START = 1 << 20
LOGS = {
    "inspect": (
        "an Inspect log",
        re.compile(
            rb"PK\x03\x04.{26}(header\.json|summaries\.json|reductions\.json|_journal/|samples/)"
            rb'|\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:',
            re.DOTALL,
        ),
    ),
    "lm-eval": (
        "samples of lm-evaluation-harness",
        re.compile(rb'\s*\{(?=[^\n]*"filtered_resps"\s*:)[^\n]*"doc_id"\s*:', re.DOTALL),
    ),
    "promptfoo": ("results of promptfoo", re.compile(rb'\s*\{\s*"evalId"\s*:')),
    "oai-evals": (
        "an event log of OpenAI evals",
        re.compile(rb'\s*\{\s*("spec"\s*:\s*\{\s*"completion_fns"|"run_id"\s*:[^\n]*"event_id"\s*:)'),
    ),
    "helm": ("a run folder of HELM", re.compile(rb"(?!)")),
}


def check_foreign(path: str | Path) -> None:
    """Refuse the log of another tool; the error names the command that imports it."""
    tool = foreign_tool(path)
    if tool is not None:
        raise UserError(f"{path}: {import_hint(tool, path)}")


def import_hint(tool: str, path: str | Path) -> str:
    """Describe a log, and the command that imports it."""
    return f"{LOGS[tool][0]}; import it first: demur import {tool} {shlex.quote(shown_path(path))} -o units.jsonl"


def foreign_tool(path: str | Path) -> str | None:
    """The tool that wrote a file or a folder; None if it is not a known log."""
    try:
        if (Path(path) / "per_instance_stats.json").is_file():
            return "helm"
        if not Path(path).is_file():  # a pipe can be read only once
            return None
        with Path(path).open("rb") as file:
            start = file.read(_START)
    except (OSError, TypeError, ValueError):  # the reader reports an unreadable file
        return None
    return next((tool for tool, (_, pattern) in LOGS.items() if pattern.match(start)), None)
