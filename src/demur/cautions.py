"""Cautions: what a reader of a result must know about it, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from demur.items import Source
    from demur.table import Table
    from demur.variants import Confidence, Training

FEW_CLUSTERS = 40
FEW_INFORMATIVE = 20
FEW_RESAMPLES = 1000
LARGE_CLUSTER = 0.2
LARGE_PLATEAU = 0.5
OFTEN = 0.05


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning with a code for machines, a sentence for people, and the number or side it is about."""

    code: str
    message: str
    where: str


def about_sample(units: NDArray[Any], where: str) -> Iterator[Caution]:
    """Whether there is enough, and evenly enough, to resample: how many units each cluster has."""
    clusters = len(units)
    if clusters == 1:
        yield Caution("one_cluster", "one cluster leaves nothing to resample: the intervals are the numbers", where)
        return
    if clusters < FEW_CLUSTERS:
        yield Caution("few_clusters", f"{clusters} clusters: intervals from fewer than {FEW_CLUSTERS} are rough", where)
    largest, total = units.max(), units.sum()
    if largest > LARGE_CLUSTER * total and largest > 2 * units.mean():
        text = f"one cluster holds {largest / total:.0%} of the units: the intervals lean on it"
        yield Caution("unequal_clusters", text, where)


def about_clusters(table: Table, where: str) -> Iterator[Caution]:
    """Whether what is resampled holds enough losses for an interval."""
    yield from about_sample(table.cluster_units, where)
    if table.clusters == 1:
        return
    if not table.informative and len(table.plateaus.count):
        text = "no answer has a loss: no two-sided interval, only an upper bound where the largest loss is known"
        yield Caution("no_errors", text, where)
    elif table.informative < FEW_INFORMATIVE and len(table.plateaus.count):
        held = f"{table.informative} clusters hold an answer with a loss"
        yield Caution("few_informative_clusters", f"{held}: below {FEW_INFORMATIVE} intervals cover too little", where)


def about_confidence(table: Table, where: str) -> Iterator[Caution]:
    """Whether the confidence ranks at all."""
    answers = np.add.reduceat(table.plateaus.count, _starts(table)) if len(table.threshold) else np.zeros(0)
    if len(answers) == 1 and answers[0] > 1:
        yield Caution("constant_confidence", "all answers are equally sure: nothing is ranked", where)
    elif len(answers) > 1 and answers.max() > LARGE_PLATEAU * answers.sum():
        text = f"one confidence value holds {answers.max() / answers.sum():.0%} of the answers: the ranking is coarse"
        yield Caution("tied_confidence", text, where)


def about_order(area: float, random: float, where: str) -> Iterator[Caution]:
    """Whether the confidence ranks the wrong way round."""
    if area > (1 + OFTEN) * random:
        text = f"the AUGRC {area:.4g} is above that of a random order, {random:.4g}: is a lower value surer here?"
        yield Caution("worse_than_random", text, where)


def about_a_target(name: str, drop_rate: float, other_threshold: float, plateau_share: float) -> Iterator[Caution]:
    """Whether the risk at a coverage is a number that jumps."""
    if drop_rate > OFTEN:
        text = f"{drop_rate:.0%} of the replicates do not reach this coverage: it is near or beyond Cmax"
        yield Caution("target_near_cmax", text, name)
    if other_threshold > OFTEN and plateau_share > OFTEN:
        text = f"{other_threshold:.0%} of the replicates use another threshold, and this one accepts many at once"
        yield Caution("plateau_edge", text, name)


def about_resamples(number: int) -> Iterator[Caution]:
    """Whether there are enough replicates for the tails of an interval."""
    if 0 < number < FEW_RESAMPLES:
        text = f"{number} resamples: the ends of intervals are rough below {FEW_RESAMPLES}, and 10000 are usual"
        yield Caution("few_resamples", text, "resamples")


def about_a_cut(name: str, short_domain: float) -> Iterator[Caution]:
    """Whether a truncated area is integrated over what it says."""
    if short_domain > OFTEN:
        text = f"{short_domain:.0%} of the replicates end before this coverage: their area is over a shorter range"
        yield Caution("short_domain", text, name)


def about_comparisons(number: int) -> Iterator[Caution]:
    """Whether one of many differences may look large by luck."""
    if number > 1:
        text = f"{number} differences were tested: one in twenty excludes 0 by luck alone; decide on one beforehand"
        yield Caution("many_comparisons", text, "comparison")


def distinct(columns: Iterable[NDArray[np.float64]]) -> int:
    """How many different rows the columns hold: the working points there can be."""
    return len(np.unique(np.column_stack([*columns]), axis=0))


def about_merging(before: int, after: int, where: str) -> Iterator[Caution]:
    """A calibration that gives different inputs the same confidence leaves fewer thresholds to choose from."""
    if after < before:
        text = f"{before} different inputs become {after} different confidences: fewer working points than before"
        yield Caution("merged_plateaus", text, where)


def about_calibration(confidence: Confidence | None, source: Source | None, where: str) -> Iterator[Caution]:
    """A calibrated confidence says too much of the run it was fitted on, and may have merged plateaus."""
    if confidence is None or confidence.calibration is None:
        return
    if source is not None and _is_same_run(confidence.calibration.training, source):
        text = "the calibration was fitted on this run: its numbers here are better than they would be on new people"
        yield Caution("fitted_on_this_run", text, where)
    if not confidence.inputs:  # part of a combination: its own plateaus are not the calibration's doing
        return
    answered = confidence.values[~np.isnan(confidence.values)]
    yield from about_merging(distinct(confidence.inputs.values()), distinct([answered]), where)


def _is_same_run(training: Training, source: Source) -> bool:
    same_bytes = training.sha256 is not None and training.sha256 == source.sha256
    return same_bytes or (training.run_id is not None and training.run_id == source.run_id)


def _starts(table: Table) -> np.ndarray:
    return np.append(0, table.plateaus.step_end[:-1] + 1)
