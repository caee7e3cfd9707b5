"""Signatures: one line that says which definition a number follows. It prints as it parses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from string import ascii_lowercase, digits
from urllib.parse import unquote_to_bytes

from demur.errors import UserError, and_more, literal, repeated, shown, unknown
from demur.facts.losses import GIVEN
from demur.quantities.losses import LOSSES

OURS = "demur"
MANY = "many"
NONE = "none"
OF_SCORES = f"{GIVEN}.1-score"
_PLAIN = frozenset(f"{ascii_lowercase}{digits}._@+-".encode())
_BOOT = re.compile(r"none|(cluster|item)\.(0|[1-9][0-9]*)\.s(0|[1-9][0-9]*)")
_RANGE = re.compile(r"[1-9][0-9]*")
_ESCAPE = re.compile(r"(?:[a-z0-9._@+-]|%[0-9A-F]{2})*")
_STARTS = {
    "first": "the first risk is repeated at coverage 0",
    "zero": "the curve starts at 0",
    NONE: "nothing is integrated below the first point",
}
# What each value of a key means, for keys that have a few; the others hold names and numbers.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "abst": {
        "in": "abstentions count in the number of units",
        "drop": "abstentions are left out of the number of units",
        "zero": "abstentions are the least confident units, with loss 0",
        "max": "abstentions are the least confident units, with the largest loss",
    },
    "ties": {
        "plateau": "equal confidences are one operating point",
        "given.first": "equal confidences are ranked by row: the earlier row is surer",
        "given.last": "equal confidences are ranked by row: the later row is surer",
        "best": "equal confidences are ranked by loss, the smallest first",
        "worst": "equal confidences are ranked by loss, the largest first",
    },
    "start": {name: f"selective risk: {meaning}" for name, meaning in _STARTS.items()},
    "rule": {
        "trapezoid": "trapezoids between operating points",
        "mean": "mean of the risks of the k most confident, k = 1 … n",
        "mean.offbyone": "mean of the sums of the k most confident losses over k + 1, k = 1 … n − 1, and over n",
        "log": "an integral over the logarithm of the coverage",
        "hyperbola": "between operating points the summed loss is linear, and the risk a hyperbola",
        "weights.sele": "losses weighted by the share of answers that are no more confident",
        "weights.ln": "losses weighted by −ln(1 − rank / (n + 1)), rank 1 for the least confident",
    },
    "dom": {
        "cmax": "over the coverages from 0 to Cmax",
        "one": "over the coverages from 0 to 1 of what is counted",
        "one.renorm": "over the coverages from 1/n to 1, divided by 1 − 1/n",
    },
    "x": {"1": "as it is", "100": "times 100", "1000": "times 1000"},
    "opt": {
        "oracle": "the optimum is the area of the losses in ascending order",
        "closed": "the optimum is e + (1 − e) ln(1 − e), with the mean loss e",
        NONE: "there is no optimum",
    },
    "hull": {
        "risk": "the achievable area is of the lower hull in coverage and selective risk",
        "roc": "the achievable area is of the upper hull of the ROC curve",
        NONE: "there is no achievable area",
    },
    "g.start": {name: f"generalized risk: {meaning}" for name, meaning in _STARTS.items()},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Everything two numbers must agree in before they may be compared, and where they come from.

    `g_start` is for the generalized risk; as that starts at 0 nearly everywhere, it is printed only where it does not.

    >>> line = str(Signature(loss="abs_norm.3", cluster="participant", conf="llm", boot="cluster.10000.s7", v="0.2.0"))
    >>> line[:70]
    'loss:abs_norm.3|unit:item|cluster:participant|abst:in|ties:plateau|sta'
    >>> str(Signature.parse(line)) == line
    True
    """

    loss: str
    unit: str = "item"
    cluster: str
    abst: str = "in"
    ties: str = "plateau"
    start: str = "first"
    rule: str = "trapezoid"
    dom: str = "cmax"
    x: str = "1"
    opt: str = "oracle"
    hull: str = "risk"
    conf: str
    boot: str
    v: str
    g_start: str = "zero"

    def __post_init__(self) -> None:
        for key, value in self.items():
            _check(key, value)

    def items(self) -> Iterator[tuple[str, str]]:
        """Every key with its value, in the order they are printed."""
        return ((_key(field.name), getattr(self, field.name)) for field in fields(self))

    @property
    def parts(self) -> list[str]:
        """The printed keys with their values, where a long line may be broken."""
        printed = [(key, value) for key, value in self.items() if (key, value) != ("g.start", "zero")]
        return [f"{key}:{_escaped(value)}" for key, value in printed]

    def __str__(self) -> str:
        return "|".join(self.parts)

    @classmethod
    def parse(cls, line: str) -> Signature:
        """The signature a line prints; every key once, in any order."""
        pairs = [part.partition(":") for part in line.split("|")]
        keys = [key for key, _, _ in pairs]
        for key, colon, value in pairs:
            if key not in KEYS:
                raise unknown("key of a signature", key, KEYS)
            if not colon or not _ESCAPE.fullmatch(value):
                expected = "a colon and a value of a-z, 0-9, ._@+- and %XX"
                raise UserError(f"signature: {shown(key)} has {literal(value)}, expected {expected}")
        if twice := repeated(keys):
            raise UserError(f"signature: {shown(twice[0])} appears twice")
        missing = [key for key in KEYS if key not in keys and key != "g.start"]
        if missing:
            raise UserError(f"signature: {and_more(f'the key {missing[0]} is missing', len(missing))}")
        parsed = cls(**{_field(key): _unescaped(key, value) for key, _, value in pairs})
        _check_loss(parsed.loss)
        return parsed

    def under(self, changes: Mapping[str, str]) -> Signature:
        """The same under another convention, by the keys it changes."""
        return replace(self, **{_field(key): value for key, value in changes.items()})


def _key(field: str) -> str:
    return field.replace("_", ".")


def _field(key: str) -> str:
    return key.replace(".", "_")


KEYS = tuple(_key(field.name) for field in fields(Signature))
# What our numbers are by definition, whatever they are of.
DEFINITION = {_key(field.name): str(field.default) for field in fields(Signature) if _key(field.name) in MEANINGS}


def _escaped(value: str) -> str:
    """A value in the signs that may stand in a signature; every other byte, also of a capital, as %XX.

    >>> _escaped("Ü b"), _escaped("a~b")
    ('%C3%9C%20b', 'a%7Eb')
    """
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in value.encode("utf-8", "surrogatepass"))


def _unescaped(key: str, value: str) -> str:
    try:
        return unquote_to_bytes(value).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise UserError(f"signature: {key} {literal(value)} is not text in UTF-8") from None


def _check(key: str, value: str) -> None:
    if key in MEANINGS:
        if value not in MEANINGS[key]:
            raise UserError(f"signature: {key} {literal(value)}, expected {' or '.join(MEANINGS[key])}")
    elif key == "boot" and not _BOOT.fullmatch(value):
        raise UserError(f"signature: boot {literal(value)}, expected none, cluster.B.sSEED or item.B.sSEED")


def _check_loss(value: str) -> None:
    """A line names a loss that is known; one made of a file may be of a loss that is not registered here."""
    if value not in (GIVEN, OF_SCORES):
        name, _, divisor = value.partition(".")
        known = name in LOSSES and bool(_RANGE.fullmatch(divisor) if LOSSES[name].normalised else value == name)
        if not known:
            losses = [f"{each.name}.RANGE" if each.normalised else each.name for each in LOSSES.values()]
            raise UserError(f"signature: loss {literal(value)}, expected {', '.join([*losses, GIVEN])} or {OF_SCORES}")


def resampled(resamples: int | str, what: str, seed: int | str) -> str:
    """How often what was resampled, in words.

    >>> resampled(200, "posts", 7), resampled(0, "posts", 7)
    ('200 bootstrap resamples of posts, seed 7', 'nothing was resampled')
    """
    return f"{resamples} bootstrap resamples of {what}, seed {seed}" if resamples else "nothing was resampled"


def meaning(key: str, value: str) -> str:
    """A value of a key in words.

    >>> meaning("x", "1000"), meaning("boot", "cluster.10000.s7")
    ('times 1000', '10000 bootstrap resamples of clusters, seed 7')
    """
    if key in MEANINGS:
        return MEANINGS[key][value]
    if key == "loss":
        name, _, divisor = value.partition(".")
        if name in LOSSES:
            return f"{LOSSES[name].meaning}{f' / {divisor}' if divisor else ''}"
        return "1 − the score that the data give" if value == OF_SCORES else "the loss that the data give"
    if key == "boot":
        drawn = _BOOT.fullmatch(value)
        return resampled(0, "", 0) if drawn is None or value == NONE else resampled(drawn[2], f"{drawn[1]}s", drawn[3])
    return _NO_NAMES.get((key, value)) or _NAMES[key].format(shown(value))


_NAMES = {
    "unit": "{}s are counted",
    "cluster": "{}s were sampled, with all they hold",
    "conf": "answers are ranked by {}",
    "v": f"made by {OURS} {{}}",
}
_NO_NAMES = {("cluster", NONE): "rows are independent", ("conf", MANY): "answers are ranked by several confidences"}
