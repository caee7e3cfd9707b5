"""The inputs of a run: participants, references, ground truths and transcripts, checked before any request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from demur.errors import UserError, and_more, literal, located, repeated, shown
from demur.extensions.produce.config import FEW_SHOT, ProduceSettings
from demur.extensions.produce.prompts import PromptFolder
from demur.extensions.produce.transcripts import TranscriptFolder, Window, check_file_name
from demur.facts.columns import written_number
from demur.facts.ids import ClusterId, as_integers, checked_ids, sorted_ids
from demur.facts.instruments import Instrument, instrument
from demur.files.numbers import finite_float
from demur.files.strict_json import fingerprint, read_as, read_bytes
from demur.read.tables import opened_table
from demur.types import Json

Scores = Mapping[str, int]
ChunkScores = Mapping[str, Sequence[Mapping[str, int | None]]]
_ID = "participant_id"
_MOST_DIGITS = 18


@dataclass(frozen=True)
class Inputs:
    """The inputs of a run; participants are identified by their id as text."""

    settings: ProduceSettings
    instrument: Instrument
    people: tuple[ClusterId, ...]
    references: tuple[ClusterId, ...]
    truth: Mapping[str, Scores]
    transcripts: TranscriptFolder
    prompts: PromptFolder
    hashes: Json
    files: tuple[Path, ...]
    chunk_scores: ChunkScores | None = None

    @cached_property
    def transcript_hashes(self) -> dict[str, str | None]:
        """The SHA-256 of each transcript, None if it is missing."""
        return {str(person): self.transcripts.fingerprint(str(person)) for person in (*self.people, *self.references)}

    def chosen(self, only: Sequence[str] = (), limit: int | None = None) -> list[ClusterId]:
        """The participants of the split that the options select, in order."""
        known = {str(person) for person in self.people}
        if unknown := [name for name in only if name not in known]:
            raise UserError(and_more(f"--only {literal(unknown[0])}: no such participant in the split", len(unknown)))
        selected = [person for person in self.people if not only or str(person) in only]
        return selected if limit is None else selected[:limit]


def read_inputs_of(settings: ProduceSettings, folder: Path) -> Inputs:
    """Read and check the files that the configuration names, relative to its folder."""
    data, few_shot = settings.data, FEW_SHOT in settings.assess.modes
    scale = instrument(folder / data.instrument if data.instrument.endswith((".json", ".toml")) else data.instrument)
    splits = [_ids(folder / data.split), _ids(folder / data.reference_split) if few_shot else []]
    if shared := [person for person in splits[0] if person in {*splits[1]}]:
        both = f"participant {shown(shared[0])} is both assessed and a reference, and would be shown the own scores"
        raise UserError(and_more(f"{both}: leave it out of {data.split} or {data.reference_split}", len(shared)))
    people, references = _numbered(*splits)
    truth = _truth(folder / data.truth, scale, data.truth_prefix, [*splits[0], *splits[1]])
    root = folder / data.transcripts
    if not root.is_dir():
        raise UserError(f"{root}: not a folder, expected the transcripts (data.transcripts)")
    windows = _windows(folder / data.interruptions) if data.interruptions else {}
    prompts = PromptFolder.of(settings.assess.prompts, folder, scale)
    named = {"truth": data.truth, "split": data.split, "interruptions": data.interruptions}
    named |= {"reference_split": data.reference_split, "chunk_scores": data.chunk_scores} if few_shot else {}
    hashes: Json = {name: fingerprint(read_bytes(folder / path)) for name, path in named.items() if path}
    schemas = json.dumps([prompts.evidence_schema, prompts.score_schema])
    hashes |= {"prompts": prompts.sha256, "schema": fingerprint(schemas.encode())}
    chunked = _chunk_scores(folder / data.chunk_scores, scale) if few_shot and data.chunk_scores else None
    reading = TranscriptFolder(root, data.speaker, windows)
    files = tuple(folder / path for path in named.values() if path)
    return Inputs(settings, scale, people, references, truth, reading, prompts, hashes, files, chunked)


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """The rows of a CSV file, each after its position, with these columns, whose case does not matter."""
    with opened_table(path) as (table, _), located(path):
        spelled = {name.strip().lower(): name for name in table.header}
        if missing := [name for name in columns if name.lower() not in spelled]:
            listed = ", ".join(map(shown, table.header))
            raise UserError(and_more(f"no column {missing[0]}; columns: {listed}", len(missing)))
        used = {name: spelled[name.lower()] for name in columns}
        return [
            (where, {name: str(row[column]).strip() for name, column in used.items()})
            for where, row in table.rows(table.header)
        ]


def _ids(path: Path) -> list[str]:
    ids = [row[_ID] for _, row in _rows(path, [_ID])]
    with located(path):
        checked_ids(ids, "participant")
        for person in ids:
            check_file_name(person)
        if not ids:
            raise UserError("there are no participants")
        if twice := repeated(ids):
            raise UserError(and_more(f"participant {shown(twice[0])} appears twice", len(twice)))
    return ids


def _numbered(*splits: Sequence[str]) -> list[tuple[ClusterId, ...]]:
    """The sorted ids of each split, as integers if all of them are canonical integers, and otherwise as texts."""
    whole = as_integers([name for split in splits for name in split], _MOST_DIGITS) is not None
    return [sorted_ids(int(name) if whole else name for name in split) for split in splits]


def _truth(path: Path, scale: Instrument, prefix: str | None, people: Sequence[str]) -> dict[str, Scores]:
    """The ground truth of every participant; a score that is missing or out of range is an error."""
    start = scale.name.replace("-", "") + "_" if prefix is None else prefix
    columns = {item: f"{start}{item}" for item in scale.items}
    wanted, truth = {*people}, dict[str, Scores]()
    for where, row in _rows(path, [_ID, *columns.values()]):
        person = row[_ID]
        if person not in wanted:
            continue
        with located(f"{path}: {where}"):
            if person in truth:
                raise UserError(f"participant {shown(person)} appears twice")
            truth[person] = {item: _score(row[column], person, item, scale) for item, column in columns.items()}
    if missing := [person for person in people if person not in truth]:
        raise UserError(and_more(f"{path}: participant {shown(missing[0])} has no row, expected scores", len(missing)))
    return truth


def _score(cell: str, person: str, item: str, scale: Instrument) -> int:
    known = as_integers([cell.removesuffix(".0")], _MOST_DIGITS)  # spreadsheets and frames write 2.0
    if known is None or not scale.minimum <= known[0] <= scale.maximum:
        raise UserError(f"participant {shown(person)}, {item}: {literal(cell)}, expected {scale.score}")
    return known[0]


def _windows(path: Path) -> dict[str, list[Window]]:
    windows: dict[str, list[Window]] = {}
    for where, row in _rows(path, [_ID, "start", "stop"]):
        start, stop = (finite_float(written_number(row[name])) for name in ("start", "stop"))
        if start is None or stop is None:
            raise UserError(f"{path}: {where}: expected start and stop in seconds")
        windows.setdefault(row[_ID], []).append((start, stop))
    return windows


def _chunk_scores(path: Path, scale: Instrument) -> ChunkScores:
    """The scores of chunks, {participant: [{item: score or null}]}, in the order of the chunks."""
    content: Any = read_as(path, lambda parsed: parsed)
    with located(path):
        if not isinstance(content, dict):
            raise UserError("expected an object with a list of chunks per participant")
        for person, chunks in content.items():
            if not isinstance(chunks, list):
                raise UserError(f"participant {shown(person)}: {literal(chunks)}, expected a list of chunks")
            for index, scores in enumerate(chunks):
                _check_chunk(f"participant {shown(person)}, chunk {index}", scores, scale)
    return dict(content)


def _check_chunk(where: str, scores: Any, scale: Instrument) -> None:
    if not isinstance(scores, dict) or {*scores} != {*scale.items}:
        raise UserError(f"{where}: expected an object with a score or null for every item of {scale.name}")
    for item, score in scores.items():
        if score is not None and (type(score) is not int or not scale.minimum <= score <= scale.maximum):
            raise UserError(f"{where}, {item}: {literal(score)}, expected {scale.score} or null")
