"""`demur evaluate` and its neighbours as a user meets them: flags and mistakes."""

import json
import shlex
from pathlib import Path

import pytest

from commands import demur, script
from demur import load
from demur.extensions.lab.runs import simulated_run
from demur.read import run_json
from runs import experiment, failure, participant, run, written

FLAGS = ("--seed", "1", "--bootstrap-resamples", "20", "--created-at", "2026-01-31T12:00:00Z")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("runs")
    written(made, simulated_run(12, seed=1, failures=1), "run.json")
    return made


def evaluate(where, *arguments):
    return demur(where, "evaluate", *FLAGS, *arguments)


BOTH = ("--input", "run.json", "--mode", "zero_shot", "--input", "run.json", "--mode", "few_shot")


class TestFlags:
    def test_a_report_and_a_file_it_names(self, folder):
        found = evaluate(folder, "--input", "run.json", "--mode", "few_shot")
        assert (found.returncode, found.stderr) == (0, "")
        lines = found.stdout.splitlines()
        assert lines[0] == "few_shot: run.json, mode few_shot, run simulated"
        assert lines[1] == "12 participants with 96 items (1 more failed and is excluded)"
        assert lines[-1].startswith("wrote data/outputs/metrics-")
        made = load(folder / lines[-1].removeprefix("wrote "))
        assert made.study.inputs[0].path == "run.json"
        assert made.study.tool.command.startswith("demur evaluate --seed 1")

    def test_json_is_the_artifact_and_nothing_else(self, folder):
        found = evaluate(folder, "--input", "run.json", "--mode", "few_shot", "--json", "--output", "m.json")
        assert found.stdout == (folder / "m.json").read_text(encoding="utf-8")

    def test_quiet_says_nothing(self, folder):
        found = evaluate(folder, "--input", "run.json", "--mode", "few_shot", "--quiet", "--output", "q.json")
        assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
        assert load(folder / "q.json").selective.clusters_included == 12

    @pytest.mark.slow
    def test_two_modes_of_one_file_which_is_read_once(self, folder, monkeypatch):
        read = []
        plain = run_json.stream
        monkeypatch.setattr(run_json, "stream", lambda path: read.append(Path(path).name) or plain(path))
        found = evaluate(folder, *BOTH, "--output", "two.json")
        assert found.returncode == 0
        assert read.count("run.json") == 1
        assert "few_shot − zero_shot" in found.stdout
        assert [source.mode for source in load(folder / "two.json").study.inputs] == ["zero_shot", "few_shot"]

    @pytest.mark.slow
    def test_the_same_command_twice_gives_the_same_bytes(self, folder):
        twice = []
        for _ in range(2):
            assert evaluate(folder, *BOTH, "--confidence", "all", "--output", "same.json").returncode == 0
            twice.append((folder / "same.json").read_bytes())
        assert twice[0] == twice[1]

    @pytest.mark.slow
    def test_by_experiment(self, folder):
        found = evaluate(folder, "--input", "run.json", "--experiment", "1", "--output", "e.json")
        assert found.returncode == 0
        assert load(folder / "e.json").study.inputs[0].mode == "few_shot"

    @pytest.mark.slow
    def test_a_calibration_serves_its_variants_and_says_where_it_comes_from(self, folder):
        fit = ("--method", "temperature", "--features", "verbalized_confidence", "--output", "c.json")
        assert demur(folder, "calibrate", "--input", "run.json", "--mode", "few_shot", *fit).returncode == 0
        asked = ("--confidence", "verbalized_calibrated", "--calibration", "c.json", "--output", "v.json")
        found = evaluate(folder, "--input", "run.json", "--mode", "few_shot", *asked)
        assert found.returncode == 0
        assert "warning (fitted_on_this_run)" in found.stdout
        assert load(folder / "v.json").curves["few_shot", "verbalized_calibrated"].reliability is not None
        unused = evaluate(folder, "--input", "run.json", "--mode", "few_shot", "--calibration", "c.json")
        message = "demur: the calibration is used by none of llm, total_evidence: ask for calibrated, or for all\n"
        assert (unused.returncode, unused.stderr) == (2, message)

    def test_a_long_table(self, folder):
        rows = ["cluster,item,truth,prediction,llm_evidence_count"]
        rows += [
            f"{who},q{item},{item % 3},{'' if item == 2 else who % 3},{item + who}"
            for who in range(5)
            for item in range(3)
        ]
        (folder / "rows.csv").write_text("\n".join(rows) + "\n")
        found = evaluate(folder, "--input", "rows.csv", "--instrument", "none", "--loss", "abs", "--output", "r.json")
        assert (found.returncode, found.stderr) == (0, "")
        assert [system.answered for system in load(folder / "r.json").selective.systems] == [10]

    @pytest.mark.slow
    def test_the_script_is_the_same_command(self, folder):
        arguments = (*FLAGS, "--input", "run.json", "--mode", "few_shot")
        by_script = script(folder, "evaluate_selective_prediction.py", *arguments, "--output", "s.json")
        assert (by_script.returncode, by_script.stderr) == (0, "")
        assert demur(folder, "evaluate", *arguments, "--output", "d.json").returncode == 0
        left, right = (load(folder / name) for name in ("s.json", "d.json"))
        assert left.to_json()["confidence_variants"] == right.to_json()["confidence_variants"]

    @pytest.mark.slow
    def test_the_hints_of_a_script_name_the_script(self, folder):
        """The hint can be pasted: `demur --input …` without the command could not."""
        arguments = ("--input", "run.json", "--mode", "few_shot")
        asked = script(folder, "evaluate_selective_prediction.py", *arguments)
        hint = asked.stderr.strip().rpartition(": ")[2]
        python, path, *words = shlex.split(hint)
        assert (python, Path(path).name) == ("python", "evaluate_selective_prediction.py")
        assert words == [*arguments, "--seed", "1"]
        usage = script(folder, "evaluate_selective_prediction.py", "--help").stdout
        assert "evaluate_selective_prediction.py evaluate" not in usage

    def test_a_table_of_ones_own_needs_no_other_names(self, tmp_path):
        rows = ["who,q,gold,said,entropy", "a,x,1,1,0.1", "a,y,0,2,0.9", "b,x,2,2,0.2", "b,y,1,,", "c,x,0,3,0.8"]
        (tmp_path / "own.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        names = ("cluster=who", "item=q", "truth=gold", "prediction=said")
        columns = [word for name in names for word in ("--column", name)]
        common = ("evaluate", "--input", "own.csv", "--loss", "abs", "--seed", "1", *columns)
        refused = demur(tmp_path, *common)
        assert refused.returncode == 2
        assert refused.stderr.endswith("--column prediction=said --confidence entropy --lower-is-surer entropy\n")
        found = demur(tmp_path, *common, "--confidence", "entropy", "--output", "m.json")
        assert found.returncode == 0, found.stderr
        assert "warning (worse_than_random): entropy: confidence: the AUGRC" in found.stdout
        mistyped = demur(tmp_path, *common, "--column", "role")
        assert mistyped.stderr == "demur: --column 'role', expected a name and a column with = between them\n"

    @pytest.mark.slow
    def test_schema_and_simulate_and_demo(self, tmp_path):
        for name in ("metrics", "run", "calibrator"):
            assert json.loads(demur(tmp_path, "schema", name).stdout)["$schema"].startswith("https://json-schema.org")
        assert (
            demur(tmp_path, "schema", "metric").stderr == "demur: no schema is called metric; did you mean metrics?\n"
        )
        made = demur(tmp_path, "simulate", "--output", "sim.json", "--participants", "3", "--seed", "1")
        assert made.stdout == "wrote sim.json: 3 participants, zero_shot and few_shot\n"
        assert json.loads((tmp_path / "sim.json").read_text()) == simulated_run(3, seed=1)
        shown = demur(tmp_path, "demo")
        assert (shown.returncode, shown.stderr) == (0, "")
        assert "neither these nor the full areas may be compared" in shown.stdout
        assert shown.stdout.endswith("Report: data/outputs/demo/report.html\n")
        page = (tmp_path / "data/outputs/demo/report.html").read_text(encoding="utf-8")
        assert "zero_shot answers 189 of 328 items (57.6%) and few_shot 236 (72.0%)" in page


def person(**signals):
    return participant(300, **signals)


def changed(change):
    """A run of one participant, changed."""
    content = run(experiment(person()))
    change(content["experiments"][0]["results"]["results"][0])
    return content


def set_prediction(value):
    return changed(lambda one: one["predicted_items"].update(Sleep=value))


PITFALLS = {
    "nan signal": (
        json.dumps(run(experiment(person()))).replace('"llm_evidence_count": 2', '"llm_evidence_count": NaN'),
        "NaN is not a JSON number",
    ),
    "text signal": (
        run(experiment(person(token_msp="high"))),
        "participant 300, NoInterest: token_msp 'high', expected",
    ),
    "bool signal": (run(experiment(person(token_msp=True))), "participant 300, NoInterest: token_msp True, expected"),
    "spoken 6": (
        run(experiment(person(verbalized_confidence=6))),
        "verbalized_confidence 6, expected a number from 1 to 5",
    ),
    "msp 1.5": (run(experiment(person(token_msp=1.5))), "token_msp 1.5, expected a number from 0 to 1"),
    "negative count": (
        run(experiment(person(keyword_evidence_count=-1))),
        "keyword_evidence_count -1, expected a count",
    ),
    "missing key": (
        changed(lambda one: one["item_signals"]["Sleep"].clear()),
        "llm: participant 300, Sleep: llm_evidence_count is missing; this run can serve",
    ),
    "null count": (
        changed(lambda one: one["item_signals"]["Sleep"].update(llm_evidence_count=None)),
        "llm: participant 300, Sleep: llm_evidence_count is null",
    ),
    **{
        f"predicted {value}": (
            set_prediction(value),
            f"participant 300, Sleep: predicted {shown}, expected an integer 0–3",
        )
        for value, shown in ((True, "True"), (1.5, "1.5"), (7, "7"), (-5, "-5"), ("2", "'2'"))
    },
    "predicted 1e999": (json.dumps(set_prediction(None)).replace("null", "1e999", 2), "predicted inf, expected"),
    "twice": ('{"experiments": [], "experiments": []}', "the member experiments appears twice"),
    "byte order mark": ("\ufeff{}", "byte order mark"),
    "nested": ("[" * 100_000, "nested too deeply"),
    "a ninth item": (
        changed(lambda one: one["predicted_items"].update(Ninth=1)),
        "participant 300, Ninth: no such item",
    ),
    "a missing item": (
        changed(lambda one: one["ground_truth_items"].pop("Sleep")),
        "participant 300, Sleep: missing from",
    ),
    "id 300.7": (changed(lambda one: one.update(participant_id=300.7)), "participant id 300.7, expected an integer"),
    "300 twice over": (
        run(experiment(participant(300), participant("300"))),
        "participant 300 is given both as a number and as text",
    ),
    "no success": (
        changed(lambda one: one.pop("success")),
        "participant 300: success is missing, expected true or false",
    ),
    "success text": (changed(lambda one: one.update(success="false")), "success is 'false', expected true or false"),
    "same twice": (run(experiment(person(), person())), "participant 300 appears more than once"),
    "failed and not": (run(experiment(person(), failure(300))), "participant 300 appears more than once"),
    "two of a mode": (run(experiment(person()), experiment(person())), "2 experiments and no mode was asked for"),
    "contradiction": (
        run({"provenance": {"mode": "a"}, "results": {"mode": "b", "results": [person()]}}),
        "contradicts itself about its mode",
    ),
    "no experiments": (run(), "experiments is empty: there is nothing to evaluate"),
    "no participants": (run(experiment()), "has no participants: there is nothing to evaluate"),
    "all failed": (run(experiment(failure(1))), "nothing to evaluate: no participant succeeded (1 failed)"),
    "half a character": ('{"run_metadata": {"run_id": "\\ud800"}}', "holds half of a character"),
    "not JSON": ("{", "not valid JSON"),
    "not UTF-8": (b"\xff", "not UTF-8 text"),
    "not a run": ("[]", "a run file is an object with the member experiments"),
}


class TestMistakes:
    @pytest.mark.parametrize("name", PITFALLS)
    def test_every_bad_file_is_one_line_and_leaves_everything_as_it_was(self, tmp_path, name):
        content, message = PITFALLS[name]
        written(tmp_path, content, "bad.json")
        (tmp_path / "m.json").write_text("old")
        found = evaluate(tmp_path, "--input", "bad.json", "--output", "m.json")
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr.startswith("demur: bad.json: ")
        assert message in found.stderr
        assert found.stderr.count("\n") == 1
        assert (tmp_path / "m.json").read_text() == "old"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.json", "m.json"]

    @pytest.mark.parametrize(
        "arguments",
        [
            "--input nope.json",
            "--input run.json",
            "--input run.json --mode a --mode b",
            "--input run.json --mode few_shot --loss mse",
            "--input run.json --mode few_shot --confidence lllm",
            "--input run.json --mode few_shot --confidence calibrated",
            "--input run.json --mode few_shot --coverage-grid 0.1,0.1",
            "--input run.json --mode few_shot --coverage-grid 0.1,0.10",
            "--input run.json --mode few_shot --coverage-grid 0",
            "--input run.json --mode few_shot --coverage-grid 0.1,,0.2",
            "--input run.json --mode few_shot --area-coverage 1.5",
            "--input run.json --mode few_shot --bootstrap-resamples 1000001",
            "--input run.json --mode few_shot --bootstrap-resamples -1",
            "--input run.json --mode few_shot --seed -1",
            "--input run.json --mode few_shot --level 2",
            "--input run.json --mode few_shot --interval bc",
            "--input run.json --mode few_shot --instrument PHQ-7",
            "--input run.json --mode few_shot --calibration run.json",
            "--input run.json --mode few_shot --output run.json",
            "--input run.json --mode few_shot --output no/m.json",
            "--input run.json --mode few_shot --output .",
            "--input run.json --mode few_shot --output /proc/m.json",
            "--input run.json --mode few_shot --created-at now",
            "--input run.json --mode few_shot --json --quiet",
            "--input run.json --mode few_shot --intersection-only",
            "--input run.json --mode few_shot --confidence ,",
            "--input run.json --mode few_shot --bootstrap-resamples 0 --level 0.9",
        ],
    )
    def test_every_wrong_flag_is_one_line(self, folder, arguments, message):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        found = evaluate(folder, *arguments.split())
        assert (found.returncode, found.stdout) == (2, "")
        message(found.stderr)
        assert found.stderr.startswith("demur: ")
        assert found.stderr.count("\n") == 1
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


class TestSeed:
    ARGUMENTS = ("--input", "run.json", "--mode", "few_shot", "--output", "z.json")

    def test_it_is_0_unless_one_is_given_printed_and_recorded(self, folder):
        made = demur(folder, "evaluate", *self.ARGUMENTS, "--bootstrap-resamples", "20")
        assert "20 bootstrap resamples of participants, seed 0" in made.stdout
        assert load(folder / "z.json").study.bootstrap.seed == 0

    def test_nothing_is_drawn_where_0_resamples_are_asked_for(self, folder):
        assert demur(folder, "evaluate", *self.ARGUMENTS, "--bootstrap-resamples", "0").returncode == 0
        assert load(folder / "z.json").study.bootstrap is None

    def test_the_script_of_the_documents_asks_for_one_unless_nothing_is_resampled(self, folder):
        asked = script(folder, "evaluate_selective_prediction.py", *self.ARGUMENTS)
        assert (asked.returncode, asked.stdout) == (2, "")
        assert asked.stderr.startswith("demur: a seed is needed wherever anything is resampled: ")
        for words in (("--bootstrap-resamples", "0"), ("--bootstrap-resamples=0",), ("--seed=3",)):
            assert script(folder, "evaluate_selective_prediction.py", *self.ARGUMENTS, *words).returncode == 0
