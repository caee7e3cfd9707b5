"""Logs of Inspect that are refused: one line each that says what to do, and nothing written."""

import math

import pytest

from commands import demur
from importing import refused
from inspect_logs import archive, json_log, members_of, samples, scored

NAN_OUTSIDE = "not valid JSON: nan is not a JSON number; it is allowed only as a score's value"
SEVERAL = "sample doc0-q0, epoch 1: scorer both gives several values: correct, polite"
OF_ALL = "23 of 24 samples"
EXACT = ("--scorer", "exact")
REFUSED = {
    "several scorers": (
        json_log(),
        (),
        f"3 scorers: exact ({OF_ALL}), graded ({OF_ALL}), both ({OF_ALL}); choose one with --scorer",
    ),
    "an unknown scorer": (
        json_log(),
        ("--scorer", "exakt"),
        "no scorer is called exakt; there are: exact, graded, both",
    ),
    "several values": (
        json_log(),
        ("--scorer", "both"),
        f"{SEVERAL}; choose one with --value-key",
    ),
    "no such value": (
        json_log(),
        ("--scorer", "both", "--value-key", "x"),
        f"{SEVERAL}, none of them x; choose one with --value-key",
    ),
    "a needless key": (
        json_log([scored("C")]),
        ("--value-key", "x"),
        "sample doc0-q0, epoch 1: scorer only gives one value: leave out --value-key",
    ),
    "a list": (
        json_log([scored([1])]),
        (),
        "sample doc0-q0, epoch 1: scorer only gives a list, expected one value",
    ),
    "a word": (
        json_log([scored("maybe")]),
        (),
        'sample doc0-q0, epoch 1: score "maybe", expected C, I, P, N, a number, true or false',
    ),
    "a score out of range": (
        json_log([scored(3)]),
        (),
        "sample doc0-q0, epoch 1: score 3 is outside 0:1; give its range, --score-range LOW:HIGH",
    ),
    "an infinite score": (
        json_log([scored(math.inf)]),
        (),
        "sample doc0-q0, epoch 1: score Infinity, expected C, I, P, N, a number, true or false",
    ),
    "a wrong path": (
        json_log(),
        (*EXACT, "--cluster", "metadata.participant"),
        "no metadata.participant in 24 samples; there are: document, topic, language",
    ),
    "a cluster missing once": (
        json_log([scored("C") | {"metadata": {}}, *samples()[1:3]]),
        (*EXACT, "--cluster", "metadata.document"),
        "sample doc0-q0, epoch 1: no metadata.document, which is its cluster",
    ),
    "a cluster that is a list": (
        json_log([scored("C") | {"metadata": {"document": [1]}}]),
        ("--cluster", "metadata.document"),
        "sample doc0-q0, epoch 1: metadata.document is [1], expected a text or a number",
    ),
    "a signal that is text": (
        json_log(),
        (*EXACT, "--confidence", "metadata.topic"),
        "sample doc0-q0, epoch 1: metadata.topic is 'europe', expected a number",
    ),
    "NaN in the metadata": (
        json_log([scored("C") | {"metadata": {"x": math.nan}}]),
        (),
        "samples[0]: not valid JSON: NaN is not a JSON number",
    ),
    "NaN beside a score": (
        json_log([scored("C", metadata={"x": math.nan})]),
        (),
        f"sample doc0-q0, epoch 1: {NAN_OUTSIDE}",
    ),
    "half a character": (
        json_log([scored("C") | {"id": "\ud800"}]).replace(b"\xed\xa0\x80", b"\\ud800"),
        (),
        "sample '\\ud800', epoch 1: a text holds half of a character, which no file can hold",
    ),
    "a sample twice": (
        json_log([scored("C"), scored("C")]),
        (),
        "sample doc0-q0, repeat 1 appears twice; logs of several runs are imported one at a time",
    ),
    "a blank id": (
        json_log([scored("C") | {"id": " "}]),
        (),
        "sample ' ', epoch 1: its id is blank, expected a text or a number",
    ),
    "no answer under other rules": (
        json_log(),
        (*EXACT, "--abstain", "value=I"),
        'sample doc0-q0, epoch 1: score "N" abstains by default, which --abstain replaces: add --abstain value=N',
    ),
    "no id": (json_log([{"epoch": 1}]), (), "sample null, epoch 1: expected an id, an epoch from 1, and scores"),
    "no epoch": (
        json_log([scored("C") | {"epoch": 0}]),
        (),
        "sample 'doc0-q0', epoch 0: expected an id, an epoch from 1, and scores",
    ),
    "no samples": (json_log([]), (), "no samples: there is nothing to import"),
    "no samples, as the run failed": (
        json_log([], status="error"),
        (),
        "no samples: there is nothing to import; the log says 'error', not success: the run may not have ended",
    ),
    "cut off": (json_log()[:5000], EXACT, "samples[1]: not valid JSON: it ends early"),
    "not a log": (b"{}", (), "not an Inspect log: eval is missing, expected an object"),
    "samples first": (b'{"samples": []}', (), "not an Inspect log: eval, which comes before the samples, is missing"),
    "not JSON": (b"hello", (), "not valid JSON: expected { and found h"),
    "an odd rule": (
        json_log(),
        ("--abstain", "choice=x"),
        "--abstain 'choice=x', expected value=N or answer~=REGEX or field:PATH=VALUE or unscored",
    ),
    "an odd expression": (
        json_log(),
        ("--abstain", "answer~=("),
        "--abstain answer~='(' is not a regular expression: missing ), unterminated subpattern at position 0",
    ),
    "an odd range": (json_log(), ("--score-range", "1:0"), "--score-range '1:0', expected LOW:HIGH, such as 0:10"),
    "a truncated archive": (
        archive(members_of())[:-40],
        EXACT,
        "not a complete zip archive: it has no directory; was it copied before the run ended?",
    ),
    "another archive": (
        archive([("a.txt", b"x")]),
        (),
        "not an Inspect log: it has neither header.json nor _journal/start.json",
    ),
    "a large member": (
        archive(members_of()),
        (*EXACT, "--max-member", "1K"),
        "member samples/doc0-q0_epoch_1.json would unpack to 1.2 kB: more than 1 kB (--max-member)",
    ),
    "an odd limit": (
        archive(members_of()),
        ("--max-member", "much"),
        "--max-member 'much', expected a size, such as 500M or 2G",
    ),
}
OF_THE_CALL = {"an odd rule", "an odd expression", "an odd range"}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_one_line(log, case):
    content, options, message = REFUSED[case]
    place = "" if case in OF_THE_CALL else "log.eval: "
    assert refused(log(content), "inspect", "log.eval", *options) == f"{place}{message}"


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    assert refused(tmp_path, "inspect", "no.eval") == "no.eval: cannot be read (No such file or directory)"


def test_a_folder_is_not_a_log(tmp_path):
    (tmp_path / "logs").mkdir()
    assert refused(tmp_path, "inspect", "logs") == "logs: cannot be read (Is a directory): name a log in it"


def test_the_log_itself_is_never_replaced(log):
    folder = log(json_log())
    done = demur(folder, "import", "inspect", "log.eval", "--output", "log.eval")
    assert done.stderr == "demur: log.eval: is an input, and an output never replaces one\n"
    assert (folder / "log.eval").read_bytes() == json_log()
