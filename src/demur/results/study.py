"""Studies: the record of what was evaluated and how, apart from the numbers, as models of the file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Self

from demur.facts.losses import COLUMN, GIVEN
from demur.files.strict_model import SPARSE, Count, Declared, Part, Time, Tool
from demur.inference.key import Key
from demur.inference.warnings import ResultWarning
from demur.quantities import Quantity, quantities
from demur.quantities.losses import LOSSES
from demur.quantities.registry import COMMON, CUT
from demur.quantities.signature import MANY, NONE, OF_SCORES, Signature
from demur.results import file_models
from demur.results.file_models import Many, Name

PARTICIPANT = "participant"
AREA = "augrc"
SIGNATURE = "signature"
_IN_WORDS = ("ties", "denominator", "anchor_at_zero", "integration")


class EvaluatedSystem(Part):
    """A system that was evaluated, by its name."""

    name: str


class Study(Part):
    """What every task records of its evaluation."""

    if TYPE_CHECKING:  # each task declares them, where its file has them
        task: str
        noun: str
        systems: tuple[EvaluatedSystem, ...]

    created_at: Time
    tool: Tool
    execution: Annotated[file_models.Execution | None, SPARSE] = None
    inputs: Many[file_models.Input]
    also_read: Many[file_models.AlsoRead] = ()
    baseline: str | None
    bootstrap: file_models.Bootstrap | None
    requested: file_models.RequestedInterval | None = None
    convention: Mapping[str, str]

    @property
    def clusters(self) -> int:
        """How many clusters the numbers are of."""
        raise NotImplementedError

    def signature(self) -> Signature:
        """Which definition the numbers follow."""
        raise NotImplementedError

    def warning_subject(self, warning: ResultWarning) -> str | None:  # noqa: ARG002
        """What a warning is about, if the task has its own words for it."""
        return None

    def _with(self, line: Signature) -> Self:
        """The same with its signature recorded."""
        return self.model_copy(update={"convention": {**self.convention, SIGNATURE: str(line)}})

    def _boot(self, drawn: str) -> str:
        return f"{drawn}.{self.bootstrap.n_resamples}.s{self.bootstrap.seed}" if self.bootstrap else NONE


def reported(cut: str, coverages: Sequence[str]) -> Iterator[tuple[Quantity, str, str]]:
    """All reported numbers of a curve: quantity, name, and coverage if any."""
    for entry in (entry for entry in quantities("curve") if entry.reported):
        if entry.parameter is None:
            yield entry, entry.name, ""
        elif entry.parameter is CUT:
            yield entry, f"{entry.stem}@{cut}", ""
        else:
            yield from ((entry, f"{entry.stem}@{text}", text) for text in coverages)


def signed_loss(loss: file_models.Loss) -> str:
    """The name of a loss in a signature."""
    if loss.name == GIVEN:
        return GIVEN if loss.definition.startswith(COLUMN) else OF_SCORES
    normalised = loss.name in LOSSES and LOSSES[loss.name].normalised
    return f"{loss.name}.{loss.raw_multiplier}" if normalised else loss.name


class SelectiveSystem(EvaluatedSystem):
    """One system: answered units, clusters it failed on, and clusters that only it lacks or has.

    Where repeats of a question were put together, `rows` counts all of them, and `rows_failed` those that failed.
    """

    answered: Count
    failed: Count
    not_in_all: Count = 0
    units_failed: Annotated[Count | None, SPARSE] = None
    failed_by_cause: Annotated[Many[file_models.Cause] | None, SPARSE] = None
    rows: Annotated[Count | None, SPARSE] = None
    rows_failed: Annotated[Count | None, SPARSE] = None
    needless_abstentions: file_models.Declined | None = None


class SelectiveStudy(Study):
    """The record of an evaluation of systems that may abstain."""

    task: Literal["selective"] = "selective"
    noun: str = PARTICIPANT
    systems: Annotated[Many[SelectiveSystem], Declared(min_length=1)]
    clusters_total: Count
    clusters_included: Count
    units: Count
    intersection_only: bool
    loss: file_models.Loss
    confidences: Annotated[Many[str], Declared(min_length=1)]
    skipped: Many[file_models.Skipped]
    coverages: Many[str]
    area_coverage: str | None
    failed: Many[Name]
    failed_units: Annotated[Literal["drop", "abstain"] | None, SPARSE] = None
    excluded: Annotated[Many[str] | None, SPARSE] = None
    probabilities: Annotated[Many[str] | None, SPARSE] = None
    repeats: Annotated[Literal["units", "first", "vote"] | None, SPARSE] = None
    confident_errors: Many[file_models.ConfidentErrors]

    def signed(self, *, independent: bool) -> Self:
        """A copy with the signature recorded; `independent` rows have no cluster."""
        return self._with(self.signature().under({"cluster": NONE, "boot": self._boot("item")} if independent else {}))

    def signature(self, confidence: str | None = None) -> Signature:
        """The signature of the definition that the numbers follow, for all confidences or for one."""
        independent = f"|cluster:{NONE}|" in self.convention.get(SIGNATURE, "")
        names = [confidence] if confidence is not None else self.confidences
        return Signature(
            loss=signed_loss(self.loss),
            cluster=NONE if independent else self.noun,
            conf=names[0] if len(names) == 1 else MANY,
            boot=self._boot("item" if independent else "cluster"),
            v=self.tool.version,
        )

    @property
    def clusters(self) -> int:
        """How many clusters failed in no system."""
        return self.clusters_included

    @property
    def clusters_failed(self) -> int:
        """The number of clusters that failed in at least one system."""
        return self.clusters_total - self.clusters_included

    @property
    def cut(self) -> str:
        """The coverage at which areas end, as spelled in names of quantities."""
        return COMMON if self.area_coverage is None else self.area_coverage

    @property
    def headline(self) -> Key:
        """The key, without a system, of the number that systems are compared by, fixed before computing."""
        return Key("", f"{AREA}@{self.cut}", self.confidences[0])

    def names(self, shown: str) -> list[str]:
        """The names of the quantities shown in one section or table."""
        cells = reported(self.cut, self.coverages)
        return [name for entry, name, coverage in cells if shown in entry.shown and not coverage]

    @property
    def names_at_coverages(self) -> list[str]:
        """The names of the quantities at the requested coverages."""
        return [name for _, name, coverage in reported(self.cut, self.coverages) if coverage]

    def _mistakes(self) -> Iterator[str]:
        for name in _IN_WORDS:
            if name not in self.convention:
                yield f"the convention lacks {name}"
        if self.clusters_total < self.clusters_included:
            yield "participants_total is not participants_included + participants_failed"
        if len(self.inputs) != len(self.systems):
            yield f"{len(self.inputs)} inputs for {len(self.systems)} systems"
        if any(system.answered > self.units for system in self.systems):
            yield "more items are predicted than there are"
