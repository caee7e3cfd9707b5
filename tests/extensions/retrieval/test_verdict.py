"""What is said of retrieval in words: the same on the console and on the page, and only what is shown."""

import pytest

from demur import Key, Plan, RetrievalSettings, evaluate_retrieval, rankings_of, report_html
from demur.extensions.retrieval.console import retrieval_text
from demur.extensions.retrieval.statements.verdict import retrieval_verdict
from pages import Page
from retrievals import with_rows
from said import said

FIRST, SECOND, MISSED, EMPTY = ["a", "b"], ["b", "a"], ["b", "c"], []
HALF = [set(), {"a"}] * 20


def made(resamples=200, gold=None, depths=(10,), prob=None, **lists):
    """Results of systems by name: one query a post, whose only evidence is `a` unless `gold` says otherwise."""
    size = len(next(iter(lists.values())))
    gold = gold or [{"a"}] * size
    extra = {"prob": prob} if prob else {}
    systems = {name: rankings_of(gold, ranked, **extra) for name, ranked in lists.items()}
    plan = Plan(resamples, seed=1 if resamples else None)
    return evaluate_retrieval(systems, settings=RetrievalSettings(depths=depths), plan=plan)


def verdict(results):
    return said(retrieval_verdict(results))


def mixed(good, bad, count=40):
    """Lists that are `bad` for one post in four and `good` for the others: there is something to resample."""
    return [bad if post % 4 == 0 else good for post in range(count)]


def test_a_clear_difference_names_the_better_system_on_either_side():
    found = verdict(made(old=mixed(SECOND, MISSED), new=mixed(FIRST, SECOND)))
    assert found.headline == "new ranks the evidence better than old."
    assert found.sentences[0] == "40 queries: 40 (100.0%) have evidence to find."
    assert found.sentences[1].startswith("old reaches an nDCG@10 of 0.4732 [")
    assert found.sentences[2].endswith("]: new is better.")
    swapped = verdict(made(new=mixed(FIRST, SECOND), old=mixed(SECOND, MISSED)))
    assert swapped.headline == "new ranks the evidence better than old."


def test_no_difference_names_neither():
    noise = [FIRST if post % 2 else SECOND for post in range(40)]
    found = verdict(made(one=noise, other=noise[1:] + noise[:1]))
    assert found.headline == "Neither system is shown to rank the evidence better."
    assert found.sentences[2].endswith("]: undecided, as the 95 % interval includes 0.")


def test_the_same_lists_twice_have_no_interval_and_no_winner():
    found = verdict(made(one=mixed(FIRST, SECOND), other=mixed(FIRST, SECOND)))
    assert found.headline == "Neither system is shown to rank the evidence better."


def test_one_system_alone_is_not_called_better():
    found = verdict(made(only=mixed(FIRST, MISSED)))
    assert found.headline.startswith("only reaches an nDCG@10 of 0.75 [")
    assert found.headline.endswith("] where there is evidence.")


def test_too_few_posts_take_the_strength_out_of_it():
    found = verdict(made(old=mixed(SECOND, MISSED, 12), new=mixed(FIRST, SECOND, 12)))
    assert found.headline == "new looks better at ranking the evidence, but too few posts stand behind that."
    assert "12 posts: intervals from fewer than 40 are rough." in found.warnings


def test_too_few_posts_that_differ_take_the_strength_out_of_it_too():
    some = [FIRST if post % 4 == 0 else SECOND for post in range(40)]
    found = verdict(made(old=[SECOND] * 10 + some, new=[FIRST] * 10 + some))
    assert found.headline == "new looks better at ranking the evidence, but too few posts differ."
    assert found.sentences[2].endswith("]: new looks better, but too few posts differ.")


def test_the_console_does_not_call_better_what_too_few_posts_stand_behind():
    some = [FIRST if post % 4 == 0 else SECOND for post in range(40)]
    lines = retrieval_text(made(old=[SECOND] * 10 + some, new=[FIRST] * 10 + some)).splitlines()
    assert [line for line in lines if line.startswith("  nDCG@10 ")][1].endswith("] looks better")
    assert "  looks better or worse: too few posts differ" in lines


def test_a_verdict_on_a_metric_without_letters_has_its_article():
    lists = {"only": rankings_of([{"a"}] * 40, mixed(FIRST, MISSED))}
    settings = RetrievalSettings(metrics=["P@1", "AP"])
    found = verdict(evaluate_retrieval(lists, settings=settings, plan=Plan(200, seed=1)))
    assert found.headline.startswith("only reaches a Precision@1 of 0.75 [")


@pytest.mark.parametrize(
    ("resamples", "posts", "reason"),
    [(0, 40, "nothing was resampled"), (50, 40, "too few resamples to decide"), (200, 1, "one post decides nothing")],
)
def test_nothing_is_decided_without_posts_and_draws(resamples, posts, reason):
    found = verdict(made(resamples, old=mixed(SECOND, MISSED, posts), new=mixed(FIRST, SECOND, posts)))
    assert found.headline == f"No conclusion: {reason}."
    assert found.sentences[2].endswith(f": {reason}.")


def test_nothing_returned_is_said_and_ranks_nothing():
    alone = verdict(made(silent=[EMPTY] * 40))
    assert alone.headline == "silent returned nothing: there is nothing to judge."
    both = verdict(made(silent=[EMPTY] * 40, mute=[EMPTY] * 40))
    assert both.headline == "No system returned anything: there is nothing to judge."
    one = verdict(made(silent=[EMPTY] * 40, new=mixed(FIRST, SECOND)))
    assert one.headline == "new ranks the evidence better than silent."
    assert one.failures == ("silent returned nothing for any query: every ranking number of it is 0.",)


def test_without_gold_there_is_nothing_to_find():
    found = verdict(made(gold=[set()] * 40, old=[SECOND] * 40, new=[FIRST] * 40))
    assert found.headline == "No query has gold: there is nothing to find, and no ranking to judge."
    assert found.sentences == ("40 queries: 0 (0.0%) have evidence to find.",)


@pytest.mark.slow
def test_one_class_only_has_nothing_to_detect():
    found = verdict(made(only=mixed(FIRST, SECOND), prob=[0.5] * 39 + [0.6]))
    assert found.sentences[-1].startswith("All queries have evidence, or none has: there is nothing to detect")
    sorted_out = verdict(made(gold=HALF, only=mixed(FIRST, SECOND), prob=[0.25, 0.75] * 20))
    assert sorted_out.sentences[-1].startswith("The probability tells queries with evidence from those without")
    assert "AUROC of 1" in sorted_out.sentences[-1]


@pytest.mark.slow
def test_probabilities_that_differ_are_told_with_their_systems():
    shared = made(old=mixed(SECOND, MISSED), new=mixed(FIRST, SECOND), gold=HALF, prob=[0.25, 0.75] * 20)
    apart = with_rows(shared, {Key("new", "auroc", "prob"): {"value": 0.5}})
    for results, names in (
        (shared, ["The probability"]),
        (apart, ["The probability of old", "The probability of new"]),
    ):
        sentences = [sentence for sentence in verdict(results).sentences if "AUROC" in sentence]
        assert [sentence.partition(" tells")[0] for sentence in sentences] == names


def test_of_several_systems_each_is_held_against_the_baseline():
    found = verdict(
        made(base=mixed(SECOND, FIRST), up=mixed(FIRST, SECOND), down=mixed(MISSED, SECOND), same=mixed(SECOND, FIRST))
    )
    assert found.headline == (
        "Ranking of the evidence, better than base: up; worse than base: down; not shown to differ: same."
    )


def test_without_depth_10_the_largest_depth_decides():
    found = verdict(made(depths=(1, 3), only=mixed(FIRST, MISSED)))
    assert found.headline.startswith("only reaches an nDCG@3 of ")


def test_the_console_and_the_page_say_the_same():
    results = made(old=mixed(SECOND, MISSED), new=mixed(FIRST, SECOND))
    conclusion = verdict(results)
    lines = retrieval_text(results).splitlines()
    population, *others = conclusion.sentences
    assert lines[lines.index(conclusion.headline) :][1 : 1 + len(others)] == others
    assert population.removesuffix(".") in lines
    page = Page(report_html(results)).text
    for sentence in (conclusion.headline, *conclusion.sentences, *conclusion.warnings):
        assert sentence in page
