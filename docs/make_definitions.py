"""Write docs/definitions.md from the registry: every quantity as its docstring defines it.

Run by `make docs`; a test fails when the page is not current.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path

from demur.confidences.calibration_methods import TARGETS
from demur.confidences.variants import VARIANTS, Variant
from demur.facts.instruments import INSTRUMENTS
from demur.facts.signals import SIGNALS
from demur.quantities import Quantity, quantities
from demur.quantities.losses import LOSSES

PAGE = Path(__file__).with_name("definitions.md")
SECTIONS = ("Formula", "Ties", "Abstentions", "Undefined", "Reference")
BETTER = {"lower": "lower is better", "higher": "higher is better", "neither": "neither way is better by itself"}

INTRODUCTION = """\
# Definitions

This page is written by `make docs` from the docstrings of the registered functions; its examples run as tests.

**Unit**: one item for one cluster (a participant, a post), with a truth and an answer or an abstention.
`N` counts all units, abstentions among them; `K` counts the answered ones. Every coverage divides by `N`.

**Operating points** are the distinct confidences of the answered units, the most confident first. At point `j` every answer at
least as confident as its threshold is accepted: `k_j` units, with

- coverage_j = k_j / N,
- selective_risk_j = (Σ loss of the accepted) / k_j,
- generalized_risk_j = (Σ loss of the accepted) / N = coverage_j · selective_risk_j.

Equal confidences are one point, a *plateau*: no threshold can split them, so their order never matters.

**Exactness.** Losses of an instrument are integers over one divisor. Their sums are exact, risks and AUGRC are one division,
and AURC, its optimum and the excesses are accumulated to 106 bits and rounded once. The order of the rows changes no bit.

**Coverages** such as 0.3 are exact when they are given as text (`"0.3"`, `aurc@0.3`). A Python float means the decimal it
prints as, and is reached within one part in 10¹².

**Undefined** numbers are nan in Python and null in JSON, and come with a reason. The areas of a system that answered nothing
are 0 by convention, and `Curve.defined` is then false: such a system is never ranked.
"""


def fields(function: object) -> dict[str, str]:
    """The parts of a quantity's docstring: Title, Meaning, each of SECTIONS, Example."""
    text = inspect.getdoc(function) or ""
    head, formula, rest = text.partition("\nFormula:")
    title, _, meaning = head.partition("\n\n")
    body, prompt, example = (formula + rest).partition("\n\n>>>")
    parts = {"Title": title.rstrip("."), "Meaning": _joined(meaning), "Example": (prompt + example).strip()}
    for name, content in re.findall(r"^(\w+): (.*(?:\n    .*)*)", body, flags=re.MULTILINE):
        parts[name] = _joined(content)
    return parts


def _joined(text: str) -> str:
    return " ".join(text.split())


def _section(entry: Quantity) -> str:
    parts = fields(entry.function)
    lines = [f"## `{entry.name}` — {parts['Title']}", "", parts["Meaning"], ""]
    lines += [f"- **{name}**: {parts[name]}" for name in SECTIONS]
    lines += [f"- **Direction**: {BETTER[entry.better]}"]
    if entry.of == "curve" and not entry.point_only:
        value, difference = (f"`{method}`" for method in entry.intervals)
        lines += [f"- **Interval**: {value}" + (f"; {difference} for a difference" if value != difference else "")]
    if entry.of == "curve" and entry.reported:
        lines += [f"- **Key in a `metrics` file**: `{f'{entry.under}.' if entry.under else ''}{entry.key}`"]
    lines += [""]
    lines += ["```python", _import(entry, parts["Example"]), parts["Example"], "", "```", ""]
    return "\n".join(lines)


def _import(entry: Quantity, example: str) -> str:
    """What an example takes from the module of its function."""
    code = "\n".join(line[4:] for line in example.splitlines() if line.startswith((">>> ", "... ")))
    nodes = [*ast.walk(ast.parse(code))]
    imported = {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    used = {node.id for node in nodes if isinstance(node, ast.Name)} - imported
    own = sorted(used & vars(sys.modules[entry.function.__module__]).keys())
    return f">>> from {entry.function.__module__} import {', '.join(own)}"


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
        f"| `{signal.name}` | {signal.expected} "
        f"| {'lower' if signal.lower_is_more_confident else '' if signal.text else 'higher'} "
        f"| {'error' if signal.cautious is None else f'{signal.cautious:g}'} |"
        for signal in SIGNALS.values()
    ]
    lines = [
        "## Declared signals",
        "",
        "A column or member with one of these names must have the values listed here, or null; any other name is a",
        "signal of your own and is kept as it is.",
        "",
    ]
    lines += ["| name | values | more confident | null, as a calibrator's feature |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


CONFIDENCES = """\
## Confidence variants

A confidence is made of the signals of an answered unit; higher means more confident. A missing signal is always an error, and so is
a null where the table gives it no meaning; the nulls that were filled are counted. *Rounded* variants are sums of several signals,
rounded to 12 decimals so that values equal on paper are one plateau. `demur fields RUN` lists the ones a run can serve.
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


FAMILIES = {
    "curve": "# Risk and coverage\n",
    "costs": """\
# Costs

An answer costs its loss as a share of the largest loss there can be, and an abstention the price `a`, from 0 to 1. A price is exact as
typed: `cost@0.1`, or `cost@1:10` where one abstention costs as much as one wrong answer in ten.
""",
    "held_out": "# Costs of thresholds chosen on other clusters\n",
    "units": """\
# Counts and bias

Reported for each item of an instrument, and for each group of units, beside its coverage and risk.
""",
    "groups": """\
# Over groups

Of the groups of one grouping that are large enough to be judged.
""",
    "forecasts": """\
# Calibration and detection

Of probabilities: that an answer is right (calibration), or that a query has evidence (detection). Where all queries have evidence or
none has, detection reports a conventional value (0.5 for `auroc`) and the warning `single_class`.
""",
    "ranking": """\
# Rankings

One query is one (post, criterion) pair with a set of gold ids and a list of distinct ids, best first; an empty list is an abstention.
Where judgments are graded, gold are the ids of the relevance level or more; only the nDCG looks at grades.
Each quantity is one number per query, and 0 where there is no gold. Means are given over the queries with gold (`with_gold`) and over
all queries (`all`), pooled and averaged over criteria. trec_eval agrees query by query, except for `map@K`, which divides by
min(gold, K): trec_eval's is `map_trec@K`; and trec_eval leaves topics that are missing from a run out of its means.
""",
    "selection": """\
# What is shown

One number per query, averaged over queries: of the ids that were selected (`evidence_f1`), or of those a policy would show
(`evidence_f1@gap`).
""",
    "decision": """\
# No evidence here

The decision to return nothing, judged over all queries.
""",
}


def _policy_tables() -> list[str]:
    from demur.extensions.retrieval.quantities.selection import POLICIES, Bounds  # noqa: PLC0415  (may not be there)
    from demur.extensions.retrieval.reference_ranges import REFERENCES  # noqa: PLC0415

    policies = [
        f"| `{kind.name}{f':{kind.parameter}' if kind.parameter else ''}` | {kind.meaning} |"
        for kind in POLICIES.values()
    ]
    reference = REFERENCES["phq8-evidence"]
    ranges = [
        f"| `{name}` | {known.baseline[0]:.2f}–{known.baseline[1]:.2f} | {known.good[0]:.2f}–{known.good[1]:.2f} |"
        for name, known in reference.ranges.items()
    ]
    return [
        "# Policies and bounds",
        "",
        _joined((inspect.getdoc(Bounds) or "").partition("\n>>>")[0]),
        "",
        *["| policy | how many are shown, before the bounds |", "|---|---|", *policies, ""],
        "# Reference ranges",
        "",
        f"Those of `--reference {reference.name}` (source: {reference.source}).",
        "",
        *["| number | baseline | good |", "|---|---|---|", *ranges, ""],
    ]


def page() -> str:
    """The whole page."""
    tables = [_loss_table(), _instrument_table(), _signal_table(), _variant_table(), _target_table()]
    families = [part for of, head in FAMILIES.items() for part in (head, *map(_section, quantities(of)))]
    return "\n".join([INTRODUCTION, *tables, *families, *_policy_tables()])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(
        f"wrote {PAGE.relative_to(Path.cwd())}" if PAGE.is_relative_to(Path.cwd()) else f"wrote {PAGE}", file=sys.stderr
    )
