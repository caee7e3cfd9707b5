"""Quantities by name. A name prints as it parses: `aurc`, `aurc@0.5`, `ndcg@10`, `tpr@fpr=0.05`, `evidence_f1@gap`.

Whatever there is to know about a quantity is declared where its function is; there is no other list of names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from typing import Any, Literal

from demur.errors import UserError, literal, shown, unknown
from demur.quantities.coverage import Coverage

Family = Literal["curve", "costs", "held_out", "units", "groups", "forecasts", "ranking", "selection", "decision"]
COMMON = "C_common"
POINT = "C_point"  # the coverage of somebody else's operating point


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """What stands after the @ of a name: its symbol in the definition, and how its text is read and `spoken`."""

    symbol: str
    read: Callable[[str], Any]
    example: str
    optional: bool = False
    spoken: Callable[[str], str] = str

    @property
    def prefix(self) -> str:
        """What is written before the value: nothing, or a word such as `fpr=`."""
        return self.symbol[: self.symbol.find("=") + 1]


def _cut(text: str) -> Any:
    return COMMON if text == COMMON else Coverage.of(text)


COVERAGE = Parameter("C", Coverage.of, "0.3")
CUT = Parameter("C", _cut, "0.5")


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A registered function, and what there is to know about it besides its docstring.

    `of` says what it is a number of, `key` what a result file calls it (`under` a heading, if any). `undefined` says
    when it is nan, and is empty if it never is. `intervals` are the rules for intervals of the number and of a
    difference of it; a `point_only` one is reported without. Below `enough` clusters with a loss in its range it gets a
    warning. `comparable` says what must be equal before a difference of two systems favours one of them: "cmax",
    "range" (of a cut area), "coverage" or "risk" (of an operating point); nothing if it never does. A `loss_free` one
    varies even where no answer is wrong. `influence` gives its influence function, `sums`, of a ratio of sums over
    clusters, its numerator and denominator in each; `limits` what it can be, given the largest loss and the coverage it
    is taken at, `bound` what it is at most where no answer is wrong, given the largest loss, how rare an error-prone
    cluster is, and Cmax, and `watched` what else is recorded in every replicate. `convention` stands in where it is
    undefined, for tasks that report it so. `shown` lists the places it is shown in.
    """

    name: str
    of: Family
    function: Callable[..., Any]
    title: str
    key: str
    under: str = ""
    parameter: Parameter | None = None
    defaults: tuple[str, ...] = ()
    better: Literal["lower", "higher", "neither"] = "lower"
    undefined: str = ""
    digits: int = 4
    enough: int = 10
    intervals: tuple[str, str] = ("resampled", "resampled_difference")
    point_only: bool = False
    comparable: str = ""
    loss_free: bool = False
    reported: bool = True
    shown: frozenset[str] = frozenset()
    influence: Callable[..., Any] | None = None
    sums: Callable[..., Any] | None = None
    limits: Callable[[float, float], tuple[float, float]] | None = None
    bound: Callable[[float, float, float], float] | None = None
    watched: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    convention: Callable[..., Any] | None = None

    @property
    def stem(self) -> str:
        """The name without its parameter."""
        return self.name.partition("@")[0]

    @property
    def judged(self) -> bool:
        """Whether a difference of two systems can favour one of them."""
        return self.better != "neither" and (bool(self.comparable) or self.of not in ("curve", "costs", "held_out"))


QUANTITIES: dict[str, Quantity] = {}
_ALIASES: dict[str, str] = {}
_PARSED: dict[tuple[str, tuple[Family, ...]], Measure] = {}  # names are parsed once, until more are registered

_USUAL_SECTIONS: dict[Family, dict[str, str]] = {
    "curve": {"Ties": "equal confidences are one operating point.", "Undefined": "never; 0 when nothing is answered."},
    "units": {"Ties": "none, confidences are not looked at.", "Undefined": "never."},
    "groups": {"Ties": "equal risks are one.", "Abstentions": "left out of the risk of a group."},
    "costs": {"Ties": "equal confidences are one operating point."},
    "held_out": {"Ties": "equal confidences are accepted or declined together."},
    "forecasts": {"Abstentions": "not looked at; they have no forecast.", "Undefined": "never, given a forecast."},
    "ranking": {
        "Ties": "none: a list has an order.",
        "Abstentions": "an empty list finds nothing: 0.",
        "Undefined": "never; 0 where there is no gold.",
    },
    "selection": {"Ties": "none: what is shown is a set.", "Undefined": "never."},
    "decision": {"Ties": "none, rankings are not looked at.", "Abstentions": "are what is judged."},
}


def _completed(definition: str, of: Family, undefined: str) -> str:
    """A docstring with the sections it leaves out, which are those of its family."""
    usual = _USUAL_SECTIONS[of] | ({"Undefined": f"when {undefined}."} if undefined else {})
    lines = definition.split("\n")
    starts = [line.lstrip(" ") for line in lines]
    added = [name for name in usual if not any(start.startswith(f"{name}:") for start in starts)]
    place = next((index for index, start in enumerate(starts) if index and start.startswith("Reference:")), None)
    if place is not None:
        indent = lines[place].removesuffix(starts[place])
        lines[place:place] = [f"{indent}{name}: {usual[name]}" for name in added]
    return "\n".join(lines)


def quantity(
    name: str,
    *,
    of: Family,
    parameter: Parameter | None = None,
    key: str = "",
    aliases: tuple[str, ...] = (),
    shown: tuple[str, ...] = ("table", "csv", "definitions"),
    **declared: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a quantity; a name that takes a parameter ends in @ and its symbol.

    The function is written once, for the data as they are and for a block of bootstrap replicates alike; a fraction it
    gives is rounded here, once.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        taken = {entry.key for entry in QUANTITIES.values() if entry.of == of}
        if name in QUANTITIES or (key or name) in taken:
            raise ValueError(f"the quantity {name} or its key {key or name} is registered already")

        @wraps(function)
        def rounded(sample: Any, *values: Any) -> Any:
            value = function(sample, *values)
            return float(value) if isinstance(value, Fraction) else value

        rounded.__doc__ = _completed(function.__doc__ or "", of, declared.get("undefined", ""))
        facts = {"title": name, "shown": frozenset(shown), "parameter": parameter} | declared
        QUANTITIES[name] = Quantity(name=name, of=of, function=rounded, key=key or name, **facts)
        _ALIASES.update(dict.fromkeys(aliases, QUANTITIES[name].stem))
        _PARSED.clear()
        return rounded

    return register


def canonical(name: str) -> str:
    """A name as results spell it, whichever alias it is given by.

    >>> canonical("mae@0.3"), canonical("aurc")
    ('risk@0.3', 'aurc')
    """
    stem, at, text = name.partition("@")
    return f"{_ALIASES.get(stem, stem)}{at}{text}"


def quantities(of: Family, shown: str = "") -> list[Quantity]:
    """The quantities of one family, in the order of their definition; those shown in one place, if it is named."""
    return [entry for entry in QUANTITIES.values() if entry.of == of and (not shown or shown in entry.shown)]


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity ready to be taken: its parameter, where it has one, is fixed.

    >>> str(Measure.of("aurc@0.5")), Measure.of("aurc@0.5").quantity.key, str(Measure.of("mae@0.3"))
    ('aurc@0.5', 'aurc_at_c', 'risk@0.3')
    """

    quantity: Quantity
    value: Any = None
    text: str = ""

    @classmethod
    def of(cls, name: str | Measure, *families: Family) -> Measure:
        """Parse a name; with families, only of those."""
        if isinstance(name, Measure):
            return name
        if not isinstance(name, str):
            raise UserError(f"quantity {literal(name)}, expected a name such as aurc or risk@0.3")
        parsed = _PARSED.get((name, families))
        if parsed is None or QUANTITIES.get(parsed.quantity.name) is not parsed.quantity:
            parsed = _PARSED[name, families] = cls._parsed(name, families)
        return parsed

    @classmethod
    def _parsed(cls, name: str, families: tuple[Family, ...]) -> Measure:
        stem, at, text = canonical(name).partition("@")
        alike = (entry for full, entry in QUANTITIES.items() if full.startswith(stem))
        known = [entry for entry in alike if entry.stem == stem and _among(entry, families)]
        for entry in known:
            if not at and (entry.parameter is None or entry.parameter.optional):
                return cls(entry)
        parameters = [(entry, entry.parameter) for entry in known if text and entry.parameter]
        # A prefix tells two of a stem apart: risk@0.3 is at a coverage, risk@threshold=0.3 at a threshold.
        for entry, parameter in sorted(parameters, key=lambda each: -len(each[1].prefix)):
            if text.startswith(parameter.prefix):
                return cls(entry, parameter.read(text.removeprefix(parameter.prefix)), text)
        if parameters:
            raise UserError(f"quantity {shown(name)}, expected {stem}@{parameters[0][1].example}")
        raise _no_such(name, stem, known, families)

    def __str__(self) -> str:
        return f"{self.quantity.stem}@{self.text}" if self.text else self.quantity.stem

    @property
    def title(self) -> str:
        """How a table calls it.

        >>> Measure.of("ndcg@10").title, Measure.of("tpr@fpr=0.05").title
        ('nDCG@10', 'TPR@5% FPR')
        """
        title, parameter = self.quantity.title, self.quantity.parameter
        if not self.text or parameter is None:
            return title.replace(f"@{parameter.symbol}", "") if parameter else title
        return title.replace(f"@{parameter.symbol}", f"@{parameter.spoken(self.text)}")

    @property
    def coverage(self) -> Coverage | None:
        """The coverage it is taken at, where that is one."""
        return self.value if isinstance(self.value, Coverage) else None

    def __call__(self, sample: Any) -> Any:
        """The number, or an array of them for a block of replicates; nan where it is undefined."""
        if self.value is None or self.quantity.of == "selection":
            return self.quantity.function(sample)
        if self.value in (COMMON, POINT):
            return self.quantity.function(sample.own, sample.common)
        return self.quantity.function(sample, self.value)

    def influence(self, sample: Any) -> Any:
        """How much each cluster (a row) moves the number in each replicate (a column)."""
        assert self.quantity.influence is not None  # noqa: S101  (asked of quantities that have one)
        if self.value is None:
            return self.quantity.influence(sample)
        if self.value in (COMMON, POINT):
            return self.quantity.influence(sample.own, sample.common, sample.moves)
        return self.quantity.influence(sample, self.value)


def _no_such(name: str, stem: str, known: list[Quantity], families: tuple[Family, ...]) -> UserError:
    parameter = next((entry.parameter for entry in known if entry.parameter), None)
    if parameter:
        return UserError(f"the quantity {stem} takes a parameter: write {stem}@{parameter.example}, for example")
    if known:
        return UserError(f"the quantity {stem} takes no parameter, so {shown(name)} is not a quantity")
    for entry in QUANTITIES.values():
        if entry.key == name:
            return UserError(f"no quantity is called {shown(name)}: that is the artifact key of {entry.name}")
    return unknown("quantity", name, [entry.name for entry in QUANTITIES.values() if _among(entry, families)])


def _among(entry: Quantity, families: tuple[Family, ...]) -> bool:
    return not families or entry.of in families


def default_measures(of: Family = "curve") -> Iterator[Measure]:
    """Every quantity of a family once, or once for each of its default parameters."""
    for entry in quantities(of):
        if entry.parameter is None or (entry.parameter.optional and not entry.defaults):
            yield Measure(entry)
        else:
            yield from (Measure.of(f"{entry.stem}@{text}") for text in entry.defaults)
