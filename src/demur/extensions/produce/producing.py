"""Production of a run from its configuration, new or resumed, in several threads."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from demur.errors import UserError
from demur.extensions.produce.config import FEW_SHOT
from demur.extensions.produce.endpoint import Endpoint
from demur.extensions.produce.failures import MOST_IN_A_ROW, EndpointError, ParticipantFailure, Stopped
from demur.extensions.produce.folder import TextFolder, locked, record_of, resumed, write_synced
from demur.extensions.produce.inputs import Inputs
from demur.extensions.produce.journal import Journal
from demur.extensions.produce.output import Prices, failures_content, run_content, usage_content
from demur.extensions.produce.pipeline import Assessor
from demur.extensions.produce.probe import check_capabilities, probe
from demur.extensions.produce.progress import ProgressLine, Tell
from demur.extensions.produce.rate_limits import Pace
from demur.extensions.produce.references import Library, embedded, passages_of
from demur.files.write import check_target, json_text, write_whole
from demur.types import Json

if TYPE_CHECKING:
    import httpx

COMPLETE, SOME_FAILED, STOPPED = 0, 4, 130
_POLL_SECONDS = 0.2
Assess = Callable[[str], list[ParticipantFailure]]


def _silent(line: str, *, again: bool = False) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ProduceOptions:
    """Options that may differ between calls for the same folder."""

    only: Sequence[str] = ()
    limit: int | None = None
    include_text: bool = False
    retry_failed: bool = False
    prices: Prices = field(default_factory=Prices)
    output: Path | None = None
    progress: str = "none"
    tell: Tell = _silent
    transport: httpx.AsyncBaseTransport | None = None
    wait: Callable[[float], object] | None = None


@dataclass(frozen=True, slots=True)
class ProduceOutcome:
    """The exit code, the numbers of finished, failed and remaining cases, and the run file if it was written."""

    code: int
    done: int
    failed: int
    left: int
    run: Path | None


@dataclass(frozen=True, slots=True)
class Production:
    """A run and its folder."""

    inputs: Inputs
    folder: Path
    options: ProduceOptions

    def produce(self) -> ProduceOutcome:
        """Assess the participants that are not finished, and write the run file when all are."""
        started, options = time.monotonic(), self.options
        people = [str(person) for person in self.inputs.chosen(options.only, options.limit)]
        if options.output is not None:
            check_target(options.output, self.inputs.files)
        settings = self.inputs.settings.endpoint
        deadline = started + settings.total_timeout if settings.total_timeout else None
        pace = Pace(settings.concurrency, settings.requests_per_minute, deadline, wait=options.wait)
        with locked(self.folder):
            known = resumed(self._config, self.inputs) if self._config.exists() else None
            with Journal(self.folder / "journal.jsonl") as journal:
                if journal.cut_off:
                    torn = f"the last line was torn, and {journal.cut_off} bytes of it are cut off"
                    options.tell(f"{journal.path}: {torn}")
                if options.retry_failed:
                    journal.failed.clear()  # until one is done, it stays a failure in the file
                with Endpoint(self.inputs.settings, pace, journal.append, options.transport) as endpoint:
                    try:
                        with interruptible(pace, options.tell):
                            self._run(people, journal, endpoint, pace, known or self._begun(endpoint))
                    except Stopped:
                        pass
                    finally:
                        spent = usage_content(journal, options.prices, time.monotonic() - started)
                        write_synced(self.folder / "usage.json", spent)
            return self._ended(people, journal)

    def _begun(self, endpoint: Endpoint) -> Json:
        """Start a new folder: probe the endpoint, and write the configuration."""
        capabilities = probe(endpoint, self.inputs.settings)
        check_capabilities(capabilities, self.inputs.settings)
        begun = record_of(self.inputs, capabilities)
        write_synced(self._config, begun)
        return begun

    def _run(self, people: Sequence[str], journal: Journal, endpoint: Endpoint, pace: Pace, begun: Json) -> None:
        settings, options = self.inputs.settings, self.options
        modes, can = settings.assess.modes, begun["capabilities"]
        left = [person for person in people if not all(journal.is_final((mode, person)) for mode in modes)]
        if not left:
            return
        library = self._library(endpoint) if FEW_SHOT in modes and can["embeddings"] else None
        with_logprobs = bool(can["logprobs"] and can["aligned"])
        assessor = Assessor(self.inputs, journal, endpoint, self._texts, library, with_logprobs)
        progress = ProgressLine(options.progress, people, modes, journal, options.tell)
        try:
            run_all(left, assessor.assess, pace, progress.finished)
        finally:
            progress.end()
        if emptied := journal.emptied():
            options.tell(f"max_chars_per_item left {emptied} items without any reference")

    @property
    def _config(self) -> Path:
        return self.folder / "config.json"

    @property
    def _texts(self) -> TextFolder:
        return TextFolder(self.folder / "text", self.options.include_text)

    def _library(self, endpoint: Endpoint) -> Library:
        """The references with their embeddings."""
        settings = self.inputs.settings
        try:
            passages = passages_of(self.inputs)
        except ParticipantFailure as failure:
            raise UserError(
                f"a transcript of {settings.data.reference_split} cannot be used: {failure.category}"
            ) from None
        model = settings.endpoint.embedding_model or settings.endpoint.model
        embed = partial(endpoint.embed, key=("", "", "embed", 0))
        return embedded(passages, settings.retrieval, model, self.folder / "references.npz", embed)

    def _ended(self, people: Sequence[str], journal: Journal) -> ProduceOutcome:
        """Write the files of failures and, if no case is left, of the run."""
        cases = [(mode, person) for mode in self.inputs.settings.assess.modes for person in people]
        done, failed = (sum(case in state for case in cases) for state in (journal.done, journal.failed))
        left = len(cases) - done - failed
        write_synced(self.folder / "failures.json", failures_content(self.inputs, journal))
        if left:
            return ProduceOutcome(STOPPED, done, failed, left, None)
        self._texts.remove()
        content = run_content(self.inputs, journal, resumed(self._config, self.inputs))
        path = write_synced(self.folder / "run.json", content)
        if self.options.output is not None:
            path = write_whole(self.options.output, json_text(content), inputs=self.inputs.files)
        return ProduceOutcome(SOME_FAILED if failed else COMPLETE, done, failed, left, path)


def run_all(people: Sequence[str], assess: Assess, pace: Pace, finished: Callable[[float | None], None]) -> None:
    """Assess all participants; an error that concerns the whole run stops it once open requests have finished."""
    in_a_row = 0
    with ThreadPoolExecutor(pace.concurrency) as pool:
        pending: set[Future[tuple[list[ParticipantFailure], float]]] = set()
        waiting = iter(people)
        try:
            while True:
                # So many participants under way as there may be requests: the others wait here, not in memory.
                while len(pending) < pace.concurrency and (person := next(waiting, None)) is not None:
                    pending.add(pool.submit(_timed, assess, person, pace))
                if not pending:
                    return
                done, pending = wait(pending, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
                finished(None)
                for future in done:
                    failures, seconds = future.result()
                    finished(seconds / pace.concurrency)
                    in_a_row = in_a_row + 1 if any(failure.of_endpoint for failure in failures) else 0
                    _check_in_a_row(in_a_row, failures)
        except Stopped:
            raise
        except OSError as error:
            raise UserError(f"the run folder cannot be written ({error.strerror})") from None
        finally:
            pace.stop.set()


def _timed(assess: Assess, person: str, pace: Pace) -> tuple[list[ParticipantFailure], float]:
    pace.check()
    started = time.monotonic()
    return assess(person), time.monotonic() - started


def _check_in_a_row(count: int, failures: Sequence[ParticipantFailure]) -> None:
    if count >= MOST_IN_A_ROW:
        category = next(failure.category for failure in failures if failure.of_endpoint)
        hint = "when it answers again, go on with --retry-failed"
        raise EndpointError(f"the endpoint failed {count} participants in a row ({category}); {hint}")


@contextmanager
def interruptible(pace: Pace, tell: Callable[[str], None]) -> Iterator[None]:
    """Handle interrupts: the first lets requests finish, the second exits at once; the journal stays valid."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_: int, __: FrameType | None) -> None:
        if pace.stop.is_set():
            os._exit(STOPPED)
        pace.stop.set()
        tell("stopping: requests under way are finished first; interrupt again to end at once")

    previous = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
