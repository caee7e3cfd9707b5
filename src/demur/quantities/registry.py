"""The registry of quantities and the grammar of their names: `aurc`, `aurc@0.5`, `tpr@fpr=0.05`, `evidence_f1@gap`.

Everything about a quantity is declared with its function; there is no other list of names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from typing import Any, Literal, Protocol, TypeVar, cast, overload

from demur.errors import UserError, literal, shown, unknown
from demur.quantities.curve import Curve
from demur.sampling.coverage import Coverage

Family = Literal["curve", "costs", "held_out", "units", "groups", "forecasts", "ranking", "selection", "decision"]
Value_co = TypeVar("Value_co", covariant=True)
COMMON = "C_common"
POINT = "C_point"  # the coverage of a rater or a published point


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """The parameter after the @ of a name: its symbol in the definition, its parser, and its wording in sentences."""

    symbol: str
    read: Callable[[str], Any]
    example: str
    optional: bool = False
    spoken: Callable[[str], str] = str

    @property
    def prefix(self) -> str:
        """The text before the value: empty, or a word such as `fpr=`."""
        return self.symbol[: self.symbol.find("=") + 1]


def _cut(text: str) -> Any:
    return COMMON if text == COMMON else Coverage.of(text)


COVERAGE = Parameter("C", Coverage.of, "0.3")
CUT = Parameter("C", _cut, "0.5")


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A registered function and its declarations.

    `of` is the family of its argument, `key` its name in result files (`under` a heading, if any). `undefined` says
    when it is nan, and is empty if never. `intervals` are the rules for intervals of the number and of its differences;
    a `point_only` quantity is reported without. With fewer than `enough` clusters with a loss in its range there is a
    warning. `comparable` says what must be equal before a difference of two systems favours one of them: "cmax",
    "range" (of a cut area), "coverage" or "risk" (of an operating point); empty if it never does. A `loss_free`
    quantity varies even if no answer is wrong. `influence` is the influence function of a quantity of forecasts; of a
    curve it follows from the function. `sums` are, for a ratio of sums over clusters, the numerator and denominator in
    each; `limits` its range, given the largest loss and its coverage; `bound` its upper bound if no answer is wrong,
    given the largest loss, how rare an error-prone cluster is, and Cmax; and `watched` what else is recorded in every
    replicate. `convention` replaces an undefined value in tasks that report it so. `shown` lists the sections and
    tables that include it.
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
    def computed_by(self) -> str:
        """A hint at the command or function that computes a quantity of this family, for error messages."""
        at = {COVERAGE: "coverages", CUT: "area_coverage"}
        return f"evaluate(…, {at[self.parameter]}=…) asks for it" if self.parameter in at else _COMPUTED_BY[self.of]

    @property
    def judged(self) -> bool:
        """Whether a difference between two systems can favour one of them."""
        return self.better != "neither" and (bool(self.comparable) or self.of not in ("curve", "costs", "held_out"))


QUANTITIES: dict[str, Quantity] = {}
_ALIASES: dict[str, str] = {}
_PARSED: dict[tuple[str, tuple[Family, ...]], Measure] = {}  # names are parsed once, until more are registered

# Who computes the quantities of a family, for those who ask elsewhere.
_COMPUTED_BY: dict[Family, str] = {
    "curve": "measure and estimate compute it by name",
    "costs": "evaluate(…, abstention_costs=…) computes it",
    "held_out": "evaluate(…, abstention_costs=…) computes it",
    "units": "evaluate counts it by item and by group",
    "groups": "evaluate(…, group=…) computes it",
    "forecasts": "reliability computes it, of probabilities and outcomes",
    **dict.fromkeys(("ranking", "selection", "decision"), "evaluate_retrieval computes it, of rankings"),
}

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
    """Complete a docstring with the sections of its family that it leaves out."""
    sections = _USUAL_SECTIONS[of] | ({"Undefined": f"when {undefined}."} if undefined else {})
    lines = definition.split("\n")
    starts = [line.lstrip(" ") for line in lines]
    added = [name for name in sections if not any(start.startswith(f"{name}:") for start in starts)]
    reference = next((index for index, start in enumerate(starts) if index and start.startswith("Reference:")), None)
    if reference is not None:
        indent = lines[reference].removesuffix(starts[reference])
        lines[reference:reference] = [f"{indent}{name}: {sections[name]}" for name in added]
    return "\n".join(lines)


class Computed(Protocol[Value_co]):
    """A registered function: for a curve it returns the number alone, otherwise what the function returns."""

    @overload
    def __call__(self, sample: Curve, *values: Any) -> float: ...
    @overload
    def __call__(self, sample: Any, *values: Any) -> Value_co: ...


def quantity(
    name: str,
    *,
    of: Family,
    parameter: Parameter | None = None,
    key: str = "",
    aliases: tuple[str, ...] = (),
    shown: tuple[str, ...] = ("table", "csv", "definitions"),
    **declared: Any,
) -> Callable[[Callable[..., Value_co]], Computed[Value_co]]:
    """Register a function as a quantity; a name that takes a parameter ends in @ and its symbol.

    The same function serves the data and a block of bootstrap replicates. Called with a curve, it returns the number
    alone.
    """

    def register(function: Callable[..., Value_co]) -> Computed[Value_co]:
        keys = {entry.key for entry in QUANTITIES.values() if entry.of == of}
        if name in QUANTITIES or (key or name) in keys:
            raise ValueError(f"the quantity {name} or its key {key or name} is registered already")

        @wraps(function)
        def compute(sample: Any, *values: Any) -> Any:
            if of in ("curve", "costs") and isinstance(sample, Curve):
                number: Any = function(sample.sample, *values)
                return float(number.value[0])
            value = function(sample, *values)
            return float(value) if isinstance(value, Fraction) else value

        compute.__doc__ = _completed(function.__doc__ or "", of, declared.get("undefined", ""))
        facts = {"title": name, "shown": frozenset(shown), "parameter": parameter} | declared
        QUANTITIES[name] = Quantity(name=name, of=of, function=compute, key=key or name, **facts)
        _ALIASES.update(dict.fromkeys(aliases, QUANTITIES[name].stem))
        _PARSED.clear()
        return cast("Computed[Value_co]", compute)

    return register


def canonical(name: str) -> str:
    """The canonical spelling of a name that may use an alias.

    >>> canonical("mae@0.3"), canonical("aurc")
    ('risk@0.3', 'aurc')
    """
    stem, at, text = name.partition("@")
    return f"{_ALIASES.get(stem, stem)}{at}{text}"


def quantities(of: Family, shown: str = "") -> list[Quantity]:
    """The quantities of one family in the order of definition, optionally only those `shown` in one place."""
    return [entry for entry in QUANTITIES.values() if entry.of == of and (not shown or shown in entry.shown)]


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity with its parameter, if it has one.

    >>> str(Measure.of("aurc@0.5")), Measure.of("aurc@0.5").quantity.key, str(Measure.of("mae@0.3"))
    ('aurc@0.5', 'aurc_at_c', 'risk@0.3')
    """

    quantity: Quantity
    value: Any = None
    text: str = ""

    @classmethod
    def of(cls, name: str | Measure, *families: Family) -> Measure:
        """Parse a name, optionally restricted to some families."""
        if isinstance(name, Measure):
            if not _among(name.quantity, families):
                raise _no_such(str(name), name.quantity.stem, [], families)
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
        # The prefix distinguishes two quantities of one stem: risk@0.3 and risk@threshold=0.3.
        for entry, parameter in sorted(parameters, key=lambda pair: -len(pair[1].prefix)):
            if text.startswith(parameter.prefix):
                return cls(entry, parameter.read(text.removeprefix(parameter.prefix)), text)
        if parameters:
            raise UserError(f"quantity {shown(name)}, expected {stem}@{parameters[0][1].example}")
        raise _no_such(name, stem, known, families)

    def __str__(self) -> str:
        return f"{self.quantity.stem}@{self.text}" if self.text else self.quantity.stem

    @property
    def title(self) -> str:
        """The title in tables.

        >>> Measure.of("ndcg@10").title, Measure.of("tpr@fpr=0.05").title
        ('nDCG@10', 'TPR@5% FPR')
        """
        title, parameter = self.quantity.title, self.quantity.parameter
        if not self.text or parameter is None:
            return title.replace(f"@{parameter.symbol}", "") if parameter else title
        return title.replace(f"@{parameter.symbol}", f"@{parameter.spoken(self.text)}")

    @property
    def coverage(self) -> Coverage | None:
        """The coverage of the measure, if its parameter is one."""
        return self.value if isinstance(self.value, Coverage) else None

    @property
    def _shared(self) -> bool:
        return isinstance(self.value, str) and self.value in (COMMON, POINT)

    def __call__(self, sample: Any) -> Any:
        """The number of a curve, or that of each replicate of a sample with its derivative; nan where undefined."""
        if self.value is None or self.quantity.of == "selection":
            return self.quantity.function(sample)
        if self._shared:
            return self.quantity.function(sample.own, sample.end)
        return self.quantity.function(sample, self.value)


def _no_such(name: str, stem: str, known: list[Quantity], families: tuple[Family, ...]) -> UserError:
    parameter = next((entry.parameter for entry in known if entry.parameter), None)
    if parameter:
        return UserError(f"the quantity {stem} takes a parameter: write {stem}@{parameter.example}, for example")
    if known:
        return UserError(f"the quantity {stem} takes no parameter, so {shown(name)} is not a quantity")
    for entry in QUANTITIES.values():
        if entry.stem == stem:
            return UserError(f"no quantity is called {shown(name)} here: {entry.computed_by}")
        if entry.key == name:
            return UserError(f"no quantity is called {shown(name)}: that is the artifact key of {entry.name}")
    return unknown("quantity", name, [entry.name for entry in QUANTITIES.values() if _among(entry, families)])


def _among(entry: Quantity, families: tuple[Family, ...]) -> bool:
    return not families or entry.of in families


def default_measures(of: Family = "curve") -> Iterator[Measure]:
    """The quantities of a family, each once or once for each of its default parameters."""
    for entry in quantities(of):
        if entry.parameter is None or (entry.parameter.optional and not entry.defaults):
            yield Measure(entry)
        else:
            yield from (Measure.of(f"{entry.stem}@{text}") for text in entry.defaults)
