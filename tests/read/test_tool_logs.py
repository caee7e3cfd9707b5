"""The log of another tool given to a command that reads units: the error names the command that imports it."""

import json
import os
import threading

import pytest

from commands import demur
from demur.extensions.importers.units import IMPORTERS
from demur.read.tool_logs import LOGS, tool_of_log
from inspect_logs import archive, json_log, members_of, zstd_archive

EVENT = {"run_id": "r", "event_id": 0, "sample_id": "a", "type": "match"}
FILES = {
    "log.eval": ("inspect", archive(members_of())),
    "packed.eval": ("inspect", zstd_archive(members_of(chunked=True), lambda part: part)),
    "log.json": ("inspect", json_log()),
    "samples_arc.jsonl": ("lm-eval", json.dumps({"doc_id": 0, "doc": {}, "filtered_resps": []}).encode()),
    "results.json": ("promptfoo", json.dumps({"evalId": "e", "results": {}}, indent=2).encode()),
    "events.jsonl": ("oai-evals", json.dumps({"spec": {"completion_fns": ["x"]}}).encode()),
    "flushed.jsonl": ("oai-evals", json.dumps(EVENT).encode()),
}


def test_the_logs_of_every_importer_are_known():
    assert IMPORTERS.keys() == LOGS.keys()


@pytest.mark.parametrize("name", FILES)
def test_a_log_points_to_its_importer(tmp_path, name):
    tool, content = FILES[name]
    (tmp_path / name).write_bytes(content)
    done = demur(tmp_path, "evaluate", name, "--seed", "1")
    way_out = f"import it first: demur import {tool} {name} -o units.jsonl"
    assert (done.returncode, done.stderr) == (2, f"demur: {name}: {LOGS[tool][0]}; {way_out}\n")


def test_a_run_folder_points_to_its_importer(tmp_path):
    (tmp_path / "run of mine").mkdir()
    (tmp_path / "run of mine" / "per_instance_stats.json").write_text("[]")
    done = demur(tmp_path, "evaluate", "run of mine", "--seed", "1")
    assert "demur import helm 'run of mine' -o units.jsonl" in done.stderr


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"cluster,item,truth,prediction\n",
        b'{"cluster": "a", "doc_id": 1}\n',
        b'{"version": 2}',
        b'{"experiments": []}',
        archive([("xl/workbook.xml", b"x")]),
    ],
)
def test_other_files_are_left_to_their_readers(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    assert tool_of_log(tmp_path / "file") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_not_read_twice(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    text = "cluster,item,truth,prediction,sure\na,q,1,1,0.5\n"
    writer = threading.Thread(target=lambda: (tmp_path / "t.csv").write_text(text))
    writer.start()
    done = demur(tmp_path, "fields", "t.csv", "--instrument", "none")
    writer.join()
    assert (done.returncode, done.stderr) == (0, "")


DATE = "_2026-11-16T06-11-05.140382"
LINE = json.dumps({"doc_id": 0, "doc": {}, "filtered_resps": [], "filter": "none"})
RESULTS = {"results": {"arc": {"alias": "arc", "acc,none": 0.3}}, "configs": {"arc": {}}, "lm_eval_version": "0.4.13"}
ABOUT = "results of lm-evaluation-harness, without the answers"
FOLDER = "a folder of lm-evaluation-harness, of which one file of samples is imported"
OTHERS = "(or samples_b.jsonl, samples_c.jsonl, samples_d.jsonl, samples_e.jsonl, …)"
WITHOUT = "run lm_eval again with --log_samples, and import the samples_….jsonl that it writes"


@pytest.mark.parametrize("command", [("evaluate",), ("fields",), ("import", "lm-eval")])
@pytest.mark.parametrize(
    ("files", "given", "way_out"),
    [
        ([], f"results{DATE}.json", f"{ABOUT}: {WITHOUT}"),
        (
            ["samples_arc.jsonl"],
            "results.json",
            f"{ABOUT}; import the samples: IMPORT samples_arc.jsonl -o units.jsonl",
        ),
        (
            ["samples_arc.jsonl", f"samples_hella swag{DATE}.jsonl"],
            f"results{DATE}.json",
            f"{ABOUT}; import the samples: IMPORT 'samples_hella swag{DATE}.jsonl' -o units.jsonl",
        ),
        (
            ["samples_arc.jsonl", "samples_b.jsonl"],
            ".",
            f"{FOLDER}; import the samples: IMPORT samples_arc.jsonl -o units.jsonl (or samples_b.jsonl)",
        ),
        (
            [f"samples_{task}.jsonl" for task in "abcdefg"],
            "results.json",
            f"{ABOUT}; import the samples: IMPORT samples_a.jsonl -o units.jsonl {OTHERS}",
        ),
    ],
)
def test_results_of_lm_eval_name_the_samples_to_give(tmp_path, command, files, given, way_out):
    for name in files:
        (tmp_path / name).write_text(LINE, encoding="utf-8")
    (tmp_path / "results.json").write_text(json.dumps(RESULTS, indent=2), encoding="utf-8")
    (tmp_path / f"results{DATE}.json").write_text(json.dumps(RESULTS), encoding="utf-8")
    options = {"evaluate": ("--seed", "1"), "fields": (), "import": ("-o", "units.jsonl")}[command[0]]
    done = demur(tmp_path, *command, given, *options)
    expected = way_out.replace("IMPORT", "demur import lm-eval")
    assert (done.returncode, done.stderr) == (2, f"demur: {given}: {expected}\n")


def test_a_folder_of_parts_called_samples_is_no_log(tmp_path):
    unit = {"cluster": "a", "item": "q", "loss": 0, "sure": 0.5}
    for part in "12":
        row = json.dumps(unit | {"cluster": part})
        (tmp_path / f"samples_{part}.jsonl").write_text(row, encoding="utf-8")
    assert tool_of_log(tmp_path) is None
