"""Write docs/definitions.md from the registry: every metric as its docstring defines it.

Run by `make docs`; a test fails when the page is not current.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from demur.instruments import INSTRUMENTS
from demur.losses import LOSSES
from demur.metrics import CALIBRATION_METRICS, DETECTION_METRICS, METRICS, RANKING_METRICS, Metric
from demur.reference_ranges import RANGES
from demur.selection import POLICIES, Bounds, evidence
from demur.signals import SIGNALS
from demur.targets import TARGETS
from demur.variants import VARIANTS, Variant

PAGE = Path(__file__).with_name("definitions.md")
SECTIONS = ("Formula", "Ties", "Abstentions", "Undefined", "Reference")
BETTER = {"lower": "lower is better", "higher": "higher is better", "neither": "neither way is better by itself"}

INTRODUCTION = """\
# Definitions

This page is written by `make docs` from the docstrings of the registered functions; the examples on it are run as tests.

**Unit**: one item for one cluster (a participant, a post), with a truth and an answer or an abstention.
`N` counts all units, abstentions among them; `K` counts the answered ones. Every coverage divides by `N`.

**Working points** are the distinct confidences of the answered units, the surest first. At point `j` everything at least
as sure as its threshold is accepted: `k_j` units, with

- coverage_j = k_j / N,
- selective_risk_j = (Σ loss of the accepted) / k_j,
- generalized_risk_j = (Σ loss of the accepted) / N = coverage_j · selective_risk_j.

Equal confidences are one point, a *plateau*: no threshold can split them, so their order never matters.

**Exactness.** Losses of an instrument are integers over one divisor. Their sums are exact, risks and AUGRC are one division,
and AURC, its optimum and the excesses are accumulated to 106 bits and rounded once. The order of the rows changes no bit.

**Coverages** such as 0.3 are exact when they come as text (`"0.3"`, `aurc@0.3`). A Python float stands for the decimal it
prints as, and is reached within one part in 10¹².

**Undefined** numbers are nan in Python and null in JSON, and come with a reason. The areas of a system that answered nothing
are 0 by convention, and `Curve.defined` is then false: such a system is never ranked.
"""


def fields(function: object) -> dict[str, str]:
    """The parts of a metric's docstring: Title, Meaning, each of SECTIONS, Example."""
    text = inspect.getdoc(function) or ""
    head, found_sections, rest = text.partition("\nFormula:")
    title, _, meaning = head.partition("\n\n")
    body, found_example, example = (found_sections + rest).partition("\n\n>>>")
    parts = {"Title": title.rstrip("."), "Meaning": _joined(meaning), "Example": (found_example + example).strip()}
    for name, content in re.findall(r"^(\w+): (.*(?:\n    .*)*)", body, flags=re.MULTILINE):
        parts[name] = _joined(content)
    return parts


def _joined(text: str) -> str:
    return " ".join(text.split())


def _metric_section(metric: Any) -> str:
    parts = fields(metric.function)
    lines = [f"## `{metric.name}` — {parts['Title']}", "", parts["Meaning"], ""]
    lines += [f"- **{name}**: {parts[name]}" for name in SECTIONS]
    key = f"**Key in result files**: `{metric.key}`; " if isinstance(metric, Metric) else ""
    lines += [f"- {key}{BETTER[metric.better]}", "", "```python"]
    also = next(
        (
            f", {noun}"
            for noun in ("Forecasts", "Top")
            if f"{noun}(" in parts["Example"] or f"{noun}." in parts["Example"]
        ),
        "",
    )
    lines += [
        f">>> from {metric.function.__module__} import {metric.function.__name__}{also}",
        parts["Example"],
        "",
        "```",
        "",
    ]
    return "\n".join(lines)


def _loss_table() -> str:
    rows = [
        f"| `{loss.name}` | {loss.meaning}{' / range' if loss.normalised else ''} | {'range' if loss.normalised else 1} |"
        for loss in LOSSES.values()
    ]
    return "\n".join(["## Losses", "", "| name | definition | `raw_multiplier` |", "|---|---|---|", *rows, ""])


def _instrument_table() -> str:
    rows = [
        f"| {known.name} | {', '.join(known.items)} | {known.minimum}–{known.maximum} |"
        for known in INSTRUMENTS.values()
    ]
    return "\n".join(["## Instruments", "", "| name | items, in order | score |", "|---|---|---|", *rows, ""])


def _signal_table() -> str:
    rows = [
        f"| `{signal.name}` | {signal.expected} | {'lower' if signal.lower_is_more_confident else '' if signal.text else 'higher'} "
        f"| {'error' if signal.cautious is None else f'{signal.cautious:g}'} |"
        for signal in SIGNALS.values()
    ]
    lines = [
        "## Declared signals",
        "",
        "A column or member of one of these names must hold what is said here, or null; any other",
    ]
    lines += ["name is a signal of your own and is kept as it comes.", ""]
    lines += ["| name | values | more confident | null, as a calibrator's feature |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


CONFIDENCES = """\
## Confidence variants

A confidence is made of the signals of an answered unit; higher is surer. A signal that is missing is always an error, and so is a
null where the table gives it no meaning; what was put in for a null is counted. *Rounded* variants are sums of several signals,
rounded to 12 decimals so that values equal on paper are one plateau. `demur variants RUN` says which ones a run can serve.
"""

COMBINED = """\
| by name | confidence |
|---|---|
| `secondary:<variant>+<variant>:average` or `:product` | two variants combined, rounded |
| `verbalized_calibrated` | a temperature calibration fitted on `verbalized_confidence`, applied to `verbalized` |
| `calibrated` | a calibration applied to the signals it was fitted on |
| `calibrated:<variant>` | a calibration applied to the variant it was fitted on |
| the name of any other signal | that signal as it is |
"""


def _variant_row(variant: Variant) -> str:
    needs = [
        f"`{need.signal}`"
        + (f" (null: {need.null:g})" if need.null is not None else "")
        + (f" (absent: {need.absent:g})" if need.absent is not None else "")
        for need in variant.needs
    ]
    low, high = (f"{bound:g}".replace("inf", "∞").replace("-", "−") for bound in (variant.low, variant.high))
    rounded = "; rounded" if variant.composite else ""
    return f"| `{variant.name}` | {variant.meaning}{rounded} | {', '.join(needs)} | {low} to {high} |"


def _variant_table() -> str:
    head = ["| name | confidence | signals it needs | range |", "|---|---|---|---|"]
    return "\n".join([CONFIDENCES, *head, *map(_variant_row, VARIANTS.values()), "", COMBINED])


def _target_table() -> str:
    lines = ["## Targets of a calibration", "", "| name | what is predicted of an answer |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{target.name}` | {target.meaning} |" for target in TARGETS.values()), ""])


RETRIEVAL = """\
# Ranking metrics

One query is one (post, criterion) pair with a set of gold ids and a list of distinct ids, best first; an empty list is an abstention.
Each metric is one number a query, and 0 where there is no gold. Means are given over the queries with gold (`positives_only`) and over
all queries (`all_queries`), pooled (`micro`) and averaged over criteria (`macro`). trec_eval agrees query by query, but for `map@K`,
which divides by min(gold, K): trec_eval's is `map_trec@K`; and trec_eval leaves topics that are missing from a run out of its means.
"""

DETECTION = """\
# Detection metrics

From a probability that a query has evidence. `auroc` is defined above; where all queries have evidence or none has, 0.5 is reported
for it, and flagged `single_class`.
"""


def _retrieval_tables() -> list[str]:
    policies = [
        f"| `{kind.name}{f':{kind.parameter}' if kind.parameter else ''}` | {kind.meaning} |"
        for kind in POLICIES.values()
    ]
    ranges = [
        f"| `{name}` | {one.baseline[0]:.2f}–{one.baseline[1]:.2f} | {one.good[0]:.2f}–{one.good[1]:.2f} |"
        for name, one in RANGES.items()
    ]
    return [
        "# What is shown",
        "",
        inspect.getdoc(evidence).replace("\n\n", " ") + " F1 is 2·hits / (gold + shown).",
        "",
        _joined((inspect.getdoc(Bounds) or "").partition("\n>>>")[0]),
        "",
        *["| policy | how many are shown, before the bounds |", "|---|---|", *policies, ""],
        "# Reference ranges",
        "",
        *["| number | baseline | good |", "|---|---|---|", *ranges, ""],
    ]


def page() -> str:
    """The whole page."""
    tables = [_loss_table(), _instrument_table(), _signal_table(), _variant_table(), _target_table()]
    metrics = ["# Metrics", "", *map(_metric_section, METRICS.values())]
    calibration = ["# Calibration metrics", "", *map(_metric_section, CALIBRATION_METRICS.values())]
    ranking = [RETRIEVAL, *map(_metric_section, RANKING_METRICS.values())]
    told = [metric for metric in DETECTION_METRICS.values() if metric.name not in CALIBRATION_METRICS]
    detection = [DETECTION, *map(_metric_section, told)]
    return "\n".join([INTRODUCTION, *tables, *metrics, *calibration, *ranking, *detection, *_retrieval_tables()])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(
        f"wrote {PAGE.relative_to(Path.cwd())}" if PAGE.is_relative_to(Path.cwd()) else f"wrote {PAGE}", file=sys.stderr
    )
