"""Sentences for a paper, rows of one's choice and fixed decimals: every number is one of the results."""

import re

import pytest

from artifacts import GOLDEN, golden_results
from commands import demur
from demur import Key, Plan, UserError
from demur.show.table_rows import Layout
from demur.show.tables import table_text
from golden_runs import evaluated
from parametrized import parametrize_few

MINUS = "−"


def test_two_systems_in_one_paragraph_of_results_and_one_of_methods(demo_results):
    results, methods = table_text(demo_results, "sentence").strip().split("\n\n")
    assert results.startswith(
        "We evaluated zero_shot and few_shot on the same 41 participants with 328 items (none failed)."
    )
    assert "zero_shot answers 189 of 328 items (57.6%) and few_shot 236 (72.0%); they are compared" in results
    assert "compared up to the coverage both reach (57.6%)." in results
    confidence = demo_results.selective.confidences[0]
    for system in demo_results.systems:
        row = demo_results[Key(system, "augrc@C_common", confidence)]
        ends = f"{row.recommended.low:.3f} to {row.recommended.high:.3f}"
        assert f"{row.value:.3f} (95 % interval {ends}, studentised) for {system}" in results
    assert (
        "The difference (few_shot − zero_shot) was 0.023 (95 % interval 0.007 to 0.039, analytic; p = 0.007)" in results
    )
    assert results.endswith(": zero_shot is better.")
    boot = demo_results.study.bootstrap
    assert f"{boot.n_resamples} bootstrap resamples of participants, seed {boot.seed}" in methods
    assert "C_common was found anew in every resample" in methods


def test_one_system_and_one_that_was_not_resampled():
    text = table_text(golden_results("one"), "sentence")
    assert text.startswith(
        "We evaluated zero_shot on 3 participants with 24 items (1 more failed and is excluded). "
        "zero_shot answers 11 of 24 items (45.8%). "
    )
    assert "The AUGRC (loss abs_norm; confidence llm; lower is better) was " in text
    bare = table_text(evaluated("zero_shot", plan=Plan(0, None)), "sentence")
    assert "interval" not in bare.split("\n\n")[0]
    assert "Nothing was resampled, so there are no intervals." in bare


@pytest.mark.slow
def test_several_systems_are_a_tie_set():
    text = table_text(evaluated("zero_shot", "few_shot", "zero_shot", names=("a", "b", "c")), "sentence")
    assert "We evaluated a, b and c on the same 2 participants" in text
    assert "No system is ranked above another: too few resamples to decide." in text
    assert "Bonferroni" not in text, "nothing is decided, so no rank rests on anything"


def test_an_undecided_or_unfair_difference_is_not_a_conclusion():
    text = table_text(golden_results("paired"), "sentence", Layout(("augrc@C_common", "augrc")))
    assert ": undecided, as the 95 % interval includes 0." in text
    assert ": not comparable: Cmax differs." in text
    assert f"was {MINUS}0.012 (95 % interval {MINUS}0.327 to 0.302" in text


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize(("digits", "expected"), [(None, 4), (2, 2), (0, 0)])
def test_every_number_of_a_table_has_the_same_decimals(form, digits, expected):
    text = table_text(golden_results("paired").narrowed("llm"), form, Layout(digits=digits))
    rows = [line for line in text.splitlines() if "Cmax" in line[:30] or "C_{" in line or "AURC" in line]
    cells = [cell for row in rows for cell in re.split(r"\||&", row)[2 if form == "latex" else 3 :]]
    numbers = re.findall(r"\d+(?:\.(\d+))?", " ".join(cell for cell in cells if "to" not in cell))
    assert len(numbers) > 20
    assert {len(decimals) for decimals in numbers} == {expected}


def test_rows_are_those_asked_for_in_that_order():
    results = golden_results("paired")
    text = table_text(results, "csv", Layout(("mae@0.5", "cmax"), 3))
    assert re.findall(r"^llm,zero_shot,([^,]*),", text, flags=re.MULTILINE) == ["risk@0.5", "cmax"]
    assert all(re.fullmatch(r"\d\.\d{3}|", line.split(",")[3].lstrip("-")) for line in text.splitlines()[1:])
    assert table_text(results, "markdown", Layout(("cmax",))).count("| llm |") == 1


@pytest.mark.parametrize(
    "rows",
    [
        ("augrc@0.3",),
        ("leaderboard", "cmax"),
    ],
)
def test_a_row_nobody_has_is_refused(rows, message):
    with pytest.raises(UserError) as refused:
        table_text(golden_results("paired"), "markdown", Layout(rows))
    message(refused.value)


@parametrize_few("form", ["markdown", "latex", "csv"], 1)
@pytest.mark.slow
def test_the_leaderboard_is_a_table_of_its_own(form):
    results = evaluated("zero_shot", "few_shot", "zero_shot", names=("a", "=b", "c"))
    text = table_text(results, form, Layout(("leaderboard",)))
    assert len(re.findall(r"1(?:–|--|,)3", text)) == 3, "nothing is decided, so each may have any rank"
    assert ("'=b" in text) == (form == "csv")


def test_the_command_takes_rows_and_digits(tmp_path):
    call = ("table", GOLDEN / "paired.json", "--rows", "cmax, augrc@C_common", "--digits", "1", "--confidence", "llm")
    found = demur(tmp_path, *call, "--format", "markdown")
    assert found.returncode == 0
    assert "| llm | Cmax | 0.7 [0.1, 1.0] |" in found.stdout
    wrong = demur(tmp_path, *call[:-3], "-1", "--format", "markdown")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "demur: digits -1, expected decimals from 0 to 15\n"
    board = demur(tmp_path, "table", GOLDEN / "one.json", "--format", "csv", "--rows", "leaderboard")
    assert board.stderr == "demur: a leaderboard needs several systems, and these are results of one\n"
