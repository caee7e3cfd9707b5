"""Which data `demur audit` compares figures with: as a report records them."""

import json
import os
import random

import pytest

from commands import demur
from demur.extensions.lab.runs import simulated_run
from parametrized import parametrize_few
from runs import written

MODES = ("zero_shot", "few_shot")
AS_IN_000 = {"enabled": False, "intersection_only": None, "participants_overlap_total": None, "deltas": None}
AS_IN_001 = {"enabled": False, "intersection_only": False, "deltas": None}
OF_A_VARIANT = ("cmax", "aurc_full", "augrc_full", "aurc_at_c", "augrc_at_c", "mae_at_coverage")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run in which another participant fails in each mode, its results in each, and another run."""
    folder = tmp_path_factory.mktemp("runs")
    for name, seed in (("run", 1), ("other", 2)):
        content = simulated_run(10, seed=seed, run_id=name)
        for place, experiment in enumerate(content["experiments"]):
            people = experiment["results"]["results"]
            people[place] = {"participant_id": people[place]["participant_id"], "success": False}
        written(folder, content, f"{name}.json")
    for mode in MODES:
        evaluated(folder, f"{mode}.json", "run.json", "--mode", mode)
    return folder


def evaluated(folder, output, *arguments):
    settings = ("--seed", "7", "--bootstrap-resamples", "20", "--quiet", "--output", output)
    done = demur(folder, "evaluate", *arguments, *settings)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / output).read_text(encoding="utf-8"))


def report_of_one_run(folder, mode, comparison):
    """What the script of document 000 writes of one run: no tool, no hashes, a comparison that is disabled."""
    own = json.loads((folder / f"{mode}.json").read_text(encoding="utf-8"))
    variants = {
        name: {member: variant[member] for member in OF_A_VARIANT}
        for name, variant in own["confidence_variants"].items()
    }
    inputs = [{name: own["inputs"][0][name] for name in ("path", "run_id", "git_commit", "mode")}]
    report = {"schema_version": "1", "inputs": inputs, "population": own["population"], "loss": own["loss"]}
    return report | {"confidence_variants": variants} | ({"comparison": comparison} if comparison else {})


def audited(folder, *arguments):
    found = demur(folder, "audit", *arguments, "--json")
    assert found.stderr == ""
    return json.loads(found.stdout)["counts"]


class TestReportsOfOneRun:
    @pytest.mark.parametrize("mode", MODES)
    @parametrize_few("comparison", [AS_IN_000, AS_IN_001, {"deltas": {}}, {"enabled": False}, None], 1)
    def test_it_is_held_against_the_run_of_its_mode_alone(self, runs, mode, comparison):
        written(runs, report_of_one_run(runs, mode, comparison), "reported.json")
        for data in (("run.json",), ("other.json", "run.json")):
            given = [word for name in data for word in ("--data", name)]
            counts = audited(runs, *given, "--reported", "reported.json")
            assert (counts["differs"], counts["not_recognised"]) == (0, 0)
            assert counts["match"] > 30

    @pytest.mark.slow
    def test_figures_of_the_other_mode_are_still_told(self, runs):
        content = report_of_one_run(runs, "few_shot", AS_IN_000)
        content["inputs"][0]["mode"] = "zero_shot"
        written(runs, content, "reported.json")
        found = demur(runs, "audit", "--data", "run.json", "--reported", "reported.json")
        assert (found.returncode, "the figure of few_shot" in found.stdout) == (3, True)

    def test_a_mode_that_the_data_lack_is_no_accusation(self, runs):
        content = report_of_one_run(runs, "few_shot", AS_IN_000)
        content["inputs"][0]["mode"] = "chain_of_thought"
        written(runs, content, "reported.json")
        arguments = ("audit", "--data", "run.json", "--reported", "reported.json")
        refused = demur(runs, *arguments)
        other = "the figures are of the mode chain_of_thought, and the data of zero_shot, few_shot"
        way_out = "give the run they are of, or the mode to compare them with, --mode"
        assert (refused.returncode, refused.stderr) == (2, f"demur: reported.json: {other}: {way_out}\n")
        assert demur(runs, *arguments, "--mode", "few_shot").returncode == 0

    @pytest.mark.slow
    def test_a_pair_of_three_runs_is_compared_without_the_third(self, runs):
        content = json.loads((runs / "run.json").read_text(encoding="utf-8"))
        third = json.loads((runs / "other.json").read_text(encoding="utf-8"))["experiments"][0]
        third["provenance"]["mode"] = third["results"]["mode"] = "third"
        third["results"]["results"] = third["results"]["results"][:4]
        content["experiments"].insert(0, third)
        written(runs, content, "three.json")
        own = evaluated(runs, "pair.json", "run.json", "run.json", "--mode", MODES[1], "--mode", MODES[0])
        deltas = {
            variant: {name: {"delta": members[name]["delta"]} for name in ("cmax", "aurc_full")}
            for variant, members in own["comparison"]["deltas"].items()
        }
        report = {"inputs": own["inputs"], "loss": own["loss"], "comparison": {"enabled": True, "deltas": deltas}}
        written(runs, report, "reported.json")
        counts = audited(runs, "--data", "three.json", "--reported", "reported.json")
        assert counts == {"match": 4, "differs": 0, "not_recognised": 0}


CHANCE = random.Random(4)
ANSWERS = [
    (f"p{unit // 3}", f"q{unit % 3}", "ab"[unit % 2], CHANCE.choice("ab"), CHANCE.random()) for unit in range(60)
]
TABLES = {
    "scores.csv": ["cluster,score,sure", *(f"{who},{float(a == b)},{c}" for who, _, a, b, c in ANSWERS)],
    "losses.csv": ["cluster,loss,sure", *(f"{who},{round(2 * c, 2)},{c}" for who, *_, c in ANSWERS)],
    "rows.csv": ["truth,prediction,sure", *(f"{a},{b},{c}" for _, _, a, b, c in ANSWERS)],
    "systems.csv": [
        "system,cluster,item,truth,prediction,sure",
        *(f"{system},{who},{q},{a},{b},{c}" for system in "XY" for who, q, a, b, c in ANSWERS),
    ],
    "gold.csv": ["who,item,gold,answer,sure", *(f"{who},{q},{a},{b},{c}" for who, q, a, b, c in ANSWERS)],
}
SURE = ("--confidence", "sure")
MAPPED = ("--column", "truth=gold", "--column", "prediction=answer", "--column", "cluster=who")
EVALUATED = {
    "run": ("run.json", "--mode", "few_shot"),
    "pair": ("run.json", "run.json", "--mode", "zero_shot", "--mode", "few_shot"),
    "runs": ("run.json", "other.json", "run.json", *("--mode", MODES[0], "--mode", MODES[1], "--mode", MODES[1])),
    "scores": ("scores.csv", *SURE),
    "losses": ("losses.csv", "--loss-max", "2", *SURE),
    "rows": ("rows.csv", "--every-row-its-own-cluster", *SURE),
    "systems": ("systems.csv", *SURE),
    "mapped": ("A=gold.csv", "B=gold2.csv", *SURE, *MAPPED),
}


class TestOwnFilesWithoutData:
    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("own")
        for name, lines in TABLES.items():
            written(folder, "\n".join(lines) + "\n", name)
        written(folder, "\n".join([TABLES["gold.csv"][0], *TABLES["gold.csv"][:0:-1]]) + "\n", "gold2.csv")
        for name in ("run.json", "other.json"):  # two runs of the same people
            written(folder, simulated_run(10, seed=1, run_id=name), name)
        return folder

    @staticmethod
    def results_file(folder, name):
        """The results of one of the evaluations, made when they are first asked for."""
        path = folder / f"of_{name}.json"
        if not path.exists():
            evaluated(folder, path.name, *EVALUATED[name])
        return path.name

    @parametrize_few("name", EVALUATED, 1)
    def test_the_recorded_files_are_used(self, made, name):
        counts = audited(made, "--reported", self.results_file(made, name))
        assert (counts["differs"], counts["not_recognised"]) == (0, 0)
        assert counts["match"] > 300

    @parametrize_few("name", ["run", "systems"], 1)
    def test_they_are_looked_for_next_to_the_results_too(self, made, name):
        assert audited(made.parent, "--reported", f"{made.name}/{self.results_file(made, name)}")["differs"] == 0

    @pytest.mark.slow
    def test_which_files_were_used_is_listed(self, made):
        found = json.loads(demur(made, "audit", "--reported", self.results_file(made, "mapped"), "--json").stdout)
        assert [file["path"] for file in found["data"]] == ["gold.csv", "gold2.csv"]

    @pytest.mark.slow
    def test_only_files_with_the_recorded_hash_are_used(self, made, tmp_path):
        path = written(tmp_path, (made / self.results_file(made, "scores")).read_bytes(), "of_scores.json")

        def refused():
            done = demur(tmp_path, "audit", "--reported", path.name)
            assert (done.returncode, done.stdout) == (2, "")
            return done.stderr.removeprefix("demur: of_scores.json: its data file scores.csv ")

        missing = "is neither where it was nor next to the results: give the data, --data\n"
        assert refused() == missing
        os.mkfifo(tmp_path / "scores.csv")
        assert refused() == missing, "a pipe is not read"
        (tmp_path / "scores.csv").unlink()
        content = (made / "scores.csv").read_bytes()
        written(tmp_path, content.replace(b"1.0", b"0.0", 1), "scores.csv")
        assert refused() == "has changed since the evaluation: give the data, --data\n"
        written(tmp_path, content, "scores.csv")
        assert audited(tmp_path, "--reported", path.name)["differs"] == 0

    def test_a_falsified_figure_differs_without_data_too(self, made):
        content = json.loads((made / self.results_file(made, "scores")).read_text(encoding="utf-8"))
        content["confidence_variants"]["sure"]["augrc_full"] *= 0.9
        written(made, content, "falsified.json")
        assert demur(made, "audit", "--reported", "falsified.json").returncode == 3

    @pytest.mark.slow
    def test_a_loss_that_the_data_do_not_give_is_no_accusation(self, made):
        evaluated(made, "ranged.json", "scores.csv", "--score-range", "0:2", *SURE)
        refused = demur(made, "audit", "--reported", "ranged.json")
        losses = "the loss of the file is (2 - column score) / 2, and of the data 1 - column score"
        way_out = "give --column and --score-range as they were in the evaluation"
        assert (refused.returncode, refused.stderr) == (2, f"demur: {losses}: {way_out}\n")
        assert audited(made, "--reported", "ranged.json", "--score-range", "0:2")["differs"] == 0

    def test_results_of_data_in_memory_ask_for_them(self, made, tmp_path):
        content = json.loads((made / self.results_file(made, "run")).read_text(encoding="utf-8"))
        content["inputs"][0] |= {"path": None, "sha256": None}
        written(tmp_path, content, "bare.json")
        done = demur(tmp_path, "audit", "--reported", "bare.json")
        assert done.returncode == 2
        assert done.stderr.endswith("it does not record which file the data was read from: give the data, --data\n")

    def test_figures_of_another_tool_need_data(self, made):
        written(made, {"aurc": 0.2}, "typed.json")
        done = demur(made, "audit", "--reported", "typed.json")
        message = "nothing to compare typed.json with: give its data, --data, or --qrels and --run"
        assert (done.returncode, done.stderr) == (2, f"demur: {message}\n")
