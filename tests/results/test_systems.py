"""Any number of systems: each difference is that of two, C_common is that of all, and who is compared is said."""

import json
from functools import cache

import pytest

from demur import Key, Minus, Plan, Settings, UserError, evaluate, read_run
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.inference.key import Pattern
from demur.results.load import results_of
from golden_runs import RUN, evaluated
from parametrized import parametrize_few
from runs import experiment, failure, participant, run, written

PLAN = Plan(40, seed=3)
COMMON = ("aurc@C_common", "augrc@C_common")
FIELDS = (
    "value",
    "std_error",
    "percentile",
    "recommended",
    "drop_rate",
    "p_value",
    "above",
    "below",
    "at",
    "threshold",
)


def numbers(row):
    return repr([getattr(row, name) for name in FIELDS])


@pytest.fixture(scope="module")
def systems():
    people = make_people(12, seed=1)
    kinds = {"zero": ZERO_SHOT, "zero/few": FEW_SHOT, "again": ZERO_SHOT}
    return {name: run_system(people, kind, seed=n).items() for n, (name, kind) in enumerate(kinds.items())}


@pytest.fixture(scope="module")
def compared(systems):
    """Some of the systems, or all, compared once for all tests."""

    @cache
    def of(*names, **settings):
        chosen = {name: systems[name] for name in names or systems}
        return evaluate(chosen, settings=Settings(**{"confidence": "llm,token_msp"} | settings), plan=PLAN)

    return of


@parametrize_few("baseline", ["zero", "zero/few", "again"], 1)
@pytest.mark.slow
def test_of_three_each_difference_is_that_of_two_but_in_common(compared, systems, baseline):
    found = compared(baseline=baseline)
    pairs = 0
    for other in systems:
        if other == baseline:
            continue
        two = compared(baseline, other)
        for row in two:
            if row.key.quantity not in COMMON:
                pairs += row.key.minus is not None
                assert numbers(found[row.key]) == numbers(row), row.key
    assert pairs == 2 * 2 * 17
    beyond = [row.key for row in found if row.key.minus and row.key.minus.value != baseline]
    assert [(key.quantity, key.confidence) for key in beyond] == [("augrc@C_common", "llm")], "what ranks them, alone"


def test_c_common_is_where_the_first_of_all_ends(compared, systems):
    found = compared()
    for confidence in found.selective.confidences:
        ends = {found[Key(name, "cmax", confidence)].value for name in systems}
        assert {found[Key(name, area, confidence)].at for name in systems for area in COMMON} == {min(ends)}


@pytest.mark.slow
def test_a_system_differs_from_itself_by_nothing(systems):
    found = evaluate(
        {"a": systems["zero"], "b": systems["again"], "c": systems["zero"]}, settings=Settings(), plan=PLAN
    )
    same = [row for row in found.where(system="c") if row.key.minus == Minus("system", "a")]
    assert len(same) == 2 * 19
    for row in same:
        if not row.undefined:
            assert row.value == 0.0
            assert {*row.evidence.reached} == {0.0}
            assert row.percentile is None or (row.percentile.low, row.percentile.high) == (0.0, 0.0)


@pytest.mark.slow
def test_the_order_systems_come_in_changes_no_number(compared):
    one = compared("zero", "zero/few", "again")
    other = compared("again", "zero/few", "zero", baseline="zero")
    assert {row.key for row in one} == {row.key for row in other}
    for row in one:
        assert numbers(other[row.key]) == numbers(row)


@pytest.mark.slow
def test_areas_are_cut_where_asked_if_they_are(compared):
    found = compared(area_coverage="0.25")
    assert not found.where(quantity="aurc@C_common")
    assert found.where(quantity="aurc@0.25", minus=None)[0].at == 0.25


def test_a_baseline_nobody_has(compared):
    with pytest.raises(UserError, match="no system is called few; did you mean zero/few"):
        compared(baseline="few")


def test_who_is_compared(tmp_path):
    """1 is in all; 2 failed in one; 3 is missing in one, which is an error with the counts unless it is asked for."""
    files = {
        "a": run(experiment(participant(1), participant(2), participant(3))),
        "b": run(experiment(participant(1, {"Sleep": 0}), failure(2), participant(3))),
        "c": run(experiment(participant(1), participant(2))),
    }
    items = {name: read_run(written(tmp_path, content, f"{name}.json")) for name, content in files.items()}
    with pytest.raises(
        UserError, match="the 3 inputs hold different participants; not in all of them: 1 of a .3, …., 1 of b"
    ):
        evaluate(items, settings=Settings(), plan=Plan(0, seed=None))
    found = evaluate(items, settings=Settings(intersection_only=True), plan=Plan(0, seed=None))
    study = found.selective
    assert (study.clusters_total, study.clusters_included, study.clusters_failed) == (2, 1, 1)
    assert [(system.name, system.failed, system.not_in_all) for system in study.systems] == [
        ("a", 0, 1),
        ("b", 1, 1),
        ("c", 0, 0),
    ]
    assert study.failed == (2,)
    assert (study.units, study.intersection_only) == (8, True)


def test_one_run_has_nothing_to_intersect_with():
    with pytest.raises(UserError, match="one run has nothing to intersect with"):
        evaluate(read_run(RUN, mode="zero_shot"), settings=Settings(intersection_only=True), plan=PLAN)


@pytest.mark.parametrize("given", [[], {}])
def test_no_system_is_refused(given):
    with pytest.raises(UserError, match="^nothing to evaluate: give a run file or a table"):
        evaluate(given, settings=Settings(), plan=PLAN)


@pytest.mark.slow
def test_a_mapping_and_a_list_of_runs_give_the_same_numbers():
    listed, named = (
        evaluated("zero_shot", "few_shot"),
        evaluated("zero_shot", "few_shot", names=("zero_shot", "few_shot")),
    )
    assert listed.to_columns() == named.to_columns()
    assert [source.label for source in named.study.inputs] == ["zero_shot", "few_shot"]


def test_what_is_true_of_the_sample_is_said_once(compared, systems):
    codes = [warning.code for warning in compared().warnings]
    for code in ("few_clusters", "few_resamples", "many_comparisons"):
        assert codes.count(code) == 1
    about = [warning.about for warning in compared().warnings if warning.code == "few_informative_clusters"]
    assert len({*about}) == len(about)
    assert all(pattern.system in systems and pattern.confidence for pattern in about)


def test_a_table_of_results_is_asked_by_the_columns_of_its_keys(compared):
    found = compared()
    assert len(found.where(system="zero", confidence="llm", minus=None, group=None)) == len(Settings().measures(3))
    assert found.one(system="again", quantity="aurc", confidence="llm").key == Key("again", "aurc", "llm")
    assert found.one(system="again", quantity="aurc", confidence="llm", minus=Minus("system", "zero")).p_value > 0
    assert [row.key for row in found][:2] == [found[0].key, found[1].key]
    assert found.get(Key("nobody", "aurc")) is None
    with pytest.raises(UserError, match="6 numbers have quantity 'aurc', expected one: name more columns"):
        found["aurc"]
    with pytest.raises(UserError, match="no quantity of these results is called ndcg@3"):
        found.one(quantity="ndcg@3")
    with pytest.raises(UserError, match="no column of a key is called metric"):
        found.where(metric="aurc")


def test_a_frame_tells_every_key_from_every_other(compared):
    found = compared()
    frame = found.to_frame()
    assert len(frame) == len(found)
    names = ["system", "quantity", "confidence", "among", "group", "level", "minus", "subtracted", "subtracted_level"]
    columns = [[*map(str, frame[name].to_list())] for name in names]
    assert len({*zip(*columns)}) == len(found)
    assert "zero/few" in frame["system"].to_list()


def test_results_can_be_narrowed_to_some_confidences(compared):
    found = compared()
    narrow = found.narrowed("token_msp")
    assert narrow.selective.confidences == ("token_msp",)
    assert {row.key.confidence for row in narrow} == {"token_msp", ""}
    assert {confidence for _, confidence in narrow.curves} == {"token_msp"}
    assert found.narrowed(None) is found
    assert found.narrowed("token_msp, llm").selective.confidences == ("token_msp", "llm")
    with pytest.raises(UserError, match="no confidence of these results is called msp; did you mean token_msp"):
        found.narrowed("msp")


def test_warnings_that_bear_on_a_number_are_those_about_nothing_else(compared):
    found = compared()
    for warning in found.about(system="zero", confidence="llm"):
        assert warning.about.system in (None, "zero")
        assert warning.about.confidence in (None, "llm")
    assert any(warning.about == Pattern() for warning in found.about(system="zero"))


def test_numbers_from_a_file_have_no_replicates(compared):
    again = results_of(json.loads(compared().text))
    with pytest.raises(UserError, match="a number read from a file has the intervals of the file"):
        again[0].interval("percentile")
