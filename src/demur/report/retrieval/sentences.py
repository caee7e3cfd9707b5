"""The verdict on rankings, in words. Nothing is called better that no interval shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from demur.errors import shown
from demur.inference.key import Key
from demur.inference.warnings import FEW_INFORMATIVE
from demur.report.retrieval.places import against_baseline, chance_numbers, others_of, primary, title
from demur.report.text import with_interval
from demur.report.verdict import UNDECIDED, Verdict, decide, why_nothing_decides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from demur.report.verdict import Decision
    from demur.results.table import Results

_MOST_SENTENCES = 3
_BEAR_ON_THE_VERDICT = (
    *("one_cluster", "few_clusters", "unequal_clusters", "few_resamples", "many_comparisons"),
    *("single_class", "single_class_criteria", "single_class_folds"),
    *("abstained", "criterion_without_gold", "selected_not_ranked", "selection_bounds", "unjudged_topics"),
    "post_in_several_folds",
)


def verdict(results: Results, named: Callable[[str], str] = shown) -> Verdict:
    """What the results say of the rankings where there is evidence; `named` is how a sentence calls a system."""
    return _Speaker(results, named).verdict


def decision_text(results: Results, decision: Decision) -> str:
    """Why a difference speaks for no system."""
    return decision.reason or why_nothing_decides(results) or "there is no interval"


@dataclass(frozen=True)
class _Speaker:
    results: Results
    named: Callable[[str], str]

    @property
    def verdict(self) -> Verdict:
        silent = [f"{name} returned nothing for any query: every ranking number of it is 0." for name in self._silent]
        return Verdict(self._headline, (*self._sentences(),), (*silent,), (*self._warnings(),))

    @property
    def _silent(self) -> list[str]:
        study = self.results.retrieval
        return [self.named(system.name) for system in study.systems if system.abstained == study.queries]

    @property
    def _base(self) -> str:
        return self.results.study.baseline or ""

    def _difference_key(self, system: str) -> Key:
        return replace(primary(self.results, system), minus=against_baseline(self.results))

    @property
    def _title(self) -> str:
        return title(primary(self.results, ""))

    def _reached(self, system: str) -> str:
        return self._number(primary(self.results, system))

    def _number(self, key: Key) -> str:
        estimate = self.results.get(key)
        return "undefined" if estimate is None else with_interval(self.results, estimate)

    @property
    def _headline(self) -> str:
        names = [self.named(name) for name in self.results.systems]
        if not self.results.retrieval.with_gold:
            return "No query has gold: there is nothing to find, and no ranking to judge."
        if len(self._silent) == len(names):
            nothing = f"{names[0]} returned nothing" if len(names) == 1 else "No system returned anything"
            return f"{nothing}: there is nothing to judge."
        if len(names) == 1:
            reached = self._reached(self.results.systems[0])
            return f"{names[0]} reaches an {self._title} of {reached} where there is evidence."
        reason = why_nothing_decides(self.results)
        return f"No conclusion: {reason}." if reason else self._compared

    @property
    def _compared(self) -> str:
        base = self.named(self._base)
        winners = {name: decide(self.results, self._difference_key(name)).winner for name in others_of(self.results)}
        above = [self.named(name) for name, winner in winners.items() if winner == name]
        below = [self.named(name) for name, winner in winners.items() if winner == self._base]
        one_pair = len(winners) == 1
        if not (above or below):
            whom = "Neither system" if one_pair else "No system"
            return f"{whom} is shown to rank the evidence better{'' if one_pair else f' or worse than {base}'}."
        few = self.results.retrieval.posts < FEW_INFORMATIVE
        if one_pair:
            winner, loser = (above[0], base) if above else (base, below[0])
            if few:
                return f"{winner} looks better at ranking the evidence, but too few posts stand behind that."
            return f"{winner} ranks the evidence better than {loser}."
        open_ones = [self.named(name) for name, winner in winners.items() if winner is None]
        groups = {f"better than {base}": above, f"worse than {base}": below, "not shown to differ": open_ones}
        text = "; ".join(f"{what}: {', '.join(names)}" for what, names in groups.items() if names)
        return f"Ranking of the evidence, {text}{'; too few posts stand behind that' if few else ''}."

    def _sentences(self) -> Iterator[str]:
        study = self.results.retrieval
        share = study.with_gold / max(study.queries, 1)
        yield f"Of {study.queries} queries {study.with_gold} ({share:.1%}) have evidence to find."
        if study.with_gold and len(self._silent) < len(self.results.systems):
            yield from self._differences()
        yield from self._detection()

    def _differences(self) -> Iterator[str]:
        """What each system reaches, and how far it is from the baseline on the same queries."""
        others = others_of(self.results)
        if not others:
            return
        reached = f"{self.named(self._base)} reaches an {self._title} of {self._reached(self._base)}"
        first, *rest = map(self._difference, others[:_MOST_SENTENCES])
        yield f"Where there is evidence {reached} and {first}"
        yield from rest
        if len(others) > _MOST_SENTENCES:
            yield f"{len(others) - _MOST_SENTENCES} more systems are compared in the same way."

    def _difference(self, system: str) -> str:
        key = self._difference_key(system)
        decision = decide(self.results, key)
        if decision.winner is not None:
            end = f": {self.named(decision.winner)} is better"
        elif decision.reason == UNDECIDED:
            end = "; the interval includes 0, so neither is shown to be better"
        else:
            end = f" ({decision_text(self.results, decision)})"
        return f"{self.named(system)} {self._reached(system)}, a paired difference of {self._number(key)}{end}."

    def _detection(self) -> Iterator[str]:
        """How well probabilities tell where there is evidence: once where all systems share them."""
        pooled = {"quantity": "auroc", "group": None, "minus": None}
        rows = [row for row in self.results.where(**pooled) if not math.isnan(row.value)]
        if any(row.by_convention for row in rows):
            yield "All queries have evidence, or none has: there is nothing to detect, and AUROC and rates are conventions."
            return
        different = {chance_numbers(self.results, row.key.system, "forecasts") for row in rows}
        shared = len(rows) == len(self.results.systems) and len(different) == 1
        for row in rows[: 1 if shared else _MOST_SENTENCES]:
            whose = "The probability" if shared else f"The probability of {self.named(row.key.system)}"
            number = with_interval(self.results, row)
            yield f"{whose} tells queries with evidence from those without with an AUROC of {number}."

    def _warnings(self) -> Iterator[str]:
        """Each kind of warning that bears on the verdict, once; one about a system, with its name."""
        first = {warning.code: warning for warning in reversed(self.results.warnings)}
        for warning in (first[code] for code in _BEAR_ON_THE_VERDICT if code in first):
            message, about = warning.message(self.results.study.noun), warning.about
            named = about.system is not None and about.confidence is None
            yield f"{self.named(about.system or '')}: {message}." if named else f"{message[:1].upper()}{message[1:]}."
