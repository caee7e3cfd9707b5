"""Warnings about results, as data: codes, the numbers they apply to, and parameters of their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demur.confidences.variants import MERGED, Confidence, distinct
from demur.errors import shown
from demur.facts.items import Items, Source
from demur.inference.key import Pattern
from demur.inference.rows import Contrast, Row
from demur.inference.views import CurveView, SharedView
from demur.quantities.areas import augrc
from demur.quantities.excess import augrc_random

if TYPE_CHECKING:
    from demur.inference.estimates import Estimate

FEW_CLUSTERS = 40
FEW_FAILED = 0.01
FEW_DISCORDANT = 20
FEW_RESAMPLES = 1000
HEAVY_TAIL = 5
LARGE_CLUSTER = 0.2
LARGE_PLATEAU = 0.5
OFTEN = 0.05


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of warning: its subject (empty: the number itself) and its sentence.

    A `sample` warning is about the clusters, whatever the system or confidence. `given` holds other sentences, each for
    warnings that have the named parameter.
    """

    subject: str
    sentence: str
    sample: bool = False
    given: Mapping[str, str] = field(default_factory=dict)


_PEOPLE, _ORDER = "clusters", "confidence"
KINDS = {
    "one_cluster": Kind(_PEOPLE, "one {noun} leaves nothing to resample: the intervals are the numbers", sample=True),
    "few_clusters": Kind(_PEOPLE, "{clusters} {noun}s: intervals from fewer than {limit} are rough", sample=True),
    "unequal_clusters": Kind(
        _PEOPLE, "one {noun} holds {share:.0%} of the units: the intervals lean on it", sample=True
    ),
    "independent_rows": Kind(
        _PEOPLE,
        "rows are taken as independent: if some share a document or a person, the intervals are too short",
        sample=True,
    ),
    "abstained_with_loss": Kind(
        "abstentions", "{units} units that abstained have an answer or a loss: it is not counted"
    ),
    "units_failed": Kind(
        "failures",
        "{units} units ({share:.1%}) failed and are left out: as abstentions they would make Cmax {cmax:.4g}",
        given={
            "cmax_without": "{units} units ({share:.1%}) failed and count as abstentions: without them Cmax would be "
            "{cmax_without:.4g}"
        },
    ),
    "no_errors": Kind(
        _PEOPLE,
        "no answer has a loss: no two-sided interval, only an upper bound where the largest loss is known, if no "
        "{noun} is larger than the largest here",
    ),
    "few_informative_clusters": Kind(
        _PEOPLE,
        "{informative} {noun}s hold a loss in the range of this number: below {limit} its interval is rough",
        given={"nobody": "no {noun} holds a loss in the range of this number: it has no interval"},
    ),
    "few_discordant_clusters": Kind(
        "comparison", "{discordant} {noun}s differ between the two: below {limit} intervals of differences are rough"
    ),
    "heavy_tailed_loss": Kind(
        _PEOPLE,
        "the largest loss is {ratio:.3g} times the mean of the losses: above {limit} intervals are too short",
    ),
    "constant_confidence": Kind(_ORDER, "all answers are equally confident: nothing is ranked"),
    "tied_confidence": Kind(_ORDER, "one confidence value holds {share:.0%} of the answers: the ranking is coarse"),
    "worse_than_random": Kind(
        _ORDER,
        "the AUGRC {augrc:.4g} is above that of a random order, {random:.4g}: does a lower value mean more confident?",
    ),
    "fitted_on_this_run": Kind(
        _ORDER, "the calibration was fitted on this run: its numbers here are better than they would be on new people"
    ),
    "merged_plateaus": Kind(_ORDER, MERGED),
    "target_near_cmax": Kind(
        "", "{drop_rate:.0%} of the replicates do not reach this coverage: it is near or beyond Cmax"
    ),
    "plateau_edge": Kind("", "the threshold is unstable: {rate:.0%} of resamples chose another"),
    "short_domain": Kind(
        "", "{rate:.0%} of the replicates end before this coverage: their area is over a shorter range"
    ),
    "few_resamples": Kind(
        "resamples",
        "{resamples} resamples: the ends of intervals are rough below {limit}, and 10000 are usual",
        sample=True,
    ),
    "many_comparisons": Kind(
        "comparison",
        "{differences} differences were tested, and one in twenty excludes 0 by luck alone: those beyond the one named "
        "beforehand are judged together",
        sample=True,
    ),
    "multiple_groups": Kind(
        "groups",
        "{groups} groups and {comparisons} differences are looked at, and one in twenty stands out by luck alone: "
        "judge by the intervals that hold for all groups at once",
        sample=True,
    ),
}


@dataclass(frozen=True, slots=True)
class ResultWarning:
    """A warning: its code, the numbers it is about, and the parameters of its sentence.

    A warning read from a file may keep the file's `text`.
    """

    code: str
    about: Pattern = field(default_factory=Pattern)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""

    def message(self, noun: str = "cluster") -> str:
        """The warning in words."""
        kind = KINDS.get(self.code)
        if self.text or kind is None:
            return self.text.replace("cluster", noun) if kind and "{noun}" in kind.sentence else self.text
        template = next((text for name, text in kind.given.items() if name in self.parameters), kind.sentence)
        values = {
            name: ", ".join(map(shown, value)) if isinstance(value, (list, tuple)) else value
            for name, value in self.parameters.items()
        }
        sentence = template.format(noun=noun, **values)
        return sentence.replace(f"1 {noun}s hold ", f"1 {noun} holds ") if sentence.startswith("1 ") else sentence

    def __str__(self) -> str:
        """The warning in words, after the numbers it is about."""
        about, subtracted = self.about, self.about.minus and self.about.minus.value
        level = (subtracted if isinstance(subtracted, str) else subtracted.level) if subtracted else None
        names = (about.system, about.quantity, about.confidence, about.group and about.group.level)
        listed = [*map(shown, filter(None, names)), *([f"minus {shown(level)}"] if level else [])]
        return f"{', '.join(listed)}: {self.message()}" if listed else self.message()

    @property
    def subject(self) -> str:
        """The subject of this kind of warning, besides the columns of its pattern."""
        return KINDS[self.code].subject if self.code in KINDS else ""

    @property
    def of_sample(self) -> bool:
        """Whether it is about the clusters, not about a system or confidence."""
        return self.code in KINDS and KINDS[self.code].sample


def about_sample(units: NDArray[Any]) -> Iterator[ResultWarning]:
    """Warn of few or unequal clusters, from the number of units in each."""
    clusters = len(units)
    if clusters == 1:
        yield ResultWarning("one_cluster")
        return
    if clusters < FEW_CLUSTERS:
        yield ResultWarning("few_clusters", parameters={"clusters": clusters, "limit": FEW_CLUSTERS})
    largest, total = units.max(), units.sum()
    if largest > LARGE_CLUSTER * total and largest > 2 * units.mean():
        yield ResultWarning("unequal_clusters", parameters={"share": float(largest / total)})


def about_units(items: Items, system: str) -> Iterator[ResultWarning]:
    """Warn of rows taken as independent, of ignored answers, and of failed units."""
    about = Pattern(system=system)
    if items.independent:
        yield ResultWarning("independent_rows")
    if items.ignored_answers:
        yield ResultWarning("abstained_with_loss", about, {"units": items.ignored_answers})
    failed, answered, total = items.failed_units, items.number_of(items.answered), items.units
    if failed is None:
        return
    dropped, units = failed.rule == "drop", failed.number
    everyone, others = (total + units, total + units) if dropped else (total, total - units)
    if units > FEW_FAILED * everyone:
        other = {"cmax" if dropped else "cmax_without": answered / others if others else 0.0}
        yield ResultWarning("units_failed", about, {"units": units, "share": units / everyone, **other})


def about_view(view: CurveView, about: Pattern) -> Iterator[ResultWarning]:
    """Warn of too few or heavy-tailed losses, and of a confidence that ranks poorly."""
    yield from about_sample(view.table.cluster_units)
    if view.curve.defined and not view.varies:
        yield ResultWarning("no_errors", about)
    wrong, counts = view.graded.loss != 0, view.graded.count
    losses = np.abs(view.graded.loss[wrong])
    mean = np.average(losses, weights=None if counts is None else counts[wrong]) if len(losses) else 0.0
    if len(losses) and losses.max() > HEAVY_TAIL * mean:
        ratio = float(losses.max() / mean)
        yield ResultWarning("heavy_tailed_loss", about, {"ratio": ratio, "limit": HEAVY_TAIL})
    answers = np.diff(view.curve.points.count, prepend=0)
    if len(answers) == 1 and answers[0] > 1:
        yield ResultWarning("constant_confidence", about)
    elif len(answers) > 1 and answers.max() > LARGE_PLATEAU * answers.sum():
        yield ResultWarning("tied_confidence", about, {"share": float(answers.max() / answers.sum())})
    area, random = augrc(view.curve), augrc_random(view.curve)
    if area > (1 + OFTEN) * random:
        yield ResultWarning("worse_than_random", about, {"augrc": area, "random": random})
    items = view.graded.items
    yield from about_calibration(view.graded.made_of, items.source if items else None, about)


def about_estimate(estimate: Estimate, plateau_share: float = 0.0) -> Iterator[ResultWarning]:
    """Warn of an unstable threshold, of a coverage near Cmax, and of areas over a shorter range.

    `plateau_share` is the share of the units that the operating point of the number adds.
    """
    warned, key = dict[str, dict[str, float]](), estimate.key
    if estimate.other_threshold_rate is not None or (key.minus and estimate.drop_rate > OFTEN):
        if estimate.drop_rate > OFTEN:
            warned["target_near_cmax"] = {"drop_rate": estimate.drop_rate}
        other = estimate.other_threshold_rate or 0.0
        if other > OFTEN and plateau_share > OFTEN:
            warned["plateau_edge"] = {"rate": other}
    if estimate.short_domain_rate is not None and estimate.short_domain_rate > OFTEN:
        warned["short_domain"] = {"rate": estimate.short_domain_rate}
    for code, parameters in warned.items():
        about = Pattern(system=key.system, quantity=key.quantity, confidence=key.confidence, minus=key.minus)
        yield ResultWarning(code, about, parameters)


def about_counts(rows: Iterable[Row | Contrast]) -> Iterator[ResultWarning]:
    """Warn of numbers and differences that depend on too few clusters."""
    compared = set()
    for row in rows:
        key, counted, limit = row.key, row.counted, FEW_DISCORDANT
        if isinstance(row, Contrast):
            pair = key.system, key.confidence, key.minus
            if pair not in compared and row.row.clusters > 1 and counted.number < limit:
                about = Pattern(system=key.system, confidence=key.confidence, minus=key.minus)
                yield ResultWarning("few_discordant_clusters", about, {"discordant": counted.number, "limit": limit})
            compared.add(pair)
        elif _is_counted(row):
            limit = row.measure.quantity.enough
            if counted.number < limit and row.clusters > 1 and not row.measure.quantity.loss_free:
                about = Pattern(key.system, key.quantity, key.confidence, group=key.group)
                nobody = {} if counted.number else {"nobody": True}
                counts = {"informative": counted.number, "limit": limit, **nobody}
                yield ResultWarning("few_informative_clusters", about, counts)


def _is_counted(row: Row) -> bool:
    """Whether a number depends on losses, and there are any."""
    measured = not (isinstance(row.view, SharedView) and row.view.reached is None)
    return measured and row.resampled and row.counted.what == "informative_clusters" and row.counted.varies


def about_resamples(number: int) -> Iterator[ResultWarning]:
    """Warn of too few resamples for the tails of an interval."""
    if 0 < number < FEW_RESAMPLES:
        yield ResultWarning("few_resamples", parameters={"resamples": number, "limit": FEW_RESAMPLES})


def about_comparisons(number: int) -> Iterator[ResultWarning]:
    """Warn of multiple comparisons."""
    if number > 1:
        yield ResultWarning("many_comparisons", parameters={"differences": number})


def about_calibration(confidence: Confidence | None, source: Source | None, about: Pattern) -> Iterator[ResultWarning]:
    """Warn of a calibration that was fitted on this run, or that merged plateaus."""
    if confidence is None or confidence.calibration is None:
        return
    training = confidence.calibration.training
    identities = () if source is None else ((training.sha256, source.sha256), (training.run_id, source.run_id))
    if any(fitted is not None and fitted == present for fitted, present in identities):
        yield ResultWarning("fitted_on_this_run", about)
    if confidence.inputs:  # a part of a combination has none, as the calibration did not merge its plateaus
        answered = confidence.values[~np.isnan(confidence.values)]
        counts = {"inputs": distinct(confidence.inputs.values()), "outputs": distinct([answered])}
        if counts["outputs"] < counts["inputs"]:
            yield ResultWarning("merged_plateaus", about, counts)
