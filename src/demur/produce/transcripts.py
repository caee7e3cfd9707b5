"""Transcripts: found by participant, read, and cleaned of what nobody said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from demur.errors import UserError, shown
from demur.files.strict_json import decode, fingerprint, read_bytes
from demur.produce.failures import ParticipantFailure

PARTICIPANT, INTERVIEWER = "Participant", "Interviewer"
_COLUMNS = ("start_time", "stop_time", "speaker", "value")
_SYNC = re.compile(r"[<\[(]?\s*/?sync(?:h|hronization|ing)?\s*[>\])]?", re.IGNORECASE)
_SPEAKER = re.compile(r"\s*(participant|interviewer|ellie)\s*:\s*", re.IGNORECASE)
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """What somebody said, who, and when if that is known. `speaker` is empty where the file names none."""

    text: str
    speaker: str = ""
    start: float = math.nan
    stop: float = math.nan


@dataclass(frozen=True, slots=True)
class Transcript:
    """The lines of an interview as they are shown to a model."""

    lines: tuple[str, ...]
    sha256: str = ""

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """Transcripts named ID.txt or ID_TRANSCRIPT.csv, beside each other or in folders named ID_P."""

    path: Path
    speaker: str = "participant"
    windows: Mapping[str, Sequence[Window]] = field(default_factory=dict)

    def file_of(self, person: str) -> Path | None:
        """The file of a participant, None if there is none. An id is part of a name and never of a path."""
        check_file_name(person)
        names = (f"{person}.txt", f"{person}_TRANSCRIPT.csv")
        found = [
            path
            for folder in (self.path, self.path / f"{person}_P")
            for name in names
            if (path := folder / name).is_file()
        ]
        if len(found) > 1:
            raise UserError(
                f"participant {shown(person)} has {len(found)} transcripts, {found[0]} and {found[1]}: keep one"
            )
        return found[0] if found else None

    def fingerprint(self, person: str) -> str | None:
        """SHA-256 of the file, None if there is none."""
        path = self.file_of(person)
        return None if path is None else fingerprint(read_bytes(path))

    def read(self, person: str) -> Transcript:
        """The cleaned transcript of a participant, or a failure that says what is wrong with it."""
        path = self.file_of(person)
        if path is None:
            raise ParticipantFailure("transcript_missing", "load")
        try:
            data = read_bytes(path)
            text = decode(data).removeprefix("\ufeff")
            spoken = [*(_daic(text) if path.suffix == ".csv" else _plain_lines(text))]
        except UserError:
            raise ParticipantFailure("transcript_unreadable", "load") from None
        lines = _rendered(cleaned(spoken, self.windows.get(person, ())), self.speaker)
        if not lines:
            raise ParticipantFailure("transcript_empty", "load", numbers={"lines": len(spoken)})
        return Transcript(tuple(lines), fingerprint(data))


def check_file_name(person: str) -> None:
    r"""An id is part of the name of a file, and cannot lead anywhere else.

    >>> check_file_name("../300")
    Traceback (most recent call last):
    demur.errors.UserError: participant ../300: the id names a file, and cannot hold / \ or : nor start with a dot
    """
    good = person and person.isprintable() and not person.startswith(".") and not {*"/\\:"} & {*person}
    if not good:
        rule = "the id names a file, and cannot hold / \\ or : nor start with a dot"
        raise UserError(f"participant {shown(person)}: {rule}")


def _daic(text: str) -> Iterator[SpokenLine]:
    """Tab-separated rows with a header; a quotation mark is a character like any other."""
    header, *rows = text.split("\n")
    if tuple(header.strip().lower().split("\t")) != _COLUMNS:
        raise UserError("expected the columns " + ", ".join(_COLUMNS))
    for row in rows:
        if not row.strip():
            continue
        cells = row.rstrip("\r").split("\t")
        if len(cells) != len(_COLUMNS):
            raise UserError("expected four cells")
        try:
            start, stop = float(cells[0]), float(cells[1])
        except ValueError:
            raise UserError("expected times in seconds") from None
        speaker = PARTICIPANT if cells[2].strip().lower() == "participant" else INTERVIEWER
        yield SpokenLine(" ".join(cells[3].split()), speaker, start, stop)


def _plain_lines(text: str) -> Iterator[SpokenLine]:
    """One line each, with `Participant:` or `Interviewer:` before what was said, or without."""
    for line in text.split("\n"):
        named = _SPEAKER.match(line)
        said = " ".join(line[named.end() :].split() if named else line.split())
        speaker = "" if not named else PARTICIPANT if named[1].lower() == "participant" else INTERVIEWER
        yield SpokenLine(said, speaker)


def cleaned(lines: Sequence[SpokenLine], windows: Sequence[Window] = ()) -> list[SpokenLine]:
    """Without marks of synchronisation, what was said before the interviewer began, and interruptions."""
    marked = [line for line in lines if line.text and not _SYNC.fullmatch(line.text)]
    first = next((index for index, line in enumerate(marked) if line.speaker == INTERVIEWER), 0)
    return [
        line for line in marked[first:] if not any(line.start < stop and line.stop > start for start, stop in windows)
    ]


def _rendered(lines: Sequence[SpokenLine], speaker: str) -> list[str]:
    """The lines of the participant, or of both with who said them; a file that names nobody is the participant's."""
    if speaker == "participant":
        return [line.text for line in lines if line.speaker != INTERVIEWER]
    return [f"{line.speaker}: {line.text}" if line.speaker else line.text for line in lines]
