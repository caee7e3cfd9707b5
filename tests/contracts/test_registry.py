"""Whatever is registered is documented, exported and defined in one place."""

import ast
import inspect
import json

import make_calibration
import make_cli
import make_figures
import make_notebook
import pytest
from make_definitions import PAGE, page

import demur
from demur.demo import demonstrate


def test_the_definitions_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


def test_the_calibration_page_and_its_figure_are_current():
    text, drawing = make_calibration.page()
    assert make_calibration.PAGE.read_text(encoding="utf-8") == text, "run `make docs`"
    assert make_calibration.FIGURE.read_text(encoding="utf-8") == drawing, "run `make docs`"


def test_the_page_of_the_command_line_is_current():
    assert make_cli.PAGE.read_text(encoding="utf-8") == make_cli.page(), "run `make docs`"


@pytest.mark.parametrize("name", make_figures.FIGURES)
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


def test_the_sentence_to_copy_holds_the_numbers_of_the_demo(tmp_path):
    shown = demonstrate(tmp_path).metrics
    pair, delta = shown.confidence_variants["llm"], shown.comparison.deltas["llm"]["augrc_at_c"]
    page = " ".join((PAGE.parent / "reporting.md").read_text(encoding="utf-8").replace("\n>", "").split())
    left, right = pair.left.augrc_at_c.value, pair.right.augrc_at_c.value
    ends = delta.ci95_recommended
    assert f"answered {100 * pair.left.cmax:.1f} % and {100 * pair.right.cmax:.1f} % of the items" in page
    assert f"was {left:.3f} and {right:.3f}, a difference of {delta.delta:.3f}" in page
    assert f"(95 % interval {ends.low:.3f} to {ends.high:.3f}; {ends.method.replace('_', ' ')} bootstrap" in page


def test_everything_public_exists_and_is_documented():
    for name in demur.__all__:
        assert hasattr(demur, name)
        member = getattr(demur, name)
        assert not (inspect.isfunction(member) or inspect.isclass(member)) or inspect.getdoc(member), name


def test_the_names_of_the_package_are_listed_alike_three_times():
    """For tools that read types, for `import *`, and for loading a name when it is asked for."""
    tree = ast.parse(inspect.getsource(demur))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    homes = {name.name: node.module for node in typed.body for name in node.names}
    assert homes == {name: f"demur.{room}" for name, room in demur._ROOM_OF.items()}
    assert sorted(homes) == sorted(demur.__all__)
    assert set(demur.__all__) <= set(dir(demur))
    with pytest.raises(AttributeError, match="module 'demur' has no attribute 'nope'"):
        _ = demur.nope
