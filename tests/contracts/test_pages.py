"""Pages, pictures and sentences that are made from the code are current."""

import json
import os
import re
import subprocess
import sys
import tomllib

import make_calibration
import make_cli
import make_examples
import make_figures
import make_notebook
import pytest
from make_definitions import PAGE, page

from commands import ROOT
from demur.show.tables import table_text
from installation import needs_all
from parametrized import parametrize_few


@needs_all
def test_the_definitions_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


@pytest.mark.slow
def test_the_calibration_page_and_its_figure_are_current():
    text, drawing = make_calibration.page()
    assert make_calibration.PAGE.read_text(encoding="utf-8") == text, "run `make docs`"
    assert make_calibration.FIGURE.read_text(encoding="utf-8") == drawing, "run `make docs`"


@needs_all
def test_the_page_of_the_command_line_is_current():
    assert make_cli.PAGE.read_text(encoding="utf-8") == make_cli.page(), "run `make docs`"


@needs_all
@pytest.mark.slow
def test_commands_are_listed_in_their_order_whichever_is_imported_first():
    code = (
        "import demur.extensions.lab.commands, demur.extensions.audit.command, make_cli; print(make_cli.page(), end='')"
    )
    paths = os.pathsep.join([str(make_cli.PAGE.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=environment)
    assert done.stdout.decode() == make_cli.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", make_examples.EXAMPLES)
def test_the_examples_are_current(name):
    written = (make_examples.FOLDER / name).read_text(encoding="utf-8")
    assert written == make_examples.EXAMPLES[name](), "run `make docs`"


@parametrize_few("name", make_figures.FIGURES, 1)
def test_the_pictures_are_current(name):
    assert (make_figures.FOLDER / name).read_text(encoding="utf-8") == make_figures.FIGURES[name](), "run `make docs`"


def test_the_notebook_is_current_and_every_cell_of_it_was_run():
    text = make_notebook.NOTEBOOK.read_text(encoding="utf-8")
    assert text == make_notebook.notebook(), "run `make docs`"
    content = json.loads(text)
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert all(cell["outputs"] for cell in code)
    assert sum("<svg" in str(cell["outputs"]) for cell in code) == 3, "a curve, two runs, a reliability diagram"


def test_the_sentence_to_copy_is_that_of_the_demo(demo_results):
    page = " ".join((PAGE.parent / "reporting.md").read_text(encoding="utf-8").replace("\n>", "").split())
    assert table_text(demo_results, "sentence").partition("\n\n")[0] in page


def test_every_command_that_writes_a_file_takes_the_short_option_too():
    outputs = [line for line in make_cli.page().splitlines() if line.startswith("| `--output")]
    assert outputs
    assert all(line.startswith("| `--output -o`") for line in outputs)


def test_hints_at_extras_are_commands_that_work_in_a_checkout():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    hinted = set()
    for path in [*(ROOT / "src").rglob("*.py"), *pages]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"demur\[[a-z]", text), path
        commands, errors = r"pip install '\.\[([a-z,]+)\]'", r'without_extra\(.*"(\w+)"\)'
        hinted |= {
            extra for form in (commands, errors) for names in re.findall(form, text) for extra in names.split(",")
        }
    assert hinted == {*declared}
