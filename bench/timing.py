"""What the parts of the table share: a row, and times of jobs that take turns."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import NamedTuple

ROUNDS = 5


class Ratio(NamedTuple):
    """A job, what it takes us, and how many times as long it takes a peer: None where that one is not installed."""

    job: str
    ours: str
    peer: str
    times: float | None
    asked: str = ""


def spent() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def by_turns(
    jobs: Mapping[str, Callable[[], object]], rounds: int = ROUNDS, clock: Callable[[], float] = spent
) -> dict[str, float]:
    """The least seconds of each job. All take turns, so that whatever else the machine does falls on all of them."""
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, work in jobs.items():
            start = clock()
            work()
            taken[name].append(clock() - start)
    return {name: min(seconds) for name, seconds in taken.items()}


def against(job: str, ours: str, mine: float, peers: Mapping[str, float], asked: str = "") -> Iterator[Ratio]:
    """A row for each peer, from seconds for the same amount of work."""
    for peer, seconds in peers.items():
        yield Ratio(job, ours, peer, seconds / mine, asked)


def installed(package: str) -> bool:
    return find_spec(package) is not None


def run(*command: str, **how: object) -> Callable[[], object]:
    """A command as a job."""
    return lambda: subprocess.run(command, check=True, capture_output=True, **how)  # type: ignore[call-overload]
