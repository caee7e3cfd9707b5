"""Recognition of logs of other tools by their first bytes, to suggest the command that imports them."""

import re
import shlex
from pathlib import Path

from demur.errors import UserError, shown
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


_RESULTS = re.compile(
    rb'\s*\{\s*"results"\s*:\s*\{.*"(alias|n-shot|group_subtasks|higher_is_better|lm_eval_version)"\s*:', re.DOTALL
)
_SAMPLES = "samples_*.jsonl"
_SHOWN = 5


def refuse_tool_log(path: str | Path) -> None:
    """Raise an error if the file is a log of another tool; it names the command that imports it."""
    tool = tool_of_log(path)
    if tool is not None:
        raise UserError(f"{path}: {import_hint(tool, path)}")


def import_hint(tool: str, path: str | Path) -> str:
    """Describe a log, with the command that imports it."""
    if tool == "lm-eval" and (samples := samples_hint(path)):
        return samples
    return f"{LOGS[tool][0]}; import it first: demur import {tool} {shlex.quote(shown_path(path))} -o units.jsonl"


def tool_of_log(path: str | Path) -> str | None:
    """The name of the tool that wrote a file or folder; None if it is not a known log."""
    try:
        if (Path(path) / "per_instance_stats.json").is_file():
            return "helm"
        if samples_hint(path):
            return "lm-eval"
        start = _start(path)
    except (OSError, TypeError, ValueError):  # the reader reports an unreadable file
        return None
    return next((tool for tool, (_, pattern) in LOGS.items() if pattern.match(start)), None)


def samples_hint(path: str | Path) -> str | None:
    """Which samples to import in place of results of lm-evaluation-harness; None if the path is neither."""
    place = Path(path)
    if place.is_dir():
        samples = sorted(place.glob(_SAMPLES))
        known = bool(samples) and LOGS["lm-eval"][1].match(_start(samples[0]))
        about = "a folder of lm-evaluation-harness, of which one file of samples is imported" if known else None
    else:
        about = "results of lm-evaluation-harness, without the answers" if _RESULTS.match(_start(path)) else None
        date = place.stem.removeprefix("results")
        samples = sorted(place.parent.glob(_SAMPLES)) if about else []
        samples = [file for file in samples if file.stem.endswith(date)] or samples
    if about is None:
        return None
    if not samples:
        return f"{about}: run lm_eval again with --log_samples, and import the samples_….jsonl that it writes"
    command = f"demur import lm-eval {shlex.quote(shown_path(samples[0]))} -o units.jsonl"
    others = [shown(file.name) for file in samples[1:_SHOWN]] + ["…"] * (len(samples) > _SHOWN)
    also = f" (or {', '.join(others)})" if others else ""
    return f"{about}; import the samples: {command}{also}"


def _start(path: str | Path) -> bytes:
    """The first bytes of a file; none of anything else, as a pipe can be read only once."""
    if not Path(path).is_file():
        return b""
    with Path(path).open("rb") as file:
        return file.read(_START)
