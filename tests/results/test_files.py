"""Result files of both kinds: whatever names they hold, they read back as they were."""

import json
import math
import re
from dataclasses import fields
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_schemas import SCHEMAS

from awkward import IDS, NAMES
from demur import Estimate, Group, Key, Minus, Plan, Results, ResultWarning, Settings, UserError, evaluate
from demur.files.write import json_text
from demur.inference.key import Pattern
from demur.inference.warnings import KINDS
from demur.results import json_table, json_v1
from demur.results.load import results_of
from golden_runs import WHEN, evaluated
from installation import needs_all
from made_results import pair_text, results_of_systems, system, table_of_three
from parametrized import parametrize_few

NOT_IN_V1 = ("drop_rate", "other_threshold_rate", "evidence", "short_domain_rate", "above", "below")


NUMBER = re.compile(r"(-?\d+\.\d+(?:e-?\d+)?)")


def plain(row, without=("evidence",)):
    """An estimate as text: every field but a few, undefined equal to undefined."""
    return repr([(field.name, getattr(row, field.name)) for field in fields(Estimate) if field.name not in without])


def through_text(content):
    return json.loads(json_text(content))


def read_back(results):
    """The same results, from the text of the file they are written to; and the file they are written to again."""
    again = results_of(through_text(results.to_json()))
    assert again.text == results.text
    assert again.systems == results.systems
    return again


def as_table(results):
    """The same results from a columnar file, which can hold those of one or two systems too."""
    again = json_table.decoded(through_text(json_table.encoded(results)))
    assert json_text(json_table.encoded(again)) == json_text(json_table.encoded(results))
    return again


@settings(max_examples=settings.default.max_examples // 2)
@given(
    names=st.lists(NAMES, min_size=1, max_size=3, unique=True),
    clusters=st.lists(IDS, min_size=3, max_size=5, unique=True),
    item=NAMES,
    data=st.data(),
)
@pytest.mark.slow
def test_any_name_comes_back_from_either_file(names, clusters, item, data):
    baseline = data.draw(st.sampled_from(names))
    found = results_of_systems(names, clusters, item, baseline=baseline)
    assert found.systems == tuple(names)
    table = as_table(found)
    assert [*map(plain, table)] == [*map(plain, found)]
    assert [*table.warnings] == [*found.warnings]
    again = read_back(found)
    if len(names) > 2:
        assert [*map(plain, again)] == [*map(plain, found)]
    elif baseline == names[0]:
        assert {row.key for row in again} == {row.key for row in found}
        for row in found:
            assert plain(again[row.key], NOT_IN_V1) == plain(row, NOT_IN_V1)


@settings(max_examples=settings.default.max_examples // 4)
@given(modes=st.lists(NAMES, min_size=2, max_size=2, unique=True))
@pytest.mark.slow
def test_the_modes_of_two_runs_name_them_if_they_can(modes):
    """They do not where a run on the left is called right: then their numbers are what they are called by."""
    content = json.loads(pair_text())
    for source, mode in zip(content["inputs"], modes):
        source |= {"mode": mode, "label": None}
    assert results_of(content).systems == tuple(modes)
    for mode, source in zip(("right", "left"), content["inputs"]):
        source["mode"] = mode
        source["run_id"] = source["path"] = None
    assert results_of(content).systems == ("system 1", "system 2")


@parametrize_few("names", [("right", "left"), ("left", "b"), ("x" * 300 + "1", "x" * 300 + "2"), (" a", "a ")], 1)
@pytest.mark.slow
def test_a_name_somebody_chose_is_never_exchanged_for_another(names):
    found = results_of_systems(names)
    assert found.systems == read_back(found).systems == as_table(found).systems == names
    for name, before in zip(names, found.study.systems):
        assert before.name == name


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_system_has_a_name(name):
    with pytest.raises(UserError, match="a system is called .*, expected a name"):
        results_of_systems([name, "b"])


@parametrize_few("confidence", ["a:b", "a b", "a left", "a: left", "sure/2", "x: left risk@0.3", "é"], 1)
@pytest.mark.slow
def test_a_warning_has_the_pattern_it_was_written_with(confidence):
    items = {name: system(seed, "abcd", confidences=("a", confidence)) for seed, name in enumerate("lr")}
    found = evaluate(
        items,
        settings=Settings(loss="abs", confidence=f"a,{confidence}", coverages=("0.3", "0.9"), created_at=WHEN),
        plan=Plan(20, seed=1),
    )
    assert len({warning.about for warning in found.warnings}) > 4
    for again in (read_back(found), as_table(found)):
        assert [(warning.code, warning.about) for warning in again.warnings] == [
            (warning.code, warning.about) for warning in found.warnings
        ]
        assert [warning.message() for warning in again.warnings] == [warning.message() for warning in found.warnings]


def test_every_warning_of_the_golden_files_has_its_pattern(paired, one):
    for results in (paired, one):
        for warning in results.warnings:
            assert warning.of_sample or warning.about.confidence in results.selective.confidences, warning
        assert all(warning.code in KINDS for warning in results.warnings)


def test_a_warning_of_another_version_keeps_its_sentence():
    content = table_of_three()
    content["warnings"] = [
        {"code": "heat", "about": {"system": "a"}, "parameters": {"degrees": 40}, "message": "40 degrees"},
        {"code": "few_clusters", "about": {}, "parameters": {"people": 4}, "message": "only 4 clusters"},
        {"code": "few_clusters", "about": {}, "parameters": {"noun": "x"}, "message": "only 5 clusters"},
    ]
    results = results_of(content)
    assert results.warnings[0].message(results.study.noun) == "40 degrees"
    assert [warning.text for warning in results.warnings] == ["40 degrees", "only 4 clusters", "only 5 clusters"]
    assert results.to_json()["warnings"][0] == content["warnings"][0]


def test_a_name_in_a_sentence_is_not_reworded():
    criteria = ResultWarning("criterion_without_gold", text="no query with gold in cluster headache")
    assert criteria.message("post") == "no query with gold in cluster headache"
    assert ResultWarning("few_clusters", text="3 clusters: few").message("participant") == "3 participants: few"


@parametrize_few("grid", [("1/3", "0.5"), ("0.100", "0.1001"), (".5", "1"), ("0.12345678",)], 2)
@parametrize_few("cut", [None, "0.5", "0.25"], 1)
def test_coverages_come_back_as_they_were_typed(grid, cut):
    found = evaluated("zero_shot", "few_shot", confidence="llm", coverages=grid, area_coverage=cut)
    again = read_back(found)
    assert {row.key for row in again} == {row.key for row in found}
    assert again.selective.coverages == found.selective.coverages
    assert again.selective.area_coverage == found.selective.area_coverage


@pytest.mark.slow
def test_the_numbers_of_a_file_are_those_that_were_computed(paired):
    modes = ("zero_shot", "few_shot")
    found = evaluated(*modes, confidence="all", plan=Plan(200, seed=7))
    assert {row.key for row in found} == {row.key for row in paired}
    for row in found:
        kept, made = (NUMBER.split(plain(each, NOT_IN_V1)) for each in (paired[row.key], row))
        assert kept[::2] == made[::2]
        assert [*map(float, made[1::2])] == pytest.approx([*map(float, kept[1::2])], rel=1e-10, abs=1e-12)


@needs_all
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_current(name):
    shipped = files("demur").joinpath(f"schemas/{name}").read_text(encoding="utf-8")
    assert shipped == json_text(SCHEMAS[name]()), "run `make docs`"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_schemas(name):
    shipped = files("demur").joinpath(f"schemas/{name}").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(shipped))


def test_columns_hold_every_kind_of_key():
    """A part of the units, a mean over parts, a group minus the rest, a confidence minus another, a convention."""
    found = results_of_systems(("a", "b", "c"))
    keys = [
        Key("a", "aurc", among="with_gold", group=Group("criterion", "A/1")),
        Key("a", "aurc", among="with_gold", group=Group("criterion")),
        Key("b", "aurc", "sure", group=Group("sex", "F"), minus=Minus("group", Group("sex", "rest"))),
        Key("b", "aurc", "sure", minus=Minus("confidence", "other")),
        Key("c", "aurc", "sure", convention="fd-shifts"),
        Key("c", "aurc", "sure", group=Group("a=b", "c")),
        Key("c", "aurc", "sure", group=Group("a", "b=c")),
    ]
    rows = [Estimate(key, math.nan, undefined="so") for key in keys]
    made = Results([*found, *rows], found.study, found.curves, [ResultWarning("x", Pattern(group=Group("sex")))])
    again = as_table(made)
    assert [row.key for row in again] == [row.key for row in made]
    assert [*map(plain, again)] == [*map(plain, made)]
    assert again.warnings[0].about == Pattern(group=Group("sex"))


def test_the_shapes_of_the_two_files():
    assert json.loads(pair_text())["schema_version"] == "1"
    assert table_of_three()["schema_version"] == "2"
    assert [*table_of_three()][:4] == ["schema_version", "task", "created_at", "tool"]
    assert json_v1.schema()["properties"]["schema_version"]["const"] == "1"
