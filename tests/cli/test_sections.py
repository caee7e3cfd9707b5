"""Options, once: the command line, `demur.toml` and Python take the fields of the same sections."""

import inspect
import json
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest
import typer

from commands import COMMAND, demur, real_demur, script
from demur import evaluate, load
from demur.extensions.lab.runs import simulated_run
from demur.options import KEYWORDS, declared, flag_of
from golden_runs import GOLDEN, WHEN
from installation import needs_all
from parametrized import parametrize_few
from runs import written
from sections import SECTIONS, toml, words
from sections import evaluate as by_python

MOST_EVERYDAY = 20
RARE = ("--level", "--primary", "--threads")
FEATURES = {"Groups", "Raters and published points", "Costs", "Conventions of other tools"}
TABLE = {
    "document": ["a", "a", "b", "b", "c", "d", "d", "e"],
    "score": [1.0, 0.5, 0.0, None, 1.0, 0.25, 0.75, 1.0],
    "sure": [0.9, 0.7, 0.8, 0.1, 0.8, 0.2, 0.3, 0.6],
    "site": ["x", "x", "y", "y", "x", "y", "y", "x"],
    "age": [20, 20, 30, 30, 41, 50, 50, 64],
}
OF_COLUMNS = {"columns": {"cluster": "document"}, "noun": "document", "confidence": "sure"}
HOW = OF_COLUMNS | {"resamples": 40, "seed": 7, "created_at": WHEN}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(TABLE).write_csv("own.csv")
    pl.DataFrame(TABLE | {"score": TABLE["score"][::-1]}).write_csv("other.csv")
    pl.DataFrame(TABLE | {"score": [0.5] * 8}).write_csv("forced.csv")
    rated = {"cluster": TABLE["document"], "loss": [0.0, 1.0, 0.0, None, 0.0, 0.5, 0.0, 1.0]}
    pl.DataFrame(rated).write_csv("rater.csv")
    pl.DataFrame({"cluster": [*"abcde"], "lang": [*"xxyyy"]}).write_csv("labels.csv")
    return tmp_path


def parameters():
    """The parameters of `demur evaluate` by their flags."""
    command = COMMAND.commands["evaluate"]
    return {param.opts[0]: param for param in command.get_params(typer.Context(command))}


def content(path):
    """What a file holds, but for who wrote it and the options that were read from a file."""
    return {name: value for name, value in json.loads(Path(path).read_text()).items() if name not in LEFT_OUT}


LEFT_OUT = ("tool", "also_read")


class TestDeclarations:
    def test_every_field_is_an_option_that_leaves_the_default_to_it(self):
        typed = parameters()
        for kind in SECTIONS.values():
            for name, option in declared(kind).items():
                param = typed[option.flag or f"--{name.replace('_', '-')}"]
                assert param.default in (None, False)
                assert {*option.aliases} <= {*param.opts}
                assert param.help.startswith(option.help[:20].partition("{")[0])

    def test_no_option_is_in_two_sections(self):
        names = [name for kind in SECTIONS.values() for name in declared(kind)]
        flags = [*map(flag_of, names)]
        assert len({*names}) == len(names)
        assert len({*flags}) == len(flags)

    def test_the_keywords_of_python_are_fields_of_sections(self):
        given = [
            name for name, each in inspect.signature(evaluate).parameters.items() if each.kind is each.KEYWORD_ONLY
        ]
        assert [*KEYWORDS, "reading", "settings", "plan"] == given
        known = {field.name for kind in SECTIONS.values() for field in fields(kind)}
        assert {*KEYWORDS} - {"columns"} <= known

    def test_what_is_not_given_is_what_the_sections_make(self, folder):
        made = demur(folder, "evaluate", "own.csv", "--output", "m.json")
        assert made.returncode == 0
        assert "10000 bootstrap resamples of clusters, seed 0" in made.stdout


class TestHelp:
    def test_it_shows_few_options_besides_those_of_features(self):
        everyday = [param for param in parameters().values() if not param.hidden and param.param_type_name == "option"]
        others = [param for param in everyday if param.rich_help_panel not in FEATURES]
        assert len(others) <= MOST_EVERYDAY

    @parametrize_few(("flag", "hidden"), [("--help", {"--level", "--primary", "--threads"}), ("--help-all", set())], 1)
    @pytest.mark.slow
    def test_help_all_shows_the_others(self, tmp_path, flag, hidden):
        shown = real_demur(tmp_path, "evaluate", flag, env={"COLUMNS": "200", "PATH": "", "PYTHONPATH": _path()}).stdout
        flags = {flag_of(name) for kind in SECTIONS.values() for name in declared(kind)}
        assert {name for name in RARE if f"{name} " not in shown} == hidden
        assert all(f"{name} " in shown for name in flags) is not bool(hidden)
        assert "{losses}" not in shown
        assert "--bootstrap-resamples" not in shown


def _path():
    return str(Path(inspect.getfile(evaluate)).parents[2])


@parametrize_few(
    ("typed", "completed"),
    [
        ("demur ev", ["evaluate"]),
        ("demur evaluate --conf", ["--confidence"]),
        ("demur evaluate --every", ["--every-row-its-own-cluster"]),
        ("demur choose --lower", ["--lower-is-surer"]),
    ],
    1,
)
@pytest.mark.slow
def test_the_shell_completes_commands_and_options(tmp_path, typed, completed):
    asked = {"_DEMUR_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    found = real_demur(tmp_path, env={**asked, "PATH": "", "PYTHONPATH": _path()})
    assert (found.stdout.split(), found.stderr) == (completed, "")


SAME = {
    "columns": ("own.csv", {}),
    "two systems": (["own.csv", "other.csv"], {}),
    "by name": ({"A": "own.csv", "B": "other.csv"}, {"baseline": "B"}),
    "coverages": ("own.csv", {"score_range": (0, 2), "coverages": "0.25,1/3", "area_coverage": "0.4"}),
    "an interval": ("own.csv", {"level": 0.9, "interval": "bca", "failed_units": "abstain", "loss": "given"}),
    "prices": ("own.csv", {"lower_is_surer": ["sure"], "prices": ["0.1", "1:3"], "cross_fit": 2}),
    "excluded": (["own.csv", "other.csv"], {"exclude": ["other.csv"], "probability": ["sure"]}),
    "raters": ("own.csv", {"raters": {"Dr": "rater.csv"}, "margin": 0.2, "handover_threshold": 0.7}),
    "points": ("own.csv", {"points": ["P: coverage=0.5, risk=0.2"], "forced": "forced.csv"}),
    "groups": ("own.csv", {"labels": {"site": "site"}, "threshold": 0.5, "min_clusters": 2, "max_groups": 5}),
    "numbers cut": ("own.csv", {"labels": {"age": ["age", [18, 40, 65]]}, "min_clusters": 2}),
    "a table of labels": ("own.csv", {"table": "labels.csv", "at_coverage": "0.5", "stratify": "lang"}),
    "conventions": ("own.csv", {"names": ["fd-shifts", "geifman"]}),
    "nothing drawn": ("own.csv", {"resamples": 0, "threads": 1}),
    "seed 0": ("own.csv", {"seed": 0, "intersection_only": False}),
}
USES = {"prices": "costs", "conventions": "conventions"}
USES |= dict.fromkeys(["raters", "points"], "raters")
USES |= dict.fromkeys(["groups", "numbers cut", "a table of labels"], "groups")
CASES = [
    pytest.param(*case, id=name, marks=[pytest.mark.uses(USES[name])] if name in USES else ())
    for name, case in SAME.items()
]


def without_false(options):
    """A flag that is false is not typed."""
    return {name: value for name, value in options.items() if value is not False}


@parametrize_few(("data", "how"), CASES, 4)
def test_the_command_the_file_and_python_give_the_same_results(folder, data, how):
    how = HOW | how
    files = [f"{name}={path}" for name, path in data.items()] if isinstance(data, dict) else data
    files = [files] if isinstance(files, str) else files
    typed = demur(folder, "evaluate", *files, *words(without_false(how)), "--output", "typed.json", "--quiet")
    assert (typed.returncode, typed.stderr) == (0, "")
    Path("demur.toml").write_text(toml(how))
    read = demur(folder, "evaluate", *files, "--output", "read.json")
    assert read.returncode == 0, read.stderr
    assert read.stderr.startswith(f"demur: options of {folder / 'demur.toml'}\n")
    by_python(data, **how).save("python.json")
    assert content("typed.json") == content("read.json") == content("python.json")
    assert "demur.toml" in {Path(file.path).name for file in load("read.json").study.also_read}


class TestFile:
    def evaluated(self, folder, *typed):
        done = demur(folder, "evaluate", "own.csv", "--resamples", "0", "--output", "m.json", *typed)
        assert done.returncode == 0, done.stderr
        return load(folder / "m.json")

    @pytest.mark.uses("groups")
    @pytest.mark.slow
    def test_what_is_typed_wins(self, folder):
        Path("demur.toml").write_text(
            '[settings]\ncoverages = [0.2, 0.4]\narea_coverage = 0.3\n[columns]\ncluster = "site"\n'
            '[groups]\nwhere = "site"\nage = "age:18,40,65"\n'
        )
        study = self.evaluated(folder, "--coverage-grid", "0.7", "--column", "cluster=document")
        assert (study.selective.coverages, study.selective.area_coverage) == (("0.7",), "0.3")
        assert study.selective.inputs[0].columns["cluster"] == "document"
        assert [each.name for each in study.selective.groups.groupings] == ["where", "age"]
        typed = self.evaluated(folder, "--column", "cluster=document", "--group", "age=age:0,30,99")
        assert typed.selective.groups.groupings[1].levels == ("[0,30)", "[30,99)")

    def test_it_is_found_above(self, folder):
        Path("demur.toml").write_text("[plan]\nresamples = 20\n")
        (folder / "below" / "it").mkdir(parents=True)
        done = demur(folder / "below" / "it", "evaluate", folder / "own.csv", "--output", "m.json")
        assert done.returncode == 0, done.stderr
        assert load(folder / "below" / "it" / "m.json").study.bootstrap.n_resamples == 20

    @pytest.mark.uses("groups", "costs", "conventions")
    def test_one_of_what_may_be_several_needs_no_list(self, folder):
        lines = ("[groups]", 'labels = "site=site"', "[costs]", "prices = 0.1", "[conventions]", 'names = "geifman"')
        Path("demur.toml").write_text("\n".join(lines))
        study = self.evaluated(folder).selective
        assert [each.name for each in study.groups.groupings] == ["site"]
        assert (study.abstention_costs, study.conventions) == (("0.1",), ("geifman",))

    def test_python_does_not_read_it(self, folder):
        Path("demur.toml").write_text("[plan]\nresamples = nonsense\n")
        assert evaluate(folder / "own.csv", resamples=0).study.bootstrap is None

    @pytest.mark.parametrize(
        "text",
        [
            "[plans]\nseed = 1",
            "[plan]\nsead = 1",
            "plan = 1",
            pytest.param("seed = 1", marks=needs_all),  # it lists all sections
            '[plan]\nseed = "x"',
            "[plan]\nseed = true",
            "[plan]\nresamples = 1.5",
            '[settings]\nlevel = "high"',
            "[settings]\nloss = 1",
            "[settings]\nexclude = [1]",
            '[settings]\nintersection_only = "yes"',
            "[settings]\ncoverages = [true]",
            "[columns]\ncluster = 1",
            "[settings]\narea_coverage = 2",
            '[reading]\nrepeats = "frist"',
            "[plan",
        ],
    )
    def test_a_mistake_in_it_is_one_line_with_its_place_and_nothing_is_evaluated(self, folder, text, message):
        Path("demur.toml").write_text(text)
        before = {path.name for path in folder.iterdir()}
        done = demur(folder, "evaluate", "own.csv", "--resamples", "0", "--output", "m.json")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        message(done.stderr)
        assert {path.name for path in folder.iterdir()} == before

    @pytest.mark.uses("groups")
    @pytest.mark.parametrize(("line", "near"), [("sex = 1", ""), ("treshold = 0.5", "; did you mean threshold?")])
    def test_a_group_is_a_column_or_a_misspelt_option(self, folder, line, near):
        Path("demur.toml").write_text(f"[groups]\n{line}")
        expected = "expected the name of a column, or a list of it and its cut points, ['Age', [18, 40]]"
        told = f"demur: {folder / 'demur.toml'}: [groups]: {line.replace(' =', '')}, {expected}{near}\n"
        assert demur(folder, "evaluate", "own.csv").stderr == told

    def test_a_mistake_in_what_is_typed_is_told_without_it(self, folder):
        Path("demur.toml").write_text("[settings]\nlevel = 0.9")
        done = demur(folder, "evaluate", "own.csv", "--area-coverage", "2")
        assert done.stderr == "demur: coverage '2', expected a number above 0 and at most 1, as 0.3 or 1/3\n"


def test_an_unknown_option_is_offered_the_nearest(tmp_path):
    told = demur(tmp_path, "evaluate", "x.csv", "--confidance", "sure").stderr
    assert "--confidance" in told
    assert "--confidence" in told


RUN = ("--input", "run.json")
DOCUMENTS = {
    "the contract of the evaluation": [
        (
            "evaluate_selective_prediction.py",
            (*RUN, "--mode", "zero_shot", *RUN, "--mode", "few_shot", "--loss", "abs_norm", "--confidence", "all"),
            ("--coverage-grid", "0.1,0.2", "--area-coverage", "0.5", "--bootstrap-resamples", "20", "--seed", "1"),
            ("--intersection-only", "--output", "m.json"),
        )
    ],
    "how to run it": [
        (
            "evaluate_selective_prediction.py",
            (*RUN, "--mode", "few_shot", "--loss", "abs", "--bootstrap-resamples", "20", "--seed", "42"),
        ),
        (
            "evaluate_selective_prediction.py",
            (*RUN, "--mode", "zero_shot", *RUN, "--mode", "few_shot", "--loss", "abs", "--seed", "42"),
            ("--bootstrap-resamples=20",),
        ),
        ("calibrate_verbalized_confidence.py", (*RUN, "--mode", "few_shot", "--output", "v.json")),
        (
            "train_confidence_calibrator.py",
            (*RUN, "--mode", "few_shot", "--method", "logistic", "--output", "t.json"),
            ("--features", "verbalized_confidence,retrieval_similarity_mean"),
        ),
        (
            "evaluate_selective_prediction.py",
            (*RUN, "--mode", "few_shot", "--confidence", "verbalized_calibrated", "--calibration", "v.json"),
            ("--bootstrap-resamples", "0"),
        ),
    ],
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_of_the_users_types_is_accepted(tmp_path, document):
    """The other three of their documents type no options."""
    written(tmp_path, simulated_run(6, seed=1), "run.json")
    for name, *typed in DOCUMENTS[document]:
        done = script(tmp_path, name, *(word for part in typed for word in part))
        assert done.returncode == 0, done.stderr


def test_a_golden_run_needs_no_options():
    assert evaluate(GOLDEN / "run.json", mode="few_shot", resamples=20).study.bootstrap.seed == 0
