"""Roles of the columns of a long table, and which of them give the loss."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from demur.errors import UserError, repeated, shown, unknown
from demur.read.tables import missing_column

SOURCES = {"loss": ("loss",), "score": ("score",), "truth": ("truth", "prediction")}
ROLES = (
    "cluster",
    "item",
    "truth",
    "prediction",
    "success",
    "loss",
    "score",
    "abstained",
    "status",
    "system",
    "repeat",
)
_OR_LOSS = "or give losses, loss=COLUMN, or scores, score=COLUMN"


@dataclass(frozen=True, slots=True)
class Roles:
    """The column of each role, and the source of losses: `loss`, `score` or `truth`."""

    columns: Mapping[str, str]
    source: str

    def __getitem__(self, role: str) -> str:
        return self.columns[role]

    def get(self, role: str) -> str | None:
        """The column of a role, or None."""
        return self.columns.get(role)


def check_mapped(header: Collection[str], mapped: Mapping[str, str]) -> None:
    """Check that roles and columns exist, and that no column is mapped to two roles."""
    for role in mapped:
        if role not in ROLES:
            raise unknown("column role", role, ROLES)
    if twice := repeated(mapped.values()):
        raise UserError(f"the column {shown(twice[0])} is mapped to more than one role")
    for role, name in mapped.items():
        if name not in header:
            raise missing_column(name, role, header)


def roles_of(header: Collection[str], mapped: Mapping[str, str], texts: Collection[str] = ()) -> Roles:
    """The column of each role, as mapped or called by the name of the role; `texts` are the columns that hold texts.

    The mapped roles decide where losses come from. A table of losses may also have truths and predictions if they are
    texts.
    """
    check_mapped(header, mapped)
    taken = {*mapped.values()}
    columns = {role: role for role in ROLES if role in header and role not in taken} | dict(mapped)
    source = _source(columns, mapped, header, texts)
    unused = {role for other, roles in SOURCES.items() if other != source for role in roles}
    return Roles({role: name for role, name in columns.items() if role not in unused}, source)


def _source(
    columns: Mapping[str, str], mapped: Mapping[str, str], header: Collection[str], texts: Collection[str]
) -> str:
    given = [source for source, roles in SOURCES.items() if any(role in mapped for role in roles)]
    if not given:
        given = [source for source, roles in SOURCES.items() if all(role in columns for role in roles)]
        if len(given) > 1 and given[-1] == "truth" and any(columns[role] in texts for role in SOURCES["truth"]):
            given = given[:-1]
    if len(given) > 1:
        first, second = (" and ".join(shown(columns.get(role, role)) for role in SOURCES[name]) for name in given[:2])
        pairs = [(SOURCES[name][0], columns.get(SOURCES[name][0], "COLUMN")) for name in given[:2]]
        choices = " or ".join(f"--column {shlex.quote(f'{role}={name}')}" for role, name in pairs)
        raise UserError(f"two sources of loss: {first}, and {second}; say which one counts: {choices}")
    source = given[0] if given else "truth"
    for role in SOURCES[source]:
        if role not in columns and role in mapped.values():
            raise UserError(f"the column {shown(role)} is mapped to more than one role")
        if role not in columns:
            error = missing_column(role, role, header)
            raise error if role in mapped or given else UserError(f"{error}; {_OR_LOSS}")
    return source
