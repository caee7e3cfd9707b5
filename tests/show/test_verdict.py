"""What is said of results in words: the same on the console and on the page, and right where it matters."""

import pytest

from artifacts import difference, evaluated
from demur import report_html
from demur.results.table import system_names
from demur.show.console import evaluation_text
from demur.show.names import systems_of
from demur.show.statements.decisions import Decision, Doubt, Incomparable, decide
from demur.show.statements.verdict import verdict
from parametrized import parametrize_few
from runs import failure, participant
from said import said as in_words

EVERY_ITEM = participant(1)["predicted_items"]


@pytest.fixture
def said():
    """The results and the verdict of one run or two, each a list of participants."""

    def of(*people, resamples=200, **settings):
        made = evaluated(*people, resamples=resamples, **settings)
        return made, in_words(verdict(made))

    return of


def people(count, predicted=None):
    return [participant(who, predicted) for who in range(count)]


def test_a_clear_difference_names_the_better_run(said):
    made, found = said(people(40), people(40, {"Sleep": 0}))
    assert difference(made, "augrc@C_common").recommended.low > 0
    assert (
        found.headline
        == "0.json looks better up to the coverage both reach (100.0%), but too few participants hold an error."
    ), "none of the first does"
    assert found.warnings == (
        (
            "0.json: no answer has a loss: no two-sided interval, only an upper bound where the largest loss is known, "
            "if no participant is larger than the largest here."
        ),
        "200 resamples: the ends of intervals are rough below 1000, and 10000 are usual.",
    )
    _, swapped = said(people(40, {"Sleep": 0}), people(40))
    assert (
        swapped.headline
        == "1.json looks better up to the coverage both reach (100.0%), but too few participants hold an error."
    )


@pytest.mark.slow
def test_a_level_of_ones_choice_is_shown_and_decides_nothing(said):
    """Half of the people are a little better on the left, half on the right: a narrow interval would call a winner."""
    left = [participant(who, {"Sleep": 0} if who % 2 else {}) for who in range(40)]
    right = [participant(who, {"Sleep": 0} if who % 2 == 0 or who < 8 else {}) for who in range(40)]
    made, found = said(left, right, level=0.1, interval="percentile")
    delta = difference(made, "augrc@C_common")
    assert delta.recommended.low < 0 < delta.recommended.high
    assert delta.requested.low > 0
    assert found.headline == "Neither run is shown to be better."
    assert f"[{delta.requested.low:.3g}, {delta.requested.high:.3g}]" in found.sentences[-1]
    decides = f"the recommended 95 % interval [{delta.recommended.low:.3g}, {delta.recommended.high:.3g}] includes 0"
    assert f"(10 % interval, 1.json − 0.json): undecided, as {decides}" in found.sentences[-1]
    assert f"undecided, as {decides}\n" in evaluation_text(made)


@pytest.mark.slow
def test_an_interval_that_was_asked_for_and_is_not_there_is_not_replaced_by_another(said):
    worse = [participant(who, {"Sleep": 0, "Tired": 1} | ({"Moving": 1} if who % 2 else {})) for who in range(40)]
    made, found = said(worse, people(40, {"Sleep": 0}), interval="analytic_log")
    assert difference(made, "augrc@C_common").value < 0, "which has no logarithm"
    assert difference(made, "augrc@C_common").requested is None
    assert "[" not in found.sentences[-1]


@pytest.mark.slow
def test_a_better_order_is_not_said_to_be_fewer_errors(said):
    """Left is wrong twice, where it is least sure; right once, where it is most confident."""
    left, right = people(40, {"NoInterest": 1, "Depressed": 0}), people(40, {"Moving": 2})
    _, found = said(left, right)
    assert found.headline.startswith("0.json makes fewer or smaller errors, over all thresholds")
    assert found.sentences[-1].startswith("With everything answered 1.json makes the fewer or smaller errors")


def test_an_area_that_ends_before_the_coverage_asked_for_says_where(said):
    predicted = {"Sleep": 0, "Moving": None, "Failure": None}
    made, found = said(people(40, predicted), people(40, predicted | {"Tired": 0}), area_coverage="0.9")
    assert "up to the coverage both reach (75.0%)" in found.headline
    assert "AUGRC to 0.9 (ends at 0.75)" in evaluation_text(made)


def test_no_difference_names_neither(said):
    _, found = said(people(40, {"Sleep": 0}), people(40, {"Sleep": 0}))
    assert found.headline == "Neither run is shown to be better."
    assert found.sentences[-1].endswith(
        "differs by 0 [0, 0] (1.json − 0.json): undecided, as the 95 % interval includes 0."
    )


def test_different_coverages_forbid_the_raw_errors_and_the_full_areas(said):
    _, found = said(people(40, {"Sleep": 0}), people(40, {"Sleep": 0, "Moving": None, "Failure": None}))
    shares = "0.json answers 320 of 320 items (100.0%) and 1.json 240 (75.0%), so their raw errors"
    assert found.sentences[0].startswith(shares)
    assert "neither these nor the full areas may be compared" in found.sentences[0]
    assert found.sentences[-1].startswith("Up to the coverage both reach (75.0%) the AUGRC")


def test_runs_whose_modes_are_called_left_and_right_are_called_by_their_files(said):
    made, _ = said(people(3), people(3))
    swapped = [one.model_copy(update={"mode": mode}) for one, mode in zip(made.study.inputs, ("right", "left"))]
    assert system_names(swapped) == ("0.json", "1.json")
    assert [system.name for system in systems_of(made)] == ["0.json", "1.json"]


@pytest.mark.slow
def test_too_few_participants_are_not_said_to_decide(said):
    made, found = said(people(5, {"Sleep": 3}), people(5, {"Sleep": 0}))
    assert difference(made, "augrc@C_common").recommended.low > 0
    assert (
        found.headline == "0.json looks better up to the coverage both reach (100.0%), but too few participants differ."
    )
    assert "5 participants: intervals from fewer than 40 are rough." in found.warnings
    _, alone = said(people(1, {"Sleep": 3}), people(1, {"Sleep": 0}))
    assert alone.headline == "No conclusion: one participant decides nothing."


def test_nothing_answered_is_never_ranked(said):
    silent = dict.fromkeys(EVERY_ITEM)
    _, one = said(people(5, silent))
    assert one.headline == "few_shot answered nothing: there is nothing to measure, and nothing to rank."
    made, found = said(people(5), people(5, silent))
    assert found.headline == "No conclusion: one side answers nothing."
    assert found.sentences == ("1.json answered nothing: there is nothing to compare, and nothing to rank.",)
    assert "better" not in found.headline
    assert "nothing is answered" in report_html(made)


@parametrize_few(("failed", "often"), [(4, False), (5, True)], 1)
def test_a_side_that_failed_often_is_told(said, failed, often):
    """More than one in ten of forty."""
    right = [failure(who) if who < failed else participant(who) for who in range(40)]
    _, found = said(people(40), right)
    counts = f"0.json failed on 0 and 1.json on {failed} of 40 participants"
    expected = f"{counts}: they are excluded from all results, and may be the harder ones."
    assert found.failures == ((expected,) if often else ())


def test_without_resamples_nothing_is_concluded(said):
    _, found = said(people(40), people(40, {"Sleep": 0}), resamples=0)
    assert found.headline == "No conclusion: nothing was resampled."


def test_one_run_says_what_declining_more_would_give(said):
    """Sleep, third of eight by confidence from below, is wrong by 2 of 3: 2/24 over all, nothing above it."""
    _, found = said(people(40, {"Sleep": 0}))
    assert found.headline == "few_shot answers 320 of 320 items (100.0%)."
    assert found.sentences[0] == "The mean loss of its answers is 0.083 (abs(pred - gt) / 3)."
    assert found.sentences[1].startswith(
        "On the half it is most confident about, by llm, the error is 0.000: lower than"
    )


def test_console_and_page_say_the_same(said):
    made, found = said(people(40), people(40, {"Sleep": 0, "Moving": None}))
    console, page = evaluation_text(made), report_html(made)
    for sentence in found.sentences:
        assert sentence in console
        assert sentence in page


@parametrize_few(("baseline", "sign"), [("0.json", 1), ("1.json", -1)], 1)
def test_the_winner_is_the_same_whichever_is_the_baseline(baseline, sign):
    made = evaluated(people(40), people(40, {"Sleep": 0}), baseline=baseline)
    [row] = [row for row in made.where(quantity="augrc@C_common") if row.key.minus]
    assert sign * row.recommended.low > 0
    assert decide(made, row.key) == Decision("0.json", doubt=Doubt("participant", "hold an error"))


def test_a_side_without_a_loss_in_range_is_doubted_as_one_with_few(said):
    """Wrong everywhere on the left; on the right only where it is least sure, beyond the coverage compared at."""
    wrong = {item: 0 if EVERY_ITEM[item] else 1 for item in EVERY_ITEM}
    left = [participant(who, wrong if who % 4 else {}) for who in range(40)]
    last = participant(1)["item_signals"]
    least = min(last, key=lambda item: last[item]["llm_evidence_count"])
    right = [participant(who, {least: wrong[least]} if who % 4 else {}) for who in range(40)]
    made, found = said(left, right, area_coverage="0.2")
    assert decide(made, difference(made, "augrc@0.2").key).doubt == Doubt("participant", "hold an error")
    assert found.headline.endswith("but too few participants hold an error.")


def test_what_never_favours_a_side_names_no_winner(said):
    made, _ = said(people(40), people(40, {"Sleep": 0, "Moving": None}))
    assert difference(made, "cmax").recommended.high < 0
    assert decide(made, difference(made, "cmax").key) == Decision()
    assert decide(made, difference(made, "augrc").key) == Decision(incomparable=Incomparable("cmax"))
    assert decide(made, difference(made, "eaugrc").key).reason == "not comparable: Cmax differs"


def test_few_resamples_decide_nothing(said):
    made, _ = said(people(40), people(40, {"Sleep": 0}), resamples=99)
    assert decide(made, difference(made, "augrc").key) == Decision(obstacle="too few resamples to decide")


@pytest.mark.slow
def test_of_several_systems_each_is_set_against_the_baseline(said):
    _, found = said(people(40, {"Sleep": 0}), people(40), people(40, {"Sleep": 0, "Tired": 1}))
    assert found.headline == "1.json looks the best of 3 systems, but too few participants hold an error."
    against, *others = found.sentences
    assert (
        against
        == "AUGRC against 0.json (lower is better): lower: 1.json (too few participants hold an error); higher: 2.json."
    )
    assert [sentence.count("s better") for sentence in others] == [1, 1]
    assert [sentence.count("looks better") for sentence in others] == [1, 0], "one has no error at all"
