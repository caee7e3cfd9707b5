"""Run folders of HELM: means of each instance, perturbations, and signals that say nothing."""

import json

import pytest

from commands import demur
from importing import imported, kinds, refused
from tool_logs import helm_row, helm_state

IDS = ["id60", "id38", "id41", "id74", "id56"]


@pytest.fixture
def run(tmp_path):
    def written(rows, states):
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        spec = {"name": "mcqa", "adapter_spec": {"model": "simple/model1"}}
        contents = {"per_instance_stats": rows, "scenario_state": {"request_states": states}, "run_spec": spec}
        for name, content in contents.items():
            (folder / f"{name}.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
        return tmp_path

    return written


def test_means_are_scores_and_constant_signals_are_left_out(run):
    found, units, _ = imported(run([helm_row(item, 0.0) for item in IDS], map_states(IDS)), "helm", "run")
    assert kinds(found) == (5, 0, 0)
    assert [unit["loss"] for unit in units] == [1] * 5
    assert [unit["signals"] for unit in units] == [{}] * 5
    assert [warning["code"] for warning in found["warnings"]] == ["constant_signal"] * 2 + ["independent_rows"]
    assert found["warnings"][0]["message"] == "max_prob is 1 everywhere, so it ranks nothing: left out"
    assert (found["source"]["task"], found["source"]["model"]) == ("mcqa", "simple/model1")


def map_states(items):
    return [helm_state(item) for item in items]


def test_a_signal_that_varies_is_kept(run):
    rows = [helm_row("a", 1.0, 0.5), helm_row("b", 0.0, 0.25)]
    _, units, _ = imported(run(rows, map_states("ab")), "helm", "run", "--group", "split=instance.split")
    assert [unit["signals"] for unit in units] == [{"max_prob": 0.5}, {"max_prob": 0.25}]
    assert units[0]["groups"] == {"split": "test"}


def test_the_answer_is_the_choice_that_a_letter_stands_for(run):
    rows = [helm_row("a", 1.0), helm_row("b", 0.0)]
    folder = run(rows, [helm_state("a"), helm_state("b", "B")])
    found, _, _ = imported(folder, "helm", "run", "--abstain", "answer~=I don't know")
    assert kinds(found) == (1, 1, 0)


def test_a_request_that_failed_is_a_failure(run):
    folder = run([helm_row("a", 1.0), helm_row("b", 0.0)], [helm_state("a"), helm_state("b", success=False)])
    assert kinds(imported(folder, "helm", "run")[0]) == (1, 0, 1)


def test_perturbed_instances_are_imported_alone(run):
    rows = [helm_row("a", 1.0), helm_row("a", 0.0, perturbation="typos")]
    folder = run(rows, [helm_state("a"), helm_state("a", perturbation="typos")])
    assert [unit["loss"] for unit in imported(folder, "helm", "run")[1]] == [0]
    assert [unit["loss"] for unit in imported(folder, "helm", "run", "--perturbation", "typos")[1]] == [1]


def test_a_request_without_a_result_is_a_failure(run):
    folder = run([helm_row("a", 1.0), helm_row("b", 0.0)], [helm_state("a"), helm_state("b") | {"result": None}])
    assert kinds(imported(folder, "helm", "run")[0]) == (1, 0, 1)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [((), "without a perturbation"), (("--perturbation", "typo"), "with the perturbation typo")],
)
def test_perturbations_are_listed_where_no_row_has_the_right_one(run, options, wanted):
    folder = run([helm_row("a", 0.0, perturbation="typos")], [helm_state("a", perturbation="typos")])
    assert refused(folder, "helm", "run", *options) == (
        f"run: no instance {wanted}; perturbations, for --perturbation: typos"
    )


@pytest.mark.parametrize("given", ["run/per_instance_stats.json", "."])
def test_a_path_close_to_a_run_folder_names_it(run, given):
    folder = run([helm_row("a", 1.0)], map_states("a"))
    assert refused(folder, "helm", given).endswith("no per_instance_stats.json in it; give a run folder, such as run")


def test_a_mistake_is_one_line(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path, "helm", "empty") == (
        "empty: not a run folder of HELM: there is no per_instance_stats.json in it"
    )
    folder = run([helm_row("a", 1.0)], map_states("a"))
    assert refused(folder, "helm", "run", "--metric", "f1") == (
        "run/per_instance_stats.json: instance a, trial 0: no metric is called f1; "
        "there are: exact_match, max_prob, logprob"
    )
    folder = run([helm_row("a", 1.0)], map_states("b"))
    assert refused(folder, "helm", "run") == (
        "run/per_instance_stats.json: instance a, trial 0: it is not in scenario_state.json"
    )


def test_no_file_of_the_run_is_replaced(run):
    folder = run([helm_row("a", 1.0)], map_states("a"))
    done = demur(folder, "import", "helm", "run", "-o", "run/scenario_state.json")
    assert done.stderr == "demur: run/scenario_state.json: is an input, and an output never replaces one\n"
