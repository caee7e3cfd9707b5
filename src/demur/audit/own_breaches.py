"""The selections an artifact of `demur retrieval` lists because they break the bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Expected, Finding, Printed, finding, not_recognised
from demur.errors import shown

if TYPE_CHECKING:
    from demur.audit.own_system import OneSystem

Named = tuple[str, str]


def breach_findings(key: str, listed: list[Any], system: OneSystem | None) -> Iterator[Finding]:
    """Whether the right queries are listed, and the numbers of each."""
    size = f"{len(listed)} queries"
    if system is None or not system.facts.having("selected"):
        yield not_recognised(key, None, "the data have no selection of this system")
        return
    names = [_named(one) for one in listed]
    cause = _why_other(names, [*system.breaches])
    yield Finding(key, "differs" if cause else "match", size, float(len(system.breaches)), cause=cause)
    for number, (name, one) in enumerate(zip(names, listed, strict=True)):
        truth = system.breaches.get(name)
        said = one if isinstance(one, Mapping) else {}
        allowed = said.get("allowed")
        low, high = allowed if isinstance(allowed, list) and len(allowed) == len(("low", "high")) else (None, None)
        members = {"selected": said.get("selected"), "candidates": said.get("candidates")}
        members |= {"allowed.0": low, "allowed.1": high}
        for (member, value), right in zip(members.items(), truth or (None,) * len(members), strict=True):
            if truth is not None:
                printed = value if isinstance(value, Printed) else None
                yield finding(f"{key}.{number}.{member}", printed, Expected(right, exact=True))


def _named(breach: Any) -> Named:
    """Which query an entry is about."""
    said = breach if isinstance(breach, Mapping) else {}
    post = said.get("post")
    return post.text if isinstance(post, Printed) else str(post), str(said.get("criterion"))


def _why_other(listed: list[Named], true: list[Named]) -> str | None:
    for name in listed:
        if name not in true:
            return f"{_called(name)} breaks no bound"
    for name in true:
        if name not in listed:
            return f"{_called(name)} is not listed"
    return None if len(listed) == len(true) else "one is listed twice"


def _called(name: Named) -> str:
    return f"post {shown(name[0])}, criterion {shown(name[1])}"
