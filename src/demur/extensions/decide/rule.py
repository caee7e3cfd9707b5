"""The rule file: a threshold, its target, what is guaranteed of it, and where it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from demur.errors import UserError
from demur.extensions.decide.targets import TARGETS
from demur.facts.frames import Tabular
from demur.files.strict_json import fingerprint, read_as, read_bytes, shown_path
from demur.files.strict_model import SPARSE, CheckedPart, Count, Part, Time, Tool
from demur.files.write import json_text, write_whole
from demur.inference.intervals import Interval
from demur.results.file_models import AlsoRead, Input, Loss, Many, Number, Numbers
from demur.sampling.coverage import risk_of

Direction = Literal["at_least", "at_most"]
Positive = Annotated[int, Field(ge=1)]
_ENDS = {"": "value", "_low": "low", "_high": "high"}


def _unreadable(read: Callable[[str], object], text: str) -> Iterator[str]:
    try:
        read(text)
    except UserError as error:
        yield str(error)


class Measured(Part):
    """A number with its 95 % interval; a null has a reason."""

    value: Number
    low: Number
    high: Number
    method: str | None
    degrees: Annotated[Number, SPARSE] = None
    reason: str = ""

    @classmethod
    def of(cls, value: float, interval: Interval | None, reason: str = "") -> Measured:
        """Build from a number, null if it is nan, with its interval."""
        number = None if value != value else value  # noqa: PLR0124  (nan)
        if interval is None:
            return cls(value=number, low=None, high=None, method=None, reason=reason)
        low, high, method = interval.low, interval.high, interval.method
        return cls(value=number, low=low, high=high, method=method, degrees=interval.degrees, reason=interval.note)


class Wanted(Part):
    """The target as it was typed, and whether it counts errors, or losses that are not all 0 or 1."""

    kind: Literal["risk", "coverage", "errors_per_100", "abstention_cost"]
    value: str
    counts: Literal["errors", "loss"]

    def _mistakes(self) -> Iterator[str]:
        yield from _unreadable(TARGETS[self.kind].read, self.value)


class Procedure(Part):
    """The result of cross-fitting: a threshold for each fold of clusters is chosen on the others, and applied to it."""

    folds: Count
    seed: Count
    without_threshold: Count
    accepted: Count
    risk: Measured
    generalized_risk: Measured
    coverage: Measured


class Chosen(Part):
    """The operating point that meets the target on these data, or the reason why none does.

    The interval of `risk_if_fixed` ignores that the threshold was chosen on these data.
    """

    threshold: Number
    accepted: Count
    coverage: Number
    risk: Number
    generalized_risk: Number
    reason: str
    procedure: Procedure | None
    risk_if_fixed: Annotated[Measured | None, SPARSE] = None

    def _mistakes(self) -> Iterator[str]:
        if (self.threshold is None) == (not self.reason):
            yield "a threshold that is null needs a reason, and any other has none"


class Tested(Part):
    """One threshold of the grid: the units it accepts, its test, and whether it passed."""

    threshold: float
    accepted: Count
    coverage: float
    risk: Number
    statistic: Number
    p: Number
    passed: bool


class Needed(Part):
    """The number of clusters with which the threshold that failed would pass, or null with the reason."""

    threshold: float
    clusters: Positive | None
    reason: str


class TunedOn(Part):
    """The clusters, none of them tested on, that were used to choose the first threshold to test."""

    clusters: Positive
    seed: Count | None
    inputs: Many[Input]
    p: Numbers


class Guarantee(Part):
    """A threshold tested in a fixed sequence that was declared before these data were seen."""

    method: str
    alpha: str
    delta: str | None
    largest_loss: float
    max_units: Positive
    grid: Numbers
    tuned_on: TunedOn | None
    clusters: Positive
    units: Positive
    tested: Many[Tested]
    threshold: Number
    coverage: Measured | None
    risk: Measured | None
    needed: Needed | None
    assumes: Many[str]

    def _mistakes(self) -> Iterator[str]:
        yield from _unreadable(risk_of, self.alpha)
        yield from _unreadable(risk_of, self.delta or "0")
        yield from self._untested()
        passed = {tested.threshold: tested for tested in self.tested if tested.passed}
        last = next(reversed(passed.values()), None)
        if self.threshold != (last and last.threshold):
            yield "the certified threshold is not the last one that passed"
        if last and (self.coverage is None or self.coverage.value != last.coverage):
            yield "the coverage is not that of the certified threshold"
        if last and (self.risk is None or self.risk.value != last.risk):
            yield "the risk is not that of the certified threshold"

    def _untested(self) -> Iterator[str]:
        """Contradictions between the grid and the tests, which follow its order until one fails."""
        thresholds = [tested.threshold for tested in self.tested]
        if not thresholds or thresholds[0] not in self.grid:
            yield "no threshold of the grid is tested first"
            return
        first = self.grid.index(thresholds[0])
        if self.tuned_on is not None and first != self.tuned_on.p.index(min(self.tuned_on.p)):
            yield "the first threshold tested is not the one that was tuned"
        if thresholds != [*self.grid[first : first + len(thresholds)]]:
            yield "the thresholds tested are not those of the grid, in its order"
        if not all(tested.passed for tested in self.tested[:-1]):
            yield "a threshold is tested after one that failed"
        for tested in self.tested:
            if tested.accepted > self.units or tested.coverage != tested.accepted / self.units:
                yield f"the threshold {tested.threshold:g}: its coverage is not what it accepts of the units"
            if self._contradicts(tested):
                yield f"the threshold {tested.threshold:g}: whether it passed does not follow from its test"

    def _contradicts(self, tested: Tested) -> bool:
        if tested.p is None or self.delta is None:
            return tested.statistic is None or tested.passed != (tested.statistic <= 0)
        level = float(risk_of(self.delta))  # a p equal to the level may have passed or failed, as it is rounded
        return tested.p > level if tested.passed else tested.p < level


class Rule(CheckedPart, Tabular):
    """A rule: accept units at or above (or at or below) a threshold; with all that is needed to check or repeat it.

    A threshold of null declines everything. A file of the kind `attempt` records a certification in which no threshold
    passed: it is no rule, and `load_rule` refuses it.
    """

    schema_version: Literal["1"] = "1"
    kind: Literal["rule", "attempt"] = "rule"
    created_at: Time
    tool: Tool
    signal: Annotated[str, Field(min_length=1)]
    direction: Direction
    threshold: Number
    noun: Annotated[str, Field(min_length=1)]
    loss: Loss
    largest_loss: Number
    max_units: Positive | None
    target: Wanted
    clusters: Positive
    units: Positive
    answered: Count
    chosen: Chosen
    guarantee: Guarantee | None
    inputs: Many[Input]
    also_read: Many[AlsoRead] = ()

    def _mistakes(self) -> Iterator[str]:
        used = self.chosen.threshold if self.guarantee is None else self.guarantee.threshold
        if self.threshold != used:
            yield "the threshold is not the one that was chosen or certified"

    @property
    def is_uncertified(self) -> bool:
        """Whether a guarantee was requested, and no threshold passed."""
        return self.guarantee is not None and self.threshold is None

    @property
    def is_certified(self) -> bool:
        """Whether its threshold is certified, not only chosen."""
        return self.guarantee is not None

    @property
    def sentence(self) -> str:
        """The rule in one sentence."""
        from demur.extensions.decide.rule_wording import sentence  # noqa: PLC0415  (that module imports this one)

        return sentence(self)

    @property
    def lines(self) -> list[str]:
        """The full description of the rule as lines of text."""
        from demur.extensions.decide.rule_wording import rule_lines  # noqa: PLC0415

        return [*rule_lines(self)]

    @property
    def expected_coverage(self) -> Measured | None:
        """The coverage to expect in use: that of the certified threshold, or that of held-out clusters."""
        if self.guarantee is not None:
            return self.guarantee.coverage
        return self.chosen.procedure.coverage if self.chosen.procedure else None

    @property
    def text(self) -> str:
        """The content of the file as JSON text."""
        return json_text(self.model_dump())

    @property
    def columns(self) -> Mapping[str, str]:
        """The columns that played a role in the table that the rule was chosen on."""
        return next((source.columns for source in self.inputs if source.columns), {})

    @property
    def input_paths(self) -> list[str]:
        """The paths of the files that the rule was made from."""
        return [source.path for source in self._sources if source.path]

    @property
    def input_hashes(self) -> set[str]:
        """The SHA-256 of the files that the rule was made from."""
        return {source.sha256 for source in self._sources if source.sha256}

    @property
    def _sources(self) -> list[Input | AlsoRead]:
        tuned = self.guarantee.tuned_on.inputs if self.guarantee and self.guarantee.tuned_on else ()
        return [*self.inputs, *tuned, *self.also_read]

    def read_beside(self, paths: Iterable[str | Path]) -> Rule:
        """The rule, with other files recorded that were read, such as a calibration or an instrument."""
        files = ({"path": shown_path(path), "sha256": fingerprint(read_bytes(path))} for path in paths)
        return self.model_copy(update={"also_read": tuple(AlsoRead(**file) for file in files)})

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = (), allow_empty: bool = False) -> Path:
        """Write the file atomically, and never over a file that the rule was made from or another input.

        If nothing is certified, the rule, which declines everything, is only written with `allow_empty`.
        """
        if self.is_uncertified and not allow_empty:
            raise UserError(
                f"{path}: nothing is certified: write a rule that declines everything with allow_empty=True"
            )
        return _written(self, path, inputs)

    def save_attempt(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write the record of a certification in which no threshold passed, with every test; it is not a rule."""
        if not self.is_uncertified:
            raise UserError(f"{path}: a threshold was chosen or certified: save the rule")
        return _written(self.model_copy(update={"kind": "attempt"}), path, inputs)

    def __str__(self) -> str:
        from demur.extensions.decide.rule_wording import rule_text  # noqa: PLC0415  (that module imports this one)

        return rule_text(self)

    __repr__ = __str__

    def to_columns(self) -> dict[str, list[Any]]:
        """Coverage and risk as columns, a row each as chosen, on held-out clusters, and as certified."""
        from demur.extensions.decide.rule_wording import rule_rows  # noqa: PLC0415

        rows = [
            {"what": what, "threshold": threshold, "accepted": accepted}
            | {f"coverage{end}": getattr(coverage, name) for end, name in _ENDS.items()}
            | {f"risk{end}": getattr(risk, name) for end, name in _ENDS.items()}
            for what, threshold, accepted, coverage, risk in rule_rows(self)
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _repr_html_(self) -> str:
        from demur.extensions.decide.rule_wording import rule_html  # noqa: PLC0415

        return rule_html(self)


def _written(rule: Rule, path: str | Path, inputs: Iterable[str | Path]) -> Path:
    return write_whole(path, rule.text, inputs=[*rule.input_paths, *inputs], hashes=rule.input_hashes)


def load_rule(path: str | Path) -> Rule:
    """Read a rule file; raise an error if it contradicts itself."""
    return read_as(path, _rule_of)


def _rule_of(content: Any) -> Rule:
    if isinstance(content, dict) and content.get("kind") == "attempt":
        raise UserError("not a rule, but the record of a certification in which no threshold passed")
    if not isinstance(content, dict) or content.get("kind") != "rule":
        raise UserError("not a rule: expected what demur choose writes")
    return Rule.parsed(content)
