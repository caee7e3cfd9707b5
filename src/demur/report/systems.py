"""Systems: those of a retrieval artifact, what to call them, and their numbers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.report.numbers import UNDEFINED
from demur.report.sides import Side, isolated
from demur.verdict import with_interval

if TYPE_CHECKING:
    from demur.retrieval_artifact import Estimated, RetrievalMetrics

_LONGEST_LABEL = 24


def systems_of(metrics: RetrievalMetrics) -> tuple[Side, ...]:
    """Every system; the baseline is drawn as left, the others as right."""
    first = metrics.settings.baseline or next(iter(metrics.systems))
    return tuple(
        Side("baseline" if len(metrics.systems) > 1 else "run", "left", isolated(name))
        if name == first
        else Side("", "right", isolated(name))
        for name in metrics.systems
    )


def short(name: str) -> str:
    """A name as a picture has room for it.

    >>> short("reranked"), short("a" * 30)
    ('reranked', 'aaaaaaaaaaaaaaaaaaaaaaa…')
    """
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"


def cell(one: Estimated | None) -> str:
    """A number with its interval."""
    return UNDEFINED if one is None or one.value is None else with_interval(one.value, one.ci95_recommended)


def depth_of(name: str) -> str:
    """The depth at the end of a name; nothing where there is none.

    >>> depth_of("ndcg@10"), depth_of("auroc"), depth_of("tpr@fpr=0.05")
    ('10', '', '')
    """
    depth = name.rpartition("@")[2]
    return depth if "@" in name and depth.isdecimal() else ""
