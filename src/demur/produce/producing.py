"""Produces a run from its configuration, or resumes it, and writes its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from demur.errors import UserError
from demur.files.write import check_target, json_text, write_whole
from demur.produce.asking import Asker
from demur.produce.config import FEW_SHOT
from demur.produce.endpoint import Endpoint
from demur.produce.failures import ParticipantFailure, Stopped
from demur.produce.folder import RunFolder, TextFolder, record_of, resumed
from demur.produce.inputs import Inputs
from demur.produce.journal import Journal, replayed
from demur.produce.ledger import Ledger
from demur.produce.output import Prices, failures_content, run_content, usage_content
from demur.produce.pace import Pace
from demur.produce.pipeline import Assessor
from demur.produce.probe import check_capabilities, probe
from demur.produce.progress import ProgressLine, Tell
from demur.produce.retrieval import Library, embedded, passages_of
from demur.produce.running import interruptible, run_all
from demur.types import Json

if TYPE_CHECKING:
    import httpx

COMPLETE, SOME_FAILED, STOPPED = 0, 4, 130


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
    transport: httpx.BaseTransport | None = None
    wait: Callable[[float], object] | None = None


@dataclass(frozen=True, slots=True)
class ProduceOutcome:
    """The exit code, the numbers of done, failed and remaining cases, and the run file if it was written."""

    code: int
    done: int
    failed: int
    left: int
    run: Path | None


@dataclass(frozen=True, slots=True)
class Production:
    """A run in its folder; `base` is the folder of the configuration."""

    inputs: Inputs
    folder: RunFolder
    base: Path
    options: ProduceOptions

    def produce(self) -> ProduceOutcome:
        """Assess the participants that are not final yet, and write the run file when all are."""
        started, options = time.monotonic(), self.options
        people = [str(person) for person in self.inputs.chosen(options.only, options.limit)]
        if options.output is not None:
            check_target(options.output, self.inputs.files)
        settings = self.inputs.settings.endpoint
        deadline = started + settings.total_timeout if settings.total_timeout else None
        pace = Pace(settings.concurrency, settings.requests_per_minute, deadline, wait=options.wait)
        with self.folder.locked():
            known = resumed(self.folder.config, self.inputs) if self.folder.config.exists() else None
            with Journal(self.folder.journal) as journal:
                ledger = self._replayed(journal)
                with Endpoint(self.inputs.settings, pace, ledger.append, options.transport) as endpoint:
                    try:
                        with interruptible(pace, options.tell):
                            self._run(people, ledger, endpoint, pace, known or self._begun(endpoint))
                    except Stopped:
                        pass
                    finally:
                        spent = usage_content(ledger, options.prices, time.monotonic() - started)
                        self.folder.write("usage.json", spent)
            return self._ended(people, ledger)

    def _replayed(self, journal: Journal) -> Ledger:
        """The state of the run from its journal."""
        records, torn = replayed(self.folder.journal)
        if torn:
            self.options.tell(f"{self.folder.journal}: the last line was torn, and {torn} bytes of it are cut off")
        ledger = Ledger(journal)
        ledger.replay(records)
        if self.options.retry_failed:
            ledger.failed.clear()  # until one is done, it stays a failure in the journal
        return ledger

    def _begun(self, endpoint: Endpoint) -> Json:
        """Start a new folder: probe the endpoint, and write the configuration."""
        capabilities = probe(endpoint, self.inputs.settings)
        check_capabilities(capabilities, self.inputs.settings)
        begun = record_of(self.inputs, capabilities, self.base)
        self.folder.write("config.json", begun)
        return begun

    def _run(self, people: Sequence[str], ledger: Ledger, endpoint: Endpoint, pace: Pace, begun: Json) -> None:
        settings, options = self.inputs.settings, self.options
        modes, can = settings.assess.modes, begun["capabilities"]
        left = [person for person in people if not all(ledger.is_final((mode, person)) for mode in modes)]
        if not left:
            return
        asker = Asker(endpoint, settings.endpoint.model, settings.endpoint.retries)
        library = self._library(endpoint) if FEW_SHOT in modes and can["embeddings"] else None
        assessor = Assessor(self.inputs, ledger, asker, self._texts, library, bool(can["logprobs"] and can["aligned"]))
        progress = ProgressLine(options.progress, people, modes, ledger, options.tell)
        try:
            run_all(left, assessor.assess, pace, progress.finished)
        finally:
            progress.end()
        if emptied := ledger.emptied():
            options.tell(f"max_chars_per_item left {emptied} items without any reference")

    @property
    def _texts(self) -> TextFolder:
        return TextFolder(self.folder.path / "text", self.options.include_text)

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

        def embed(texts: Sequence[str]) -> list[object]:
            return endpoint.embed(texts, ("", "", "embed", 0))

        return embedded(passages, settings.retrieval, model, self.folder.references, embed)

    def _ended(self, people: Sequence[str], ledger: Ledger) -> ProduceOutcome:
        """Write the files of failures and, if no case is left, of the run."""
        cases = [(mode, person) for mode in self.inputs.settings.assess.modes for person in people]
        done, failed = (sum(case in state for case in cases) for state in (ledger.done, ledger.failed))
        left = len(cases) - done - failed
        self.folder.write("failures.json", failures_content(self.inputs, ledger))
        if left:
            return ProduceOutcome(STOPPED, done, failed, left, None)
        self._texts.remove()
        begun = resumed(self.folder.config, self.inputs)
        content = run_content(self.inputs, ledger, begun)
        path = self.folder.write("run.json", content)
        if self.options.output is not None:
            path = write_whole(self.options.output, json_text(content), inputs=self.inputs.files)
        return ProduceOutcome(SOME_FAILED if failed else COMPLETE, done, failed, left, path)
