"""`demur audit`: reported figures, recomputed from the data they are said to be of."""

from __future__ import annotations

from contextlib import contextmanager
from os.path import realpath
from pathlib import Path  # noqa: TC003  (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.app import CalibrationFile, InstrumentName, app, named, progress_bar
from demur.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from demur.audit.figures import Finding

    Names = list[str] | None

_DIFFERS = 3
_RUN = ".json"


@app.command()
def audit(  # noqa: PLR0913, PLR0917  (one parameter an option)
    data: Annotated[
        list[Path],
        typer.Option(help="What was measured: a per-query table (.csv, .jsonl, .parquet), or one or two runs (.json)."),
    ],
    reported: Annotated[Path, typer.Option(help="What was reported of it: a JSON file of figures.")],
    system: Annotated[
        list[str] | None, typer.Option(help="Which ranked column a section is about, as NAME=COLUMN.")
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="What another column is called in a per-query table, as ROLE=COLUMN.")
    ] = None,
    mode: Annotated[
        list[str] | None, typer.Option(help="Mode of a run, where the report does not record it: one, or one a side.")
    ] = None,
    instrument: InstrumentName = "PHQ-8",
    calibration: CalibrationFile = None,
    resamples: Annotated[
        int | None,
        typer.Option(help="Draws to hold reported intervals against; 2000 if not given."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Which findings to list, separated by commas: match, differs, not-recognised or all."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,  # noqa: FBT002
) -> None:
    """Recompute the figures somebody reported, by plain loops over the data; the exit code is 3 if one differs.

    Example: demur audit --data per_query.csv --reported summary.json --system reranker=reranked_topk

    Example: demur audit --data run.json --reported metrics.json

    Example: demur audit --data run.json --reported mine.json --mode few_shot

    Example: demur audit --data per_query.csv --reported retrieval.json --resamples 10000 --only differs
    """
    # --help does not pay for any of these
    from demur.audit.listing import findings_json, findings_text, statuses  # noqa: PLC0415
    from demur.audit.selective import is_selective  # noqa: PLC0415
    from demur.write import json_text  # noqa: PLC0415

    listed = statuses(only or ())
    if realpath(reported) in map(realpath, data):
        raise UserError(f"{reported}: is the data as well: no figure is compared with itself")
    content = _content(reported)
    if data[0].suffix.lower() == _RUN or is_selective(content):
        _refuse("a run", {"--system": system, "--column": column})
        findings = _of_runs(data, (reported, content), (instrument, mode, calibration), resamples)
    else:
        _refuse("a per-query table", {"--mode": mode, "--calibration": calibration, "a second --data": data[1:]})
        findings = _of_queries(data[0], (reported, content), (system, column), resamples)
    if as_json:
        text = json_text(_record(data, reported) | findings_json(findings, listed))
    else:
        text = f"{findings_text(findings, listed)}\n"
    typer.echo(text, nl=False)
    if any(one.status == "differs" for one in findings):
        raise typer.Exit(_DIFFERS)


def _of_queries(
    data: Path, what: tuple[Path, Any], named_as: tuple[Names, Names], resamples: int | None
) -> list[Finding]:
    from demur.audit.own_retrieval import audited_own_retrieval, is_own_retrieval  # noqa: PLC0415
    from demur.audit.reported.queries import audited_retrieval  # noqa: PLC0415
    from demur.audit.reported.reading import queries_to_audit  # noqa: PLC0415

    reported, content = what
    systems, columns = named(named_as[0], "--system"), named(named_as[1], "--column")
    if not is_own_retrieval(content):
        _refuse("figures without draws", {"--resamples": resamples is not None})
    queries = queries_to_audit(data, columns=columns, systems=systems)
    with _told_of(reported):
        if is_own_retrieval(content):
            with progress_bar("recomputing"):
                return audited_own_retrieval(queries, content, resamples=resamples)
        return audited_retrieval(queries, content)


def _of_runs(
    data: Sequence[Path], what: tuple[Path, Any], how: tuple[str, Names, Path | None], resamples: int | None
) -> list[Finding]:
    from demur.audit.reported.reading import runs_to_audit  # noqa: PLC0415
    from demur.audit.reported.runs import RESAMPLES, audited_runs  # noqa: PLC0415
    from demur.audit.selective import audited_selective, is_selective, runs_of  # noqa: PLC0415
    from demur.strict_json import read_as  # noqa: PLC0415

    (reported, content), (instrument, modes, calibration) = what, how
    fitted = read_as(calibration, lambda parsed: parsed) if calibration else None
    taken = RESAMPLES if resamples is None else resamples
    if not is_selective(content):
        named = runs_to_audit(data, modes=modes or (), instrument=instrument)
        with _told_of(reported):
            return audited_runs(named, content, calibration=fitted, resamples=taken)
    runs = runs_of(data, content, instrument, modes or ())
    with _told_of(reported), progress_bar("variants") as advance:
        return audited_selective(runs, content, calibration=fitted, resamples=taken, progress=advance)


def _content(reported: Path) -> Any:
    from demur.audit.figures import Printed  # noqa: PLC0415
    from demur.strict_json import decode, loads, read_bytes  # noqa: PLC0415

    data = read_bytes(reported)
    with _told_of(reported):
        return loads(decode(data), number=Printed.of)


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        raise error.in_file(path) from None


def _record(data: Sequence[Path], reported: Path) -> dict[str, Any]:
    """The files the findings are about, so that an audit can be traced back to their bytes."""
    from demur.strict_json import fingerprint, read_bytes, shown_path  # noqa: PLC0415

    def traced(path: Path) -> dict[str, str]:
        return {"path": shown_path(path), "sha256": fingerprint(read_bytes(path))}

    return {"data": [traced(path) for path in data], "reported": traced(reported)}


def _refuse(what: str, options: dict[str, object]) -> None:
    for name, given in options.items():
        if given:
            raise UserError(f"{name} says nothing about {what}: leave it out")
