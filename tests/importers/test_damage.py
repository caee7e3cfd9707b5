"""Damaged logs of every tool: imported, or refused in one line with nothing written; never a traceback."""

import json
import random

import pytest

from commands import demur
from damage import damaged
from inspect_logs import archive, json_log, members_of, samples
from parametrized import parametrize_few
from tool_logs import ENDS, EVENTS, MULTIPLE, TWICE, generated, helm_row, helm_state, promptfoo_results

SOURCES = {
    "inspect": ("log.json", json.loads(json_log(samples()[:3]).replace(b"NaN", b"0.5"))),
    "lm-eval": ("samples_x.jsonl", [*MULTIPLE[:2], generated(3, "a", 1.0, rule="none") | {"acc": 1.0}]),
    "promptfoo": ("results.json", promptfoo_results(TWICE[:4])),
    "oai-evals": ("events.jsonl", [*ENDS, *EVENTS[:6]]),
    "helm": (
        "run",
        [[helm_row("a", 1.0), helm_row("b", 0.0, 0.5)], {"request_states": [helm_state("a"), helm_state("b")]}],
    ),
}
OPTIONS = {
    "inspect": (
        "--scorer",
        "exact",
        "--cluster",
        "metadata.document",
        "--confidence",
        "scores.exact.metadata.confidence",
    ),
    "lm-eval": ("--metric", "acc", "--cluster", "doc.document", "--abstain", "choice=Oslo"),
    "promptfoo": ("--metric", "exact", "--group", "topic=metadata.topic", "--abstain", "named:answered=0"),
    "oai-evals": ("--abstain", "answer~=I.*", "--include-text"),
    "helm": ("--group", "split=instance.split", "--abstain", "answer~=I.*"),
}
TRIES = pytest.mark.parametrize("tries", [20, pytest.param(60, marks=pytest.mark.slow)])


def write(folder, tool, rng):
    """A damaged log in the folder."""
    name, content = SOURCES[tool]
    text = damaged(rng, content)
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if tool in ("lm-eval", "oai-evals"):
        try:
            rows = json.loads(data)
            data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        except (TypeError, ValueError):
            pass
    if tool == "helm":
        (folder / name).mkdir(exist_ok=True)
        try:
            parts = [json.dumps(part).encode() for part in json.loads(data)]
        except (TypeError, ValueError):
            parts = [data]
        for file, part in zip(("per_instance_stats.json", "scenario_state.json"), [*parts, b"{}"]):
            (folder / name / file).write_bytes(part)
    else:
        (folder / name).write_bytes(data)
    return name


@TRIES
@parametrize_few("tool", SOURCES, 2)
def test_a_damaged_log_is_imported_or_refused_in_one_line(tmp_path, tool, tries):
    outcomes = set()
    for seed in range(tries):
        name = write(tmp_path, tool, random.Random(seed))
        (tmp_path / "units.jsonl").unlink(missing_ok=True)
        done = demur(tmp_path, "import", tool, name, "-o", "units.jsonl", *OPTIONS[tool])
        outcomes.add(done.returncode)
        if done.returncode:
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), seed
            assert not (tmp_path / "units.jsonl").exists()
        else:
            first, *units = map(json.loads, (tmp_path / "units.jsonl").read_text(encoding="utf-8").splitlines())
            assert first["counts"]["rows"] == len(units)
    assert outcomes == {0, 2}


@TRIES
def test_damaged_samples_in_an_archive_are_refused_in_one_line(tmp_path, tries):
    for seed in range(tries):
        rng = random.Random(seed)
        broken = damaged(rng, json.loads(json.dumps(samples()[1])))
        data = broken if isinstance(broken, bytes) else broken.encode("utf-8", "surrogatepass")
        start, *_, _, _, end = members_of([])
        (tmp_path / "log.eval").write_bytes(archive([start, ("samples/a_epoch_1.json", data), end]))
        done = demur(tmp_path, "import", "inspect", "log.eval", "-o", "units.jsonl", "--scorer", "exact")
        assert done.returncode in {0, 2}, seed
        assert done.stderr.count("\n") == (1 if done.returncode else 0)
