"""Artifacts to audit: the golden ones, freshly evaluated ones, and the means to change a figure in them."""

from __future__ import annotations

import json
from pathlib import Path

from commands import demur
from demur import strict_json
from demur.audit.figures import Printed
from demur.audit.selective import audited_selective, runs_of

GOLDEN = Path(__file__).parent / "golden"
SETTINGS = ("seed", "n_resamples", "level")
NOT_FIGURES = ("schema_version", "tool", "inputs", "convention", "skipped_variants", "warnings", "cases")


def printed(content):
    """Content as the audit reads it: numbers with their digits."""
    return strict_json.loads(json.dumps(content), number=Printed.of)


def golden(name, *variants):
    """A golden artifact, or these of its variants."""
    content = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    for variant in set(content["confidence_variants"]) - set(variants or content["confidence_variants"]):
        del content["confidence_variants"][variant]
        if content["comparison"]["enabled"]:
            del content["comparison"]["deltas"][variant]
    return content


def audited(content, paths=(GOLDEN / "run.json",), resamples=200, **how):
    parsed = printed(content)
    return audited_selective(runs_of(paths, parsed), parsed, resamples=resamples, **how)


def by_key(findings):
    return {one.key: one for one in findings}


def differing(findings):
    return [one.key for one in findings if one.status == "differs"]


def changed(content, key, value):
    """The same content with one figure changed; its key is a text with slashes, or its parts where they hold some."""
    copy = json.loads(json.dumps(content))
    *places, last = key.split("/") if isinstance(key, str) else key
    inner = copy
    for place in places:
        inner = inner[int(place) if isinstance(inner, list) else place]
    last = int(last) if isinstance(inner, list) else last
    inner[last] = value(inner[last]) if callable(value) else value
    return copy


def is_figure(place):
    is_cut = len(place) > 1 and place[-2] in ("aurc_at_c", "augrc_at_c") and place[-1] == "requested"
    return place[0] not in NOT_FIGURES and place[-1] not in SETTINGS and not is_cut


def nudged(content, place=()):
    """Every figure a little larger."""
    if isinstance(content, dict):
        return {name: nudged(value, (*place, name)) for name, value in content.items()}
    if isinstance(content, list):
        return [nudged(value, (*place, number)) for number, value in enumerate(content)]
    if isinstance(content, bool) or not isinstance(content, (int, float)) or not is_figure(place):
        return content
    return content + 1 if isinstance(content, int) else content * 1.0001 + 1e-7


def evaluated(folder, *arguments, seed=3, resamples=30):
    """The artifact of `demur evaluate`."""
    flags = ("--seed", seed, "--bootstrap-resamples", resamples, "--quiet", "--output", "m.json")
    found = demur(folder, "evaluate", *arguments, *flags)
    assert (found.returncode, found.stderr) == (0, "")
    return json.loads((folder / "m.json").read_text(encoding="utf-8"))


ONE = ("--input", "run.json", "--mode", "few_shot")
BOTH = ("--input", "run.json", "--mode", "zero_shot", *ONE)
