"""Importer for HELM: a run folder with `per_instance_stats.json` and `scenario_state.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from demur.errors import UserError, literal, located, shown
from demur.extensions.importers.hashing import sha256_of
from demur.extensions.importers.json_cursor import JsonCursor
from demur.extensions.importers.registry import ImportOptions, LogEntry, LogFacts, importer
from demur.extensions.importers.user_choices import no_such
from demur.extensions.importers.values import is_number, object_at
from demur.facts.paths import at_path
from demur.files.numbers import finite_float
from demur.files.strict_json import read_as
from demur.types import Json

_STATS, _STATES, _SPEC = "per_instance_stats.json", "scenario_state.json", "run_spec.json"
_SIGNALS = ("max_prob", "logprob")
_METRIC = "exact_match"


class _Instance(NamedTuple):
    """The identity of a row: an instance, a trial, and the perturbation, if any."""

    item: str
    trial: int
    perturbation: str | None


class _Answer(NamedTuple):
    """An answer, whether the request succeeded, and the members of the instance that paths can refer to."""

    text: str | None
    success: bool
    instance: Json


def _records(path: Path) -> Iterator[Json]:
    for key, means in _rows(path / _STATS, None):
        yield {**key._asdict(), "stats": means}


@importer("helm", noun="instance", rules=("answer", "field", "value"), records=_records)
def read_helm(paths: Sequence[Path], options: ImportOptions, facts: LogFacts) -> Iterator[LogEntry]:
    """Read the instances of a run; perturbed ones are left out unless their perturbation is named."""
    (folder,) = paths
    stats, states = folder / _STATS, folder / _STATES
    metric = options.choices.get("metric") or _METRIC
    _describe_run(folder, metric, facts)
    answers = dict(_answers(states))
    perturbation = options.choices.get("perturbation")
    varying = _varying(_rows(stats, perturbation), facts)
    perturbations = dict.fromkeys(key.perturbation for key in answers)
    if perturbations and perturbation not in perturbations:
        named = ", ".join(shown(name) for name in perturbations if name is not None) or "none"
        wanted = "without a perturbation" if perturbation is None else f"with the perturbation {shown(perturbation)}"
        raise UserError(f"{folder}: no instance {wanted}; perturbations, for --perturbation: {named}")
    for key, values in _rows(stats, perturbation):
        answer = answers.get(key)
        where = f"instance {shown(key.item)}, trial {key.trial}"
        with located(f"{stats}: {where}"):
            if answer is None:
                raise UserError(f"it is not in {_STATES}")
            if answer.success and metric not in values:
                raise no_such("metric", metric, values)
        yield LogEntry(
            where=where,
            item=key.item,
            repeat=key.trial + 1,  # trials count from 0
            value=values.get(metric),
            answer=answer.text,
            record={"instance": answer.instance, "stats": values},
            signals={name: values[name] for name in varying if name in values},
            failed=None if answer.success else "error",
        )


def _describe_run(folder: Path, metric: str, facts: LogFacts) -> None:
    """Check that the files of a run are there, and record what is known before any row is read."""
    stats, states, spec = (folder / name for name in (_STATS, _STATES, _SPEC))
    for path in (stats, states):
        if not path.is_file():
            raise UserError(f"{folder}: not a run folder of HELM: there is no {path.name} in it{_run_folder(folder)}")
    facts.path = stats
    facts.read_beside += [stats, states, spec]
    facts.source["sha256"] = sha256_of([stats, states])
    if spec.is_file():
        facts.describe(read_as(spec, lambda parsed: parsed), {"task": "name", "model": "adapter_spec.model"})
    facts.mapping |= {"item": "instance_id", "repeat": "train_trial_index + 1", "loss": f"1 - {metric}"}
    facts.signal_paths |= {name: f"stats {name}" for name in _SIGNALS}


def _run_folder(place: Path) -> str:
    runs = [place.parent] if (place.parent / _STATS).is_file() and place.is_file() else []
    runs += sorted(file.parent for file in place.glob(f"*/{_STATS}")) if place.is_dir() else []
    return f"; give a run folder, such as {shown(str(runs[0]))}" if runs else ""


def _rows(path: Path, perturbation: str | None) -> Iterator[tuple[_Instance, dict[str, float]]]:
    """The statistics of each instance, by name, under one perturbation, or without one if it is None."""
    with JsonCursor.opened(path) as cursor:
        for number, row in enumerate(cursor.values()):
            with located(f"[{number}]"):
                if not isinstance(row, dict):
                    raise UserError("expected an object")
                key = _key(row, object_at(row, "perturbation"), row.get("instance_id"))
                means = dict(_means(row.get("stats"))) if key.perturbation == perturbation else None
            if means is not None:
                yield key, means


def _means(stats: Any) -> Iterator[tuple[str, float]]:
    for stat in stats if isinstance(stats, list) else ():
        name, mean, count = (at_path(stat, path) for path in ("name.name", "mean", "count"))
        if isinstance(name, str) and is_number(mean) and is_number(count) and count > 0:
            if finite_float(mean) is None:
                raise UserError(f"{shown(name)} is {literal(mean)}, expected a finite number")
            yield name, mean


def _key(row: Any, perturbation: Json, item: Any) -> _Instance:
    trial = row.get("train_trial_index", 0) if isinstance(row, dict) else None
    if not isinstance(item, str) or type(trial) is not int or trial < 0:
        raise UserError(f"instance {literal(item)}, trial {literal(trial)}: expected an id and a number")
    name = perturbation.get("name")
    return _Instance(item, trial, name if isinstance(name, str) else None)


def _answers(path: Path) -> Iterator[tuple[_Instance, _Answer]]:
    """The answer to each instance."""
    with JsonCursor.opened(path) as cursor:
        for _ in cursor.members(["request_states"]):
            if cursor.peek() != "[":
                cursor.skip()
                continue
            for number, state in enumerate(cursor.values()):
                instance, result = object_at(state, "instance"), object_at(state, "result")
                with located(f"request_states[{number}]"):
                    key = _key(state, object_at(instance, "perturbation"), instance.get("id"))
                members = {name: value for name, value in instance.items() if name not in ("input", "references")}
                yield key, _Answer(_text(state), bool(result) and result.get("success") is not False, members)


def _text(state: Json) -> str | None:
    """The completion, or the choice it stands for; None if each choice was a request of its own."""
    text = at_path(state, "result.completions.0.text")
    if not isinstance(text, str) or state.get("reference_index") is not None:
        return None
    chosen = object_at(state, "output_mapping").get(text.strip(), text.strip())
    return chosen if isinstance(chosen, str) else None


def _varying(rows: Iterable[tuple[_Instance, dict[str, float]]], facts: LogFacts) -> list[str]:
    """The signals that are not constant: a constant ranks nothing, and HELM writes 0 or 1 for a signal it lacks."""
    first: dict[str, float] = {}
    varying: dict[str, None] = {}
    for _, values in rows:
        for name in _SIGNALS:
            if name in values and first.setdefault(name, values[name]) != values[name]:
                varying[name] = None
    for name, value in first.items():
        if name not in varying:
            facts.warn("constant_signal", f"{name} is {value:g} everywhere, so it ranks nothing: left out")
    return [name for name in _SIGNALS if name in varying]
