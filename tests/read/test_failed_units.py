"""Units that failed, and several systems in one long table."""

import json
from fractions import Fraction

import pytest

from commands import demur
from demur import (
    Instrument,
    Plan,
    Settings,
    TableOptions,
    UserError,
    evaluate,
    load,
    read_systems,
    read_table,
)
from demur.facts.alignment import aligned
from runs import written


def with_status(*states, **columns):
    """Units x, y of cluster a, and z of cluster b, with what became of each."""
    table = {"cluster": ["a", "a", "b"], "item": ["x", "y", "z"], "loss": [0.5, 1, 0], "status": [*states]}
    return table | {"sure": [1, 2, 3]} | columns


def codes(items, *others):
    """The warnings of an evaluation that are about units that failed, with what they say."""
    results = evaluate([items, *others], settings=Settings(confidence="sure"), plan=Plan(0, seed=None))
    return [dict(each.parameters) for each in results.warnings if each.code == "units_failed"]


class TestFailed:
    ABSTAIN = TableOptions(failed_units="abstain")

    def test_a_unit_that_failed_is_left_out_and_counted(self):
        items = read_table(with_status("ok", "failed", "ok"))
        assert (len(items), items.cluster_ids, items.failed) == (2, ("a", "b"), ())
        assert items.failed_units.names == (("a", "y"),)
        assert codes(items) == [{"units": 1, "share": 1 / 3, "cmax": 2 / 3}]

    def test_it_may_count_as_an_abstention_whatever_it_holds(self):
        items = read_table(with_status("ok", "failed", "ok"), options=self.ABSTAIN)
        assert (items.answered.tolist(), items.ignored_answers) == ([True, False, True], 0)
        assert codes(items) == [{"units": 1, "share": 1 / 3, "cmax_without": 1.0}]
        flagged = with_status("ok", "failed", "ok", abstained=[False, None, False])
        assert read_table(flagged, options=self.ABSTAIN).answered.tolist() == [True, False, True]

    def test_causes_are_counted_the_most_frequent_first(self):
        items = read_table(with_status("failed: refused ", "failed", "ok"))
        assert (items.failed_units.causes, items.failed_units.by_cause) == (("refused", ""), {"refused": 1})
        many = {"cluster": [1, 1, 1, 1, 2], "loss": [None] * 4 + [0]}
        states = ["failed: b", "failed: a: timeout", "failed:a: timeout", "failed: c", "ok"]
        failed = read_table(many | {"status": states}).failed_units
        assert failed.by_cause == {"a: timeout": 2, "b": 1, "c": 1}

    def test_causes_are_in_both_files_and_on_the_console(self, tmp_path):
        rows = [
            f"{n},{n % 2},{n / 10},{'failed: timeout' if n < 3 else 'failed' if n == 3 else 'ok'}" for n in range(9)
        ]
        path = written(tmp_path, "\n".join(["cluster,loss,sure,status", *rows]) + "\n", "t.csv")
        same = ["--confidence", "sure", "--seed", "1", "--bootstrap-resamples", "20"]
        done = demur(tmp_path, "evaluate", path, *same, "--output", "m.json")
        assert "items that failed: 4, left out\nfailed by: timeout 3\n" in done.stdout
        population = json.loads((tmp_path / "m.json").read_text())["population"]
        causes = [{"cause": "timeout", "units": 3}]
        assert (population["units_failed"], population["failed_by_cause"]) == (4, causes)
        assert load(tmp_path / "m.json").selective.systems[0].failed_by_cause[0].units == 3
        other = written(tmp_path, path.read_text().replace("timeout", "refused"), "o.csv")
        done = demur(tmp_path, "evaluate", path, f"other={other}", *same, "--output", "two.json")
        assert "t.csv failed by: timeout 3\nother failed by: refused 3\n" in done.stdout
        sides = json.loads((tmp_path / "two.json").read_text())["population"]["failed_by_cause"]
        assert sides == {"left": causes, "right": [{"cause": "refused", "units": 3}]}
        assert demur(tmp_path, "audit", "--data", path, "--reported", "m.json").returncode == 0

    def test_a_cluster_without_a_unit_that_is_left_has_failed(self):
        items = read_table(with_status("failed", "failed", "ok"))
        assert (items.cluster_ids, items.failed) == (("b",), ("a",))

    def test_a_unit_that_failed_in_one_system_is_left_out_of_all(self):
        left, right = read_table(with_status("ok", "failed", "ok")), read_table(with_status("ok", "ok", "failed"))
        found = aligned({"left": left, "right": right})
        assert [items.unit_names for items in found.systems.values()] == [[("a", "x")], [("a", "x")]]
        assert (found.overlap, found.included, dict(found.failed)) == (2, 1, {"left": 0, "right": 1})
        third = read_table(with_status("failed", "ok", "ok"))
        with pytest.raises(UserError, match="nothing to compare: no unit succeeded in all systems"):
            aligned({"left": left, "right": right, "third": third}, intersection_only=False)

    def test_numbers_within_a_cluster_count_those_that_failed(self):
        table = {"cluster": ["a", "a"], "loss": [None, 1], "status": ["failed", "ok"]}
        assert read_table(table).unit_names == [("a", "2")]

    def test_an_instrument_need_not_have_the_items_that_failed(self):
        scale = Instrument("two", ("q1", "q2"), 0, 3)
        table = {"cluster": [1, 1, 2], "item": ["q1", "q2", "q1"], "truth": [1, 1, 1], "prediction": [1, None, 1]}
        failed = table | {"status": ["ok", "failed", "ok"]}
        with pytest.raises(UserError, match="cluster 2, q2: missing, expected all 2 items of two$"):
            read_table(failed, instrument=scale)
        whole = {name: values[:2] for name, values in failed.items()}
        assert read_table(whole, instrument=scale).unit_names == [(1, "q1")]

    @pytest.mark.parametrize(
        ("states", "rule"),
        [
            (("ok", "error", "ok"), "drop"),
            (("ok", None, "ok"), "drop"),
            (("failed", "ok", "failed"), "refuse"),
            (("failed", "failed", "failed"), "drop"),
        ],
    )
    def test_what_is_wrong_is_told(self, states, rule, message):
        with pytest.raises(UserError) as refused:
            read_table(with_status(*states), options=TableOptions(failed_units=rule))
        message(refused.value)

    def test_a_rule_nobody_knows_is_told_with_the_others(self):
        with pytest.raises(UserError, match="rule for failed units is called abstained; did you mean abstain"):
            TableOptions(failed_units="abstained")


class TestSystems:
    def test_systems_are_told_apart_in_the_order_they_turn_up_in(self):
        table = {"system": ["b", 7, "b"], "cluster": [1, 1, 2], "loss": [0, 0.5, 1]}
        found = read_systems(table)
        losses = {name: items.losses for name, items in found.items()}
        read = {name: [Fraction(int(each), loss.divisor) for each in loss.numerators] for name, loss in losses.items()}
        assert read == {"b": [0, 1], "7": [Fraction(1, 2)]}
        with pytest.raises(UserError, match="2 systems, expected one: b, 7"):
            read_table(table)

    def test_texts_of_one_system_make_texts_of_all(self, tmp_path):
        text = "system,cluster,truth,prediction\na,1,7,7\nb,1,7,seven\n"
        found = read_systems(written(tmp_path, text, "t.csv"), instrument=None)
        aligned(found)
        assert [items.right.tolist() for items in found.values()] == [[True], [False]]

    @pytest.mark.parametrize("name", [None, "", " a", 0.5])
    def test_a_system_has_a_name(self, name):
        with pytest.raises(UserError, match="row 2: system .*, expected the name of a system"):
            read_systems({"system": ["a", name], "cluster": [1, 1], "loss": [0, 1]})
