"""Logs that inspect_ai itself writes: the importer finds what its own reader finds. Run by `make test-inspect`."""

import json
import math

import pytest

from demur.extensions.importers.registry import ImportOptions
from demur.extensions.importers.units import import_units

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import read_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput  # noqa: E402
from inspect_ai.scorer import Score, accuracy, scorer  # noqa: E402
from inspect_ai.solver import solver  # noqa: E402

VALUES = {"right": "C", "wrong": "I", "half": "P", "silent": "N", "graded": 0.25, "yes": True, "no": False}
UNSCORED = "unscored"
BROKEN = "broken"
LOSSES = {"C": 0.0, "I": 1.0, "P": 0.5, True: 0.0, False: 1.0}


@solver
def scripted():
    """No model is asked: one sample fails, and the others answer with their own name."""

    async def solve(state, _generate):
        if state.sample_id == BROKEN:
            raise RuntimeError("this one is meant to fail")
        state.output = ModelOutput.from_content("scripted", str(state.sample_id))
        return state

    return solve


@scorer(metrics=[accuracy()])
def scripted_scorer():
    async def score(state, _target):
        value = math.nan if state.sample_id == UNSCORED else VALUES[str(state.sample_id).split("/")[0]]
        return Score(value=value, answer=state.output.completion, metadata={"sure": len(str(state.sample_id)) / 10})

    return score


@pytest.fixture(scope="module", params=["eval", "json"])
def log(request, tmp_path_factory):
    names = [*VALUES, UNSCORED, BROKEN, "right/../again"]
    samples = [
        Sample(id=name, input="?", target="!", metadata={"document": f"d{index % 3}"})
        for index, name in enumerate(names)
    ]
    task = inspect_ai.Task(dataset=MemoryDataset(samples), solver=scripted(), scorer=scripted_scorer(), epochs=2)
    folder = tmp_path_factory.mktemp("logs")
    done = inspect_ai.eval(
        task, model="mockllm/model", log_format=request.param, log_dir=str(folder), display="none", fail_on_error=False
    )
    assert done[0].status == "success"
    return next(folder.glob(f"*.{request.param}"))


def expected_unit(sample):
    """What the importer should make of a sample as inspect_ai reads it."""
    unit = {"cluster": sample.metadata["document"], "item": sample.id, "repeat": sample.epoch}
    if sample.error is not None:
        return unit | {"status": "failed", "loss": None}
    value = next(iter(sample.scores.values())).value
    if value == "N" or (isinstance(value, float) and math.isnan(value)):
        return unit | {"status": "ok", "loss": None}
    loss = 1 - value if type(value) is float else LOSSES[value]
    return unit | {"status": "ok", "loss": loss, "sure": next(iter(sample.scores.values())).metadata["sure"]}


def test_the_units_are_those_of_the_reader_of_inspect(log, tmp_path):
    confidences = {"sure": "scores.scripted_scorer.metadata.sure"}
    options = ImportOptions(cluster="metadata.document", confidences=confidences)
    import_units("inspect", [str(log)], str(tmp_path / "units.jsonl"), options)
    header, *units = map(json.loads, (tmp_path / "units.jsonl").read_text(encoding="utf-8").splitlines())
    found = [
        {name: unit[name] for name in ("cluster", "item", "repeat", "status", "loss")}
        | ({"sure": unit["signals"]["sure"]} if unit["loss"] is not None else {})
        for unit in units
    ]
    read = read_eval_log(str(log)).samples
    assert sorted(found, key=lambda unit: (unit["item"], unit["repeat"])) == sorted(
        map(expected_unit, read), key=lambda unit: (unit["item"], unit["repeat"])
    )
    counts = header["counts"]
    assert (counts["rows"], counts["answered"], counts["abstained"], counts["failed"]) == (20, 14, 4, 2)
