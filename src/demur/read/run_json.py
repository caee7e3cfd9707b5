"""Reading of run files: experiments, each with the truths, predictions and signals of its participants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demur.errors import UserError, and_more, literal, located, repeated, shown
from demur.facts.columns import MISSING, Column
from demur.facts.ids import ClusterId, checked_ids
from demur.facts.instruments import PHQ8, Instrument
from demur.facts.instruments import instrument as instrument_of
from demur.facts.items import Items, Source
from demur.facts.raw_units import RawUnits
from demur.files.strict_json import loads
from demur.options import as_option
from demur.read.columns_from_rows import GrowingColumn, columns_from_rows
from demur.read.stream import stream
from demur.types import Json


def read_run(
    path: str | Path,
    *,
    mode: str | None = None,
    experiment: int | None = None,
    instrument: str | Path | Instrument = PHQ8,
) -> Items:
    """Read one experiment of a run file as facts.

    A file with one experiment needs neither `mode` nor `experiment` (its index, from 0); one with several does.
    """
    return RunFile.of(path).items(mode=mode, experiment=experiment, instrument=instrument)


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run file that is read and parsed once, from which any of its experiments can be taken."""

    source: Source
    content: Any

    @classmethod
    def of(cls, path: str | Path) -> RunFile:
        """Read and parse a file."""
        with stream(path) as file:
            return cls(content=loads(file.whole()), source=file.source())

    def items(
        self, *, mode: str | None = None, experiment: int | None = None, instrument: str | Path | Instrument = PHQ8
    ) -> Items:
        """The facts of one experiment."""
        scale = instrument_of(instrument)
        with located(self.source.path):
            index, chosen_mode = _choose(_experiments(self.content), mode, experiment)
            raw = _raw_units(self.content["experiments"][index], scale, f"experiments[{index}]")
            metadata = _member(self.content, "run_metadata", dict, "the run", default={})
            traces = {
                name: _member(metadata, name, str, "run_metadata", default=None) for name in ("run_id", "git_commit")
            }
            return Items.of(raw, replace(self.source, mode=chosen_mode, **traces))


_REQUIRED = object()
_JSON_NAMES = {dict: "an object", list: "a list", str: "text", bool: "true or false"}


def _member(owner: Json, name: str, kind: type, where: str, default: object = _REQUIRED) -> Any:
    """A member of the given JSON type; if it is absent or null, the default, where there is one."""
    value = owner.get(name, MISSING)
    if default is not _REQUIRED and (value is MISSING or value is None):
        return default
    if value is MISSING:
        raise UserError(f"{where}: {name} is missing, expected {_JSON_NAMES[kind]}")
    return _of_kind(value, kind, f"{where}: {name}")


def _of_kind(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise UserError(f"{what} is {_kind_shown(value)}, expected {_JSON_NAMES[kind]}")
    return value


def _kind_shown(value: object) -> str:
    return _JSON_NAMES[type(value)] if isinstance(value, (dict, list)) else literal(value)


def _experiments(run: object) -> list[tuple[str, ...]]:
    """The modes that each experiment states: usually one; none, or two where provenance and results disagree."""
    if not isinstance(run, dict):
        raise UserError(f"a run file is an object with the member experiments, this is {_kind_shown(run)}")
    experiments = _member(run, "experiments", list, "the run")
    if not experiments:
        raise UserError("experiments is empty: there is nothing to evaluate")
    claims = []
    for index, entry in enumerate(experiments):
        where = f"experiments[{index}]"
        provenance = _member(_of_kind(entry, dict, where), "provenance", dict, where, default={})
        parts = {"provenance": provenance, "results": _member(entry, "results", dict, where)}
        modes = [_member(part, "mode", str, f"{where}.{name}", default=None) for name, part in parts.items()]
        claims.append(tuple(dict.fromkeys(mode for mode in modes if mode is not None)))
    return claims


_MOST_LISTED = 12


def _choose(claims: list[tuple[str, ...]], mode: str | None, experiment: int | None) -> tuple[int, str | None]:
    """The index of the chosen experiment, and its mode; where provenance and results disagree, that of the results."""
    listing = "; ".join(f"{i}: {_claim_shown(claim)}" for i, claim in enumerate(claims[:_MOST_LISTED]))
    listing += f"; and {len(claims) - _MOST_LISTED} more" if len(claims) > _MOST_LISTED else ""
    if experiment is not None:
        if type(experiment) is not int or not 0 <= experiment < len(claims):
            raise UserError(f"there is no experiment {literal(experiment)}; experiments in this file: {listing}")
        if mode is not None and mode not in claims[experiment]:
            raise UserError(f"experiment {experiment} is not of mode {shown(mode)}; experiments: {listing}")
        return experiment, claims[experiment][-1] if claims[experiment] else None
    matches = [i for i, claim in enumerate(claims) if mode is None or mode in claim]
    if not matches:
        raise UserError(f"no experiment of mode {shown(mode)}; experiments in this file: {listing}")
    if len(matches) > 1:
        reason = "no mode was asked for" if mode is None else f"several are of mode {shown(mode)}"
        options = f"{as_option('mode')} or {as_option('experiment')}" if mode is None else as_option("experiment")
        raise UserError(f"{len(claims)} experiments and {reason}; choose one by {options}: {listing}")
    claim = claims[matches[0]]
    if len(claim) > 1:
        raise UserError(
            f"experiment {matches[0]} contradicts itself about its mode ({_claim_shown(claim)}); "
            f"if it is the one, choose it, {as_option('experiment', str(matches[0]))}: {listing}"
        )
    return matches[0], claim[0] if claim else None


def _claim_shown(claim: tuple[str, ...]) -> str:
    if len(claim) > 1:
        return f"provenance says {shown(claim[0])}, results say {shown(claim[1])}"
    return shown(claim[0]) if claim else "no mode"


def _raw_units(experiment: Json, instrument: Instrument, where: str) -> RawUnits:
    records = _member(experiment["results"], "results", list, f"{where}.results")
    if not records:
        raise UserError(f"{where} has no participants: there is nothing to evaluate")
    for index, record in enumerate(records):
        if _of_kind(record, dict, f"{where}.results.results[{index}]").get("participant_id") is None:
            raise UserError(f"{where}.results.results[{index}]: participant_id is missing")
    ids = checked_ids([record["participant_id"] for record in records], "participant")
    if twice := repeated(ids):
        raise UserError(and_more(f"participant {shown(twice[0])} appears more than once", len(twice)))
    people: dict[ClusterId, Json] = {}
    failed = []
    for person, record in zip(ids, records, strict=True):
        if _member(record, "success", bool, f"participant {shown(person)}"):
            people[person] = record
        else:
            failed.append(person)
    return RawUnits(
        clusters=[person for person in people for _ in instrument.items],
        items=list(instrument.items) * len(people),
        truth=Column.of(_item_values(people, "ground_truth_items", instrument)),
        prediction=Column.of(_item_values(people, "predicted_items", instrument)),
        signals=_signal_columns(_item_values(people, "item_signals", instrument), [*people], instrument),
        failed=failed,
        instrument=instrument,
        noun="participant",
    )


def _item_values(people: Mapping[ClusterId, Json], name: str, instrument: Instrument) -> list[Any]:
    """The values of one member of all participants, in item order; each must have exactly the instrument's items."""
    expected = {*instrument.items}
    flat: list[Any] = []
    for person, record in people.items():
        where = f"participant {shown(person)}"
        values = _member(record, name, dict, where)
        if not values.keys() <= expected:
            unknown = [item for item in values if item not in expected]
            listed = f"{instrument.name} has {', '.join(instrument.items)}"
            text = f"{where}, {shown(unknown[0])}: no such item (in {name}), {listed}"
            raise UserError(and_more(text, len(unknown)))
        if len(values) < len(expected):
            missing = next(item for item in instrument.items if item not in values)
            text = f"{where}, {missing}: missing from {name}, expected all {len(expected)} items"
            raise UserError(and_more(text, len(expected) - len(values)))
        flat.extend(map(values.__getitem__, instrument.items))
    return flat


def _signal_columns(signals: list[Any], ids: Sequence[ClusterId], instrument: Instrument) -> dict[str, Column]:
    for unit, entry in enumerate(signals):
        if type(entry) is not dict:
            person, item = divmod(unit, len(instrument.items))
            _of_kind(entry, dict, f"participant {shown(ids[person])}, {instrument.items[item]}: item_signals")
    return columns_from_rows(signals, lambda _: GrowingColumn(), noun="signals")
