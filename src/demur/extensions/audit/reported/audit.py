"""The audit of a reported file: every leaf is compared with the data, and differences are explained where possible."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from demur.errors import UserError, and_more, shown
from demur.extensions.audit.figures import NO_CAUSE, Expected, Explanation, Finding, Printed, finding, not_recognised
from demur.extensions.audit.reported.contexts import Context, Figure, Known, figures_of
from demur.facts.frames import TableOf


class Audit(ABC):
    """The audit of one reported file; subclasses compute the figures from their data."""

    section_of: str  # what a section is named after
    counts: frozenset[str]  # figures that are equal or differ
    settings = frozenset(("seed", "n_resamples", "level", "schema_version", "raw_multiplier", "requested"))
    unbounded: frozenset[str] = frozenset()  # figures that are not a share even where they lie between 0 and 1
    advice = ""  # how to name what a section is about

    def __init__(self, known: Known, content: Any) -> None:
        if not isinstance(content, Mapping):
            raise UserError(f"expected an object with a section for each {self.section_of}")
        self.known, self.value = known, cache(self.computed)
        figures = figures_of(content, known)
        self.figures = [figure for figure in figures if figure.is_figure and figure.path[-1] not in self.settings]
        if not self.figures:
            raise UserError("there are no figures in it")

    @abstractmethod
    def why_not(self, figure: Figure) -> str | None:
        """The reason why a figure with a known name cannot be recomputed; None if it can."""

    @abstractmethod
    def completed(self, figure: Figure) -> Context:
        """The context of a figure, with defaults for what its path leaves open."""

    @abstractmethod
    def computed(self, context: Context) -> float | None:
        """Compute the value of a figure from the data; None if it is undefined."""

    @abstractmethod
    def others(self, context: Context) -> Iterator[tuple[Explanation | str, Context]]:
        """Other numbers that a figure may be, each with a description, the most likely first."""

    def last_resort(self, context: Context, reported: Any) -> Explanation | str | None:  # noqa: ARG002
        """A possible cause, or a remark on the data, if no other convention explains a figure."""
        return None

    def consistent_with(self, context: Context, reported: Any) -> str:  # noqa: ARG002
        """A remark on what a figure is consistent with, if no other number explains it."""
        return NO_CAUSE

    def findings(self) -> TableOf[Finding]:
        """Audit all figures of the file."""
        findings = [replace(self.finding(figure), path=figure.path) for figure in self.figures]
        contexts = [figure.context for figure in self.figures if figure.context.quantity and not figure.context.system]
        strangers = [*dict.fromkeys(context.stranger for context in contexts if context.stranger is not None)]
        if strangers and all(finding.status == "not recognised" for finding in findings):
            systems = ", ".join(map(shown, dict.fromkeys(self.known.systems.values())))
            names = and_more(shown(strangers[0]), len(strangers))
            section = f"no section is called after a {self.section_of} of the data ({systems}), but {names}"
            raise UserError(f"{section}{self.advice.replace('*', 'NAME')}")
        causes = [*self._explained(findings)]
        fitting = Counter(fit for finding in causes if finding.status == "differs" for fit in {*finding.fits})
        return TableOf(replace(each, explains=fitting[each.fits[0]]) if each.fits else each for each in causes)

    def _explained(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """The findings, with a cause of each difference that only other figures or ties can explain."""
        for result, figure in zip(findings, self.figures, strict=True):
            if result.status != "differs" or result.cause is not None:
                yield result
            elif another := self._value_of_another(figure, findings):
                yield result.because(another)
            else:
                yield replace(result, cause=self.consistent_with(self.completed(figure), figure.value))

    def expected(self, context: Context) -> Expected:
        """The value of a figure that the data give."""
        name = context.quantity.name
        exact = name in self.counts and context.spread is None
        return Expected(self.value(context), exact=exact, share=name not in self.unbounded)

    def finding(self, figure: Figure) -> Finding:
        """Audit one figure; a difference that only other figures can explain has no cause yet."""
        key, reason = ".".join(figure.path), self.unread(figure)
        if reason is not None:
            return not_recognised(key, figure.value, reason)
        context = self.completed(figure)
        expected = self.expected(context)
        if not expected.agrees(figure.value):  # other conventions are slow, and only explain differences
            others = ((cause, self.value(other)) for cause, other in self.others(context))
            worded = ((Explanation(cause) if isinstance(cause, str) else cause, value) for cause, value in others)
            expected = replace(expected, otherwise=dict(worded))
        result = finding(key, figure.value, expected)
        if result.status == "differs" and result.cause is None:
            cause = self.last_resort(context, figure.value)
            return result.because(cause) if isinstance(cause, Explanation) else replace(result, cause=cause)
        return result

    def unread(self, figure: Figure) -> str | None:
        """The reason why a figure cannot be recomputed: unknown name, no number, or missing data; None if it can."""
        context = figure.context
        if context.quantity:
            is_text = context.quantity.name != "skip_no_positives" and isinstance(figure.value, (str, bool))
            return "not a number" if is_text else self.why_not(figure)
        if context.stem is not None:
            return f"it does not say at which {'K' if context.stem.endswith('@K') else 'coverage'}"
        name = next((name for name in reversed(figure.path) if not name.isdecimal()), figure.path[-1])
        return f"no known figure is called {shown(name)}"

    def _value_of_another(self, figure: Figure, findings: Sequence[Finding]) -> Explanation | None:
        """Which other figure of the same section or name has this value in the data."""
        reported, path = figure.value, figure.path
        if not isinstance(reported, Printed) or not reported.telling:
            return None
        others = [
            other
            for other, at in zip(findings, self.figures, strict=True)
            if other.path != path and at.context.quantity and at.context.quantity.name not in self.counts
        ]
        alike = [other for other in others if other.recomputed is not None and reported.agrees(other.recomputed)]
        own = -2 if path[-1].isdecimal() else -1  # the place in a list is no name
        names = [".".join(other.path[own:]) for other in alike if other.path[:-1] == path[:-1]]
        names += [other.key for other in alike if other.path[-1] == path[-1]]
        return Explanation(f"it is the value of {shown(names[0])}") if names else None
