"""Results: the table of estimates, with curves, warnings and the study they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from demur.errors import IncompleteError, UserError, shown, unknown
from demur.facts.signals import listed_names
from demur.files.strict_json import fingerprint, loads, read_bytes, shown_path
from demur.files.strict_model import Tool, now
from demur.files.write import json_members, write_whole
from demur.inference.estimates import INTERVALS, Estimate, Estimates
from demur.inference.key import Minus
from demur.inference.warnings import ResultWarning
from demur.quantities.signature import NONE, resampled
from demur.results.file_models import CurveRecord, Execution, Input
from demur.results.study import SelectiveStudy, Study
from demur.sampling.engine import engine_name
from demur.sampling.resample import Plan
from demur.types import Json

if TYPE_CHECKING:
    from demur.results.features import FeatureOptions
    from demur.results.leaderboard import Leaderboard
    from demur.results.settings import Settings

_UNDATED = ("created_at", "tool", "execution")
_PAIR = 2
ENOUGH_RESAMPLES = 100


class _Curves(dict[tuple[str, str], CurveRecord]):
    """Curves by system and confidence; a file may lack one."""

    def __missing__(self, key: tuple[str, str]) -> CurveRecord:
        system, confidence = map(shown, key)
        raise IncompleteError(f"these results lack a curve: of {system}, by {confidence}")


class Results(Estimates):
    """The results of an evaluation: every number of every system, with curves, warnings and the study.

    One or two systems are written as the nested file, anything else as columns; `load` reads both.
    """

    def __init__(
        self,
        rows: Iterable[Estimate],
        study: Study,
        curves: Mapping[tuple[str, str], CurveRecord],
        warnings: Sequence[ResultWarning] = (),
        library: str = "",
    ) -> None:
        super().__init__(rows, warnings, library)
        self.study, self.curves = study, _Curves(curves)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order given."""
        return tuple(system.name for system in self.study.systems)

    @property
    def selective(self) -> SelectiveStudy:
        """The study of an evaluation of answers; an error for another task."""
        if not isinstance(self.study, SelectiveStudy):
            shows = "demur report shows them, to_frame() tabulates them"
            raise UserError(f"these are results of {self.study.task}, not of answers: {shows}")
        return self.study

    @property
    def execution(self) -> Execution | None:
        """The engine, threads and route that computed the numbers; None if the file does not record it."""
        return self.study.execution

    @property
    def settings(self) -> Settings:
        """What was computed, as the record tells it; an error for another task.

        It can be given to `evaluate` again, with the `features`. A calibration is a file of its own, and is given anew.
        """
        from demur.results.settings import recorded_settings  # noqa: PLC0415  (most results need none)

        return recorded_settings(self)

    @property
    def features(self) -> tuple[FeatureOptions, ...]:
        """What was asked of features, as the record tells it: `evaluate` takes them again."""
        from demur.results.features import recorded_features  # noqa: PLC0415  (most results need none)

        return recorded_features(self.selective)

    @property
    def nested(self) -> bool:
        """Whether these results can be written as the nested file."""
        return isinstance(self.study, SelectiveStudy) and len(self.study.systems) <= _PAIR

    def leaderboard(self) -> Leaderboard:
        """The ranks that each system may have, by the headline number and simultaneous intervals of all pairs."""
        from demur.results.leaderboard import leaderboard_of  # noqa: PLC0415  (most results need none)

        if len(self.systems) == 1:
            raise UserError("a leaderboard needs several systems, and these are results of one")
        board = leaderboard_of(self)
        if board is None:
            under = f"under {shown(self.selective.confidences[0])}"
            raise UserError(f"these results do not hold the differences of all pairs of systems {under}")
        return board

    @property
    def why_nothing_decides(self) -> str:
        """The reason why no difference can be decided: too few resamples or a single cluster; else empty."""
        study = self.study
        if study.bootstrap is None:
            return resampled(0, "", 0)
        if study.clusters == 1:
            return f"one {study.noun} decides nothing"
        return "" if study.bootstrap.n_resamples >= ENOUGH_RESAMPLES else "too few resamples to decide"

    def narrowed(self, names: str | Sequence[str] | None) -> Results:
        """The results for these confidences only, in this order; `names` is a list, or a text with commas."""
        if names is None:
            return self
        known = self.selective.confidences
        chosen = listed_names(names, known)
        for name in chosen:
            if name not in known:
                raise unknown("confidence of these results", name, known)
        rows = [row for row in self if row.key.confidence in ("", *chosen)]
        curves = {key: curve for key, curve in self.curves.items() if key[1] in chosen}
        study = self.selective.model_copy(update={"confidences": chosen})
        signed = study.signed(independent=study.signature().cluster == NONE)
        return Results(rows, signed, curves, self.warnings, self.library)

    def about(self, **columns: Any) -> Iterator[ResultWarning]:
        """The warnings that apply to numbers with these values of key columns."""
        for warning in self.warnings:
            if all(getattr(warning.about, name) in (None, value) for name, value in columns.items()):
                yield warning

    def warning_subject(self, warning: ResultWarning, called: Mapping[str, str]) -> str:
        """The subject of a warning in words; `called` are the names of systems, empty for a single one."""
        about = warning.about
        if about.confidence is None:
            return warning.subject or about.system or ""
        subject = called.get(about.system or "", "")
        if about.minus is not None:
            pair = [about.system or "", str(about.minus.value)]
            only_pair = {*pair} == {*self.systems}
            subject = "difference" if only_pair else " − ".join(called.get(name) or name for name in pair)
        group = f" of {about.group.name} {about.group.level}" if about.group else ""
        named = f"{subject} {about.quantity or warning.subject}".strip() + group
        return f"{about.confidence}: {named}" if about.confidence else named

    @cached_property
    def _members(self) -> dict[str, str]:
        """The text of each member of the file, encoded once."""
        from demur.results import json_table, json_v1  # noqa: PLC0415  (both are made of results)

        try:
            return json_members((json_v1 if self.nested else json_table).encoded(self))
        except ValueError as error:
            raise UserError(f"the result does not hold together: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """The content of the file as JSON values."""
        content: dict[str, Any] = loads(self.text)
        return content

    @property
    def text(self) -> str:
        """The content of the file as JSON text."""
        return joined(self._members.values())

    @property
    def fingerprint(self) -> str:
        """A hash of the results that does not depend on time, command or engine."""
        return fingerprint(joined(text for name, text in self._members.items() if name not in _UNDATED).encode())

    @property
    def lower_is_surer(self) -> tuple[str, ...]:
        """The confidences whose lower values mean more confident."""
        return tuple(dict.fromkeys(name for (_, name), curve in self.curves.items() if curve.lower_is_surer))

    @property
    def input_paths(self) -> list[str]:
        """The paths of the files the results were computed from."""
        files = [source.path for source in self.study.inputs] + [file.path for file in self.study.also_read]
        return [path for path in files if path]

    @property
    def input_hashes(self) -> set[str]:
        """The SHA-256 of the input files, which identifies them wherever they are."""
        files = [source.sha256 for source in self.study.inputs] + [file.sha256 for file in self.study.also_read]
        return {sha256 for sha256 in files if sha256}

    def save(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
        """Write the file atomically, and never over a file the results were computed from or another input."""
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
    """A difference of two systems with its sign reversed."""
    minus = "" if row.key.minus is None else str(row.key.minus.value)
    ends: Json = {name: getattr(row, name) and getattr(row, name).negated() for name in INTERVALS}
    # 0.0 - x, so that 0 does not become -0.0
    sides: Json = {"value": 0.0 - row.value, "above": row.below, "below": row.above, "evidence": None}
    return replace(row, key=replace(row.key, system=minus, minus=Minus("system", row.key.system)), **sides, **ends)


def joined(members: Iterable[str]) -> str:
    """Join the texts of members into the text of a JSON object."""
    return "{\n  " + ",\n  ".join(members) + "\n}\n"


def system_names(inputs: Sequence[Input]) -> tuple[str, ...]:
    """The names of systems: their labels, or the first of mode, run id and file name that is unique to each."""
    labels = [source.label for source in inputs]
    files = [PurePath(source.path).name if source.path else None for source in inputs]
    choices = ([source.mode for source in inputs], [source.run_id for source in inputs], files)
    if len(inputs) == 1:
        return (next((name for name in (*labels, *(names[0] for names in choices)) if name), "The run"),)
    for choice in choices:
        names = [label or str(name or "") for label, name in zip(labels, choice, strict=True)]
        # The file of two runs calls them left and right, which such a mode could contradict.
        clear = not {name for label, name in zip(labels, names, strict=True) if not label} & {"left", "right"}
        if clear and all(names) and len({*map(shown, names)}) == len(names):
            return tuple(names)
    numbered = tuple(f"system {n + 1}" for n in range(len(inputs)))
    names = [label or number for label, number in zip(labels, numbered, strict=True)]
    return tuple(names) if len({*names}) == len(names) else numbered


def provenance(plan: Plan, created_at: str | None, command: str | None, also_read: Iterable[str | Path] = ()) -> Json:
    """The members that record the origin of a study: time, tool, engine, further files and resampling."""
    return {
        "also_read": [{"path": shown_path(path), "sha256": fingerprint(read_bytes(path))} for path in also_read],
        "created_at": now() if created_at is None else created_at,
        "tool": Tool.installed(command),
        "execution": {"engine": engine_name(), "threads": plan.threads},
        "bootstrap": {"seed": plan.seed, "n_resamples": plan.resamples} if plan.resamples else None,
    }


def named_inputs(systems: Mapping[str, Input]) -> list[Input]:
    """Label inputs with the names of their systems, unless those follow from the files."""
    if system_names([*systems.values()]) == tuple(systems):
        return [*systems.values()]
    return [source.model_copy(update={"label": name}) for name, source in systems.items()]
