"""Write examples/tour.ipynb: run its cells in order and keep what they print and show.

Run by `make docs`; a test fails when the notebook is not current. It is plain JSON, so no notebook server is needed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[1] / "examples" / "tour.ipynb"
CELLS = (
    """\
# A tour of demur

Two made-up systems score the same 41 people on eight items each, and may decline to. Which one is better? Run this from top to bottom;
with a run of your own, replace the first cell by `read_run("run.json", mode="zero_shot")`.""",
    """\
from demur import Plan, Settings, estimate, evaluate, grade, metrics_artifact, reliability, risk_coverage
from demur.report.tables import table_text
from demur.simulate import FEW_SHOT, ZERO_SHOT, make_people, run_system

people = make_people(41, seed=0)
left, right = (run_system(people, system, seed=place).items() for place, system in enumerate((ZERO_SHOT, FEW_SHOT)))
left""",
    """\
## One curve

Every distinct confidence is one working point: what is at least as sure is answered, the rest is declined. Coverage is a share of *all*
items, abstentions counted.""",
    """\
risk_coverage("llm", data=left, loss="abs")""",
    """\
## Every number, with its uncertainty

Participants are resampled, not items. The recommended interval of each number was measured to cover.""",
    """\
graded = grade(left, loss="abs", confidence="llm")
found = estimate(graded, ["cmax", "aurc", "augrc", "mae@0.3"], plan=Plan(2000, seed=7), bands=True)
found""",
    """\
The curve has two bands: one that holds at each coverage, and a wider one that holds along the whole curve at once.""",
    """\
band = found.bands.selective_risk
for at, *ends in zip(
    found.bands.coverage, band.low, band.high, band.low_simultaneous, band.high_simultaneous, strict=True
):
    print("coverage {:.3f}   [{:.3f}, {:.3f}]   along the curve [{:.3f}, {:.3f}]".format(at, *ends))""",
    """\
## Two systems

Full areas over different coverages are shown and not compared; the areas up to the coverage both reach are.""",
    """\
settings = Settings(loss="abs", confidence="llm,token_msp", grid=("0.3", "0.5"))
metrics = metrics_artifact(evaluate(left, right, settings=settings, plan=Plan(2000, seed=7)))
metrics""",
    """\
`metrics.save("metrics.json")` writes it down; `demur figure metrics.json -o curves.pdf` draws it for a paper, and
`demur table metrics.json --format latex` sets it. The same in Markdown:""",
    """\
print(table_text(metrics, "markdown"))""",
    """\
## Is a confidence a probability?""",
    """\
reliability("verbalized", data=left)""",
)


def notebook() -> str:
    """The whole file: text and code take turns, and the code is run."""
    names: dict[str, Any] = {}
    cells = []
    for place, source in enumerate(CELLS):
        cell: dict[str, Any] = {"id": f"cell-{place}", "metadata": {}, "source": source.splitlines(keepends=True)}
        if place % 2:
            count = (place + 1) // 2
            cells.append({"cell_type": "code", **cell, "execution_count": count, "outputs": run(source, names, count)})
        else:
            cells.append({"cell_type": "markdown", **cell})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return (
        json.dumps(
            {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False
        )
        + "\n"
    )


def run(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and what its last line is worth."""
    *before, last = ast.parse(source).body
    printed, shown = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(before, []), "cell", "exec"), names)  # noqa: S102  (the cells above)
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
        else:
            exec(compile(ast.Module([*before, last], []), "cell", "exec"), names)  # noqa: S102
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if shown is not None:
        data = {"text/html": [shown._repr_html_()]} if hasattr(shown, "_repr_html_") else {}
        data["text/plain"] = repr(shown).splitlines(keepends=True)
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(), encoding="utf-8")
    print("wrote examples/tour.ipynb")
