"""An extension is a folder that can be deleted: with each one hidden in turn, the core and the others go on."""

import pytest

from demur.extension import Extension, installed
from hiding import EVALUATES, run_hiding

OURS = ("audit", "decide", "importers", "lab", "produce")


def test_our_extensions_are_found():
    assert set(OURS) <= {*installed()}
    assert all(isinstance(extension, Extension) for extension in installed().values())


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_without_an_extension_the_others_and_the_core_go_on(name, tmp_path):
    done = run_hiding(f"demur.extensions.{name}", EVALUATES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.html").is_file()
    gone = [command for command in installed()[name].commands if f"│ {command} " in done.stdout]
    kept = [f"│ {command} " for other in OURS if other != name for command in installed()[other].commands]
    assert gone == []
    assert all(command in done.stdout for command in kept)


def test_a_name_of_an_extension_that_is_hidden_says_what_it_needs(tmp_path):
    done = run_hiding("demur.extensions.decide", "import demur\ndemur.choose", tmp_path)
    assert "demur.choose needs the extension decide, which is not installed" in done.stderr


def test_a_rule_on_a_page_needs_its_extension(tmp_path):
    code = "from demur.cli import main\nmain(['report', GOLDEN + '/paired.json', '--rule', 'r.json', '-o', 'p.html'])"
    done = run_hiding("demur.extensions.decide", code, tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "demur: demur.load_rule needs the extension decide, which is not installed\n",
    )
    assert [*tmp_path.iterdir()] == []
