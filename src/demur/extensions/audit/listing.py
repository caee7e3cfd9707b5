"""Findings as an aligned table or as JSON."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, get_args

from demur.errors import harmless, unknown
from demur.extensions.audit.figures import NO_CAUSE, Finding, Status
from demur.show.text import table

STATUSES: tuple[Status, ...] = get_args(Status)
_HEADER = ("status", "figure", "reported", "recomputed", "cause")
_WORDS = (0, 1, 4)
_RANGES = (
    "a range is what Monte-Carlo error allows, 4 standard errors of both sets of draws, or ties that rounding or "
    "sorting breaks (docs/audit.md)"
)
_OTHER_DATA = "most figures differ, and no cause would explain two of them: they point to other data"
_MANY = 3


def findings_text(findings: Sequence[Finding], only: Collection[str] = STATUSES) -> str:
    """A table with one line per figure of these kinds, the counts of all kinds, and the counts of causes.

    If any figure is compared with a range, the last line explains ranges.
    """
    shown = [finding for finding in findings if finding.status in only]
    differing = counted(findings)["differs"]
    cells = ((row.status, row.key, row.reported, _recomputed(row), _with_count(row, differing)) for row in shown)
    rows = [tuple(map(harmless, row)) for row in cells]
    counts = ", ".join(f"{count} {status}" for status, count in counted(findings).items())
    total = f"{len(findings)} figure{'s' if len(findings) != 1 else ''}"
    listed = [*table([_HEADER, *rows], to_the_left=_WORDS), ""] if rows else []
    causes = [(str(count), harmless(cause)) for cause, count in by_cause(findings).items()]
    summary = ["", *table([("differs", "cause"), *causes], to_the_left=(1,))] if causes else []
    advice = hint(findings)
    ranges = [_RANGES] if any(finding.band is not None for finding in findings) else []
    return "\n".join([*listed, f"{total}: {counts}", *summary, *(["", advice] if advice else []), *ranges])


def counted(findings: Sequence[Finding]) -> dict[str, int]:
    """How many figures match, differ and are not recognised."""
    counts = Counter(finding.status for finding in findings)
    return {status: counts[status] for status in STATUSES}


def by_cause(findings: Sequence[Finding]) -> dict[str, int]:
    """How many figures differ for each cause, the most frequent first."""
    causes = (finding.kind or _cause(finding) for finding in findings if finding.status == "differs")
    return dict(Counter(causes).most_common())


def hint(findings: Sequence[Finding]) -> str | None:
    """A hint for the case that most figures differ and no cause explains more than one; None otherwise."""
    differing = [finding for finding in findings if finding.status == "differs"]
    alone = all(finding.explains == 1 or _cause(finding) == NO_CAUSE for finding in differing)
    return _OTHER_DATA if alone and len(differing) >= max(_MANY, counted(findings)["match"] + 1) else None


def findings_json(findings: Sequence[Finding], only: Collection[str] = STATUSES) -> dict[str, Any]:
    """The findings as members of a JSON object; an infinite limit of a range is null."""
    return {
        "counts": {status.replace(" ", "_"): count for status, count in counted(findings).items()},
        "causes": by_cause(findings),
        "hint": hint(findings),
        "findings": [
            {
                "key": finding.key,
                "path": [*finding.path],
                "status": finding.status,
                "reported": finding.reported,
                "recomputed": finding.recomputed,
                "band": None if finding.band is None else [end if math.isfinite(end) else None for end in finding.band],
                "cause": _cause(finding) or None,
                "explains": finding.explains,
            }
            for finding in findings
            if finding.status in only
        ],
    }


def statuses(names: Sequence[str]) -> tuple[str, ...]:
    """Parse kinds of findings, separated by commas or given one by one; all kinds if none is given."""
    named = {status.replace(" ", "-"): (status,) for status in STATUSES} | {"all": STATUSES}
    chosen: list[str] = []
    for name in (part.strip() for text in names for part in text.split(",")):
        if name not in named:
            raise unknown("status", name, named)
        chosen += named[name]
    return tuple(chosen) or STATUSES


def _cause(finding: Finding) -> str:
    return finding.cause or (NO_CAUSE if finding.status == "differs" else "")


def _with_count(finding: Finding, differing: int) -> str:
    count = "" if finding.explains is None else f" (would explain {finding.explains} of {differing} that differ)"
    return _cause(finding) + count


def _recomputed(finding: Finding) -> str:
    if finding.status == "not recognised":
        return "–"
    if finding.recomputed is None:
        return "undefined"
    if isinstance(finding.recomputed, bool):
        return "true" if finding.recomputed else "false"
    return f"{finding.recomputed:.12g}" if finding.band is None else f"{finding.band[0]:.6g} to {finding.band[1]:.6g}"
