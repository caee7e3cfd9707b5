"""Damaged inputs of every kind: a clean error or a valid result that plain loops recompute. `make fuzz` counts them.

Each fuzzer goes on for FUZZ_SECONDS (40 if not given) and 10 000 inputs at the most; what it tries follows from a seed.
"""

import copy
import io
import json
import os
import random
import time
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import demur
from damage import damage, damaged, damaged_bytes
from demur import load, load_calibration
from demur.extension import installed
from demur.extensions.lab.queries import simulated_queries
from demur.extensions.lab.runs import simulated_run
from runs import experiment, participant, run, written

pytestmark = [pytest.mark.slow, pytest.mark.fuzz]
SECONDS, MOST = float(os.environ.get("FUZZ_SECONDS", "40")), 10_000
FLAGS = ("--seed", "1", "--bootstrap-resamples", "3", "--quiet", "--output", "m.json", "--report", "m.html")
OUTPUTS = ("m.json", "m.html")


def encoded(data):
    return data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")


ROWS = [
    {"cluster": f"p{n // 3}", "item": "abc"[n % 3], "truth": n % 3, "prediction": n % 2, "sure": n / 8}
    for n in range(9)
]
TABLE = "\n".join([",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]).encode() + b"\n"


def damaged_lines(rng):
    """JSON Lines with some of their members or their bytes changed."""
    rows = copy.deepcopy(ROWS)
    damage(rng, rows)
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return lines if rng.random() < 0.7 else damaged_bytes(rng, lines)


def damaged_parquet(rng):
    """A Parquet file with a column of other cells, or with some of its bytes changed."""
    columns = {name: pa.array([row[name] for row in ROWS]) for name in ROWS[0]}
    name, whole = rng.choice([*columns]), io.BytesIO()
    columns[name] = pa.array([rng.choice([None, "x", "\u202e", "1e999", "x" * 5000])] * len(ROWS), pa.string())
    if rng.random() < 0.5:
        columns[name] = columns[name].dictionary_encode()
    table = pa.table(columns)
    pq.write_table(table.drop_columns(name) if rng.random() < 0.3 else table, whole)
    return damaged_bytes(rng, whole.getvalue()) if rng.random() < 0.7 else whole.getvalue()


RANKINGS = "retrieval" in installed()
QRELS = b"".join(b"%d 0 d%d %d\n" % (topic, doc, (topic + doc) % 2) for topic in range(4) for doc in range(3))
TREC = b"".join(b"%d Q0 d%d %d %d.5 t\n" % (topic, doc, doc + 1, 9 - doc) for topic in range(4) for doc in range(3))
LONG = ("--instrument", "none", "--loss", "abs", "--confidence", "sure")
RUN = simulated_run(2, seed=1, failures=1)
# What is damaged, the file it is put in, the command that reads it, and how an audit reads it to recompute the result.
READERS = {
    "run file": (lambda rng: damaged(rng, RUN), "in.json", ("evaluate", "in.json", "--mode", "few_shot"), ()),
    "long table": (
        lambda rng: damaged_bytes(rng, TABLE),
        "in.csv",
        ("evaluate", "in.csv", *LONG),
        ("--instrument", "none"),
    ),
    "JSON Lines": (damaged_lines, "in.jsonl", ("evaluate", "in.jsonl", *LONG), ("--instrument", "none")),
    "Parquet": (damaged_parquet, "in.parquet", ("evaluate", "in.parquet", *LONG), None),
    "per-query file": (
        lambda rng: damaged_bytes(rng, simulated_queries(3, seed=1).encode()),
        "in.csv",
        ("retrieval", "--data", "in.csv", "--k", "1,5"),
        (),
    ),
    "TREC run": (
        lambda rng: damaged_bytes(rng, TREC),
        "in.trec",
        ("retrieval", "--qrels", "qrels", "--run", "in.trec"),
        None,
    ),
    "TREC judgments": (
        lambda rng: damaged_bytes(rng, QRELS),
        "in.qrels",
        ("retrieval", "--qrels", "in.qrels", "--run", "run.trec"),
        None,
    ),
}


def goes_on(counts, until):
    return counts["tried"] < MOST and time.monotonic() < until


def check_refused(done):
    """One line and nothing else."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith("demur: ")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) <= 500
    assert done.stderr[:-1].isprintable()


@pytest.mark.parametrize("name", [name for name in READERS if RANKINGS or READERS[name][2][0] != "retrieval"])
def test_a_damaged_input_is_refused_or_its_result_is_recomputed(tmp_path, record_property, name):
    damaged_input, file, call, reading = READERS[name]
    rng, counts = random.Random(name), Counter(tried=0, accepted=0, refused=0, recomputed=0)
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run.trec").write_bytes(TREC)
    until = time.monotonic() + SECONDS
    while goes_on(counts, until):
        written(tmp_path, encoded(damaged_input(rng)), file)
        for output in OUTPUTS:
            (tmp_path / output).unlink(missing_ok=True)
        done = demur(tmp_path, *call, *FLAGS)
        counts["tried"] += 1
        if done.returncode:
            check_refused(done)
            assert not any((tmp_path / output).exists() for output in OUTPUTS)
            counts["refused"] += 1
            continue
        assert len(load(tmp_path / "m.json")) > 0
        counts["accepted"] += 1
        if reading is not None:
            audit = ("audit", "--data", file, "--reported", "m.json", "--only", "differs")
            again = demur(tmp_path, *audit, *reading)
            assert (again.returncode, again.stderr) == (0, ""), (again, (tmp_path / file).read_bytes())
            counts["recomputed"] += 1
    record_property(f"fuzz {name}", dict(counts))
    assert counts["accepted"] > 0
    assert counts["refused"] > 0


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    """One file of each kind that demur writes, and the data they were made from."""
    folder = tmp_path_factory.mktemp("artifacts")
    written(folder, run(experiment(*(participant(who, verbalized_confidence=who % 5 + 1) for who in range(4)))))
    (folder / "q.csv").write_text(simulated_queries(2, seed=1))
    fit = ("--method", "temperature", "--features", "verbalized_confidence", "--target", "near_correct")
    short = ("--seed", "1", "--bootstrap-resamples", "3", "--quiet")
    for words in (
        ("evaluate", "run.json", *short, "--confidence", "llm", "--output", "metrics.json"),
        *([("retrieval", "--data", "q.csv", *short, "--k", "5", "--output", "retrieval.json")] if RANKINGS else []),
        ("calibrate", "--input", "run.json", *fit, "--output", "calibrator.json"),
    ):
        done = demur(folder, *words)
        assert done.returncode == 0, done.stderr
    return folder


SHOWN = {
    "metrics": (
        ("report", "in.json", "--output", "m.html"),
        ("table", "in.json", "--format", "csv"),
        ("audit", "--data", "run.json", "--reported", "in.json"),
    ),
    "retrieval": (
        ("report", "in.json", "--output", "m.html"),
        ("audit", "--data", "q.csv", "--reported", "in.json", "--json"),
    ),
    "calibrator": (
        ("report", "in.json", "--output", "m.html"),
        ("fields", "run.json", "--calibration", "in.json"),
    ),
}


@pytest.mark.parametrize("name", [name for name in SHOWN if RANKINGS or name != "retrieval"])
def test_a_damaged_artifact_is_refused_or_shown(artifacts, record_property, name):
    """An audit may find that a figure differs: exit code 3."""
    content = json.loads((artifacts / f"{name}.json").read_text(encoding="utf-8"))
    rng, counts = random.Random(name), Counter(tried=0, accepted=0, refused=0, recomputed=0)
    until = time.monotonic() + SECONDS
    while goes_on(counts, until):
        written(artifacts, encoded(damaged(rng, content)), "in.json")
        for words in SHOWN[name]:
            done = demur(artifacts, *words)
            counts["tried"] += 1
            if done.returncode in (0, 3 if words[0] == "audit" else 0):
                assert done.stderr == ""
                counts["recomputed" if words[0] == "audit" else "accepted"] += 1
            else:
                check_refused(done)
                counts["refused"] += 1
    record_property(f"fuzz {name}", dict(counts))
    assert counts["refused"] > 0
    assert counts["accepted"] + counts["recomputed"] > 0
    assert (load_calibration if name == "calibrator" else load)(artifacts / f"{name}.json")


WORDS = ["x\udcff", "\udcff", "a\nb", "\x1b[31m", "\u202e", "", " ", "-1", "1e999", "9" * 400, "nan", "a=b", "=", "字"]
OPTIONS = ["--mode", "--experiment", "--instrument", "--column", "--loss", "--confidence", "--coverage-grid", "--level"]
OPTIONS += ["--area-coverage", "--baseline", "--bootstrap-resamples", "--seed", "--calibration", "--interval"]
OPTIONS += ["--created-at", "--output", "--report", "--input", "--run-id", "--k", "--policy", "--system"]


def test_damaged_words_are_refused_or_make_a_file_that_can_be_read(tmp_path, record_property):
    rng, counts = random.Random(1), Counter(tried=0, accepted=0, refused=0, recomputed=0)
    written(tmp_path, RUN)
    (tmp_path / "q.csv").write_text(simulated_queries(2, seed=1))
    starts = [
        ("evaluate", "run.json", "--mode", "few_shot", *FLAGS),
        *([("retrieval", "--data", "q.csv", *FLAGS)] if RANKINGS else []),
        ("simulate", "runs", "--participants", "2", "--seed", "1", "--output", "m.json"),
    ]
    until = time.monotonic() + SECONDS
    while goes_on(counts, until):
        (tmp_path / "m.json").unlink(missing_ok=True)
        more = [word for _ in range(rng.randint(1, 2)) for word in (rng.choice(OPTIONS), rng.choice(WORDS))]
        before = sorted(tmp_path.iterdir())
        done = demur(tmp_path, *rng.choice(starts), *more)
        counts["tried"] += 1
        if done.returncode:
            check_refused(done)
            assert sorted(tmp_path.iterdir()) == before
            counts["refused"] += 1
        else:
            made = [path for path in tmp_path.iterdir() if path not in before or path.name == "m.json"]
            for path in made:
                if path.suffix == ".json":
                    assert json.loads(path.read_bytes())
                path.unlink()
            counts["accepted"] += 1
    record_property("fuzz words", dict(counts))
    assert min(counts["accepted"], counts["refused"]) > 0
