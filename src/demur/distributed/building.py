"""What a worker keeps of the clusters of a range: their entries, and what it says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from demur.distributed.ranges import Array, Range
from demur.summaries.bins import binned
from demur.summaries.file import read_summary
from demur.summaries.keys import compact, grouped
from demur.summaries.merging import merged
from demur.summaries.summary import ABSTAINED, ABSTAINED_NAN, ANSWERED, FIRST_VALUE, Summary
from demur.types import Floats, Indices, Integers


class Steps(NamedTuple):
    """What entries of one kind are numbered by: values and losses of all ranges, and how sums over them are formed."""

    signal: str
    exponent: int | None
    lower_is_surer: bool
    values: Floats
    losses: Integers
    divisor: int


class Held(NamedTuple):
    """What a range says of itself: counts of values and losses, and how many units and answers each cluster has.

    At each plateau: how many clusters first answer there, how many first hold a loss, and the most answers of one.
    """

    marginal: Integers
    abstained: tuple[int, int]
    units: Integers
    answers: Integers
    first_answer: Integers
    first_loss: Integers
    most_answers: Integers
    entries: tuple[int, int]
    last: tuple[int, int]


class _AnsweredEntries(NamedTuple):
    """The answers of a range, an entry each: whose, at which plateau, at which level of loss, and how many."""

    cluster: Indices
    step: Indices
    level: Indices
    number: Integers


class _Kept(NamedTuple):
    """Entries of one kind, in order of cluster: those of a cluster begin at its number in `begin`."""

    step: Indices
    number: Integers
    begin: Indices
    last: int


def build(task: tuple[Range, Sequence[tuple[str, int, int]], Steps]) -> Held:
    """Put together the parts of a range, and keep its entries."""
    own, slices, steps = task
    parts = [read_summary(path)[0].of_clusters(first, end) for path, first, end in slices if end > first]
    summary = merged(parts, [path for path, first, end in slices if end > first])
    clusters, state, size = own.end - own.first, summary.columns[1], (len(steps.values), len(steps.losses))
    answers = _answers(summary, steps)
    plateaus = _keep(own, "plateaus", answers, answers.step, steps)
    levels = _keep(own, "levels", answers, answers.level, steps)
    units = np.bincount(summary.columns[0], summary.count, clusters)
    answered = np.bincount(answers.cluster, answers.number, clusters)
    own.save("units", units)
    own.save("answers", answered)
    value = answers.step if steps.lower_is_surer else size[0] - 1 - answers.step
    first = np.full(clusters, size[0])
    wrong = steps.losses[answers.level] != 0
    np.minimum.at(first, answers.cluster[wrong], answers.step[wrong])
    none = [int(summary.count[state == each].sum(dtype=np.int64)) for each in (ABSTAINED, ABSTAINED_NAN)]
    return Held(
        np.bincount(value * size[1] + answers.level, answers.number, size[0] * size[1]).astype(np.int64),
        (none[0], none[1]),
        units.astype(np.int64),
        answered.astype(np.int64),
        *_reach(plateaus, first, size[0]),
        entries=(len(plateaus.step), len(levels.step)),
        last=(plateaus.last, levels.last),
    )


def _answers(summary: Summary, steps: Steps) -> _AnsweredEntries:
    about = summary.about
    index = [signal.name for signal in about.signals].index(steps.signal)
    cluster, state, *others, loss = summary.columns
    answered = np.flatnonzero(state == ANSWERED)
    values = summary.values[steps.signal]
    if steps.exponent is not None:
        values = binned(values, steps.exponent, lower_is_surer=steps.lower_is_surer)
    value = np.searchsorted(steps.values, values)[others[len(about.groups) + index][answered] - np.intp(FIRST_VALUE)]
    level = np.searchsorted(steps.losses, summary.losses * (steps.divisor // about.loss.divisor))[loss[answered]]
    step = value if steps.lower_is_surer else len(steps.values) - 1 - value
    return _AnsweredEntries(cluster[answered], step, level, summary.count[answered].astype(np.int64))


def _keep(own: Range, kind: str, answers: _AnsweredEntries, place: Indices, steps: Steps) -> _Kept:
    """Add up the answers of a cluster at each step, and keep them."""
    clusters, size = own.end - own.first, len(steps.values if kind == "plateaus" else steps.losses)
    key, sizes = [answers.cluster, place], [clusters, size]
    (held, step), count = grouped(key, sizes, answers.number)
    _, loss = grouped(key, sizes, answers.number * steps.losses[answers.level])
    begin = np.append(0, np.cumsum(np.bincount(held, minlength=clusters)))
    columns: dict[str, Array] = {"step": step, "loss": loss, "begin": begin}
    columns["count"] = compact(count, int(count.max(initial=0)) + 1)
    for column, array in columns.items():
        own.save(f"{kind}-{column}", array)
    return _Kept(step, count, begin, own.first + int(held[-1]) + 1 if len(held) else 0)


def _reach(plateaus: _Kept, first_loss: Indices, size: int) -> tuple[Integers, Integers, Integers]:
    """How many clusters first answer, and first hold a loss, at each plateau, and the most answers of one up to it."""
    step, begin, most = plateaus.step.astype(np.intp), plateaus.begin, np.zeros(size, np.int64)
    total = np.append(0, np.cumsum(plateaus.number))
    np.maximum.at(most, step, total[1:] - np.repeat(total[begin[:-1]], np.diff(begin)))
    first = step[begin[:-1][np.diff(begin) > 0]]
    first_answer, losses = (np.bincount(each, minlength=size)[:size] for each in (first, first_loss))
    return first_answer, losses, np.maximum.accumulate(most)
