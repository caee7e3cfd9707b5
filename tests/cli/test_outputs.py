"""What a command writes: never over its inputs, never what demur cannot read, never what a terminal obeys."""

import json
import os
import subprocess

import pytest

from commands import demur, on_a_terminal, real_demur
from demur import PHQ8, load, load_calibration
from demur.extension import installed
from demur.extensions.lab.queries import simulated_queries
from demur.extensions.lab.runs import simulated_run
from installation import needs
from parametrized import parametrize_few
from runs import experiment, participant, run, written

FLAGS = ("--seed", "1", "--bootstrap-resamples", "8", "--quiet")
INSTRUMENT = {"name": "own", "min": 0, "max": 3, "items": ["a", "b"]}


_RANKED = ("retrieval", "--data", "data/queries.csv", "--metrics", "RR", *FLAGS, "--output", "out/r.json")


def with_rankings(names, *ranked):
    """The names of cases, of which some need an extension."""
    return [pytest.param(name, marks=needs("retrieval")) if name in ranked else name for name in names]


def slow(case):
    return pytest.param(case, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Inputs in one folder, what was made from them in another, and a third to be in."""
    made = tmp_path_factory.mktemp("outputs")
    for name in ("data", "out", "elsewhere"):
        (made / name).mkdir()
    written(made / "data", simulated_run(8, seed=1), "run.json")
    written(made / "data", simulated_run(8, seed=2), "other.json")
    (made / "data/queries.csv").write_text(simulated_queries(4, seed=1))
    written(made / "data", INSTRUMENT, "instrument.json")
    items = {"name": "eight", "min": 0, "max": 3, "items": [*PHQ8.items]}
    written(made / "data", items, "eight.json")
    run_one = ("--input", "data/run.json", "--mode", "few_shot")
    fit = ("--method", "temperature", "--features", "verbalized_confidence", "--output", "out/c.json")
    more = ("--calibration", "out/c.json", "--confidence", "calibrated", "--instrument", "data/eight.json")
    for words in (
        ("calibrate", *run_one, *fit),
        ("evaluate", *run_one, *FLAGS, "--output", "out/m.json"),
        ("evaluate", *run_one, *FLAGS, *more, "--output", "out/both.json"),
        *([_RANKED] if "retrieval" in installed() else []),
    ):
        assert demur(made, *words).returncode == 0
    (made / "data/link.json").symlink_to("run.json")
    (made / "data/hard.json").hardlink_to(made / "data/run.json")
    (made / "data/hard.svg").hardlink_to(made / "data/run.json")
    (made / "data/copy.json").write_bytes((made / "data/run.json").read_bytes())
    return made


RUN = ("--input", "{data}/run.json", "--mode", "few_shot")
CALIBRATED = ("--calibration", "{out}/c.json", "--confidence", "verbalized_calibrated")
COMMANDS = {
    "table": (("table", "{out}/m.json", "--format", "csv"), ["run.json", "link.json", "hard.json", "copy.json"]),
    "table of a calibrated run": (
        ("table", "{out}/both.json", "--format", "csv"),
        ["run.json", "../out/c.json", "eight.json"],
    ),
    "figure": (("figure", "{out}/m.json"), ["hard.svg"]),
    "report": (("report", "{out}/m.json"), ["run.json", "link.json", "../data/hard.json"]),
    "report of a calibrator": (("report", "{out}/c.json"), ["run.json", "link.json"]),
    "report of retrieval": (("report", "{out}/r.json"), ["queries.csv"]),
    "evaluate": (("evaluate", *RUN, *FLAGS), ["run.json", "link.json", "hard.json"]),
    "evaluate with a calibration": (
        ("evaluate", *RUN, *FLAGS, *CALIBRATED),
        ["run.json", "../out/c.json"],
    ),
    "evaluate another run": (
        ("evaluate", "--input", "{data}/other.json", "--mode", "few_shot", *FLAGS, *CALIBRATED),
        ["run.json", "copy.json"],
    ),
    "retrieval": (("retrieval", "--data", "{data}/queries.csv", "--metrics", "RR", *FLAGS), ["queries.csv"]),
    "calibrate": (("calibrate", *RUN, "--method", "temperature", "--features", "verbalized_confidence"), ["link.json"]),
    "simulate": (
        ("simulate", "runs", "--seed", "1", "--participants", "2", "--instrument", "{data}/instrument.json"),
        ["instrument.json"],
    ),
}


@parametrize_few("name", with_rankings(COMMANDS, "report of retrieval", "retrieval"), 2)
@pytest.mark.parametrize("where", [slow("."), slow("data"), "elsewhere"])
def test_no_command_writes_over_what_it_or_its_artifact_was_made_from(folder, name, where):
    words, targets = COMMANDS[name]
    data, out = ("../data", "../out") if where != "." else ("data", "out")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for target in targets:
        called = [word.format(data=data, out=out) for word in words]
        done = demur(folder / where, *called, "--output", f"{data}/{target}")
        assert (done.returncode, done.stdout) == (2, "")
        assert "an input, and an output never replaces one" in done.stderr
        assert done.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_a_page_is_not_written_over_an_input_either(folder):
    words = ("evaluate", "--input", "data/run.json", "--mode", "few_shot", *FLAGS, "--output", "out/never.json")
    done = demur(folder, *words, "--report", "data/link.json")
    assert (done.returncode, done.stderr) == (
        2,
        "demur: data/link.json: is an input, and an output never replaces one\n",
    )
    assert not (folder / "out/never.json").exists()


LOCALES = {
    "UTF-8": {"LC_ALL": "C.UTF-8"},
    "C": {"LC_ALL": "C"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def called(folder, locale, *words):
    """A command in a locale, its words as bytes."""
    done = real_demur(folder, *words, env={**os.environ, **LOCALES[locale]}, text=False)
    assert b"Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.slow
def test_paths_that_are_no_text_are_read_written_recorded_and_protected(tmp_path, locale):
    written(tmp_path, simulated_run(3, seed=1), os.fsdecode(b"r\xff\xc3\xbc.json"))
    call = ("evaluate", b"r\xff\xc3\xbc.json", "--mode", "few_shot", *FLAGS[:-1])
    done = called(tmp_path, locale, *call, "--output", b"p\xff.json", "--report", b"p\xff.html")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"wrote p\\xff.json\nwrote p\\xff.html\n")
    made = load(tmp_path / os.fsdecode(b"p\xff.json"))
    assert made.study.inputs[0].path == r"r\xffü.json"
    typed = subprocess.run(["bash", "-c", f"printf %s\\\\n {made.study.tool.command}"], check=True, capture_output=True)
    assert typed.stdout.splitlines()[2] == b"r\xff\xc3\xbc.json", "a shell takes what is recorded as what was typed"
    table = called(tmp_path, locale, "table", b"p\xff.json", "--format", "csv", "--output", b"r\xff\xc3\xbc.json")
    assert (table.returncode, table.stderr.count(b"\n")) == (2, 1)
    assert called(tmp_path, locale, "report", b"p\xff.json", "--output", b"again\xfe.html").returncode == 0


TEXTS = {
    "run id": ("simulate", "runs", "--seed", "1", "--participants", "2", "--run-id", b"x\xff"),
    "label": ("evaluate", b"x\xff=run.json", "--mode", "few_shot", *FLAGS),
    "system": ("retrieval", "--data", "q.csv", "--system", b"x\xff=reranked_topk", *FLAGS),
    "trec run": ("retrieval", "--qrels", "qrels", "--run", b"x\xff=run.trec", *FLAGS),
    "mode": ("evaluate", "run.json", "--mode", b"few\xff", *FLAGS),
    "time": ("evaluate", "run.json", "--mode", "few_shot", *FLAGS, "--created-at", b"2026\xff"),
}


@pytest.mark.parametrize("locale", ["C", "ASCII"])
@pytest.mark.parametrize("name", with_rankings(TEXTS, "system", "trec run"))
@pytest.mark.slow
def test_text_that_no_file_can_hold_is_one_line_and_no_file(tmp_path, name, locale):
    written(tmp_path, simulated_run(3, seed=1), "run.json")
    (tmp_path / "q.csv").write_text(simulated_queries(2, seed=1))
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (tmp_path / "run.trec").write_text("q1 Q0 d1 1 2.0 t\nq2 Q0 d1 1 1.0 t\n")
    before = sorted(tmp_path.iterdir())
    done = called(tmp_path, locale, *TEXTS[name], "--output", "m.json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert (done.stderr[:7], done.stderr.count(b"\n")) == (b"demur: ", 1)
    assert rb"\udcff" in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_text_is_what_was_typed_where_the_locale_cannot_tell(tmp_path):
    words = ("simulate", "runs", "--seed", "1", "--participants", "2", "--run-id", "ü", "--output", "s.json")
    assert called(tmp_path, "ASCII", *words).returncode == 0
    assert json.loads((tmp_path / "s.json").read_bytes())["run_metadata"]["run_id"] == "ü"


HOSTILE = "\x1b[31m\x9b2J\u202e\u2028字"


@pytest.mark.slow
def test_json_is_json_in_any_locale(tmp_path):
    written(tmp_path, run(experiment(*(participant(who) for who in range(3)), mode=HOSTILE)))
    done = called(tmp_path, "ASCII", "evaluate", "run.json", "--json", *FLAGS[:-1], "--output", "m.json")
    assert json.loads(done.stdout) == json.loads((tmp_path / "m.json").read_bytes())


@pytest.mark.slow
def test_json_on_a_terminal_is_shown_not_obeyed(tmp_path):
    written(tmp_path, run(experiment(*(participant(who) for who in range(3)), mode=HOSTILE)))
    shown = on_a_terminal(tmp_path, "evaluate", "run.json", "--json", *FLAGS[:-1], "--output", "m.json")
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert "字" in shown
    assert json.loads(shown) == json.loads((tmp_path / "m.json").read_bytes())
    piped = demur(tmp_path, "evaluate", "run.json", "--json", *FLAGS[:-1], "--output", "m.json").stdout
    assert piped == (tmp_path / "m.json").read_text(encoding="utf-8"), "to a file, as it is"


@pytest.mark.slow
def test_a_name_is_told_on_one_line_that_no_terminal_obeys(tmp_path):
    name = "a\nb\x1b[31m\u202e.json"
    done = demur(tmp_path, "simulate", "runs", "--seed", "1", "--participants", "2", "--output", name)
    assert done.stdout == "wrote a\\nb\\x1b[31m\\u202e.json: 2 participants, zero_shot and few_shot\n"
    written(tmp_path, simulated_run(3, seed=1))
    call = ("evaluate", "run.json", "--mode", "few_shot", *FLAGS[:-1], "--output", name)
    assert demur(tmp_path, *call).stdout.endswith("\nwrote a\\nb\\x1b[31m\\u202e.json\n")
    assert demur(tmp_path, "report", name).stdout == "wrote a\\nb\\x1b[31m\\u202e.html\n"


@pytest.mark.parametrize("columns", ["0", "00", "-5", "x"])
@pytest.mark.slow
def test_a_width_that_is_none(folder, columns):
    helped = real_demur(folder, "evaluate", "--help", env={**os.environ, "COLUMNS": columns})
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "Bootstrap resamples" in helped.stdout


@pytest.mark.slow
def test_a_report_on_a_terminal_without_a_width(folder):
    call = ("evaluate", "data/run.json", "--mode", "few_shot", *FLAGS[:-1], "--output", "out/wide.json")
    assert "wrote out/wide.json" in on_a_terminal(folder, *call, COLUMNS="0")


NO_INTEGER = "Input should be a valid integer, unable to parse string as an integer"
USAGE = {
    "evaluate --seed x": f"demur: --seed: {NO_INTEGER}, not 'x'",
    "calibrate --folds 1.5": f"demur: --folds: {NO_INTEGER}, not '1.5'",
    "evaluate --experiment 1 --experiment two": f"demur: --experiment: {NO_INTEGER}, not 'two'",
    "--verson": "demur: No such option: --verson (Possible options: --version)",
    "evalute": "demur: No such command 'evalute'. Did you mean 'evaluate'?",
    "evaluate --seed": "demur: Option '--seed' requires an argument.",
    "schema": "demur: Missing argument 'name'.",
    "schema run more": "demur: Got unexpected extra argument(s) (more)",
    "simulate runs": "demur: Missing option '--output' / '-o'.",
}


@pytest.mark.parametrize("call", USAGE)
def test_a_usage_error_is_one_line_with_the_value(tmp_path, call):
    done = demur(tmp_path, *call.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{USAGE[call]}\n")


def test_a_calibrator_names_the_run(folder):
    assert load_calibration(folder / "out/c.json").input_paths == ["data/run.json"]
