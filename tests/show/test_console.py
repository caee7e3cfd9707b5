"""The console: nothing a file says is obeyed by a terminal, no width hides a line, and every interval has its level."""

import re

import pytest

from artifacts import golden, renamed
from commands import demur, on_a_terminal
from demur import Key, Minus, Plan, Settings
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.results.selective import evaluate
from demur.show.console import calibration_text, evaluation_text
from demur.show.text import interval_text
from kinds import calibration, renamed_kind
from parametrized import parametrize_few
from runs import experiment, participant, run, written

OBEYED = "\x1b[31m\x9b2J\u202e\u2028\nFORGED"
TEXTS = {
    "one": lambda spell: evaluation_text(renamed(golden("one"), spell)),
    "paired": lambda spell: evaluation_text(renamed(golden("paired"), spell)),
    "calibration": lambda spell: calibration_text(renamed_kind(calibration().to_json(), spell)),
}


def compared(names, **settings):
    people, systems = make_people(41, seed=0), (ZERO_SHOT, FEW_SHOT, ZERO_SHOT)
    runs = {name: run_system(people, each, seed=n).items() for n, (name, each) in enumerate(zip(names, systems))}
    return evaluate(runs, settings=Settings(loss="abs", confidence="llm", **settings), plan=Plan(200, seed=7))


@parametrize_few("kind", [*TEXTS], 3)
def test_whatever_a_file_says_is_visible_on_its_line_and_without_effect(kind):
    text = TEXTS[kind](lambda name: f"{name}{OBEYED}")
    assert len(text.splitlines()) == len(TEXTS[kind](lambda name: f"{name}_").splitlines())
    assert all(line.isprintable() for line in text.split("\n"))
    assert "\\x1b[31m\\x9b2J\\u202e\\u2028\\nFORGED" in text


@pytest.mark.slow
def test_names_from_right_to_left_keep_their_isolates_and_no_other_control():
    text = evaluation_text(compared(["א", "ב", f"ג{OBEYED}"]))
    assert "\u2068א\u2069 answers" in text
    assert text.replace("\u2068", "").replace("\u2069", "").replace("\n", "").isprintable()


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["0", "1", "words"])
def test_no_width_hides_a_line(tmp_path, columns):
    written(tmp_path, run(experiment(*(participant(n, token_msp=0.5) for n in range(3)), mode="m")))
    words = ("evaluate", "run.json", "--bootstrap-resamples", "0", "--output", "m.json")
    piped = demur(tmp_path, *words).stdout
    shown = on_a_terminal(tmp_path, *words, COLUMNS=columns, TERM="xterm", NO_COLOR="1")
    assert shown.replace("\x1b[1m", "").replace("\x1b[0m", "") == piped


@parametrize_few(("level", "shown"), [(0.9, "90 % interval"), (0.5, "50 % interval"), (None, "95 % interval")], 1)
def test_the_interval_that_decides_is_told_from_the_one_that_is_shown(level, shown):
    results = compared(["a", "b"], level=level)
    text, key = evaluation_text(results), Key("b", "augrc@C_common", "llm", minus=Minus("system", "a"))
    decides = interval_text(results[key].recommended)
    row = next(line for line in text.splitlines() if line.startswith("  AUGRC to C_common"))
    sentence = next(line for line in text.splitlines() if "differs by" in line)
    if level is None:
        assert f"{decides}  a is better" in re.sub("  +", "  ", row)
        assert f"{decides} (b − a): a is better." in sentence
        return
    assert f"in brackets the {shown}" in text
    assert row.endswith(f"a is better, by the recommended 95 % interval {decides}")
    requested = interval_text(results[key].requested)
    ends = f"{requested} ({shown}, b − a): a is better, by the recommended 95 % interval {decides}."
    assert sentence.endswith(ends)
