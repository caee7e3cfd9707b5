"""A rule in use: decisions row by row, in little memory, and what is refused by name."""

import csv
import json
import random
import subprocess
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from commands import demur
from damage import damaged
from demur import (
    VARIANTS,
    Reading,
    UserError,
    apply,
    certify,
    choose,
    grade,
    grade_units,
    load_rule,
    read_table,
    variant,
)

TABLE = "cluster,sure,loss\n1,0.9,0\n1,0.8,0\n2,0.7,1\n2,0.6,0\n"


@pytest.fixture
def rule(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    words = ("choose", "a.csv", "--confidence", "sure", "--risk", "0", "--seed", "1", "-o", "rule.json")
    assert demur(tmp_path, *words).returncode == 0
    return load_rule(tmp_path / "rule.json")


class TestDecisions:
    def test_rows_keep_their_cells_and_gain_a_decision(self, tmp_path, rule):
        (tmp_path / "new.csv").write_text('note,sure\n"a, ""b""\nc",0.8\n=1+1,0.7999\n 007 ,0.80\n')
        found = demur(tmp_path, "apply", "rule.json", "new.csv", "-o", "decisions.csv")
        assert found.stdout == "3 rows: 2 accepted (66.7 %), 1 declined\nwrote decisions.csv\n"
        with (tmp_path / "decisions.csv").open(newline="") as file:
            assert [*csv.reader(file)] == [
                ["note", "sure", "decision"],
                ['a, "b"\nc', "0.8", "accept"],
                ["=1+1", "0.7999", "decline"],
                [" 007 ", "0.80", "accept"],
            ]
        assert rule.threshold == 0.8

    def test_json_lines_and_frames(self, tmp_path, rule):
        rows = [{"sure": 0.85, "more": {"a": [1]}}, {"sure": 0.1, "more": None}]
        (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        apply(rule, tmp_path / "new.jsonl", tmp_path / "d.jsonl")
        lines = (tmp_path / "d.jsonl").read_text().splitlines()
        assert [json.loads(line)["decision"] for line in lines] == ["accept", "decline"]
        assert json.loads(lines[0])["more"] == {"a": [1]}
        assert apply(rule, {"sure": [0.85, 0.1]}).decisions == ("accept", "decline")

    def test_a_spreadsheet_with_semicolons_and_decimal_commas_stays_one(self, tmp_path, rule):
        (tmp_path / "new.csv").write_text("sure;note\n0,85;x\n0,5;y\n")
        apply(rule, tmp_path / "new.csv", tmp_path / "d.csv")
        assert (tmp_path / "d.csv").read_text() == "sure;note;decision\n0,85;x;accept\n0,5;y;decline\n"

    def test_columns_of_the_rule_play_their_roles_again(self, tmp_path):
        (tmp_path / "a.csv").write_text("Patient;Antwort;Wahrheit;sure\n1;1;1;0,9\n1;;1;0,8\n2;0;1;0,1\n2;1;1;0,7\n")
        roles = ("--column", "cluster=Patient", "--column", "prediction=Antwort", "--column", "truth=Wahrheit")
        words = ("--loss", "zero_one", "--confidence", "sure", "--risk", "0", "--seed", "1", "-o", "rule.json")
        assert demur(tmp_path, "choose", "a.csv", *roles, *words).returncode == 0
        found = demur(tmp_path, "apply", "rule.json", "a.csv", "-o", "d.csv")
        assert found.stdout.startswith("4 rows: 2 accepted (50 %), 2 declined, 1 of them by the system itself\n")
        rule = load_rule(tmp_path / "rule.json")
        assert apply(rule, {"sure": [0.9, 0.9], "prediction": [None, 1]}).decisions == ("decline", "accept")

    def test_what_the_system_declined_is_declined_and_its_confidence_not_looked_at(self, rule):
        by_flag = apply(rule, {"sure": [0.9, None, 0.9], "abstained": [False, True, True]})
        assert (by_flag.decisions, by_flag.abstained) == (("accept", "decline", "decline"), 2)
        assert apply(rule, {"sure": [0.9, None], "prediction": [1, None]}).decisions == ("accept", "decline")
        rows = {"sure": [0.9, 0.9], "loss": [None, 1]}
        assert apply(rule, rows, reading=Reading(unlabelled=True)).decisions == ("accept", "accept")

    def test_a_row_without_a_confidence_is_declined_and_counted(self, tmp_path, rule):
        (tmp_path / "new.csv").write_text("sure,note\n0.9,a\n,b\nNaN,c\n0.1,d\n")
        found = demur(tmp_path, "apply", "rule.json", "new.csv", "-o", "decisions.csv")
        assert (found.returncode, found.stderr) == (0, "")
        assert found.stdout.startswith("4 rows: 1 accepted (25 %), 3 declined, 2 of them for want of a confidence\n")
        assert (tmp_path / "decisions.csv").read_text().count("decline") == 3
        rows = {"sure": [0.9, None, None], "abstained": [False, False, True]}
        for table in (rows, pd.DataFrame(rows), pd.DataFrame(rows).convert_dtypes()):
            done = apply(rule, table, tmp_path / "d.jsonl")
            assert (done.accepted, done.abstained, done.unrated) == (1, 1, 1)
        assert json.loads((tmp_path / "d.jsonl").read_text().splitlines()[1])["sure"] is None

    def test_a_null_that_has_a_meaning_is_no_missing_confidence(self):
        made = {
            "cluster": [1, 2, 3],
            "loss": [0, 0, 1],
            "verbalized_confidence": [5, 3, 1],
            "token_msp": [0.9, 0.8, 0.1],
        }
        asked = {"verbalized": (3, ("accept", "accept", "decline")), "token_msp": (2, ("accept", "decline", "decline"))}
        asked["secondary:verbalized+token_msp:average"] = (2, ("accept", "decline", "decline"))
        rows = {"verbalized_confidence": [5, None, 1], "token_msp": [0.9, None, 0.1]}
        for name, (rated, decisions) in asked.items():
            rule = choose(grade(read_table(made), loss=None, confidence=name), risk="0", seed=1)
            found = apply(rule, rows)
            assert (found.decisions, found.rows - found.unrated) == (decisions, rated)

    def test_the_units_the_rule_was_chosen_on_are_accepted_as_counted(self):
        rng = np.random.default_rng(5)
        confidence, loss = rng.random(300), (rng.random(300) < 0.2).astype(int)
        made = choose(grade_units(confidence, loss=loss, clusters=np.arange(300) // 3), risk="0.15", seed=2)
        assert apply(made, {"confidence": confidence.tolist()}).accepted == made.chosen.accepted > 0

    def test_a_variant_is_made_of_its_signals(self):
        rows = {"cluster": [1, 2, 3, 4], "item": ["a"] * 4, "truth": [0] * 4, "prediction": [0, 0, 1, 0]}
        rows |= {"verbalized_confidence": [5, 4, 2, 1]}
        units = grade(read_table(rows, instrument=None), loss="zero_one", confidence="verbalized")
        made = certify(units, method="crc", errors_per_100="40", max_units=1, seed=1)
        assert made.threshold is not None
        accepted = [value >= made.threshold for value in (1, 0.75, 0.25, 0)]
        decisions = apply(made, {"verbalized_confidence": [5, 4, 2, 1]}).decisions
        assert [word == "accept" for word in decisions] == accepted

    def test_a_rule_without_a_threshold_declines_everything(self):
        made = choose(grade_units([2, 1], loss=[1, 1], clusters=[1, 2]), risk="0.5", seed=1)
        assert apply(made, {"confidence": [9.0, 1.0]}).decisions == ("decline", "decline")

    def test_a_falling_signal_accepts_what_is_at_most_the_threshold(self):
        variant("doubt_for_a_test", "doubt", higher_is_more_confident=False)(lambda doubt: doubt)
        try:
            rows = {"cluster": [1, 2, 3], "loss": [0, 0, 1], "doubt": [0.1, 0.3, 0.9]}
            made = choose(grade(read_table(rows), loss=None, confidence="doubt_for_a_test"), risk="0", seed=1)
            assert apply(made, {"doubt": [0.1, 0.3, 0.9]}).decisions == ("accept", "accept", "decline")
        finally:
            del VARIANTS["doubt_for_a_test"]


class TestRefusals:
    @pytest.mark.parametrize(
        "expected",
        [
            {"signal": "p_correct"},
            {"noun": "document"},
            {"direction": "at_most"},
        ],
    )
    def test_a_rule_for_something_else_is_refused_by_name(self, rule, expected, message):
        with pytest.raises(UserError) as error:
            apply(rule, {"sure": [1.0]}, **expected)
        message(error.value)

    def test_a_direction_that_is_not_the_signals_is_refused(self, rule):
        other = {"direction": "at_most", "signal": "verbalized"}
        with pytest.raises(UserError, match="the direction at_most, and verbalized is more confident the higher"):
            apply(rule.model_copy(update=other), {"verbalized_confidence": [1]})

    @pytest.mark.parametrize(
        "text",
        [
            "p\n0.5\n",
            "sure\n0.5\nhigh\n",
            "sure,more\n0.5,1\ninf,2\n",
            "sure,decision\n0.5,x\n",
            "sure\n",
            "sure,abstained\n0.5,perhaps\n",
        ],
    )
    def test_a_wrong_table_is_one_line_and_nothing_is_written(self, tmp_path, rule, text, message):
        assert rule.signal == "sure"
        (tmp_path / "new.csv").write_text(text)
        found = demur(tmp_path, "apply", "rule.json", "new.csv", "-o", "decisions.csv")
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr.startswith("demur: new.csv: ")
        message(found.stderr)
        assert found.stderr.count("\n") == 1
        assert not (tmp_path / "decisions.csv").exists()

    @pytest.mark.parametrize(
        "words",
        [
            (),
            ("-o", "a.csv"),
            ("-o", "rule.json"),
            ("-o", "d.json"),
            ("-o", "d.csv", "--delta", "0.1"),
            ("--check",),
            ("--check", "--max-units", "1"),
            ("--check", "--max-units", "2", "--delta", "2"),
        ],
    )
    def test_a_wrong_call_is_one_line(self, tmp_path, rule, words, message):
        assert rule.signal == "sure"
        found = demur(tmp_path, "apply", "rule.json", "a.csv", *words)
        assert (found.returncode, found.stdout) == (2, "")
        message(found.stderr)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(tmp_path, rule, monkeypatch):
    monkeypatch.setattr("demur.extensions.decide.applying._CHUNK", 200)
    peaks = []
    for rows in (800, 2_400):
        with (tmp_path / "long.csv").open("w") as file:
            file.write("sure,note\n")
            file.writelines(f"0.{n % 10},{'x' * 80}\n" for n in range(rows))
        tracemalloc.start()
        assert apply(rule, tmp_path / "long.csv", tmp_path / "d.csv").rows == rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.25 * peaks[0]


MILLION = """
from demur import apply, load_rule
found = apply(load_rule("rule.json"), "long.csv", "d.csv")
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(found.rows, found.accepted, peak.split()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to tell the largest memory")
def test_a_million_rows_are_streamed(tmp_path, rule):
    assert rule.threshold == 0.8
    with (tmp_path / "long.csv").open("w") as file:
        file.write("cluster,sure,note\n")
        file.writelines(f"p{n // 4},0.{n % 10},{'x' * 80}\n" for n in range(1_000_000))
    done = subprocess.run([sys.executable, "-c", MILLION], cwd=tmp_path, check=True, capture_output=True, text=True)
    rows, accepted, kibibytes = map(int, done.stdout.split())
    assert (rows, accepted) == (1_000_000, 200_000)
    assert kibibytes < 250_000


@pytest.mark.slow
@pytest.mark.fuzz
def test_a_damaged_rule_is_used_or_refused_in_one_line(tmp_path, rule):
    rng = random.Random(1)
    seen = Counter()
    for _ in range(400):
        data = damaged(rng, json.loads(rule.text))
        (tmp_path / "damaged.json").write_bytes(
            data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
        )
        found = demur(tmp_path, "apply", "damaged.json", "a.csv", "--check", "--max-units", "2", "-o", "d.csv")
        seen[found.returncode] += 1
        assert found.returncode in (0, 2, 3)
        assert found.stderr.count("\n") == (found.returncode == 2)
    assert seen[2] > 50
