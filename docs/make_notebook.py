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
with data of your own, go straight to `evaluate`: it takes paths and data frames too.""",
    """\
from demur import Plan, Settings, estimate, evaluate, grade, reliability, risk_coverage
from demur.show.tables import table_text
from demur.simulate.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system

people = make_people(41, seed=0)
zero_shot = run_system(people, ZERO_SHOT, seed=0).items()
few_shot = run_system(people, FEW_SHOT, seed=1).items()
zero_shot""",
    """\
## One curve

Every distinct confidence is one operating point: answers at least as confident are accepted, the rest are declined. Coverage is a share of
*all* items, abstentions included.""",
    """\
risk_coverage("llm", data=zero_shot, loss="abs")""",
    """\
## Every number, with its uncertainty

Participants are resampled, not items. The recommended interval of each number was chosen by its measured coverage.""",
    """\
graded = grade(zero_shot, loss="abs", confidence="llm")
estimate(graded, ["cmax", "aurc", "augrc", "risk@0.3"], plan=Plan(2000, seed=7))""",
    """\
## Two systems

Full areas over different coverages are shown and not compared; the areas up to the coverage both reach are.""",
    """\
systems = {"zero_shot": zero_shot, "few_shot": few_shot}  # or paths, or data frames
settings = Settings(coverages=[0.3, 0.5])
results = evaluate(systems, loss="abs", confidence="llm,token_msp", settings=settings, resamples=2000, seed=7)
results""",
    """\
Results are a table: each number is a row, found by its columns. `results.to_frame()` makes a data frame of it.""",
    """\
results.where(quantity="augrc@C_common", confidence="llm")""",
    """\
Each curve has two bands: an interval at each coverage, and a wider band for the whole curve at once.""",
    """\
bands = results.curves["zero_shot", "llm"].bands
band = bands.selective_risk
for at, *ends in zip(bands.coverage, band.low, band.high, band.low_simultaneous, band.high_simultaneous, strict=True):
    print("coverage {:.3f}   [{:.3f}, {:.3f}]   along the curve [{:.3f}, {:.3f}]".format(at, *ends))""",
    """\
`results.save("metrics.json")` writes the file; `demur figure metrics.json -o curves.pdf` draws it for a paper, and
`demur table metrics.json --format latex` makes a table. The same in Markdown:""",
    """\
print(table_text(results, "markdown"))""",
    """\
## Is a confidence a probability?""",
    """\
reliability("verbalized", data=zero_shot)""",
)


def notebook() -> str:
    """The whole file: text and code take turns, and the code is run."""
    names: dict[str, Any] = {}
    cells = []
    for index, source in enumerate(CELLS):
        cell: dict[str, Any] = {"id": f"cell-{index}", "metadata": {}, "source": source.splitlines(keepends=True)}
        if index % 2:
            count = (index + 1) // 2
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
    """What a cell prints, and the value of its last line."""
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
