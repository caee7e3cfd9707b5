"""Run files that are refused: one line that names the place, whatever is wrong with them."""

import json
from copy import deepcopy

import numpy as np
import pytest

from demur import UserError, read_run
from runs import experiment, failure, participant, run, written


def broken(change):
    """A run of two participants after `change` did something to it."""
    content = run(experiment(participant(300), participant(301)))
    change(content)
    return content


def people(content):
    return content["experiments"][0]["results"]["results"]


def predicting(value):
    return lambda content: people(content)[0]["predicted_items"].update(Sleep=value)


def signalling(**signals):
    return lambda content: people(content)[0]["item_signals"]["Sleep"].update(signals)


def identified(person):
    return lambda content: people(content)[0].update(participant_id=person)


WRONG_CONTENT = {
    "pred true": predicting(True),
    "pred 1.5": predicting(1.5),
    "pred 7": predicting(7),
    "pred -5": predicting(-5),
    "pred text": predicting("2"),
    "pred huge": predicting(10**400),
    "truth null": lambda c: people(c)[0]["ground_truth_items"].update(Sleep=None),
    "truth 4": lambda c: people(c)[1]["ground_truth_items"].update(Moving=4),
    "9th item": lambda c: people(c)[0]["predicted_items"].update(Extra=1),
    "missing item": lambda c: people(c)[0]["item_signals"].pop("Sleep"),
    "missing map": lambda c: people(c)[0].pop("predicted_items"),
    "map is a list": lambda c: people(c)[0].update(predicted_items=[1]),
    "signals of an item are a number": lambda c: people(c)[0]["item_signals"].update(Sleep=3),
    "id 300.7": identified(300.7),
    "id true": identified(True),
    "id empty": identified(" "),
    "id half a character": identified("\ud800"),
    "id null": identified(None),
    "300 and '300'": identified("301"),
    "same participant twice": identified(301),
    "successful and failed": lambda c: people(c).append(failure(300)),
    "success missing": lambda c: people(c)[0].pop("success"),
    "success 'false'": lambda c: people(c)[0].update(success="false"),
    "participant is a list": lambda c: people(c).append([]),
    "no experiments": lambda c: c.update(experiments=[]),
    "experiments missing": lambda c: c.pop("experiments"),
    "experiment is null": lambda c: c.update(experiments=[None]),
    "results missing": lambda c: c["experiments"][0].pop("results"),
    "no participants": lambda c: people(c).clear(),
    "all failed": lambda c: [person.update(success=False) for person in people(c)],
    "mode is a number": lambda c: c["experiments"][0]["results"].update(mode=3),
    "run id is a list": lambda c: c["run_metadata"].update(run_id=[]),
    "verbalized 6": signalling(verbalized_confidence=6),
    "verbalized 0.5": signalling(verbalized_confidence=0.5),
    "token_msp 1.01": signalling(token_msp=1.01),
    "token_msp true": signalling(token_msp=True),
    "token_msp text": signalling(token_msp="0.5"),
    "negative count": signalling(llm_evidence_count=-1),
    "half a count": signalling(llm_evidence_count=1.5),
    "negative entropy": signalling(token_pe=-0.1),
    "source is a number": signalling(evidence_source=1),
    "source is a list": signalling(evidence_source=["llm"]),
}


@pytest.mark.parametrize("change", WRONG_CONTENT.values(), ids=WRONG_CONTENT)
def test_wrong_content_is_one_line_that_names_the_place(tmp_path, change, message):
    path = written(tmp_path, broken(change))
    with pytest.raises(UserError) as caught:
        read_run(path)
    assert str(caught.value).startswith(f"{path}: ")
    message(caught.value)
    assert "\n" not in str(caught.value)


def test_the_first_mistake_is_told_and_the_others_are_counted(tmp_path):
    content = broken(predicting(7))
    people(content)[0]["predicted_items"]["Moving"] = 9
    people(content)[1]["item_signals"]["Tired"]["token_msp"] = 2
    with pytest.raises(UserError, match=r"participant 300, Sleep: predicted 7, .* \(and 2 more\)$"):
        read_run(written(tmp_path, content))


GOOD = json.dumps(run(experiment(participant(300))))
WRONG_TEXT = {
    "a member twice": GOOD.replace('"success": true', '"success": true, "success": false'),
    "NaN": GOOD.replace('"Sleep": 2', '"Sleep": NaN'),
    "Infinity": GOOD.replace('"Sleep": 2', '"Sleep": -Infinity'),
    "1e999": GOOD.replace('"predicted_items": {"NoInterest": 0', '"predicted_items": {"NoInterest": 1e999'),
    "1e999 as a signal": GOOD.replace('"llm_evidence_count": 3', '"llm_evidence_count": 1e999'),
    "byte order mark": "\ufeff" + GOOD,
    "cut short": GOOD[:100],
    "nested": "[" * 100_000,
    "a long integer": GOOD.replace('"Sleep": 2', '"Sleep": ' + "9" * 5000),
    "empty": "",
    "a list": "[]",
    "not UTF-8": b"\xff\xfe" + GOOD.encode("utf-16-le"),
}


@pytest.mark.parametrize("text", WRONG_TEXT.values(), ids=WRONG_TEXT)
def test_text_that_is_no_run_is_one_line(tmp_path, text, message):
    with pytest.raises(UserError) as caught:
        read_run(written(tmp_path, text))
    message(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(UserError, match=r"nowhere\.json: cannot be read \(No such file or directory\)"):
        read_run(tmp_path / "nowhere.json")
    with pytest.raises(UserError, match=r"cannot be read \(Is a directory\): name a file in it"):
        read_run(tmp_path)


@pytest.mark.slow
def test_members_that_never_repeat_do_not_eat_the_memory(tmp_path):
    content = run(experiment(*(participant(person, **{f"s{person}": 1}) for person in range(1_100))))
    with pytest.raises(UserError, match="more than 1000 different signals"):
        read_run(written(tmp_path, content))


def test_names_that_a_terminal_would_obey_are_shown_harmlessly(tmp_path):
    content = run(experiment(participant("\x1b[31mred\nnext", {"Sleep": 9})))
    with pytest.raises(UserError) as caught:
        read_run(written(tmp_path, content))
    assert r"participant '\x1b[31mred\nnext', Sleep: predicted 9" in str(caught.value)


@pytest.mark.slow
def test_random_changes_give_a_clean_error_or_a_valid_result(tmp_path):
    """Values of a run replaced at random: nothing but UserError may come out."""
    rng = np.random.default_rng(3)
    values = [None, True, -1, 1.5, 7, "x", [], {}, "", 10**30, 1e300, "300", [[]], {"mode": 1}]
    good = run(experiment(participant(300), failure(301), participant("x")))
    outcomes = set()
    for _ in range(300):
        content = deepcopy(good)
        here = content
        while isinstance(here, (dict, list)) and here:
            keys = list(here) if isinstance(here, dict) else range(len(here))
            key = keys[int(rng.integers(len(keys)))]
            if rng.random() < 0.25 or not isinstance(here[key], (dict, list)):
                here[key] = values[int(rng.integers(len(values)))]
                break
            here = here[key]
        try:
            items = read_run(written(tmp_path, content))
        except UserError as error:
            outcomes.add("refused")
            assert "\n" not in str(error)
        else:
            outcomes.add("read")
            assert len(items) == 8 * len(items.cluster_ids)
    assert outcomes == {"refused", "read"}
