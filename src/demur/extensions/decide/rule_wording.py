"""Descriptions of a rule: a sentence, lines of text, and tables for the console and notebooks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from demur.drawing.html import html_table
from demur.drawing.labels import inert, isolated
from demur.extensions.decide.rule import Guarantee, Measured, Needed, Procedure, Rule, Tested
from demur.extensions.decide.targets import TARGETS

_COMPARED = {"at_least": "at least", "at_most": "at most"}
Row = tuple[str, float | None, int, Measured, Measured]


def rule_text(rule: Rule) -> str:
    """The full description of the rule as text without control characters."""
    return "\n".join(map(inert, rule_lines(rule)))


def rule_html(rule: Rule) -> str:
    """The rule as a table for a notebook, under its sentence."""
    cells = [
        (what, typed(threshold), f"{accepted}", _with_ends(coverage, share), _with_ends(risk, number))
        for what, threshold, accepted, coverage, risk in rule_rows(rule)
    ]
    return html_table(("", "threshold", "accepted", "coverage", "risk"), cells, sentence(rule))


def rule_rows(rule: Rule) -> Iterator[Row]:
    """Threshold, accepted units, coverage and risk: as chosen, on held-out clusters, and as certified."""
    chosen, guarantee = rule.chosen, rule.guarantee
    numbers = (math.nan if value is None else value for value in (chosen.coverage, chosen.risk))
    coverage, risk = (Measured.of(value, None) for value in numbers)
    yield "chosen on these data", chosen.threshold, chosen.accepted, coverage, risk
    if (unseen := chosen.procedure) is not None:
        yield f"on other {rule.noun}s", None, unseen.accepted, unseen.coverage, unseen.risk
    if guarantee is not None and guarantee.coverage is not None and guarantee.risk is not None:
        accepted = next(tested.accepted for tested in guarantee.tested if tested.threshold == guarantee.threshold)
        yield f"certified by {guarantee.method}", guarantee.threshold, accepted, guarantee.coverage, guarantee.risk


def sentence(rule: Rule) -> str:
    """The rule in one sentence."""
    return _chosen(rule) if rule.guarantee is None else _certified(rule, rule.guarantee)


def rule_lines(rule: Rule) -> Iterator[str]:
    """The full description of the rule, line by line."""
    data = f"{rule.clusters} {rule.noun}s, {rule.units} units, {rule.answered} answered; loss {rule.loss.name}"
    if rule.guarantee is None:
        yield data
        yield _chosen(rule)
    else:
        yield from _guarantee(rule, rule.guarantee)
        yield ""
        yield data
        yield f"Without a guarantee: {_chosen(rule)}"
    yield _unseen(rule, rule.chosen.procedure)


def wanted_words(rule: Rule) -> str:
    """The target in words; a loss that is not 0 or 1 is not called an error."""
    if (rule.target.kind, rule.target.counts) == ("errors_per_100", "loss"):
        return f"a loss of at most {rule.target.value} per 100 units"
    return TARGETS[rule.target.kind].words.format(rule.target.value)


def _accepting(rule: Rule, threshold: float) -> str:
    return f"accept where {isolated(rule.signal)} is {_COMPARED[rule.direction]} {typed(threshold)}"


def _chosen(rule: Rule) -> str:
    chosen, wanted = rule.chosen, wanted_words(rule)
    if chosen.threshold is None:
        return f"For {wanted}: {chosen.reason}. Nothing is accepted."
    risk = _with_ends(chosen.risk_if_fixed, number) if chosen.risk_if_fixed else number(chosen.risk)
    return (
        f"For {wanted}: {_accepting(rule, chosen.threshold)}. That answers {chosen.accepted} of {rule.units} units "
        f"({share(chosen.coverage)}) with a risk of {risk} on these data, on which it was chosen."
    )


def _unseen(rule: Rule, procedure: Procedure | None) -> str:
    if procedure is None:
        return f"How it does on another {rule.noun} is not known: there is only one."
    without = procedure.without_threshold
    none = f" Without {without} of the folds no threshold met the target." if without else ""
    if procedure.risk.value is None:
        return f"On {rule.noun}s it has not seen ({procedure.folds} folds) choosing this way accepts nothing.{none}"
    per_100 = ""
    if rule.target.kind == "errors_per_100":
        what = "errors" if rule.target.counts == "errors" else "loss"
        per_100 = f", {what} per 100 units {_with_ends(procedure.generalized_risk, hundredfold)}"
    return (
        f"On {rule.noun}s it has not seen ({procedure.folds} folds, seed {procedure.seed}), choosing this way answers "
        f"{_with_ends(procedure.coverage, share)} with a risk of {_with_ends(procedure.risk, number)}{per_100}.{none}"
    )


def _certified(rule: Rule, guarantee: Guarantee) -> str:
    if guarantee.threshold is None:
        refused = f"{typed(guarantee.tested[0].threshold)}, the first threshold tested, does not pass"
        return f"Nothing is certified by {guarantee.method} for {wanted_words(rule)}: {refused}. Nothing is accepted."
    if guarantee.delta is None:
        promise = f"{wanted_words(rule)} on average"
    else:
        wrongly = f"wrongly in at most {100 * float(Fraction(guarantee.delta)):.3g} % of studies"
        promise = f"{wanted_words(rule)}, {wrongly}"
    coverage = "" if guarantee.coverage is None else _with_ends(guarantee.coverage, share)
    accepting = _accepting(rule, guarantee.threshold)
    return f"Certified by {guarantee.method}, {promise}: {accepting}. That answers {coverage}."


def _guarantee(rule: Rule, guarantee: Guarantee) -> Iterator[str]:
    yield _certified(rule, guarantee)
    yield from map(_tested, guarantee.tested)
    if guarantee.needed is not None:
        yield _needed(rule, guarantee, guarantee.needed)
    people = f"{guarantee.clusters} {rule.noun}s"
    tuned = f", {guarantee.tuned_on.clusters} others to tune on" if guarantee.tuned_on else ""
    yield f"Tested on {people}{tuned}. It assumes: {'; '.join(guarantee.assumes)}."


def _tested(tested: Tested) -> str:
    statistic = f"p = {tested.p:.3g}" if tested.p is not None else f"sum {number(tested.statistic)}"
    verdict = "passes" if tested.passed else "fails"
    answered = f"{share(tested.coverage)} answered, risk {number(tested.risk)}"
    return f"  {typed(tested.threshold)}: {answered}, {statistic}, {verdict}"


def _needed(rule: Rule, guarantee: Guarantee, needed: Needed) -> str:
    if needed.clusters is None:
        return f"To certify {typed(needed.threshold)}: {needed.reason}."
    more = needed.clusters - guarantee.clusters
    also = f" ({needed.reason})" if needed.reason else ""
    return f"To certify {typed(needed.threshold)}, {needed.clusters} {rule.noun}s would be needed, {more} more{also}."


def typed(threshold: float | None) -> str:
    """A threshold formatted as a user would type it."""
    return "none" if threshold is None else repr(threshold).removesuffix(".0")


def share(value: float | None) -> str:
    """A share formatted in percent."""
    return "–" if value is None else f"{100 * value:.3g} %"


def number(value: float | None) -> str:
    """A number formatted with three significant digits."""
    return "–" if value is None else f"{value:.3g}"


def hundredfold(value: float | None) -> str:
    """A number times 100, formatted with three significant digits."""
    return "–" if value is None else f"{100 * value:.3g}"


def _with_ends(measured: Measured, form: Callable[[float | None], str]) -> str:
    if measured.low is None:
        return form(measured.value)
    return f"{form(measured.value)} [{form(measured.low)}, {form(measured.high)}]"
