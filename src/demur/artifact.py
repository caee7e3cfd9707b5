"""Artifact: an evaluation as a JSON file. The models check every invariant before a byte is written, and on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from demur import strict_json
from demur.artifact_numbers import DeltaNumbers, Ends, PairedNumbers, VariantNumbers
from demur.cautions import Caution  # noqa: TC001  (pydantic reads the annotations)
from demur.drawing.html import html_pictures, html_table
from demur.drawing.looks import look_at
from demur.drawing.risk_coverage import risk_coverage
from demur.errors import UserError, shown
from demur.picture_data import risk_curve
from demur.strict_model import Count, Part, Time, Tool, one_line, schema_of
from demur.write import json_text, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from demur.drawing.picture import Picture


_SHOWN = ("cmax", "aurc_full", "augrc_full", "aurc_at_c", "augrc_at_c", "eaugrc")


def _one_or_two(entry: Any) -> str:
    """What an entry means to be, so that what is wrong with it is told of that and of nothing else."""
    return "pair" if isinstance(entry, PairedNumbers) or (isinstance(entry, dict) and "left" in entry) else "run"


OneRunOrTwo = Annotated[
    Annotated[VariantNumbers, Tag("run")] | Annotated[PairedNumbers, Tag("pair")], Discriminator(_one_or_two)
]


class Input(Part):
    """A run that was evaluated."""

    path: str | None
    run_id: str | None
    git_commit: str | None
    mode: str | None
    sha256: str | None


class Sides(Part):
    """A count of the left and of the right run."""

    left: Count
    right: Count


class Population(Part):
    """Who was counted. Of two runs: those who are in both."""

    participants_total: Count
    participants_included: Count
    participants_failed: Count
    items_total: Count
    items_predicted: Count | Sides

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.participants_total != self.participants_included + self.participants_failed:
            raise ValueError("participants_total is not participants_included + participants_failed")
        answered = self.items_predicted
        largest = answered if isinstance(answered, int) else max(answered.left, answered.right)
        if largest > self.items_total:
            raise ValueError("more items are predicted than there are")
        return self


class LossUsed(Part):
    """How wrong an answer is."""

    name: str
    definition: str
    raw_multiplier: int


class Convention(Part):
    """What the numbers rest on, in words."""

    ties: str
    denominator: str
    anchor_at_zero: str
    integration: str


class Compared(Part):
    """Whether two runs are compared, on whom, and by how much they differ."""

    enabled: bool
    intersection_only: bool | None = None
    participants_left_only: Count | None = None
    participants_right_only: Count | None = None
    participants_overlap_total: Count | None = None
    participants_overlap_included: Count | None = None
    participants_failed_left: Count | None = None
    participants_failed_right: Count | None = None
    deltas: Mapping[str, Mapping[str, DeltaNumbers | Mapping[str, DeltaNumbers]]] | None = None

    @model_validator(mode="after")
    def _all_or_none(self) -> Self:
        others = [value for name, value in self if name != "enabled"]
        if any((value is None) == self.enabled for value in others):
            raise ValueError("a comparison has all of its members, and no comparison has none")
        return self


class Skipped(Part):
    """A variant that was left out, and why."""

    name: str
    reason: str


class Case(Part):
    """One unit, by its names alone."""

    participant: int | str
    item: str


class Declined(Part):
    """Units a run declined and the other answered right: how many, and the first of them in order."""

    count: Count
    first: Annotated[tuple[Case, ...], Field(strict=False)]


class Needless(Part):
    """What each of two runs declined and the other answered right."""

    left: Declined
    right: Declined


MOST_CASES = 20
_ROUNDING = 1e-12


class Cases(Part):
    """Whom to look at: failed participants, the surest answers that are wrong, and needless abstentions of two runs."""

    failed: Annotated[tuple[int | str, ...], Field(strict=False)]
    confident_errors: Mapping[str, Annotated[tuple[Case, ...], Field(strict=False)]]
    needless_abstentions: Needless | None = None


DELTAS = ("cmax", "aurc_full", "augrc_full", "aurc_at_c", "augrc_at_c")


class Metrics(Part):
    """The whole file."""

    schema_version: Literal["1"] = "1"
    created_at: Time
    tool: Tool
    inputs: Annotated[tuple[Input, ...], Field(strict=False, min_length=1, max_length=2)]
    population: Population
    loss: LossUsed
    convention: Convention
    confidence_variants: Annotated[Mapping[str, OneRunOrTwo], Field(min_length=1)]
    skipped_variants: Annotated[tuple[Skipped, ...], Field(strict=False)]
    comparison: Compared
    warnings: Annotated[tuple[Caution, ...], Field(strict=False)]
    cases: Cases

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if len(self.inputs) != (2 if self.comparison.enabled else 1):
            raise ValueError(f"{len(self.inputs)} inputs do not go with comparison.enabled {self.comparison.enabled}")
        wanted = PairedNumbers if self.comparison.enabled else VariantNumbers
        if any(type(one) is not wanted for one in self.confidence_variants.values()):
            raise ValueError("the variants of a comparison have a left and a right, and others have not")
        for name, entry in self.confidence_variants.items():
            if any(
                sum(item.n for item in one.by_item.values()) != self.population.items_total
                for _, one in entry.sides(name)
            ):
                raise ValueError(f"items_total is not the number of items of {name}")
        included = self.comparison.participants_overlap_included
        if included is not None and included != self.population.participants_included:
            raise ValueError("participants_overlap_included is not population.participants_included")
        return self

    @model_validator(mode="after")
    def _coverages_are_of_the_items(self) -> Self:
        items = self.population.items_total
        for name, entry in self.confidence_variants.items():
            for label, one in entry.sides(name):
                accepted = (coverage * items for coverage in one.curve.coverage)
                if any(abs(units - round(units)) > _ROUNDING * items for units in accepted):
                    raise ValueError(f"{label}: a coverage of the curve is no number of the {items} items")
        return self

    @model_validator(mode="after")
    def _differences_are_of_the_variants(self) -> Self:
        deltas = self.comparison.deltas
        if deltas is not None and set(deltas) != set(self.confidence_variants):
            raise ValueError("the differences are not of the variants")
        for name, found in (deltas or {}).items():
            missing = [key for key in DELTAS if not isinstance(found.get(key), DeltaNumbers)]
            if missing:
                raise ValueError(f"the differences of {name} lack {missing[0]}")
            risks, pair = found.get("mae_at_coverage"), self.confidence_variants[name]
            assert isinstance(pair, PairedNumbers)  # noqa: S101  (checked before)
            if not isinstance(risks, Mapping) or set(risks) != set(pair.left.mae_at_coverage):
                raise ValueError(f"the differences of {name} are not at the coverages of its risks")
        return self

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return self.model_dump(mode="json")

    def __repr__(self) -> str:
        people, names = self.population, ", ".join(map(shown, self.confidence_variants))
        return f"Metrics({people.participants_included} participants, {len(self.inputs)} runs; {names})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows = [row for name, entry in self.confidence_variants.items() for row in self._rows(name, entry)]
        pictures = {shown(name): _picture(entry) for name, entry in self.confidence_variants.items()}
        return html_pictures(pictures, html_table(("variant", *_SHOWN), rows, repr(self)))

    def _rows(self, name: str, entry: VariantNumbers | PairedNumbers) -> Iterator[tuple[str, ...]]:
        for label, one in entry.sides(name):
            yield shown(label), *(_with_ends(*one.with_interval(key)) for key in _SHOWN)
        if isinstance(entry, PairedNumbers):
            yield shown(f"{name}, right − left"), *(self._difference(name, entry, key) for key in _SHOWN)

    def _difference(self, name: str, pair: PairedNumbers, key: str) -> str:
        """A difference with its interval, unless it is of areas over different coverages."""
        if key in ("aurc_full", "augrc_full", "eaugrc") and pair.left.cmax != pair.right.cmax:
            return "Cmax differs"
        found = (self.comparison.deltas or {}).get(name, {}).get(key)
        return _with_ends(found.delta, found.ci95_recommended) if isinstance(found, DeltaNumbers) else "undefined"

    @property
    def fingerprint(self) -> str:
        """A hash of the result, whenever and by whichever command it was made."""
        return strict_json.fingerprint(json_text(self.model_dump(mode="json", exclude={"created_at", "tool"})).encode())

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write it as JSON, whole or not at all, and never over a run it was made from or another input."""
        runs = [one.path for one in self.inputs if one.path]
        return write_whole(path, json_text(self.to_json()), inputs=[*runs, *inputs])


def _picture(entry: VariantNumbers | PairedNumbers) -> Picture:
    runs = {"left": entry.left, "right": entry.right} if isinstance(entry, PairedNumbers) else {"": entry}
    curves = [
        risk_curve(one, "selective", label, look_at(index).style) for index, (label, one) in enumerate(runs.items())
    ]
    return risk_coverage(curves, "selective", size=(480, 300))


def _with_ends(value: float | None, ends: Ends | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.4g}" if ends is None else f"{value:.4g} [{ends.low:.3g}, {ends.high:.3g}]"


def load(path: str | Path) -> Metrics:
    """Read an artifact back; anything in it that does not hold together is one line that says what."""
    return strict_json.read_as(path, metrics_of)


def metrics_of(content: Any) -> Metrics:
    """An artifact from parsed JSON."""
    if not isinstance(content, dict) or "confidence_variants" not in content:
        kind = content.get("kind") if isinstance(content, dict) else None
        other = " (it is an artifact of demur retrieval)" if kind == "retrieval" else ""
        raise UserError(f"not an artifact of demur evaluate: expected an object with confidence_variants …{other}")
    try:
        return Metrics.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise UserError(one_line(error)) from None


def metrics_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return schema_of(Metrics)
