"""Run files: what a good one gives, and the one line a bad one gets."""

import hashlib
import json

import pytest

from demur import GAD7, PHQ8, Curve, UserError, grade, read_run
from demur.facts.columns import State
from runs import experiment, failure, participant, run, written


def test_a_run_becomes_units_in_order_of_participant_and_item(tmp_path):
    path = written(
        tmp_path, run(experiment(participant(302, {"Sleep": None}), failure(7), participant(30, {"Tired": 1})))
    )
    items = read_run(path)
    assert items.cluster_ids == (30, 302)
    assert items.failed == (7,)
    assert len(items) == 2 * 8
    assert items.item.tolist() == [*range(8)] * 2
    assert items.answered.tolist() == [True] * 8 + [True, True, False, *[True] * 5]
    assert items.answer[3] == 1
    assert items.truth.tolist() == [0, 1, 2, 3] * 4
    assert items.signals["llm_evidence_count"].values.tolist() == [*range(8)] * 2


def test_the_source_says_which_bytes_these_are(tmp_path):
    path = written(tmp_path, run(experiment(participant(1))))
    source = read_run(path).source
    assert (source.path, source.run_id, source.git_commit, source.mode) == (str(path), "r1", "abc", "few_shot")
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_participant_who_answered_nothing_stays_in(tmp_path):
    silent = participant(2, dict.fromkeys(PHQ8.items))
    items = read_run(written(tmp_path, run(experiment(participant(1), silent))))
    curve = Curve.of(grade(items, loss="abs_norm", confidence="llm_evidence_count"))
    assert (curve.units, curve.cmax, curve.divisor) == (16, 1 / 2, 3)


def test_missing_null_and_value_are_kept_apart(tmp_path):
    person = participant(1, token_msp=None)
    person["item_signals"]["Sleep"]["token_msp"] = 0.5
    del person["item_signals"]["Tired"]["token_msp"]
    column = read_run(written(tmp_path, run(experiment(person)))).signals["token_msp"]
    states = [State(state).name for state in column.state]
    assert states == ["NULL", "NULL", "NUMBER", "MISSING", "NULL", "NULL", "NULL", "NULL"]


def test_using_a_signal_some_unit_lacks_names_the_unit(tmp_path):
    person = participant(1, own=0.5)
    del person["item_signals"]["Tired"]["own"]
    items = read_run(written(tmp_path, run(experiment(person))))
    with pytest.raises(UserError, match="^own: participant 1, Tired: own is missing; this run can serve: llm, total_"):
        grade(items, loss="abs", confidence="own")
    person["predicted_items"]["Tired"] = None
    items = read_run(written(tmp_path, run(experiment(person))))
    assert grade(items, loss="abs", confidence="own").answered == 7, "it abstained there"
    with pytest.raises(UserError, match="no confidence variant or signal is called token_mps; did you mean token_msp"):
        grade(items, loss="abs", confidence="token_mps")


def test_unknown_members_are_kept_or_ignored_never_refused(tmp_path):
    person = participant(1, mine=[1, {"a": None}], evidence_source="both", flag=True) | {"notes": {"x": [1e3]}}
    items = read_run(written(tmp_path, run(experiment(person)) | {"extra": 1}))
    assert items.signals["mine"].cell(0) == [1, {"a": None}]
    assert items.signals["evidence_source"].cell(0) == "both"


def test_another_instrument_goes_through_the_same_code(tmp_path):
    values = dict.fromkeys(GAD7.items, 1)
    person = {"participant_id": "a", "success": True, "ground_truth_items": values, "predicted_items": values}
    person["item_signals"] = {item: {} for item in GAD7.items}
    items = read_run(written(tmp_path, run(experiment(person))), instrument="GAD-7")
    assert (len(items), items.cluster_ids) == (7, ("a",))


def test_integer_and_text_ids_sort_apart(tmp_path):
    people = [participant(person) for person in ("b", 10, "a", 9)]
    assert read_run(written(tmp_path, run(experiment(*people)))).cluster_ids == (9, 10, "a", "b")


class TestChoosingAnExperiment:
    two = run(experiment(participant(1), mode="zero_shot"), experiment(participant(2), mode="few_shot"))

    def test_by_mode(self, tmp_path):
        items = read_run(written(tmp_path, self.two), mode="few_shot")
        assert (items.cluster_ids, items.source.mode) == ((2,), "few_shot")

    def test_by_index(self, tmp_path):
        assert read_run(written(tmp_path, self.two), experiment=0).cluster_ids == (1,)

    def test_several_and_none_asked_for(self, tmp_path):
        with pytest.raises(UserError, match="2 experiments and no mode was asked for.*0: zero_shot; 1: few_shot"):
            read_run(written(tmp_path, self.two))

    def test_no_such_mode(self, tmp_path):
        with pytest.raises(UserError, match="no experiment of mode two_shot.*0: zero_shot; 1: few_shot"):
            read_run(written(tmp_path, self.two), mode="two_shot")

    @pytest.mark.parametrize("index", [-1, 2])
    def test_no_such_index(self, tmp_path, index):
        with pytest.raises(UserError, match=f"there is no experiment {index}"):
            read_run(written(tmp_path, self.two), experiment=index)

    def test_index_and_mode_that_do_not_go_together(self, tmp_path):
        with pytest.raises(UserError, match="experiment 0 is not of mode few_shot"):
            read_run(written(tmp_path, self.two), experiment=0, mode="few_shot")

    def test_two_of_the_mode_asked_for(self, tmp_path):
        twice = run(experiment(participant(1)), experiment(participant(2)))
        with pytest.raises(UserError, match="several are of mode few_shot; choose one by experiment"):
            read_run(written(tmp_path, twice), mode="few_shot")
        assert read_run(written(tmp_path, twice), experiment=1).cluster_ids == (2,)

    def test_provenance_and_results_that_disagree(self, tmp_path):
        torn = run(experiment(participant(1)))
        torn["experiments"][0]["provenance"]["mode"] = "zero_shot"
        path = written(tmp_path, torn)
        for mode in (None, "zero_shot", "few_shot"):
            with pytest.raises(UserError, match="contradicts itself.*provenance says zero_shot, results say few_shot"):
                read_run(path, mode=mode)
        assert read_run(path, experiment=0).source.mode == "few_shot"


def test_the_facts_cannot_be_changed(tmp_path):
    items = read_run(written(tmp_path, run(experiment(participant(1)))))
    with pytest.raises(ValueError, match="read-only"):
        items.truth[0] = 3


def test_deep_but_legal_nesting_is_read(tmp_path):
    content = run(experiment(participant(1))) | {"deep": json.loads("[" * 200 + "]" * 200)}
    assert len(read_run(written(tmp_path, content))) == 8
