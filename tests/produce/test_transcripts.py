"""Transcripts are found by participant and never elsewhere, and lose what nobody said."""

import pytest

from demur import UserError
from demur.extensions.produce.failures import ParticipantFailure
from demur.extensions.produce.transcripts import TranscriptFolder

HEADER = "start_time\tstop_time\tspeaker\tvalue\n"
DAIC = HEADER + (
    "0.1\t0.5\tParticipant\t<synch>\n"
    "0.6\t1.0\tParticipant\tbefore it began\n"
    "1.0\t2.0\tEllie\thi how are you\n"
    '2.0\t3.0\tParticipant\t fine  "I said\n'
    "3.0\t9.0\tParticipant\tthe phone rang\n"
    "9.5\t10\tParticipant\twhere were we\n"
)


def lines(folder, person="300", **how):
    return TranscriptFolder(folder, **how).read(person)


def test_the_participants_lines_without_marks_and_preamble(tmp_path):
    (tmp_path / "300_TRANSCRIPT.csv").write_text(DAIC)
    assert lines(tmp_path) == ('fine "I said', "the phone rang", "where were we")
    assert lines(tmp_path, speaker="both") == (
        "Interviewer: hi how are you",
        'Participant: fine "I said',
        "Participant: the phone rang",
        "Participant: where were we",
    )


def test_interruptions_are_left_out_by_their_times(tmp_path):
    (tmp_path / "300_TRANSCRIPT.csv").write_text(DAIC)
    assert lines(tmp_path, windows={"300": [(3.5, 8.0)]}) == ('fine "I said', "where were we")
    assert len(lines(tmp_path, windows={"301": [(3.5, 8.0)], "300": [(3.0, 3.0), (100, 200)]})) == 3


@pytest.mark.parametrize("folder", ["", "300_P"])
@pytest.mark.parametrize(("name", "text"), [("300_TRANSCRIPT.csv", DAIC), ("300.txt", "well\nfine\nok\n")])
def test_files_may_be_beside_each_other_or_in_folders(tmp_path, folder, name, text):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / name).write_text(text)
    assert len(lines(tmp_path)) == 3


def test_plain_text_may_name_who_speaks(tmp_path):
    (tmp_path / "300.txt").write_text("[sync]\nParticipant: um\nInterviewer: hello\nPARTICIPANT:  hi\r\nand so on\n")
    assert lines(tmp_path) == ("hi", "and so on")
    assert lines(tmp_path, speaker="both") == ("Interviewer: hello", "Participant: hi", "and so on")


BROKEN = {
    "transcript_empty": b"start_time\tstop_time\tspeaker\tvalue\n1\t2\tEllie\thello\n",
    "transcript_unreadable": b"\xff\xfe",
    "transcript_missing": None,
}


@pytest.mark.parametrize("category", BROKEN)
def test_what_is_wrong_with_a_transcript_is_a_category(tmp_path, category):
    if BROKEN[category] is not None:
        (tmp_path / "300_TRANSCRIPT.csv").write_bytes(BROKEN[category])
    with pytest.raises(ParticipantFailure) as failure:
        lines(tmp_path)
    assert failure.value.category == category


@pytest.mark.parametrize("row", ["1\t2\tEllie", "a\tb\tEllie\tx", "1\t2\tEllie\tx\ty"])
def test_a_row_that_does_not_fit_makes_a_transcript_unreadable(tmp_path, row):
    (tmp_path / "300_TRANSCRIPT.csv").write_text(HEADER + row + "\n")
    with pytest.raises(ParticipantFailure) as failure:
        lines(tmp_path)
    assert failure.value.category == "transcript_unreadable"


@pytest.mark.parametrize("person", ["../secret", "a/b", "a\\b", "..", ".hidden", "", "a\nb", "C:x", "a\0b"])
def test_an_id_never_leads_out_of_the_folder(tmp_path, person):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("a secret\n")
    with pytest.raises(UserError, match="the id names a file"):
        lines(tmp_path / "in", person)


def test_two_transcripts_of_one_participant_are_refused(tmp_path):
    (tmp_path / "300.txt").write_text("a\n")
    (tmp_path / "300_TRANSCRIPT.csv").write_text(DAIC)
    with pytest.raises(UserError, match="participant 300 has 2 transcripts"):
        lines(tmp_path)
