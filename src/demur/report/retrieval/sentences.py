"""The verdict on rankings, in words. Nothing is called better that no interval shows."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.inference.warnings import FEW_INFORMATIVE, ResultWarning
from demur.report.retrieval.places import chance_numbers, others_of, primary, primary_difference, title
from demur.report.text import with_interval
from demur.report.verdict import UNDECIDED, Verdict, bearing_warnings, decide, why_nothing_decides
from demur.results.table import Results

_MOST_SENTENCES = 3
_BEAR_ON_THE_VERDICT = (
    *("one_cluster", "few_clusters", "unequal_clusters", "few_resamples", "many_comparisons", "single_class"),
    *("abstained", "criterion_without_gold", "selected_not_ranked", "selection_bounds", "unjudged_topics"),
    "post_in_several_folds",
)


def verdict(results: Results, named: Callable[[str], str] = shown) -> Verdict:
    """What the results say of the rankings where there is evidence; `named` is how a sentence calls a system."""
    return _Speaker(results, named).verdict


def open_question(results: Results, key: Key) -> str:
    """Why a difference speaks for no system; of a number that is no better either way, on which side of 0 it is."""
    reason = decide(results, key).reason or why_nothing_decides(results)
    return reason or side_of_zero(results.get(key)) or "there is no interval"


def side_of_zero(difference: Estimate | None) -> str:
    """Where the interval of a difference is, if there is one."""
    interval = None if difference is None else difference.recommended
    if interval is None:
        return ""
    return UNDECIDED if interval.low <= 0 <= interval.high else "above" if interval.low > 0 else "below"


@dataclass(frozen=True)
class _Speaker:
    results: Results
    named: Callable[[str], str]

    @property
    def verdict(self) -> Verdict:
        study = self.results.retrieval
        silent = [self.named(system.name) for system in study.systems if system.abstained == study.queries]
        failures = tuple(f"{name} returned nothing for any query: every ranking number of it is 0." for name in silent)
        judged = bool(study.with_gold) and len(silent) < len(study.systems)
        warnings = bearing_warnings(self.results, self.results.warnings, _BEAR_ON_THE_VERDICT, self._whose)
        return Verdict(self._headline(judged), (*self._sentences(judged),), failures, (*warnings,))

    def _whose(self, warning: ResultWarning) -> str:
        system = warning.about.system
        return "" if system is None or warning.about.confidence is not None else self.named(system)

    def _reached(self, key: Key) -> str:
        estimate = self.results.get(key)
        return "undefined" if estimate is None else with_interval(self.results, estimate)

    def _headline(self, judged: bool) -> str:  # noqa: FBT001
        names = [self.named(name) for name in self.results.systems]
        if not self.results.retrieval.with_gold:
            return "No query has gold: there is nothing to find, and no ranking to judge."
        if not judged:
            nothing = f"{names[0]} returned nothing" if len(names) == 1 else "No system returned anything"
            return f"{nothing}: there is nothing to judge."
        if len(names) == 1:
            key = primary(self.results, self.results.systems[0])
            return f"{names[0]} reaches an {title(key)} of {self._reached(key)} where there is evidence."
        reason = why_nothing_decides(self.results)
        return f"No conclusion: {reason}." if reason else self._comparison()

    def _comparison(self) -> str:
        base, others = self.named(self.results.study.baseline or ""), others_of(self.results)
        winners = {name: decide(self.results, primary_difference(self.results, name)).winner for name in others}
        above = [self.named(name) for name, winner in winners.items() if winner == name]
        below = [self.named(name) for name, winner in winners.items() if winner not in (name, None)]
        if not (above or below):
            whom, or_worse = ("Neither", "") if len(others) == 1 else ("No", f" or worse than {base}")
            return f"{whom} system is shown to rank the evidence better{or_worse}."
        few = self.results.retrieval.posts < FEW_INFORMATIVE
        if len(others) == 1:
            winner, loser = (above[0], base) if above else (base, below[0])
            if few:
                return f"{winner} looks better at ranking the evidence, but too few posts stand behind that."
            return f"{winner} ranks the evidence better than {loser}."
        undecided = [self.named(name) for name, winner in winners.items() if winner is None]
        groups = {f"better than {base}": above, f"worse than {base}": below, "not shown to differ": undecided}
        text = "; ".join(f"{what}: {', '.join(names)}" for what, names in groups.items() if names)
        return f"Ranking of the evidence, {text}{'; too few posts stand behind that' if few else ''}."

    def _sentences(self, judged: bool) -> Iterator[str]:  # noqa: FBT001
        study = self.results.retrieval
        share = study.with_gold / max(study.queries, 1)
        yield f"Of {study.queries} queries {study.with_gold} ({share:.1%}) have evidence to find."
        if judged and study.baseline is not None:
            key, others = primary(self.results, study.baseline), others_of(self.results)
            reached = f"{self.named(study.baseline)} reaches an {title(key)} of {self._reached(key)}"
            first, *rest = map(self._difference, others[:_MOST_SENTENCES])
            yield from (f"Where there is evidence {reached} and {first}", *rest)
            if len(others) > _MOST_SENTENCES:
                yield f"{len(others) - _MOST_SENTENCES} more systems are compared in the same way."
        yield from self._detection()

    def _difference(self, system: str) -> str:
        key = primary_difference(self.results, system)
        decision = decide(self.results, key)
        if decision.winner is not None:
            end = f": {self.named(decision.winner)} is better"
        elif decision.reason == UNDECIDED:
            end = "; the interval includes 0, so neither is shown to be better"
        else:
            end = f" ({open_question(self.results, key)})"
        reached = self._reached(primary(self.results, system))
        return f"{self.named(system)} {reached}, a paired difference of {self._reached(key)}{end}."

    def _detection(self) -> Iterator[str]:
        """How well probabilities tell where there is evidence: once where all systems share them."""
        pooled = self.results.where(quantity="auroc", group=None, minus=None)
        rows = [row for row in pooled if not math.isnan(row.value)]
        if any(row.by_convention for row in rows):
            nothing = "there is nothing to detect, and AUROC and rates are conventions"
            yield f"All queries have evidence, or none has: {nothing}."
            return
        different = {chance_numbers(self.results, row.key.system, "forecasts") for row in rows}
        shared = len(rows) == len(self.results.systems) and len(different) == 1
        for row in rows[: 1 if shared else _MOST_SENTENCES]:
            whose = "The probability" if shared else f"The probability of {self.named(row.key.system)}"
            number = with_interval(self.results, row)
            yield f"{whose} tells queries with evidence from those without with an AUROC of {number}."
