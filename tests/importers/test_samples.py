"""Logs that the packages themselves wrote, in the folder DEMUR_SAMPLES names: the counts they are known to have."""

import csv
import importlib.util
import os
from pathlib import Path

import pytest

from importing import imported, kinds, read_back

SAMPLES = Path(os.environ.get("DEMUR_SAMPLES", "/nowhere"))
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="DEMUR_SAMPLES names no folder of samples")
HAS_ZSTD = any(importlib.util.find_spec(name) for name in ("compression", "backports"))
needs_zstd = pytest.mark.skipif(not HAS_ZSTD, reason="zstd needs Python 3.14 or backports.zstd (the extra inspect)")
CONTAINERS = [
    "capitals.json",
    "capitals_deflate.eval",
    pytest.param("capitals_zstd.eval", marks=needs_zstd),
    pytest.param("capitals_chunked.eval", marks=needs_zstd),
]
EXACT = ("--scorer", "exact", "--cluster", "metadata.document")
DECLINED = ("--abstain", "choice=I don't know")


def table(name):
    with (SAMPLES / "tables" / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def number(text):
    return float(text) if text else None


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_of_inspect_gives_the_units_of_the_table(tmp_path, name):
    found, units, _ = imported(tmp_path, "inspect", SAMPLES / "inspect" / name, *EXACT)
    assert kinds(found) == (20, 3, 1)
    assert sum(unit["loss"] == 1 for unit in units) == 11
    by_key = {f"{unit['item']}#{unit['repeat']}": unit for unit in units}
    rows = table("inspect_exact.csv")
    assert by_key.keys() == {row["item"] for row in rows}
    for row in rows:
        unit = by_key[row["item"]]
        assert (unit["cluster"], unit["status"], unit["loss"]) == (
            row["cluster"],
            row["status"],
            number(row["prediction"]),
        )
        for signal in ("confidence", "token_msp"):
            assert unit["signals"].get(signal) == pytest.approx(number(row[signal]), abs=1e-12)


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_the_same_units(tmp_path, name):
    for scorer in (EXACT, ("--scorer", "graded"), ("--scorer", "both", "--value-key", "polite")):
        expected = imported(tmp_path, "inspect", SAMPLES / "inspect" / "capitals.json", *scorer)[1]
        assert imported(tmp_path, "inspect", SAMPLES / "inspect" / name, *scorer)[1] == expected


@pytest.mark.skipif(not importlib.util.find_spec("inspect_ai"), reason="inspect_ai, 80 packages, is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CONTAINERS[:-1])  # its public readers do not find chunked samples (0.3.285)
def test_the_reader_of_inspect_itself_finds_the_same(tmp_path, name):
    from inspect_ai.log import read_eval_log  # noqa: PLC0415

    path = SAMPLES / "inspect" / name
    theirs = {}
    for sample in read_eval_log(str(path)).samples:
        value = sample.scores["exact"].value if sample.scores else None
        status = "failed" if sample.error else "ok"
        theirs[str(sample.id), sample.epoch] = (sample.metadata["document"], {"C": 0, "I": 1}.get(value), status)
    _, units, _ = imported(tmp_path, "inspect", path, *EXACT)
    assert {(unit["item"], unit["repeat"]): (unit["cluster"], unit["loss"], unit["status"]) for unit in units} == theirs


def test_lm_eval_gives_the_units_of_the_table(tmp_path):
    path = SAMPLES / "lm-eval" / "samples_capitals_mc.jsonl"
    found, units, _ = imported(tmp_path, "lm-eval", path, "--cluster", "doc.document", *DECLINED)
    assert kinds(found) == (6, 4, 0)
    assert sum(unit["loss"] == 1 for unit in units) == 3
    for unit, row in zip(units, table("lmeval_mc.csv"), strict=True):
        assert (unit["cluster"], unit["item"]) == (row["cluster"], row["item"])
        assert unit["loss"] == number(row["prediction"])
        for signal in ("choice_max_prob", "choice_margin", "choice_entropy"):
            assert unit["signals"][signal] == pytest.approx(float(row[signal]), abs=1e-12)


def test_the_others_give_their_counts(tmp_path):
    generated = SAMPLES / "lm-eval" / "samples_capitals_gen.jsonl"
    assert kinds(imported(tmp_path, "lm-eval", generated, "--filter", "maj")[0]) == (10, 0, 0)
    options = ("--metric", "exact", "--abstain", "named:answered=0")
    assert kinds(imported(tmp_path, "promptfoo", SAMPLES / "promptfoo" / "results.json", *options)[0]) == (10, 2, 0)
    assert kinds(imported(tmp_path, "oai-evals", SAMPLES / "openai-evals" / "events.jsonl")[0]) == (7, 0, 1)
    assert kinds(imported(tmp_path, "helm", SAMPLES / "helm" / "run")[0]) == (5, 0, 0)


GRADED, POLITE = ("--scorer", "graded"), ("--scorer", "both", "--value-key", "polite")
CORRECT = ("--scorer", "both", "--value-key", "correct")
ANSWERS = Path("lm-eval", "samples_capitals_gen.jsonl")
ZSTD = ("capitals_zstd.eval", "capitals_chunked.eval")
# Every sample of every importer: the tool, the log, the options of the import, and the confidence to rank by.
LOGS = [
    *(
        pytest.param("inspect", Path("inspect", name), options, "token_msp", marks=needs_zstd if name in ZSTD else ())
        for name in ("capitals.json", "capitals_deflate.eval", *ZSTD)
        for options in (EXACT, GRADED, POLITE, CORRECT)
    ),
    ("lm-eval", Path("lm-eval", "samples_capitals_mc.jsonl"), DECLINED, "choice_max_prob"),
    ("lm-eval", Path("lm-eval", "samples_capitals_mc.jsonl"), ("--metric", "acc_norm"), "choice_margin"),
    *(("lm-eval", ANSWERS, ("--filter", name), "consistency_modal_confidence") for name in ("first", "maj")),
    (
        "promptfoo",
        Path("promptfoo", "results.json"),
        ("--metric", "exact", "--abstain", "named:answered=0"),
        "token_msp",
    ),
    ("promptfoo", Path("promptfoo", "results.json"), ("--metric", "success"), "confidence"),
    ("oai-evals", Path("openai-evals", "events.jsonl"), (), "confidence"),
    ("helm", Path("helm", "run"), ("--confidence", "seconds=stats.inference_runtime"), "seconds"),
]


@pytest.mark.parametrize(("tool", "log", "options", "confidence"), LOGS)
def test_every_sample_is_evaluated_after_it_is_imported(tmp_path, tool, log, options, confidence):
    found, units, _ = imported(tmp_path, tool, SAMPLES / log, *options, "--include-text")
    answered, abstained, failed = kinds(found)
    read = read_back(tmp_path, confidence)
    assert (read["items_predicted"], read["items_total"]) == (answered, answered + abstained)
    assert read.get("units_failed", 0) == failed
    questions = len({(unit["cluster"], unit["item"]) for unit in units if unit["status"] == "ok"})
    assert read_back(tmp_path, confidence, "first")["items_total"] == questions
    assert read_back(tmp_path, confidence, "vote")["items_total"] == questions
