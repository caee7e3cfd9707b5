"""Options for reading a table: the columns of each role, which of them give the loss, and the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from demur.errors import UserError, literal, repeated, shown, unknown
from demur.facts.groupings import GroupColumn, GroupText
from demur.facts.losses import score_range as range_of
from demur.options import as_column, as_option, flag_value_of, names_of, number_of, option, text_of
from demur.read.cells import Cells
from demur.read.tables import missing_column
from demur.read.units_file import GROUPS

FAILED_UNITS = ("drop", "abstain", "refuse")
REPEATS = ("units", "first", "vote")
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
_OUTCOMES = ("loss", "score", "abstained", "status", "success")


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options for reading a table, other than its columns and its instrument.

    `score_range` may be a text, LOW:HIGH, and `probability` one name. `group` maps names of groups to columns of
    labels, or to COLUMN:18,40,65, which cuts numbers.
    """

    score_range: tuple[float, float] | None = option(
        None,
        "The range of a column of scores, the best last; 0:1 if not given.",
        metavar="LOW:HIGH",
        also=(float, list),
    )
    loss_max: float | None = option(None, "The largest possible loss of a column of losses, if known.", kind=float)
    every_row_its_own_cluster: bool = option(
        default=False, description="Treat rows of a table as independent: each is a cluster.", kind=bool
    )
    noun: str | None = option(None, "The noun for a cluster of a table, such as document.")
    failed_units: str = option(
        "drop", "Units whose status is failed: drop (left out), abstain (counted as abstentions) or refuse."
    )
    group: Mapping[str, GroupText] | None = None
    repeats: str = option(
        "units", "Repeats of a question: units (each counts), first (only that), or vote (one unit for all)."
    )
    probability: tuple[str, ...] = option(
        (), "A column of a table that is a probability of being right.", metavar="COLUMN", repeated=True
    )
    part: ClassVar[bool] = False

    def __post_init__(self) -> None:
        given: object = self.score_range
        if isinstance(given, str):
            object.__setattr__(self, "score_range", range_of(given))
        object.__setattr__(self, "probability", names_of("probability", self.probability))
        number_of("loss_max", self.loss_max)
        flag_value_of("every_row_its_own_cluster", self.every_row_its_own_cluster)
        text_of("noun", self.noun)
        if self.failed_units not in FAILED_UNITS:
            raise unknown("rule for failed units", self.failed_units, FAILED_UNITS)
        if self.repeats not in REPEATS:
            raise unknown("rule for repeats", self.repeats, REPEATS)
        if self.noun is not None and not (self.noun.strip() == self.noun != ""):
            raise UserError(f"{as_option('noun')} {literal(self.noun)}, expected a word such as document")

    @property
    def names(self) -> str:
        """The options that differ from their defaults, as the user would write them."""
        given = (known.name for known in fields(TableOptions) if getattr(self, known.name) != known.default)
        return ", ".join(map(as_option, given))


class PartOptions(TableOptions):
    """Options for reading one of several tables, in which it is no error if nothing succeeded."""

    __slots__ = ()
    part = True

    @classmethod
    def of(cls, options: TableOptions) -> PartOptions:
        """Copy the options of a table."""
        return cls(**{known.name: getattr(options, known.name) for known in fields(TableOptions)})


@dataclass(frozen=True, slots=True)
class Roles:
    """The column of each role, and where losses come from: `loss`, `score` or `truth`."""

    columns: Mapping[str, str]
    source: str

    def __getitem__(self, role: str) -> str:
        return self.columns[role]

    def get(self, role: str) -> str | None:
        """The column of a role, or None."""
        return self.columns.get(role)


def check_mapped(header: Collection[str], mapped: Mapping[str, str]) -> None:
    """Raise an error if a role or a column does not exist, or a column is mapped to two roles."""
    for role in mapped:
        if role not in ROLES:
            raise unknown("column role", role, ROLES)
    if twice := repeated(mapped.values()):
        raise UserError(f"the column {shown(twice[0])} is mapped to more than one role")
    for role, name in mapped.items():
        if name not in header:
            raise missing_column(name, role, header)


def roles_of(header: Collection[str], mapped: Mapping[str, str], texts: Collection[str] = ()) -> Roles:
    """Determine the column of each role: as mapped, or of the role's own name; `texts` are columns of texts.

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
        choices = " or ".join(as_column(role, name) for role, name in pairs)
        raise UserError(f"two sources of loss: {first}, and {second}; say which one counts: {choices}")
    source = given[0] if given else "truth"
    for role in SOURCES[source]:
        if role not in columns and role in mapped.values():
            raise UserError(f"the column {shown(role)} is mapped to more than one role")
        if role not in columns:
            error = missing_column(role, role, header)
            raise (
                error
                if role in mapped or given
                else UserError(f"{error}; or give losses, {as_column('loss')}, or scores, {as_column('score')}")
            )
    return source


def check_options(table: Cells, roles: Roles, options: TableOptions) -> None:
    """Raise an error for options that have no effect on this table."""
    _check_groups(table, roles, options.group or {})
    _check_probabilities(table, roles, options.probability)
    if options.score_range is not None and roles.source != "score":
        raise UserError(f"a score range needs a column of scores: map one, {as_column('score')}, or leave it out")
    if options.loss_max is not None and roles.source != "loss":
        raise UserError(f"the largest loss needs a column of losses: map one, {as_column('loss')}, or leave it out")
    if options.repeats != "units" and roles.get("repeat") is None:
        raise UserError(
            f"{as_option('repeats')} needs a column of repeats: map one, {as_column('repeat')}, or leave it out"
        )


def _check_groups(table: Cells, roles: Roles, columns: Mapping[str, GroupText]) -> None:
    """Refuse groups by an outcome: groups must be known before anything is answered."""
    outcomes = {roles.get(role): role for role in _OUTCOMES if roles.get(role)}
    for name, text in columns.items() if GROUPS not in table.values else ():
        column = GroupColumn.of(text, [*table.values]).name
        if column in outcomes:
            expected = f"the group {shown(name)} needs one that is known before anything is answered"
            raise UserError(f"the column {shown(column)} is the {outcomes[column]}: {expected}")


def _check_probabilities(table: Cells, roles: Roles, names: tuple[str, ...]) -> None:
    """Check that the columns declared probabilities exist and are signals."""
    if twice := repeated(names):
        raise UserError(f"the column {shown(twice[0])} is declared a probability twice")
    for name in names:
        role = next((role for role, column in roles.columns.items() if column == name), None)
        if role is not None:
            raise UserError(f"the column {shown(name)} is the {role}: only a signal can be declared a probability")
        if name not in table.values:
            signals = [column for column in table.values if column not in roles.columns.values()]
            listed = ", ".join(map(shown, signals)) or "none"
            raise UserError(f"no column {shown(name)} to be a probability; signals: {listed}")
