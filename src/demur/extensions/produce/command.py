"""`demur produce`: score transcripts with a model behind an HTTP endpoint, and write a run file."""

from __future__ import annotations

import os.path
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from demur.cli import options
from demur.cli.app import DATA, app, listed, printed_path
from demur.errors import UserError, harmless, literal, without_extra

if TYPE_CHECKING:
    from demur.extensions.produce.config import ProduceSettings
    from demur.extensions.produce.inputs import Inputs
    from demur.extensions.produce.producing import ProduceOutcome

_ENDPOINT = 5
_RUNS = Path("data/outputs")
# The options that go with --demo and with --probe; a dry run takes those of the run it describes.
_COMPATIBLE = {"demo": {"run_folder"}, "probe": {"config", "allow_remote", "assess", "endpoint"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _AssessChanges:
    """Settings of the assessment that replace those of the configuration."""

    mode: Annotated[str | None, typer.Option(help="zero_shot, few_shot or both.")] = None
    consistency_samples: Annotated[int | None, typer.Option(help="How many answers are sampled for each item.")] = None
    consistency_temperature: Annotated[float | None, typer.Option(help="The temperature of several samples.")] = None
    seed: Annotated[int | None, typer.Option(help="The seed from which those of all requests are derived.")] = None
    decision: Annotated[
        str | None, typer.Option(help="Of several samples: mode, or seed (the first one where none has half of them).")
    ] = None
    prompts: Annotated[str | None, typer.Option(help="The prompts: strict, infer, or a folder.")] = None
    on_ungrounded: Annotated[
        str | None, typer.Option(help="If no quote is in the transcript: keep, or fail the participant.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _EndpointChanges:
    """Settings of the endpoint that replace those of the configuration."""

    base_url: Annotated[str | None, typer.Option(help="The endpoint, in place of the one configured.")] = None
    model: Annotated[str | None, typer.Option(help="The model, in place of the one configured.")] = None
    concurrency: Annotated[int | None, typer.Option(help="Requests at once.")] = None
    requests_per_minute: Annotated[float | None, typer.Option(help="Requests per minute at most; 0: no limit.")] = None
    allow_missing: Annotated[
        str | None, typer.Option(help="What the endpoint need not have: logprobs, embeddings, or both with a comma.")
    ] = None


@app.command(rich_help_panel=DATA)
@options.unfolded
def produce(
    *,
    config: Annotated[Path | None, typer.Option(help="The configuration, a TOML file.")] = None,
    run_folder: Annotated[
        Path | None,
        typer.Option(help="The folder of the run, from which it is resumed; if not given, named after its inputs."),
    ] = None,
    split: Annotated[Path | None, typer.Option(help="Whom to assess: a CSV file with a column participant_id.")] = None,
    only: Annotated[str | None, typer.Option(help="Only these participants, separated by commas.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many participants.")] = None,
    assess: _AssessChanges,
    endpoint: _EndpointChanges,
    include_text: Annotated[bool, typer.Option("--include-text", help="Keep quotes and reasons.")] = False,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let transcripts leave this machine, to the endpoint configured.")
    ] = False,
    price_in: Annotated[float | None, typer.Option(min=0, help="What a million tokens of prompts cost.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0, help="What a million tokens of answers cost.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be asked, and send nothing.")] = False,
    show_prompts: Annotated[
        bool, typer.Option("--show-prompts", help="With --dry-run, print the first prompts, with their transcript.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Assess failed participants once more.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the run file here instead.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    progress: Annotated[
        str | None, typer.Option(help="plain, bar or none; if not given, bar on a terminal and plain elsewhere.")
    ] = None,
    probe: Annotated[bool, typer.Option("--probe", help="Print what an endpoint supports, as JSON; exit.")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Try it all offline: made-up interviews, a scripted endpoint, a report.")
    ] = False,
) -> None:
    """Score interviews with a model behind an OpenAI-compatible endpoint, and write a run file with every signal.

    The run folder keeps what is done: the same command again continues where it stopped. The exit code is 4 if
    participants failed, 5 if the endpoint lacks a feature or stopped responding, 130 if the run was interrupted.

    Example: demur produce --config produce.toml --run-folder run

    Example: demur produce --demo

    Example: demur produce --probe --base-url http://127.0.0.1:8080/v1 --model gemma3:27b
    """
    _check_options(
        {name for name, value in locals().items() if value not in (None, False, _AssessChanges(), _EndpointChanges())}
    )
    if demo:
        _demonstrate(run_folder)
        return
    changes: dict[str, dict[str, Any]] = {"assess": asdict(assess), "endpoint": asdict(endpoint), "data": {}}
    if split is not None:  # as the configuration would name it
        changes["data"]["split"] = os.path.relpath(split, config.parent if config else None)
    if endpoint.allow_missing is not None:
        changes["endpoint"]["allow_missing"] = listed(endpoint.allow_missing)
    settings, base = _settings(config, changes, probe=probe, allow_remote=allow_remote)
    if probe:
        _probe(settings)
        return
    from demur.extensions.produce.inputs import read_inputs_of
    from demur.extensions.produce.output import Prices
    from demur.extensions.produce.producing import ProduceOptions

    inputs, names = read_inputs_of(settings, base), listed(only) if only else []
    if dry_run:
        _describe(inputs, names, limit, show_prompts=show_prompts)
        return
    prices, kind = Prices(price_in, price_out), "none" if quiet else _progress(progress)
    production = ProduceOptions(names, limit, include_text, retry_failed, prices, output, kind, _Teller(quiet=quiet))
    _finish(_produced(inputs, run_folder, production), quiet=quiet)


def _check_options(typed: set[str]) -> None:
    """Refuse options that would have no effect."""
    for action in (action for action in _COMPATIBLE if action in typed):
        others = sorted(typed - _COMPATIBLE[action] - {action})
        if action == "demo" and others:
            raise UserError("--demo brings its own interviews and endpoint: give it alone, or with --run-folder")
        for name in others:
            raise UserError(f"--{name.replace('_', '-')} does not go with --{action}: leave it out")
    if "show_prompts" in typed and "dry_run" not in typed:
        raise UserError("--show-prompts goes with --dry-run, which is missing")


def _describe(inputs: Inputs, names: list[str], limit: int | None, *, show_prompts: bool) -> None:
    from demur.extensions.produce.dry_run import dry_run

    for line in dry_run(inputs, inputs.chosen(names, limit), show_prompts=show_prompts):
        typer.echo("\n".join(map(harmless, line.split("\n"))))


def _settings(
    config: Path | None, changes: Mapping[str, Mapping[str, Any]], *, probe: bool, allow_remote: bool
) -> tuple[ProduceSettings, Path]:
    """The configuration, and the folder its paths are relative to."""
    _needs_httpx()
    from demur.extensions.produce.config import checked_settings, load_settings

    if config is not None:
        return load_settings(config, changes, allow_remote=allow_remote), config.parent
    if not probe:
        raise UserError("--config is missing: the TOML file that says where transcripts and endpoint are")
    for name in ("base_url", "model"):
        if changes["endpoint"][name] is None:
            raise UserError(f"--probe needs --config, or --{name.replace('_', '-')}")
    endpoint = {name: value for name, value in changes["endpoint"].items() if value is not None}
    data = {"transcripts": "", "truth": "", "split": "", "reference_split": "none"}
    return checked_settings({"data": data, "endpoint": endpoint}, allow_remote=allow_remote), Path()


def _needs_httpx() -> None:
    try:
        import httpx  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise without_extra("demur produce needs httpx", "produce") from None


def _demonstrate(folder: Path | None) -> None:
    _needs_httpx()
    from demur.extensions.produce.demo import MEANINGLESS, run_demo, unused_folder

    explanation, paths = run_demo(folder or unused_folder(_RUNS))
    typer.echo(f"{explanation}\n{MEANINGLESS}\n")
    for label, path in paths.items():
        typer.echo(f"{label}: {printed_path(path)}")


def _probe(settings: ProduceSettings) -> None:
    from demur.extensions.produce.endpoint import Endpoint
    from demur.extensions.produce.failures import EndpointError
    from demur.extensions.produce.probe import probe
    from demur.extensions.produce.rate_limits import Pace
    from demur.files.write import json_text

    try:
        with Endpoint(settings, Pace(1), lambda *_: None) as endpoint:
            capabilities = probe(endpoint, settings)
    except EndpointError as error:
        _endpoint_failed(error)
    typer.echo(json_text(capabilities), nl=False)


def _produced(inputs: Inputs, folder: Path | None, options: Any) -> ProduceOutcome:
    from demur.extensions.produce.failures import EndpointError
    from demur.extensions.produce.folder import run_identity
    from demur.extensions.produce.producing import Production

    if folder is None:
        folder = _RUNS / f"produce-{run_identity(inputs)[0][:8]}"
    try:
        return Production(inputs, folder, options).produce()
    except EndpointError as error:
        _endpoint_failed(error)


def _endpoint_failed(error: Exception) -> NoReturn:
    typer.echo(f"demur: {harmless(str(error))}", err=True)
    raise typer.Exit(_ENDPOINT)


def _finish(outcome: ProduceOutcome, *, quiet: bool) -> None:
    if not quiet:
        left = f", {outcome.left} left: the same command goes on" if outcome.left else ""
        typer.echo(f"{outcome.done} assessments done, {outcome.failed} failed{left}")
        if outcome.run:
            typer.echo(f"wrote {printed_path(outcome.run)}")
    if outcome.code:
        raise typer.Exit(outcome.code)


def _progress(kind: str | None) -> str:
    if kind is None:
        return "bar" if sys.stderr.isatty() else "plain"
    if not re.fullmatch("plain|bar|none", kind):
        raise UserError(f"--progress {literal(kind)}, expected plain, bar or none")
    return kind


class _Teller:
    """Prints lines on standard error, of which some overwrite the previous one."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet, self._over = quiet, False

    def __call__(self, line: str, *, again: bool = False) -> None:
        """Print a line; the next one overwrites it if it is printed `again`."""
        if not self._quiet:
            start = "\r\x1b[K" if self._over else ""
            typer.echo(start + harmless(line), err=True, nl=not again)
            self._over = again
