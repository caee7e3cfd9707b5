"""Pages of retrieval and of calibration as files: no text of a file is obeyed, and nothing is written over an input."""

import base64
import gzip
import hashlib
import json
import re

import pytest

from commands import demur
from demur import load, load_calibration, report_html
from demur.extensions.lab.queries import simulated_queries
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from installation import needs
from kinds import calibration, renamed_kind, retrieval
from pages import Page, spellings
from parametrized import parametrize_few
from runs import written

OPTIONS = {
    "retrieval": ("retrieval", "--data", "q.csv", "--seed", "1", "--bootstrap-resamples", "20", "--k", "3"),
    "calibrate": ("calibrate", "--input", "t.json", "--method", "platt", "--variant", "token_msp"),
}
QUICK = {"retrieval": (*OPTIONS["retrieval"][:-2], "--metrics", "RR"), "calibrate": OPTIONS["calibrate"]}
COMMANDS = [pytest.param("retrieval", marks=needs("retrieval")), "calibrate"]
ARTIFACTS = [
    pytest.param(retrieval, marks=needs("retrieval"), id="retrieval"),
    pytest.param(calibration, id="calibration"),
]
LOADED = {"retrieval": load, "calibrate": load_calibration}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("kinds")
    (made / "q.csv").write_text(simulated_queries(3, seed=1), "utf-8")
    written(made, run_system(make_people(30, seed=1), ZERO_SHOT, seed=1).to_json("few_shot", "train"), "t.json")
    return made


class TestSafety:
    @parametrize_few("artifact", ARTIFACTS, 1)
    @pytest.mark.parametrize("turns", [(0, 25), pytest.param(range(0, 50, 7), marks=pytest.mark.slow)], ids=len)
    @pytest.mark.slow
    def test_hostile_texts_in_every_place_change_no_element_and_no_attribute(self, artifact, turns):
        """Two turns of the texts by default, eight in the slow tests."""
        content = artifact().to_json()
        plain, *hostile = [self.skeleton(renamed_kind(content, spell)) for spell in spellings(turns)]
        assert [each == plain for each in hostile] == [True] * len(turns)

    def skeleton(self, artifact):
        page = Page(report_html(artifact))
        return [
            (tag, [pair for pair in attributes if pair[0] != "href" and not str(pair[1]).startswith("--c1:")])
            for tag, attributes in page.elements
        ]

    @pytest.mark.parametrize("artifact", ARTIFACTS)
    def test_nothing_is_fetched_and_every_text_that_is_shown_is_spelled_out(self, artifact):
        text = report_html(renamed_kind(artifact().to_json(), lambda text: f"{text}\u202e\u2028\x07"))
        assert not re.search("[\u202e\u2028\x07]", text)
        assert "\\u202e\\u2028\\x07" in text
        page = Page(text)
        assert not [name for name, _ in page.elements if name in ("link", "img", "iframe", "object", "embed", "base")]
        assert not page.values("src")
        assert all(link.startswith(("#", "data:application/gzip;base64,")) for link in page.values("href"))

    @pytest.mark.parametrize("artifact", ARTIFACTS)
    def test_the_page_carries_the_artifact(self, artifact):
        link = next(link for link in Page(report_html(artifact())).values("href") if link.startswith("data:"))
        packed = base64.b64decode(link.partition(",")[2])
        assert json.loads(gzip.decompress(packed)) == artifact().to_json()


class TestCommands:
    @parametrize_few("command", COMMANDS, 1)
    def test_the_page_is_written_with_the_file_and_is_that_of_demur_report(self, folder, command):
        found = demur(folder, *OPTIONS[command], "--output", f"{command}.json", "--report", f"{command}-1.html")
        assert found.stdout.endswith(f"wrote {command}.json\nwrote {command}-1.html\n")
        assert demur(folder, "report", f"{command}.json").stdout == f"wrote {command}.html\n"
        file = folder / f"{command}.json"
        expected = report_html(LOADED[command](file), sha256=hashlib.sha256(file.read_bytes()).hexdigest())
        assert (folder / f"{command}.html").read_text("utf-8") == expected
        assert (folder / f"{command}-1.html").read_text("utf-8") == expected

    @parametrize_few("command", COMMANDS, 1)
    @pytest.mark.slow
    def test_a_bad_place_for_the_page_leaves_nothing_written(self, folder, command):
        source = {"retrieval": "q.csv", "calibrate": "t.json"}[command]
        for place, told in (
            ("none/r.html", "does not exist"),
            ("n.json", "is the result file itself"),
            (source, "is an input"),
        ):
            refused = demur(folder, *QUICK[command], "--output", "n.json", "--report", place)
            assert refused.returncode == 2
            assert told in refused.stderr
            assert not (folder / "n.json").exists()
        before = (folder / source).read_bytes()
        refused = demur(folder, *QUICK[command], "--output", source, "--report", "page.html")
        assert refused.returncode == 2
        assert (folder / source).read_bytes() == before
        assert not (folder / "page.html").exists()

    @pytest.mark.parametrize(
        "content",
        [
            {},
            [],
            {"kind": "retrieval"},
            {"method": "magic", "model": {}},
            {"confidence_variants": {}},
        ],
    )
    def test_what_is_no_result_is_refused_in_one_line(self, tmp_path, content, message):
        (tmp_path / "x.json").write_text(json.dumps(content))
        found = demur(tmp_path, "report", "x.json")
        assert found.returncode == 2
        assert found.stderr.startswith("demur: x.json: ")
        message(found.stderr)
        assert found.stderr.count("\n") == 1
        assert not (tmp_path / "x.html").exists()
