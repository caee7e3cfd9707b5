"""Files of units, which `demur import` writes: JSON Lines with a header, then one object per unit."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from demur.errors import UserError, literal, located, shown

MARK = "demur_units"
VERSION = 1
REQUIRED = ("cluster", "item", "repeat", "loss", "status")
MEMBERS = (*REQUIRED, "answer")
GROUPS = "\0groups"  # the column of the labels of units, under a name that no column of a file can have
RESERVED = {*MEMBERS, GROUPS, "abstained", "success", "system"}  # names that would make a signal play a role
_FAILED = "failed"
NO_SIGNAL = (
    "no signal is a number for every answer, to rank the answers by: import the log again and name one, "
    "--confidence PATH; demur fields LOG lists the paths"
)


def check_header(header: Mapping[str, Any]) -> None:
    """Raise an error unless the header has a known version, and a source and a mapping that are objects."""
    if header[MARK] != VERSION:
        raise UserError(f"units of version {literal(header[MARK])}, expected {VERSION}: written by a newer demur?")
    for name in ("source", "mapping"):
        if not isinstance(header.get(name), dict):
            raise UserError(f"the header has {name} {literal(header.get(name))}, expected an object")


def check_some_succeeded(header: Mapping[str, Any]) -> None:
    """Raise an error if, by the counts in the header, all units failed."""
    counts = header.get("counts")
    if isinstance(counts, dict) and counts.get("rows") == counts.get(_FAILED) is not None:
        raise UserError(f"nothing to evaluate: all {counts['rows']} units failed")


def unit_rows(rows: Iterator[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Flatten each unit into a row of a table, with its signals as columns."""
    for position, unit in rows:
        with located(position):
            signals = unit.get("signals")
            if not isinstance(signals, dict):
                raise UserError(f"signals {literal(signals)}, expected an object")
            for name in signals:
                if name in RESERVED:
                    raise UserError(f"the signal {shown(name)} has the name of a column: give it another name")
            members = {name: unit[name] for name in MEMBERS if name in unit}
            yield position, members | _status(unit) | signals | _groups(unit)


def _groups(unit: Mapping[str, Any]) -> dict[str, str]:
    """The labels of a unit as one text, so that equal labels of many units are stored once."""
    labels = unit.get("groups", {})
    if not isinstance(labels, dict):
        raise UserError(f"groups {literal(labels)}, expected an object")
    return {GROUPS: json.dumps(labels)} if labels else {}


def _status(unit: Mapping[str, Any]) -> dict[str, str]:
    """The status of a failed unit with its cause, in the notation of a column `status`."""
    cause = unit.get("cause")
    if cause is None or unit.get("status") != _FAILED:
        return {}
    if not isinstance(cause, str):
        raise UserError(f"cause {literal(cause)}, expected a text")
    return {"status": f"{_FAILED}: {cause}"}


def is_independent(header: Mapping[str, Any]) -> bool:
    """Whether the file was imported without clusters, so that every question is a cluster of its own."""
    warnings = header.get("warnings")
    listed = warnings if isinstance(warnings, list) else []
    return any(isinstance(warning, dict) and warning.get("code") == "independent_rows" for warning in listed)
