"""What is said of an artifact in words: the same on the console and on the page, and right where it matters."""

import pytest

from demur import read_run
from demur.evaluation import Settings, evaluate
from demur.report.console import evaluation_text
from demur.report.html import report_html
from demur.resample import Plan
from demur.results import metrics_artifact
from demur.verdict import verdict
from runs import experiment, failure, participant, run, written

EVERY_ITEM = participant(1)["predicted_items"]


@pytest.fixture
def said(tmp_path):
    """The artifact and the verdict of one run or two, each a list of participants."""

    def of(*people, resamples=200):
        items = [
            read_run(written(tmp_path, run(experiment(*them)), f"{n}.json"), mode="few_shot")
            for n, them in enumerate(people)
        ]
        plan = Plan(resamples, seed=1 if resamples else None)
        made = metrics_artifact(evaluate(*items, settings=Settings(confidence="llm"), plan=plan))
        return made, verdict(made)

    return of


def people(count, predicted=None):
    return [participant(who, predicted) for who in range(count)]


def test_a_clear_difference_names_the_better_run(said):
    made, found = said(people(40), people(40, {"Sleep": 0}))
    assert made.comparison.deltas["llm"]["augrc_at_c"].ci95_recommended.low > 0
    assert found.headline == "left makes fewer or smaller errors at the coverage both reach."
    assert found.cautions == (
        "No answer has a loss: no two-sided interval, only an upper bound where the largest loss is known.",
        "200 resamples: the ends of intervals are rough below 1000, and 10000 are usual.",
    )
    _, swapped = said(people(40, {"Sleep": 0}), people(40))
    assert swapped.headline == "right makes fewer or smaller errors at the coverage both reach."


def test_no_difference_names_neither(said):
    _, found = said(people(40, {"Sleep": 0}), people(40, {"Sleep": 0}))
    assert found.headline == "Neither run is shown to be better."
    assert found.sentences[-1].endswith("differs by 0 [0, 0]; the interval holds 0, so neither is shown to be better.")


def test_different_coverages_forbid_the_raw_errors_and_the_full_areas(said):
    _, found = said(people(40, {"Sleep": 0}), people(40, {"Sleep": 0, "Moving": None, "Failure": None}))
    assert found.sentences[0].startswith("left answers 100.0% of the items and right 75.0%, so their raw errors")
    assert "Neither those errors nor the full areas may be compared." in found.sentences
    assert found.sentences[-1].startswith("At the coverage both reach (75.0%) the AUGRC")


def test_too_few_participants_are_not_said_to_decide(said):
    made, found = said(people(5, {"Sleep": 3}), people(5, {"Sleep": 0}))
    assert made.comparison.deltas["llm"]["augrc_at_c"].ci95_recommended.low > 0
    assert found.headline == "left looks better at the coverage both reach, but too few participants stand behind that."
    assert "5 participants: intervals from fewer than 40 are rough." in found.cautions
    _, alone = said(people(1, {"Sleep": 3}), people(1, {"Sleep": 0}))
    assert alone.headline == "No conclusion: one participant decides nothing."


def test_nothing_answered_is_never_ranked(said):
    silent = dict.fromkeys(EVERY_ITEM)
    _, one = said(people(5, silent))
    assert one.headline == "The run answered nothing: there is nothing to measure, and nothing to rank."
    made, found = said(people(5), people(5, silent))
    assert found.headline == "No conclusion: one side answers nothing."
    assert found.sentences == ("right answered nothing: there is nothing to compare, and nothing to rank.",)
    assert "better" not in found.headline
    assert "nothing is answered" in report_html(made)


@pytest.mark.parametrize(("failed", "often"), [(4, False), (5, True)])
def test_a_side_that_failed_often_is_told(said, failed, often):
    """More than one in ten of forty."""
    right = [failure(who) if who < failed else participant(who) for who in range(40)]
    _, found = said(people(40), right)
    counts = f"left failed on 0 and right failed on {failed} of 40 participants"
    expected = f"{counts}: they are in no number here, and may be the harder ones."
    assert found.failures == ((expected,) if often else ())


def test_without_resamples_nothing_is_concluded(said):
    _, found = said(people(40), people(40, {"Sleep": 0}), resamples=0)
    assert found.headline == "No conclusion: nothing was resampled."


def test_one_run_says_what_declining_more_would_give(said):
    """Sleep, third of eight by confidence from below, is wrong by 2 of 3: 2/24 over all, nothing above it."""
    _, found = said(people(40, {"Sleep": 0}))
    assert found.headline == "The run answers 100.0% of the items."
    assert found.sentences[0] == "The mean loss of its answers is 0.083 (abs(pred - gt) / 3)."
    assert found.sentences[1].startswith("Of the 50.0% of the items it is surest of under llm it is 0.000: lower than")


def test_console_and_page_say_the_same(said):
    made, found = said(people(40), people(40, {"Sleep": 0, "Moving": None}))
    console, page = evaluation_text(made), report_html(made)
    for sentence in found.sentences:
        assert sentence in console
        assert sentence.replace("left", "0.json").replace("right", "1.json") in page
