"""Results: the table of estimates, with the curves, the warnings and the study it is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from demur.errors import UserError, shown, unknown
from demur.files.strict_json import fingerprint, loads, read_bytes, shown_path
from demur.files.strict_model import Tool, now
from demur.files.write import json_members, write_whole
from demur.inference.engines import engine_name
from demur.inference.estimates import INTERVALS, Estimate, Estimates
from demur.inference.key import Minus
from demur.inference.resample import Plan
from demur.inference.warnings import ResultWarning
from demur.quantities.conventions.signature import NONE
from demur.results.parts import CurveRecord, Execution, Input
from demur.results.study import RetrievalStudy, SelectiveStudy
from demur.types import Json

if TYPE_CHECKING:
    from demur.results.leaderboard import Leaderboard

_UNDATED = ("created_at", "tool", "execution")
_PAIR = 2
ENOUGH_RESAMPLES = 100


class Results(Estimates):
    """Every number of every system, and everything shown beside them.

    Two systems or one are written as SPEC's nested file, anything else as columns; `load` reads all of them.
    """

    def __init__(
        self,
        rows: Iterable[Estimate],
        study: SelectiveStudy | RetrievalStudy,
        curves: Mapping[tuple[str, str], CurveRecord],
        warnings: Sequence[ResultWarning] = (),
    ) -> None:
        super().__init__(rows, warnings)
        self.study, self.curves = study, dict(curves)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order they were given."""
        return tuple(system.name for system in self.study.systems)

    @property
    def selective(self) -> SelectiveStudy:
        """The study, of an evaluation of answers."""
        if not isinstance(self.study, SelectiveStudy):
            raise UserError("these are results of retrieval, not of answers")
        return self.study

    @property
    def retrieval(self) -> RetrievalStudy:
        """The study, of an evaluation of retrieval."""
        if not isinstance(self.study, RetrievalStudy):
            raise UserError("these are results of answers, not of retrieval")
        return self.study

    @property
    def execution(self) -> Execution | None:
        """What computed the numbers, which changes none of them; None of a file that does not say."""
        return self.study.execution

    @property
    def nested(self) -> bool:
        """Whether the nested file can hold them."""
        return isinstance(self.study, SelectiveStudy) and len(self.study.systems) <= _PAIR

    def leaderboard(self) -> Leaderboard:
        """Which systems are shown to be worse than which by the number they are compared by, and the ranks left."""
        from demur.results.leaderboard import leaderboard_of  # noqa: PLC0415  (most results need none)

        if len(self.systems) == 1:
            raise UserError("a leaderboard is of several systems, and these are results of one")
        board = leaderboard_of(self)
        if board is None:
            where = f"under {shown(self.selective.confidences[0])}"
            raise UserError(f"these results do not hold the differences of all pairs of systems {where}")
        return board

    @property
    def why_nothing_decides(self) -> str:
        """Why no difference decides anything: one cluster cannot be resampled, and few resamples have no tails."""
        study = self.study
        if study.bootstrap is None:
            return "nothing was resampled"
        clusters = study.clusters_included if isinstance(study, SelectiveStudy) else study.posts
        if clusters == 1:
            return f"one {study.noun} decides nothing"
        return "" if study.bootstrap.n_resamples >= ENOUGH_RESAMPLES else "too few resamples to decide"

    def narrowed(self, names: str | None) -> Results:
        """The same with these confidences alone, in this order; names are separated by commas."""
        if names is None:
            return self
        known = self.selective.confidences
        chosen = [names] if names in known else [name.strip() for name in names.split(",")]
        for name in chosen:
            if name not in known:
                raise unknown("confidence of these results", name, known)
        rows = [row for row in self if row.key.confidence in ("", *chosen)]
        curves = {key: curve for key, curve in self.curves.items() if key[1] in chosen}
        study = self.selective.model_copy(update={"confidences": tuple(chosen)})
        return Results(rows, study.signed(independent=study.signature().cluster == NONE), curves, self.warnings)

    def about(self, **columns: Any) -> Iterator[ResultWarning]:
        """The warnings that bear on numbers with these columns: those about nothing else."""
        for warning in self.warnings:
            pattern = {name: getattr(warning.about, name) for name in columns}
            if all(pattern[name] in (None, value) for name, value in columns.items()):
                yield warning

    def place(self, warning: ResultWarning, called: Mapping[str, str]) -> str:
        """What a warning about answers is about, in words, by what systems are called; one alone may have no name."""
        about = warning.about
        if about.confidence is None:
            return warning.subject or about.system or ""
        whose = called.get(about.system or "", "")
        if about.minus is not None:
            pair = [about.system or "", str(about.minus.value)]
            only = {*pair} == {*self.systems}
            whose = "difference" if only else " − ".join(called.get(name) or name for name in pair)
        group = f" of {about.group.name} {about.group.level}" if about.group else ""
        named = f"{whose} {about.quantity or warning.subject}".strip() + group
        return f"{about.confidence}: {named}" if about.confidence else named

    @cached_property
    def _members(self) -> dict[str, str]:
        """The text of each member of the file: written once, whatever it is needed for."""
        from demur.results import json_table, json_v1  # noqa: PLC0415  (both are made of results)

        try:
            return json_members((json_v1 if self.nested else json_table).encoded(self))
        except ValueError as error:
            raise UserError(f"the result does not hold together: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        content: dict[str, Any] = loads(self.text)
        return content

    @property
    def text(self) -> str:
        """The file, as it is written."""
        return joined(self._members.values())

    @property
    def fingerprint(self) -> str:
        """A hash of the result, whenever, by whichever command and by whichever engine it was made."""
        return fingerprint(joined(text for name, text in self._members.items() if name not in _UNDATED).encode())

    @property
    def lower_is_surer(self) -> tuple[str, ...]:
        """The confidences of which a lower value is a surer one."""
        return tuple(dict.fromkeys(name for (_, name), curve in self.curves.items() if curve.lower_is_surer))

    @property
    def input_paths(self) -> list[str]:
        """The files the results were made from."""
        files = [source.path for source in self.study.inputs] + [file.path for file in self.study.also_read]
        return [path for path in files if path]

    @property
    def input_hashes(self) -> set[str]:
        """The SHA-256 of those files, by which they are known wherever they are."""
        files = [source.sha256 for source in self.study.inputs] + [file.sha256 for file in self.study.also_read]
        return {sha256 for sha256 in files if sha256}

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write the file, whole or not at all, and never over a file it was made from or another input."""
        return write_whole(path, self.text, inputs=[*self.input_paths, *inputs], hashes=self.input_hashes)

    def _repr_html_(self) -> str:
        if not isinstance(self.study, SelectiveStudy):
            return super()._repr_html_()
        from demur.results.pictures import notebook_html  # noqa: PLC0415  (pictures are drawn of results)

        return notebook_html(self)

    def __repr__(self) -> str:
        names = ", ".join(map(shown, self.systems))
        return f"Results({names}; {len(self)} numbers, {len(self.warnings)} warnings)"


def turned(row: Estimate) -> Estimate:
    """A difference of two systems the other way round."""
    minus = "" if row.key.minus is None else str(row.key.minus.value)
    ends: Json = {name: getattr(row, name) and getattr(row, name).negated() for name in INTERVALS}
    # 0.0 - x: minus nothing is nothing
    sides: Json = {"value": 0.0 - row.value, "above": row.below, "below": row.above, "evidence": None}
    return replace(row, key=replace(row.key, system=minus, minus=Minus("system", row.key.system)), **sides, **ends)


def joined(members: Iterable[str]) -> str:
    """Members of an object as one text."""
    return "{\n  " + ",\n  ".join(members) + "\n}\n"


def system_names(inputs: Sequence[Input]) -> tuple[str, ...]:
    """What systems are called: their labels, or the first thing their files say that tells all of them apart."""
    labels = [source.label for source in inputs]
    files = [PurePath(source.path).name if source.path else None for source in inputs]
    choices = ([source.mode for source in inputs], [source.run_id for source in inputs], files)
    if len(inputs) == 1:
        return (next((name for name in (*labels, *(names[0] for names in choices)) if name), "The run"),)
    for choice in choices:
        names = [label or str(name or "") for label, name in zip(labels, choice, strict=True)]
        # The file of two calls them left and right: a mode of such a name may say the opposite of what is meant there.
        clear = not {name for label, name in zip(labels, names, strict=True) if not label} & {"left", "right"}
        if clear and all(names) and len({*map(shown, names)}) == len(names):
            return tuple(names)
    numbered = tuple(f"system {n + 1}" for n in range(len(inputs)))
    names = [label or number for label, number in zip(labels, numbered, strict=True)]
    return tuple(names) if len({*names}) == len(names) else numbered


def provenance(plan: Plan, created_at: str | None, command: str | None, also_read: Iterable[str | Path] = ()) -> Json:
    """What every study records of its making: when, by what and how, from what besides its inputs, and the draws."""
    return {
        "also_read": [{"path": shown_path(path), "sha256": fingerprint(read_bytes(path))} for path in also_read],
        "created_at": now() if created_at is None else created_at,
        "tool": Tool.installed(command),
        "execution": {"engine": engine_name(), "threads": plan.threads},
        "bootstrap": {"seed": plan.seed, "n_resamples": plan.n_resamples} if plan.n_resamples else None,
    }


def named_inputs(systems: Mapping[str, Input]) -> list[Input]:
    """Inputs that say what their systems are called: with labels, unless the files say it already."""
    if system_names([*systems.values()]) == tuple(systems):
        return [*systems.values()]
    return [source.model_copy(update={"label": name}) for name, source in systems.items()]
