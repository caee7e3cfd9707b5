"""Tables of an artifact for a paper, a page or a spreadsheet. What comes from a file is text in all of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, Ends, PairedNumbers
from demur.errors import unknown
from demur.report.escaped import DAGGER, escaped_latex, escaped_markdown, latex_numbers, no_formula
from demur.report.numbers import UNDEFINED, bound_of, differences_of, ends_at, level_of, measured, runs_of, title
from demur.verdict import LEFT, REACHED_AT, RIGHT, UNDECIDED, ends_of, three, which_is_better

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from demur.artifact import Metrics
    from demur.artifact_numbers import VariantNumbers

SHOWN = ("cmax", "aurc_full", "augrc_full", "aurc_at_c", "augrc_at_c", "eaugrc")
LISTED = (*SHOWN[:3], "naurc", "naugrc", "eaurc", *SHOWN[3:])
_EXCESSES = ("eaurc", "eaugrc")  # of full areas, and no fairer than those
_NAMES = {"aurc_full": "aurc", "augrc_full": "augrc"}
_SIDES = ("left", "right", "difference")


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with its interval, or with what it is at most; `unfair` says why it decides nothing."""

    value: float | None
    ends: Ends | None
    bound: float | None = None
    unfair: str = ""

    def texts(self) -> tuple[str, str]:
        """The number, and its interval, as they are printed."""
        if self.value is None:
            return UNDEFINED, ""
        mark = DAGGER if self.unfair else ""
        if self.ends is not None:
            return f"{self.value:.4g}", f"[{three(self.ends.low)}, {three(self.ends.high)}]{mark}"
        return f"{self.value:.4g}", (f"≤ {three(self.bound)}" if self.bound is not None else "") + mark


@dataclass(frozen=True, slots=True)
class Row:
    """One number of one run, or of two and their difference; `name` is the metric's own."""

    name: str
    title: str
    cells: tuple[Cell, ...]


def table_text(metrics: Metrics, form: str) -> str:
    """The numbers of an artifact as LaTeX, Markdown or CSV."""
    if form not in FORMS:
        raise unknown("table format", form, FORMS)
    return FORMS[form](metrics)


def rows_of(metrics: Metrics, variant: str, keys: Sequence[str]) -> Iterator[Row]:
    """The rows of one variant: the keys, then the risks at the coverages of the grid."""
    entry = metrics.confidence_variants[variant]
    runs = runs_of(entry)
    for key in keys:
        cells = [_number(one, key) for one in runs]
        yield Row(_name(key, runs[0]), title(key, runs[0]), (*cells, *_difference(metrics, variant, key)))
    for coverage in runs[0].mae_at_coverage:
        cells = [_risk(one, coverage) for one in runs]
        delta = _difference(metrics, variant, "mae_at_coverage", coverage)
        yield Row(f"mae@{coverage}", f"risk at {coverage}", (*cells, *delta))


def _number(one: VariantNumbers, key: str) -> Cell:
    value = measured(one, key)
    return Cell(None, None) if value is None else Cell(value, ends_at(one, key), bound_of(one, key))


def _name(key: str, one: VariantNumbers) -> str:
    area = {"aurc_at_c": one.aurc_at_c, "augrc_at_c": one.augrc_at_c}.get(key)
    if area is None:
        return _NAMES.get(key, key)
    return f"{key.removesuffix('_at_c')}@{'C_common' if area.requested is None else f'{area.requested:g}'}"


def _risk(one: VariantNumbers, coverage: str) -> Cell:
    point = one.mae_at_coverage.get(coverage)
    return Cell(point.value if point else None, ends_at(one, "mae_at_coverage", coverage))


def _difference(metrics: Metrics, variant: str, key: str, coverage: str | None = None) -> list[Cell]:
    """The difference of two runs; nothing where there is one."""
    entry = metrics.confidence_variants[variant]
    if not isinstance(entry, PairedNumbers):
        return []
    found = differences_of(metrics, variant).get(key)
    delta = found.get(coverage or "") if isinstance(found, Mapping) else found
    silent = coverage is None and any(measured(one, key) is None for one in runs_of(entry))
    if silent or not isinstance(delta, DeltaNumbers):
        return [Cell(None, None)]
    said = which_is_better(key, delta, entry, coverage)
    if key in _EXCESSES and entry.left.cmax != entry.right.cmax:
        said = "not comparable: Cmax differs"
    return [Cell(delta.delta, ends_of(delta, entry), unfair="" if said in ("", LEFT, RIGHT, UNDECIDED) else said)]


def _columns(metrics: Metrics) -> tuple[str, ...]:
    return ("left", "right", "right − left") if metrics.comparison.enabled else ("value",)


def notes(metrics: Metrics) -> list[str]:
    """What a reader must know of the numbers: whose they are, the loss, the intervals, the conventions."""
    people, convention = metrics.population, metrics.convention
    runs = [one for entry in metrics.confidence_variants.values() for one in runs_of(entry)]
    counted = f"{people.participants_included} participants ({people.participants_failed} failed)"
    found = [*_runs(metrics), f"{counted}, {people.items_total} items."]
    found.append(f"Loss {metrics.loss.name}: {metrics.loss.definition}.")
    boot = runs[0].bootstrap if runs else None
    if boot is None:
        found.append("No intervals: nothing was resampled.")
    else:
        ways = ", ".join(methods_shown(metrics)) or "none"
        drawn = f"{boot.n_resamples} bootstrap resamples of participants, seed {boot.seed}"
        found.append(f"In brackets the {level_of(runs[0])} ({ways.replace('_', ' ')}); {drawn}.")
    conventions = (convention.ties, convention.denominator, convention.anchor_at_zero, convention.integration)
    found.append(f"Conventions: {'; '.join(conventions)}.")
    cells = [cell for row in _all_rows(metrics) for cell in row.cells]
    if any(cell.ends is None and cell.bound is not None for cell in cells):
        found.append("≤ marks a one-sided bound at 95 %: no answer was wrong.")
    if not all(one.defined for one in runs):
        found.append(f"{UNDEFINED} under an area: a run that answers nothing has none, nor a difference to another.")
    reasons = dict.fromkeys(_in_general(cell.unfair) for cell in cells if cell.unfair)
    if reasons:
        found.append(f"{DAGGER} Nothing follows from this difference: {'; '.join(reasons)}.")
    return [*found, f"demur {metrics.tool.version}."]


def _in_general(unfair: str) -> str:
    """Why a difference says nothing, in words that go for all of its kind."""
    return "the runs reach this coverage at different points" if unfair.startswith(REACHED_AT) else unfair


def _runs(metrics: Metrics) -> Iterator[str]:
    sides = ("Left", "Right") if metrics.comparison.enabled else ("Run",)
    for side, one in zip(sides, metrics.inputs, strict=True):
        told = {"mode": one.mode, "run": one.run_id, "file": PurePath(one.path).name if one.path else None}
        said = ", ".join(f"{name} {text}" for name, text in told.items() if text)
        yield f"{side}: {said or 'not from a file'}."


def methods_shown(metrics: Metrics) -> dict[str, list[str]]:
    """The methods of the intervals that are shown, each with the numbers it is used for."""
    found: dict[str, dict[str, None]] = {}
    for row in _all_rows(metrics):
        number = "risk at a coverage" if row.name.startswith("mae@") else row.title
        for cell in row.cells:
            if cell.ends is not None:
                found.setdefault(cell.ends.method, {})[number] = None
    return {method: [*numbers] for method, numbers in found.items()}


def _all_rows(metrics: Metrics) -> Iterator[Row]:
    for variant in metrics.confidence_variants:
        yield from rows_of(metrics, variant, SHOWN)


def markdown(metrics: Metrics) -> str:
    """A table as GitHub and pandoc read it, and the notes below it."""
    columns = _columns(metrics)
    lines = [_bars(["confidence", "", *columns]), _bars(["---", "---", *["--:"] * len(columns)])]
    for variant in metrics.confidence_variants:
        for row in rows_of(metrics, variant, SHOWN):
            cells = [" ".join(filter(None, cell.texts())) for cell in row.cells]
            lines.append(_bars([escaped_markdown(variant), escaped_markdown(row.title), *cells]))
    return "\n".join([*lines, "", *map(escaped_markdown, notes(metrics)), ""])


def _bars(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex(metrics: Metrics) -> str:
    """A table with the rules of booktabs, and the notes below it."""
    columns = _columns(metrics)
    heads = "".join(f" & \\multicolumn{{2}}{{c}}{{{escaped_latex(name)}}}" for name in columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "  \\centering",
        f"  \\begin{{tabular}}{{l{'r@{ }l' * len(columns)}}}",
        "    \\toprule",
        f"   {heads} \\\\",
    ]
    for variant in metrics.confidence_variants:
        name = f"\\texttt{{{escaped_latex(variant)}}}"
        lines += ["    \\midrule", f"    \\multicolumn{{{1 + 2 * len(columns)}}}{{l}}{{{name}}} \\\\"]
        lines += [f"    {_latex_row(row)} \\\\" for row in rows_of(metrics, variant, SHOWN)]
    lines += [
        "    \\bottomrule",
        "  \\end{tabular}",
        "  \\par\\smallskip",
        "  \\begin{minipage}{\\linewidth}\\footnotesize",
    ]
    lines += [f"    {escaped_latex(note)}" for note in notes(metrics)]
    return "\n".join([*lines, "  \\end{minipage}", "\\end{table}", ""])


def _latex_row(row: Row) -> str:
    heading = escaped_latex(row.title).replace("Cmax", r"$C_{\max}$").replace(r"C\_common", r"$C_{\mathrm{common}}$")
    cells = [latex_numbers(text) for cell in row.cells for text in cell.texts()]
    return " & ".join([heading, *cells])


def csv_text(metrics: Metrics) -> str:
    """One line a number, in full; what a spreadsheet would take for a formula is made text by an apostrophe."""
    lines = io.StringIO()
    write = csv.writer(lines, lineterminator="\n").writerow
    write(("variant", "side", "metric", "value", "low", "high", "level", "method"))
    for variant, entry in metrics.confidence_variants.items():
        sides = _SIDES if isinstance(entry, PairedNumbers) else ("",)
        level = _level(runs_of(entry)[0])
        for row in rows_of(metrics, variant, LISTED):
            for side, cell in zip(sides, row.cells, strict=True):
                write((no_formula(variant), side, no_formula(row.name), _full(cell.value), *_csv_ends(cell, level)))
    return lines.getvalue()


def _csv_ends(cell: Cell, level: str) -> tuple[str, str, str, str]:
    if cell.ends is not None:
        return _full(cell.ends.low), _full(cell.ends.high), level, no_formula(cell.ends.method)
    if cell.bound is not None:
        return "", _full(cell.bound), "0.95", "one_sided_bound"
    return "", "", "", ""


def _level(one: VariantNumbers) -> str:
    asked = one.bootstrap.ci if one.bootstrap else None
    return "0.95" if asked is None else str(asked["level"])


def _full(value: float | None) -> str:
    return "" if value is None else repr(value)


FORMS: dict[str, Callable[[Metrics], str]] = {"latex": latex, "markdown": markdown, "csv": csv_text}
