"""A signal of which less is surer: the numbers of its negative, with thresholds on its own scale, everywhere."""

import json
from dataclasses import replace

import pytest

from demur import Plan, Settings, UserError, evaluate, load, read_table, report_html
from demur.extensions.audit.results_audit import audited_runs
from demur.show.console import evaluation_text
from pages import Page

ENTROPY = [0.1, 0.4, 0.25, 0.25, 0.7, 2 / 3, 0.0, 0.3]
ROWS = {"cluster": ["a", "a", "b", "b", "c", "c", "d", "d"], "loss": [0, 1, 0, 1, None, 0.5, 0, 1], "entropy": ENTROPY}
TURNED = Settings(confidence="entropy", lower_is_surer=("entropy",))
PLAN = Plan(50, seed=1)


def evaluated(settings=TURNED, **columns):
    dated = replace(settings, created_at="2026-01-31T12:00:00Z")
    return evaluate(read_table(ROWS | columns), settings=dated, plan=PLAN)


@pytest.fixture(scope="module")
def turned():
    return evaluated()


def test_every_number_is_that_of_the_negative(turned):
    plain = evaluated(Settings(confidence="entropy"), entropy=[-value for value in ENTROPY])
    assert len(plain) == len(turned) > 20
    for row, other in zip(turned, plain, strict=True):
        back = None if row.threshold is None else 0.0 - row.threshold
        assert repr(replace(row, threshold=back)) == repr(other)


def test_thresholds_and_histogram_are_on_the_scale_of_the_signal(turned):
    record = turned.curves[turned.systems[0], "entropy"]
    assert record.lower_is_surer is True
    assert record.curve.threshold == (0.0, 0.1, 0.25, 0.3, 0.4, 2 / 3)
    assert (record.histogram.edges[0], record.histogram.edges[-1]) == (0.0, 2 / 3)
    assert turned.one(quantity="risk@0.3", minus=None).threshold == 0.25


def test_a_plain_signal_says_nothing_of_a_direction():
    assert "lower_is_surer" not in evaluated(Settings(confidence="entropy")).text


def test_console_and_page_say_it_and_show_thresholds_that_can_be_typed(turned):
    assert "entropy, lower is surer   6 operating points" in evaluation_text(turned)
    page = Page(report_html(turned))
    assert page.text.count("a lower value is surer: a threshold accepts what is at or below it.") == 1
    [[run]] = page.points
    assert [text.partition("=")[0] for text in run["typed"].split()] == ["0", "0.1", "0.25", "0.3", "0.4", "0.7"]


def test_a_file_is_read_back_and_audited(turned, tmp_path):
    again = load(turned.save(tmp_path / "m.json"))
    assert again.lower_is_surer == ("entropy",)
    findings = audited_runs(again, [read_table(ROWS)], None, None)
    assert {finding.status for finding in findings} == {"match"}


@pytest.mark.parametrize(("lower", "words"), [(True, "increasing"), (None, "decreasing")])
def test_a_file_whose_thresholds_run_the_other_way_is_refused(turned, tmp_path, lower, words):
    content = json.loads(turned.text)
    record = content["confidence_variants"]["entropy"]
    if lower:
        record["curve"]["threshold"].reverse()
    else:
        del record["lower_is_surer"]
    (tmp_path / "m.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match=f"the thresholds of the curve are not strictly {words}"):
        load(tmp_path / "m.json")


def test_to_turn_a_signal_twice_would_turn_it_back():
    with pytest.raises(UserError, match="entropy is given twice"):
        Settings(confidence="entropy", lower_is_surer=("entropy", "entropy"))


@pytest.mark.parametrize(
    ("confidence", "lower"),
    [
        ("entropy", "entropie"),
        ("llm", "llm"),
        ("secondary:llm+token_msp:average", "secondary:llm+token_msp:average"),
    ],
)
def test_only_a_signal_that_is_asked_for_can_be_turned(confidence, lower, message):
    signals = {"llm_evidence_count": [1] * 8, "token_msp": [0.5] * 8}
    with pytest.raises(UserError) as refused:
        evaluated(Settings(confidence=confidence, lower_is_surer=(lower,)), **signals)
    message(refused.value)
