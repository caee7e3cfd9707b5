"""Transcripts of participants: located, read and cleaned."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from demur.errors import UserError, shown
from demur.extensions.produce.failures import ParticipantFailure
from demur.facts.columns import written_number
from demur.files.numbers import finite_float
from demur.files.strict_json import decode, fingerprint, read_bytes

PARTICIPANT, INTERVIEWER = "Participant", "Interviewer"
_COLUMNS = ("start_time", "stop_time", "speaker", "value")
_SYNC = re.compile(r"[<\[(]?\s*/?sync(?:h|hronization|ing)?\s*[>\])]?", re.IGNORECASE)
_SPEAKER = re.compile(r"\s*(participant|interviewer|ellie)\s*:\s*", re.IGNORECASE)
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line of speech with its speaker, empty if unknown, and its times, if known."""

    text: str
    speaker: str = ""
    start: float = math.nan
    stop: float = math.nan


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """Transcripts named ID.txt or ID_TRANSCRIPT.csv, in one folder or in folders named ID_P."""

    path: Path
    speaker: str = "participant"
    windows: Mapping[str, Sequence[Window]] = field(default_factory=dict)

    def file_of(self, person: str) -> Path | None:
        """The transcript of a participant, None if missing; the id must be part of a file name, not a path."""
        check_file_name(person)
        names = (f"{person}.txt", f"{person}_TRANSCRIPT.csv")
        paths = [folder / name for folder in (self.path, self.path / f"{person}_P") for name in names]
        files = [path for path in paths if path.is_file()]
        if len(files) > 1:
            raise UserError(
                f"participant {shown(person)} has {len(files)} transcripts, {files[0]} and {files[1]}: keep one"
            )
        return files[0] if files else None

    def fingerprint(self, person: str) -> str | None:
        """The SHA-256 of a participant's transcript, None if it is missing."""
        path = self.file_of(person)
        return None if path is None else fingerprint(read_bytes(path))

    def read(self, person: str) -> tuple[str, ...]:
        """Read the lines of a transcript as a model gets them; raise a failure if none can be read."""
        path = self.file_of(person)
        if path is None:
            raise ParticipantFailure("transcript_missing", "load")
        try:
            text = decode(read_bytes(path)).removeprefix("\ufeff")
            spoken = [*(_daic(text) if path.suffix == ".csv" else _plain_lines(text))]
        except UserError:
            raise ParticipantFailure("transcript_unreadable", "load") from None
        lines = _rendered(cleaned(spoken, self.windows.get(person, ())), self.speaker)
        if not lines:
            raise ParticipantFailure("transcript_empty", "load", numbers={"lines": len(spoken)})
        return tuple(lines)


def check_file_name(person: str) -> None:
    r"""Raise an error unless an id can be part of a file name.

    >>> check_file_name("../300")
    Traceback (most recent call last):
    demur.errors.UserError: participant ../300: the id names a file, and cannot contain / \ or : nor start with a dot
    """
    good = person and person.isprintable() and not person.startswith(".") and not {*"/\\:"} & {*person}
    if not good:
        rule = "the id names a file, and cannot contain / \\ or : nor start with a dot"
        raise UserError(f"participant {shown(person)}: {rule}")


def _daic(text: str) -> Iterator[SpokenLine]:
    """The lines of a tab-separated file with a header, in which quotation marks have no special meaning."""
    header, *rows = text.split("\n")
    if tuple(header.strip().lower().split("\t")) != _COLUMNS:
        raise UserError("expected the columns " + ", ".join(_COLUMNS))
    for row in rows:
        if not row.strip():
            continue
        cells = row.rstrip("\r").split("\t")
        if len(cells) != len(_COLUMNS):
            raise UserError("expected four cells")
        start, stop = (finite_float(written_number(cell)) for cell in cells[:2])
        if start is None or stop is None:
            raise UserError("expected times in seconds")
        speaker = PARTICIPANT if cells[2].strip().lower() == "participant" else INTERVIEWER
        yield SpokenLine(" ".join(cells[3].split()), speaker, start, stop)


def _plain_lines(text: str) -> Iterator[SpokenLine]:
    """The lines of a plain text, which may start with `Participant:` or `Interviewer:`."""
    for line in text.split("\n"):
        named = _SPEAKER.match(line)
        speech = " ".join(line[named.end() :].split() if named else line.split())
        speaker = "" if not named else PARTICIPANT if named[1].lower() == "participant" else INTERVIEWER
        yield SpokenLine(speech, speaker)


def cleaned(lines: Sequence[SpokenLine], windows: Sequence[Window] = ()) -> list[SpokenLine]:
    """Remove synchronisation marks, interruptions, and lines before the interviewer's first."""
    speech = [line for line in lines if line.text and not _SYNC.fullmatch(line.text)]
    first = next((index for index, line in enumerate(speech) if line.speaker == INTERVIEWER), 0)
    return [
        line for line in speech[first:] if not any(line.start < stop and line.stop > start for start, stop in windows)
    ]


def _rendered(lines: Sequence[SpokenLine], speaker: str) -> list[str]:
    if speaker == "participant":
        return [line.text for line in lines if line.speaker != INTERVIEWER]
    return [f"{line.speaker}: {line.text}" if line.speaker else line.text for line in lines]
