"""A feature is a folder that can be deleted: with each one hidden in turn, the core and the other features go on."""

import json

import pytest
from make_golden import files

from demur.feature import Feature, features, hooks
from demur.options import declared, flag_of
from hiding import EVALUATES, run_hiding
from whole import whole

OURS = (*features(),)
ASKED = {
    "groups": ["--group", "item"],
    "raters": ["--point", "Dr: coverage=0.5, risk=0.2"],
    "costs": ["--abstention-cost", "0.1"],
    "conventions": ["--convention", "geifman"],
}
PLAIN = ["evaluate", "RUN", "--mode", "few_shot", "--seed", "1", "--resamples", "50", "--confidence", "llm", "--quiet"]
# The numbers of an evaluation that asks for some features, from its file.
NUMBERS = """
import json
import demur
from demur.cli import main

try:
    main([word.replace("RUN", GOLDEN + "/run.json") for word in WORDS] + ["-o", "f.json"])
except SystemExit as stopped:
    assert not stopped.code
results = demur.load("f.json")
print(json.dumps([[repr(row.key), repr(row.value)] for row in results]))
assert demur.report_html(results).startswith("<!doctype html>")
"""
HELP = """
try:
    main(["evaluate", "--help-all"])
except SystemExit as stopped:
    assert not stopped.code
"""
GOLDEN_FILES = """
import json
from make_golden import files
print(json.dumps(dict(files())))
"""
# Every evaluation has the part of these features, so that no golden file is without it.
IN_EVERY_FILE = tuple(name for name, feature in features().items() if feature.always)


def words(*names):
    """An evaluation that asks for these features."""
    return PLAIN + [word for name in names for word in ASKED.get(name, ())]


def numbers(package, names, folder):
    done = run_hiding(package, f"WORDS = {words(*names)!r}{NUMBERS}", folder)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@whole
def test_our_features_are_found():
    assert {"groups", "raters", "costs", "conventions"} <= {*features()}
    assert all(isinstance(feature, Feature) for feature in features().values())


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_without_a_feature_the_others_have_the_same_numbers(name, tmp_path):
    others = [other for other in ASKED if other != name]
    assert numbers(f"demur.features.{name}", others, tmp_path) == numbers("nothing", others, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_without_a_feature_its_options_and_commands_are_gone_and_the_core_goes_on(name, tmp_path):
    done = run_hiding(f"demur.features.{name}", EVALUATES + HELP, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.html").is_file()
    for other, options in hooks("options").items():
        shown = [flag_of(field) in done.stdout for field in declared(options)]
        assert not any(shown) if other == name else all(shown)
    for other, feature in features().items():
        assert all((f"│ {command} " in done.stdout) == (other != name) for command in feature.commands)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OURS if name not in IN_EVERY_FILE])
def test_without_a_feature_the_golden_files_are_the_same(name, tmp_path):
    done = run_hiding(f"demur.features.{name}", GOLDEN_FILES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == dict(files())


def test_a_name_of_a_feature_that_is_hidden_says_what_it_needs(tmp_path):
    done = run_hiding("demur.features.costs", "import demur\ndemur.Costs", tmp_path)
    assert "demur.Costs needs the feature costs, which is not installed" in done.stderr


def test_a_job_that_needs_a_feature_says_so_in_one_line(tmp_path):
    call = "['choose', GOLDEN + '/run.json', '--mode', 'few_shot', '--abstention-cost', '1:10']"
    done = run_hiding("demur.features.costs", f"from demur.cli import main\nmain({call})", tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "demur: a target of costs needs the feature costs, which is not installed\n",
    )


@pytest.mark.slow
def test_an_evaluation_imports_nothing_of_a_feature_that_it_does_not_ask_for(tmp_path):
    code = f"WORDS = {words()!r}{NUMBERS}import sys\nprint(json.dumps([*sys.modules]))"
    done = run_hiding("nothing", code.replace("assert demur.report_html", "0 and demur.report_html"), tmp_path)
    assert done.returncode == 0, done.stderr
    asked = {f"demur.features.{name}" for name in IN_EVERY_FILE}
    loaded = [name for name in json.loads(done.stdout.splitlines()[-1]) if name.startswith("demur.features.")]
    light = {part for name in OURS for part in (f"demur.features.{name}", *of_options(name, tmp_path))}
    assert not [name for name in loaded if name not in light and ".".join(name.split(".")[:3]) not in asked]


def of_options(name, folder):
    """The modules that the options of a feature import: the command line needs them all."""
    code = f"import sys\nfrom demur.feature import features\nfeatures()[{name!r}].hook('options')\nprint(*sys.modules)"
    done = run_hiding("nothing", code, folder)
    return [module for module in done.stdout.split() if module.startswith(f"demur.features.{name}.")]
