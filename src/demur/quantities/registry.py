"""The registry of quantities. Names print as they parse: `aurc`, `aurc@0.5`, `risk@threshold=0.3`.

Everything about a quantity is declared with its function; there is no other list of names. The quantities of an
extension are registered when one that the core does not have is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, wraps
from importlib import import_module
from typing import Any, Literal, Protocol, TypeVar, cast, overload

from demur.errors import UserError, literal, shown, unknown
from demur.extension import installed
from demur.feature import hooks
from demur.quantities.curve import Curve
from demur.sampling.coverage import Coverage

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
class Family:
    """Quantities of one kind of argument: who computes them, and what their docstrings usually say.

    Those `of_curves` are functions of a sample of a curve, and are asked for by name like those of the family "curve".
    Of a family that is not `comparable`, each quantity says what must be equal before a difference favours a system.
    """

    computed_by: str
    usual: Mapping[str, str]
    of_curves: bool = False
    comparable: bool = True


FAMILIES: dict[str, Family] = {}


def family(name: str, computed_by: str, usual: Mapping[str, str], **declared: bool) -> None:
    """Register a family of quantities, before its first quantity."""
    FAMILIES[name] = Family(computed_by, usual, **declared)


_AT_PLATEAUS = {"Ties": "equal confidences are one operating point."}
family(
    "curve",
    "measure and estimate compute it by name",
    _AT_PLATEAUS | {"Undefined": "never; 0 when nothing is answered."},
    of_curves=True,
    comparable=False,
)
family(
    "units",
    "evaluate counts it by item and by group",
    {"Ties": "none, confidences are not looked at.", "Undefined": "never."},
)
family(
    "forecasts",
    "reliability computes it, of probabilities and outcomes",
    {"Abstentions": "not looked at; they have no forecast.", "Undefined": "never, given a forecast."},
)


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
    of: str
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

    def __reduce__(self) -> tuple[Callable[[str, str], Quantity], tuple[str, str]]:
        """Another process finds a quantity by its name, in the module that registers it."""
        return _in_module, (self.name, self.function.__module__)

    @property
    def stem(self) -> str:
        """The name without its parameter."""
        return self.name.partition("@")[0]

    @property
    def computed_by(self) -> str:
        """A hint at the command or function that computes a quantity of this family, for error messages."""
        at = {COVERAGE: "coverages", CUT: "area_coverage"}
        asked = f"evaluate(…, {at[self.parameter]}=…) asks for it" if self.parameter in at else ""
        return asked or FAMILIES[self.of].computed_by

    @property
    def judged(self) -> bool:
        """Whether a difference between two systems can favour one of them."""
        return self.better != "neither" and (bool(self.comparable) or FAMILIES[self.of].comparable)


QUANTITIES: dict[str, Quantity] = {}
_ALIASES: dict[str, str] = {}
_PARSED: dict[tuple[str, tuple[str, ...]], Measure] = {}  # names are parsed once, until more are registered


def _in_module(name: str, module: str) -> Quantity:
    if name not in QUANTITIES:
        import_module(module)
    if name not in QUANTITIES:
        raise UserError(f"the quantity {name} is not known to a worker: define it in a module that workers can import")
    return QUANTITIES[name]


def _completed(definition: str, of: str, undefined: str) -> str:
    """Complete a docstring with the sections of its family that it leaves out."""
    sections = {**FAMILIES[of].usual} | ({"Undefined": f"when {undefined}."} if undefined else {})
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
    of: str,
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
            if FAMILIES[of].of_curves and isinstance(sample, Curve):
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


def all_quantities() -> Mapping[str, Quantity]:
    """Every quantity by name, those of features and extensions too, which are registered when they are first needed."""
    hooks("quantities")
    _load_extensions()
    return QUANTITIES


@cache
def _load_extensions() -> None:
    for module in (module for extension in installed().values() for module in extension.quantities):
        import_module(module)


def quantities(of: str, shown: str = "") -> list[Quantity]:
    """The quantities of one family in the order of definition, optionally only those `shown` in one place."""
    if of not in FAMILIES:
        all_quantities()
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
    def of(cls, name: str | Measure, *families: str) -> Measure:
        """Parse a name, optionally restricted to some families."""
        if isinstance(name, Measure):
            if not _among(name.quantity, families):
                raise _no_such(str(name), name.quantity.stem, [], families)
            return name
        if not isinstance(name, str):
            raise UserError(f"quantity {literal(name)}, expected a name such as aurc or risk@0.3")
        parsed = _PARSED.get((name, families))
        if parsed is None or QUANTITIES.get(parsed.quantity.name) is not parsed.quantity:
            if canonical(name).partition("@")[0] not in {entry.stem for entry in QUANTITIES.values()}:
                all_quantities()
            parsed = _PARSED[name, families] = cls._parsed(name, families)
        return parsed

    @classmethod
    def _parsed(cls, name: str, families: tuple[str, ...]) -> Measure:
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

        >>> Measure.of("augrc").title, Measure.of("coverage@risk=0.1").title
        ('AUGRC', 'coverage@risk ≤ 0.1')
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
        if self.value is None:
            return self.quantity.function(sample)
        if self._shared:
            return self.quantity.function(sample.own, sample.end)
        return self.quantity.function(sample, self.value)


def _no_such(name: str, stem: str, known: list[Quantity], families: tuple[str, ...]) -> UserError:
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


def _among(entry: Quantity, families: tuple[str, ...]) -> bool:
    return not families or entry.of in families or ("curve" in families and FAMILIES[entry.of].of_curves)


def default_measures(of: str = "curve") -> Iterator[Measure]:
    """The quantities of a family, each once or once for each of its default parameters."""
    for entry in quantities(of):
        if entry.parameter is None or (entry.parameter.optional and not entry.defaults):
            yield Measure(entry)
        else:
            yield from (Measure.of(f"{entry.stem}@{text}") for text in entry.defaults)
