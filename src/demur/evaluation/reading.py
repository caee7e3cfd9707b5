"""Options for reading the data of an evaluation: those of tables, and the experiment and instrument of run files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demur.facts.instruments import BY_ITEMS, Instrument
from demur.facts.instruments import instrument as instrument_of
from demur.options import option, section
from demur.read import TableOptions


@section("reading")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions(TableOptions):
    """Options for reading run files and tables; what they leave open is inferred from the file.

    `mode` and `experiment` choose among the experiments of run files: one for all inputs, or a list with one for each.
    """

    mode: Sequence[str] = option(
        (),
        "Mode of the experiment of a run file: once for all inputs, or once per input.",
        repeated=True,
        everyday=True,
    )
    experiment: Sequence[int] = option(
        (),
        "Index of the experiment of a run file, from 0: once for all inputs, or once per input.",
        kind=int,
        repeated=True,
        everyday=True,
    )
    instrument: str | Path | Instrument = option(
        BY_ITEMS,
        "The instrument: a name, a .json or .toml file, or none for a table's own items. "
        "If not given, PHQ-8 for a run file, and for a table the known instrument with its items, if any.",
        everyday=True,
        file=True,
    )

    def __post_init__(self) -> None:
        TableOptions.__post_init__(self)
        for name in ("mode", "experiment"):
            given = getattr(self, name)
            object.__setattr__(self, name, tuple(given) if isinstance(given, (list, tuple)) else (given,))
        object.__setattr__(self, "instrument", self.instrument or "none")
        if self.instrument not in (BY_ITEMS, "none"):
            instrument_of(self.instrument)  # so that an unknown one is an error before a large file is read
