"""Simulated runs: reproducible, valid, and like what they are meant to be like."""

import json

import numpy as np
import pytest

from commands import demur
from demur import GAD7, Curve, Measure, Scores, UserError, grade, read_run
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, System, make_people, run_system
from demur.facts.columns import State
from demur.facts.signals import SIGNALS
from runs import written


def test_a_simulated_run_is_a_valid_file_with_every_signal(tmp_path):
    run = run_system(make_people(5, seed=1), ZERO_SHOT, seed=1)
    items = read_run(written(tmp_path, run.to_json("zero_shot", "sim")), mode="zero_shot")
    assert set(items.signals) == set(SIGNALS)
    assert all(not column.is_(State.MISSING).any() for column in items.signals.values())
    for confidence in ("llm_evidence_count", "token_msp", "token_pe", "hybrid_consistency"):
        by_file = Curve.of(grade(items, loss="abs", confidence=confidence))
        assert Measure.of("aurc")(by_file) == Measure.of("aurc")(Curve.of(run.graded("abs", confidence)))


def test_a_simulated_run_file_has_the_totals_the_model_and_the_split_of_a_real_one(tmp_path):
    demur(tmp_path, "simulate", "runs", "--output", "run.json", "--seed", 1, "--failures", 1)
    run = json.loads((tmp_path / "run.json").read_text())
    assert [one["provenance"]["split"] for one in run["experiments"]] == ["dev", "dev"]
    assert all(one["results"]["model"] for one in run["experiments"])
    *people, failed = run["experiments"][1]["results"]["results"]
    assert [*failed] == ["participant_id", "success", "error"]
    for person in people:
        true, given = [*person["ground_truth_items"].values()], [*person["predicted_items"].values()]
        errors = [abs(a - b) for a, b in zip(true, given) if b is not None]
        assert person["ground_truth_total"] == sum(true)
        assert person["predicted_total"] == sum(score or 0 for score in given)
        assert (person["available_items"], person["na_items"]) == (len(errors), given.count(None))
        assert person["mae_available"] == (sum(errors) / len(errors) if errors else None)
    assert any(person["na_items"] for person in people)


def test_the_facts_of_a_simulated_run_are_those_of_its_file(tmp_path):
    run = run_system(make_people(5, seed=1), ZERO_SHOT, seed=1)
    made, by_file = run.items(), read_run(written(tmp_path, run.to_json("zero_shot", "sim")), mode="zero_shot")
    for name in ("cluster_ids", "failed", "item_names", "instrument", "noun"):
        assert getattr(made, name) == getattr(by_file, name)
    for name in ("cluster", "item", "truth", "answer", "answered", "nan_answer"):
        assert getattr(made, name).dtype == getattr(by_file, name).dtype
        assert getattr(made, name).tolist() == getattr(by_file, name).tolist()
    assert {name: [*column] for name, column in made.signals.items()} == {
        name: [*column] for name, column in by_file.signals.items()
    }


def test_the_same_seed_gives_the_same_run_and_another_another():
    def answers(seed):
        return run_system(make_people(9, seed=seed), FEW_SHOT, seed=seed).answer.tolist()

    assert answers(3) == answers(3) != answers(4)


def test_two_systems_see_the_same_people():
    people = make_people(30, seed=2)
    left, right = (run_system(people, system, seed=s) for s, system in ((1, ZERO_SHOT), (2, FEW_SHOT)))
    assert (left.people.truth == right.people.truth).all()


@pytest.mark.parametrize(("system", "cmax", "mae"), [(ZERO_SHOT, 0.569, 0.698), (FEW_SHOT, 0.716, 0.852)])
def test_the_two_systems_resemble_the_published_pair(system, cmax, mae):
    run = run_system(make_people(20_000, seed=9), system, seed=9)
    found = Scores(Curve.of(run.graded("abs", "token_msp")), ["cmax", "mae"])
    assert found["cmax"] == pytest.approx(cmax, abs=0.01)
    assert found["mae"] == pytest.approx(mae, abs=0.02)


def test_insight_makes_a_better_ranking():
    people = make_people(4_000, seed=1)
    ranking = [
        Measure.of("eaugrc")(Curve.of(run_system(people, System(insight=insight), seed=1).graded("abs", "token_msp")))
        for insight in (0.0, 0.5, 1.0)
    ]
    assert ranking == sorted(ranking, reverse=True)


def test_items_of_a_person_are_alike_as_much_as_asked():
    severity = make_people(4_000, seed=1, correlation=0.6).severity
    assert np.corrcoef(severity[:, 0], severity[:, 1])[0, 1] == pytest.approx(0.6, abs=0.05)


def test_another_instrument():
    run = run_system(make_people(3, seed=1, instrument=GAD7), ZERO_SHOT, seed=1)
    assert run.answer.shape == (3, 7)


def test_a_run_is_ranked_by_variants_and_by_signals_that_are_numbers():
    run = run_system(make_people(2, seed=1), ZERO_SHOT, seed=1)
    with pytest.raises(UserError, match="no confidence variant or signal is called evidence_source"):
        run.graded("abs", "evidence_source")
    surest = run.graded("abs", "token_pe").confidence.argmax()
    assert run.signals["token_pe"][run.answered].argmin() == surest


@pytest.mark.parametrize(
    "wrong",
    [
        {"participants": 0},
        {"participants": 2.0},
        {"participants": 3, "correlation": 1.5},
        {"participants": 3, "correlation": "a"},
        {"participants": 3, "seed": -1},
    ],
)
def test_a_design_that_makes_no_sense(wrong):
    with pytest.raises(UserError, match="expected"):
        make_people(**{"seed": 1, **wrong})
