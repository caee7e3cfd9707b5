"""The selections an artifact of `demur retrieval` lists because they break the bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Expected, Finding, Printed, finding
from demur.errors import shown

if TYPE_CHECKING:
    from demur.audit.own_system import OneSystem

Named = tuple[str, str]
_MEMBERS = ("selected", "candidates", "allowed.0", "allowed.1")


def breach_findings(key: str, listed: list[Any], system: OneSystem | None) -> Iterator[Finding]:
    """Whether the right queries are listed, and the numbers of each."""
    size = f"{len(listed)} queries"
    if system is None or not system.facts.having("selected"):
        yield Finding(key, "not recognised", size, cause="the data have no selection of this system")
        return
    entries = [one if isinstance(one, Mapping) else {} for one in listed]
    names = [_named(one) for one in entries]
    cause = _why_other(names, [*system.breaches])
    yield Finding(key, "differs" if cause else "match", size, float(len(system.breaches)), cause=cause)
    for number, (name, one) in enumerate(zip(names, entries, strict=True)):
        if name in system.breaches:
            for member, value, truth in zip(_MEMBERS, _numbers(one), system.breaches[name], strict=True):
                yield finding(f"{key}.{number}.{member}", value, Expected(truth, exact=True))


def _numbers(breach: Mapping[str, Any]) -> list[Printed | None]:
    """The numbers of an entry in the order of their names; what is none counts as null."""
    allowed = breach.get("allowed")
    ends = allowed if isinstance(allowed, list) and len(allowed) == 2 else (None, None)  # noqa: PLR2004
    given = (breach.get("selected"), breach.get("candidates"), *ends)
    return [number if isinstance(number, Printed) else None for number in given]


def _named(breach: Mapping[str, Any]) -> Named:
    """Which query an entry is about."""
    post = breach.get("post")
    return post.text if isinstance(post, Printed) else str(post), str(breach.get("criterion"))


def _why_other(listed: list[Named], true: list[Named]) -> str | None:
    known, there = set(true), set(listed)
    for name in listed:
        if name not in known:
            return f"{_called(name)} breaks no bound"
    for name in true:
        if name not in there:
            return f"{_called(name)} is not listed"
    return None if len(listed) == len(true) else "one is listed twice"


def _called(name: Named) -> str:
    return f"post {shown(name[0])}, criterion {shown(name[1])}"
