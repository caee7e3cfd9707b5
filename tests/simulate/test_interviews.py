"""Synthetic interviews: what is in the folder, and that the ideal answers are those of what was said."""

import csv
import io
import json
import tomllib

import pytest

from commands import demur
from demur import GAD7, PHQ8, UserError
from demur.extensions.lab.interviews import simulated_interviews
from demur.extensions.produce.scripted_answers import Script


@pytest.fixture(scope="module")
def many():
    return simulated_interviews(400, seed=5)


def rows(text, delimiter=","):
    return [*csv.DictReader(io.StringIO(text), delimiter=delimiter)]


def test_the_same_seed_gives_the_same_folder():
    assert simulated_interviews(6, seed=2).files() == simulated_interviews(6, seed=2).files()
    assert simulated_interviews(6, seed=2).files() != simulated_interviews(6, seed=3).files()


def test_interviews_are_ascii_and_of_12_to_40_lines_of_two_speakers(many):
    for interview in many.interviews:
        assert interview.transcript.isascii()
        lines = rows(interview.transcript, "\t")
        assert 12 <= len(lines) <= 40
        assert lines[0]["speaker"] == "Interviewer"
        assert "made up" in lines[0]["value"]
        assert {line["speaker"] for line in lines} == {"Interviewer", "Participant"}


def test_every_quote_was_said_and_an_item_without_one_has_no_score(many):
    for interview in many.interviews:
        assert [*interview.items] == [*PHQ8.items]
        for ideal in interview.items.values():
            assert set(ideal["quotes"]) <= set(interview.own)
            assert (ideal["score"] is None) == (not ideal["quotes"])


def test_items_are_spoken_of_as_often_as_they_should_and_one_in_ten_as_a_neighbour(many):
    ideals = [[ideal["score"] for ideal in each.items.values()] for each in many.interviews]
    pairs = [pair for said, truth in zip(ideals, many.truth) for pair in zip(said, truth)]
    spoken = [(said, truth) for said, truth in pairs if said is not None]
    assert len(spoken) / len(pairs) == pytest.approx(0.95 * 0.75, abs=0.03)
    assert {abs(said - truth) for said, truth in spoken} == {0, 1}
    # A neighbour beyond the end of the scale is the end itself.
    assert sum(said != truth for said, truth in spoken) / len(spoken) == pytest.approx(0.08, abs=0.03)
    assert sum(set(said) == {None} for said in ideals) / len(ideals) == pytest.approx(0.05, abs=0.025)


@pytest.mark.slow
def test_the_scripted_endpoint_tells_everybody_apart(many):
    script = Script.of(many.answers())
    for interview in many.interviews:
        assert script.person_in("\n".join(interview.own)).name == str(interview.participant)


def test_the_folder_holds_what_demur_produce_needs_and_says_that_it_is_made_up(tmp_path):
    made = simulated_interviews(30, seed=1)
    folder = made.write(tmp_path / "new" / "interviews")
    truth, train, dev = (rows((folder / f"{name}.csv").read_text()) for name in ("truth", "train", "dev"))
    assert (len(train), len(dev)) == (18, 12)
    assert [row["Participant_ID"] for row in truth] == [row["Participant_ID"] for row in train + dev]
    assert [[int(row[f"PHQ8_{item}"]) for item in PHQ8.items] for row in truth] == made.truth
    assert {row["synthetic"] for row in truth + train + dev} == {"true"}
    assert {path.name for path in (folder / "transcripts").iterdir()} == {
        f"{row['Participant_ID']}_TRANSCRIPT.csv" for row in truth
    }
    settings = tomllib.loads((folder / "produce.toml").read_text())
    assert all((folder / settings["data"][name]).exists() for name in ("transcripts", "truth", "split"))
    assert settings["data"]["synthetic"] is True
    answers = json.loads((folder / "answers.json").read_text())
    assert answers["synthetic"] is True
    assert [who["id"] for who in answers["participants"] if who["assessed"]] == [row["Participant_ID"] for row in dev]


def test_any_instrument_can_be_talked_about():
    made = simulated_interviews(3, seed=1, instrument=GAD7)
    assert made.files()["truth.csv"].startswith("Participant_ID,GAD7_Nervous,")
    assert [*made.interviews[0].items] == [*GAD7.items]


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="is there already; name a folder that is new or empty"):
        simulated_interviews(2, seed=1).write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_command_writes_the_folder_and_tells_a_mistake_in_one_line(tmp_path):
    words = ("simulate", "interviews", "--output", "talks", "--seed", "1", "--participants")
    told = demur(tmp_path, *words, "1")
    assert (told.returncode, told.stderr) == (2, "demur: participants 1, expected an integer, 2 or more\n")
    assert not (tmp_path / "talks").exists()
    told = demur(tmp_path, *words, "5")
    assert (told.returncode, told.stdout) == (0, "wrote talks: 5 made-up participants, 2 to be assessed\n")
    assert len([*(tmp_path / "talks").iterdir()]) == 6
