"""Two runs on the same people: who is compared, and what may be said of it."""

import pytest

from demur import Plan, Settings, UserError, evaluate, read_run
from demur.show.console import evaluation_text
from golden_runs import evaluated
from runs import experiment, failure, participant, run, written


@pytest.fixture
def run_of(tmp_path):
    return lambda name, *people: read_run(written(tmp_path, run(experiment(*people)), name))


def both(left, right, **how):
    return evaluate([left, right], settings=Settings(**how), plan=Plan(5, seed=1))


def line_of(results, start):
    return next(line for line in evaluation_text(results).splitlines() if line.startswith(start))


def test_different_participants_are_refused_with_counts(run_of):
    left = run_of("l.json", participant(1), participant(2), participant(3))
    right = run_of("r.json", participant(2), failure(4))
    message = r"the 2 inputs hold different participants; not in all of them: 2 of .* \(1, …\), 1 of .* \(4, …\);"
    with pytest.raises(UserError, match=rf"{message} Settings\(intersection_only=True\) compares the 1 they share"):
        both(left, right)
    study = both(left, right, intersection_only=True).selective
    assert study.intersection_only
    assert [system.not_in_all for system in study.systems] == [2, 1]
    assert (study.clusters_total, study.clusters_included) == (1, 1)


def test_another_ground_truth_is_refused_unless_it_is_left_out(run_of):
    left, other = run_of("l.json", participant(1), participant(2)), participant(2)
    other["ground_truth_items"]["Tired"] = 0
    with pytest.raises(UserError, match="participant 2, Tired: ground truth 3 in .*, 0 in "):
        both(left, run_of("r.json", participant(1), other))
    assert both(left, run_of("f.json", participant(1), failure(2))).selective.clusters_included == 1


def test_an_abstention_is_needless_where_the_other_run_answers_right(run_of):
    """The truth of Sleep is 2, of Tired 3: the right run has the first right and the second wrong."""
    left = run_of("l.json", participant(1, {"Sleep": None, "Tired": None, "Moving": None}))
    right = run_of("r.json", participant(1, {"Tired": 0, "Moving": None, "Failure": None}))
    declined = [system.needless_abstentions for system in both(left, right).selective.systems]
    assert [(cases.count, [(case.participant, case.item) for case in cases.first]) for cases in declined] == [
        (1, [(1, "Sleep")]),
        (1, [(1, "Failure")]),
    ]


def test_risks_are_compared_where_both_are_at_the_same_coverage():
    found = evaluated("zero_shot", "few_shot", loss="abs", confidence="llm")
    assert line_of(found, "  risk at 0.10").endswith("reached at 0.188 and 0.25")


def test_an_area_cut_beyond_one_side_is_called_by_what_was_requested():
    beyond = evaluated("zero_shot", "few_shot", confidence="llm", area_coverage="0.8", plan=Plan(100, seed=1))
    assert line_of(beyond, "  AURC to ").startswith("  AURC to 0.8 ")
    assert "not comparable: one " in line_of(beyond, "  AURC to ")
    assert "Cut at a coverage of 80.0% the AUGRC" in evaluation_text(beyond)


@pytest.mark.slow
def test_a_side_without_errors_shows_its_bound(run_of):
    left = run_of("l.json", *(participant(who) for who in range(5)))
    right = run_of("r.json", *(participant(who, {"Sleep": 0}) for who in range(5)))
    assert "0 (at most " in line_of(both(left, right), "  AUGRC  ")


def test_no_variant_in_common(run_of):
    def bare(who, signal):
        person = participant(who)
        person["item_signals"] = {item: {signal: 1} for item in person["item_signals"]}
        return person

    left, right = run_of("l.json", bare(1, "token_msp")), run_of("r.json", bare(1, "consistency_modal_confidence"))
    settings, plan = Settings(confidence="all"), Plan(5, seed=1)
    with pytest.raises(UserError, match=r"no variant is served .*token_msp; .*consistency"):
        evaluate([left, right], settings=settings, plan=plan)
    message = "n.json: no confidence variant can be served: participant 1, NoInterest: llm_evidence_count is missing"
    with pytest.raises(UserError, match=message):
        evaluate(run_of("n.json", bare(1, "own")), settings=settings, plan=plan)
