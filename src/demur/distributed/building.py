"""The first pass: a worker saves the entries of a range of clusters, and returns counts of them."""

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
    """The confidences and losses that occur in any range: an entry refers to one by its index."""

    signal: str
    exponent: int | None
    lower_is_surer: bool
    values: Floats
    losses: Integers
    divisor: int


class RangeCounts(NamedTuple):
    """Counts of a range: answers by confidence and loss, abstentions (null, NaN), units and answers of each cluster.

    `first_answer` and `first_loss` count, by plateau, the clusters whose most confident answer or loss is there;
    `most_answers` is the most answers that one cluster has up to a plateau. `entries` and `last` hold, by plateau and
    by level of loss, the number of entries, and one more than the last cluster that has any.
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
    """The answers of a range: cluster, plateau, level of loss and number of each entry."""

    cluster: Indices
    step: Indices
    level: Indices
    number: Integers


class _SavedEntries(NamedTuple):
    """Entries in order of cluster; those of cluster i are at `begin[i]:begin[i + 1]`."""

    step: Indices
    number: Integers
    begin: Indices
    last: int


def build(task: tuple[Range, Sequence[tuple[str, int, int]], Steps]) -> RangeCounts:
    """Merge the parts of a range, save its entries, and count them."""
    own, slices, steps = task
    parts = [read_summary(path)[0].of_clusters(first, end) for path, first, end in slices if end > first]
    summary = merged(parts, [path for path, first, end in slices if end > first])
    clusters, state, size = own.end - own.first, summary.columns[1], (len(steps.values), len(steps.losses))
    answers = _answers(summary, steps)
    plateaus = _saved(own, "plateaus", answers, answers.step, steps)
    levels = _saved(own, "levels", answers, answers.level, steps)
    units = np.bincount(summary.columns[0], summary.count, clusters)
    answered = np.bincount(answers.cluster, answers.number, clusters)
    own.save("units", units)
    own.save("answers", answered)
    own.save("losses", np.bincount(answers.cluster, answers.number * steps.losses[answers.level], clusters))
    value = answers.step if steps.lower_is_surer else size[0] - 1 - answers.step
    first_loss = np.full(clusters, size[0])
    wrong = steps.losses[answers.level] != 0
    np.minimum.at(first_loss, answers.cluster[wrong], answers.step[wrong])
    null, nan = (int(summary.count[state == code].sum(dtype=np.int64)) for code in (ABSTAINED, ABSTAINED_NAN))
    return RangeCounts(
        np.bincount(value * size[1] + answers.level, answers.number, size[0] * size[1]).astype(np.int64),
        (null, nan),
        units.astype(np.int64),
        answered.astype(np.int64),
        *_by_plateau(plateaus, first_loss, size[0]),
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


def _saved(own: Range, kind: str, answers: _AnsweredEntries, index: Indices, steps: Steps) -> _SavedEntries:
    """Add up the answers of each cluster at each step, and save the sums."""
    clusters, size = own.end - own.first, len(steps.values if kind == "plateaus" else steps.losses)
    key, sizes = [answers.cluster, index], [clusters, size]
    (cluster, step), count = grouped(key, sizes, answers.number)
    _, loss = grouped(key, sizes, answers.number * steps.losses[answers.level])
    begin = np.append(0, np.cumsum(np.bincount(cluster, minlength=clusters)))
    columns: dict[str, Array] = {"step": step, "loss": loss, "begin": begin}
    columns["count"] = compact(count, int(count.max(initial=0)) + 1)
    for column, array in columns.items():
        own.save(f"{kind}-{column}", array)
    return _SavedEntries(step, count, begin, own.first + int(cluster[-1]) + 1 if len(cluster) else 0)


def _by_plateau(plateaus: _SavedEntries, first_loss: Indices, size: int) -> tuple[Integers, Integers, Integers]:
    """For each plateau: `first_answer`, `first_loss` and `most_answers` of `RangeCounts`."""
    step, begin, most = plateaus.step.astype(np.intp), plateaus.begin, np.zeros(size, np.int64)
    total = np.append(0, np.cumsum(plateaus.number))
    np.maximum.at(most, step, total[1:] - np.repeat(total[begin[:-1]], np.diff(begin)))
    first_answer = step[begin[:-1][np.diff(begin) > 0]]
    answers, losses = (np.bincount(first, minlength=size)[:size] for first in (first_answer, first_loss))
    return answers, losses, np.maximum.accumulate(most)
