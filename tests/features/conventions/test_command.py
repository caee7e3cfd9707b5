"""`demur convention` and `demur evaluate --convention` as a user calls them."""

import json
import re

import pytest

from commands import demur
from demur.features.conventions.emulations import EMULATIONS

TABLE = "cluster,loss,sure\na,0,0.9\na,1,0.9\nb,0,0.8\nb,0,0.7\nc,1,0.7\nc,,\nd,0,0.6\nd,,\n"
ASKED = [word for name in EMULATIONS for word in ("--convention", name)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("convention")
    (made / "t.csv").write_text(TABLE)
    call = ("evaluate", "t.csv", "--confidence", "sure", "--seed", "7", "--bootstrap-resamples", "20")
    (made / "shown.txt").write_text(demur(made, *call, *ASKED, "--output", "all.json", "--report", "all.html").stdout)
    assert demur(made, *call, "--output", "ours.json").returncode == 0
    return made


def line_of(folder):
    return json.loads((folder / "ours.json").read_text())["convention"]["signature"]


def test_the_signature_is_in_the_file_and_under_the_table(folder):
    line = line_of(folder)
    assert line == (
        "loss:given|unit:item|cluster:cluster|abst:in|ties:plateau|start:first|rule:trapezoid|dom:cmax|x:1|opt:oracle|"
        "hull:risk|conf:sure|boot:cluster.20.s7|v:0.2.0"
    )
    shown = (folder / "shown.txt").read_text()
    assert f"\nSignature: {line}\n" in shown
    assert "\nfd-shifts: loss:given|unit:item|cluster:cluster|abst:drop|" in shown
    assert line in (folder / "all.html").read_text().replace("|<wbr>", "|")  # a line may end after a key


def test_conventions_add_rows_and_replace_none(folder):
    ours, every = (json.loads((folder / name).read_text()) for name in ("ours.json", "all.json"))
    emulated = every["confidence_variants"]["sure"].pop("emulated")
    assert every.pop("conventions") == [*EMULATIONS] == [*emulated]
    for made in (ours, every):
        del made["created_at"], made["tool"]["command"]
    assert every == ours
    assert emulated["torch-uncertainty"]["aurc"] == {
        "value": 0.33,
        "range": [0.33, 0.48],
        "order_dependent": True,
        "note": None,
    }
    assert emulated["fd-shifts"]["augrc"] == {
        "value": pytest.approx(7000 / 36),
        "range": None,
        "order_dependent": False,
        "note": None,
    }
    assert emulated["torch-uncertainty"]["coverage@risk=0.05"]["range"] == [None, 1 / 6]


def test_they_are_shown_on_the_console_and_on_the_page(folder):
    shown, page = (folder / "shown.txt").read_text(), (folder / "all.html").read_text()
    assert re.search(r"\n  AURC, torch-uncertainty +0\.33 \(0\.33 to 0\.48\)\n", shown)
    assert "Other conventions" in page
    assert "0.33 (0.33 to 0.48)" in page
    assert "Other conventions" not in demur(folder, "report", "ours.json").stdout


def test_they_are_rows_of_tables(folder):
    markdown = demur(folder, "table", "all.json", "--format", "markdown", "--rows", "aurc").stdout
    assert "| sure | AURC, torch-uncertainty | 0.3300 (0.3300 to 0.4800) |\n" in markdown
    assert f"\nSignature: `{line_of(folder)}`\n" in markdown
    header, *rows = demur(folder, "table", "all.json", "--format", "csv", "--rows", "aurc").stdout.splitlines()
    assert header.endswith(",method,convention,signature")
    shown = dict(re.findall(r"^(\S+): (loss:\S+)$", (folder / "shown.txt").read_text(), re.MULTILINE))
    assert f"sure,t.csv,aurc,0.33,0.33,0.48,,over_ties,torch-uncertainty,{shown['torch-uncertainty']}" in rows
    assert rows[0].endswith(f",,{line_of(folder)}")
    latex = demur(folder, "table", "all.json", "--format", "latex").stdout
    assert r"Signature: \texttt{loss:given\textbar\allowbreak{}unit:item" in latex
    assert line_of(folder) in demur(folder, "table", "ours.json", "--format", "sentence").stdout


@pytest.mark.slow
def test_a_file_with_them_is_audited(folder):
    found = demur(folder, "audit", "--data", "t.csv", "--reported", "all.json", "--only", "differs")
    assert (found.returncode, found.stderr) == (0, "")


def test_an_altered_signature_is_found(folder):
    content = (folder / "ours.json").read_text().replace("abst:in", "abst:drop")
    (folder / "altered.json").write_text(content)
    found = demur(folder, "audit", "--data", "t.csv", "--reported", "altered.json", "--only", "differs")
    assert found.returncode == 3
    assert "it does not follow from the data" in found.stdout


def test_an_unknown_convention_is_one_line(folder):
    found = demur(folder, "evaluate", "t.csv", "--confidence", "sure", "--seed", "7", "--convention", "fd")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("demur: no convention is called fd; there are: fd-shifts, geifman")


def test_explain_says_every_key_in_words(folder):
    found = demur(folder, "convention", "explain", line_of(folder))
    assert "ties     plateau        equal confidences are one operating point\n" in found.stdout
    assert found.stdout.endswith("This is the convention of demur.\n")
    for apart in ("opt:closed", "g.start:none"):
        line = line_of(folder).replace("opt:oracle", apart) if apart[0] == "o" else f"{line_of(folder)}|{apart}"
        told = demur(folder, "convention", "explain", line).stdout
        assert told.endswith(f"This is the convention of demur, but for {apart.partition(':')[0]}.\n")
    other = demur(folder, "convention", "explain", line_of(folder).replace("plateau", "best"))
    assert other.stdout.endswith("This is not the convention of demur or of a known tool.\n")
    named = demur(folder, "convention", "explain", "fd-shifts").stdout
    assert "x        1000       times 1000\n" in named
    wrong = demur(folder, "convention", "explain", "fd")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


def test_compare_tells_what_differs_and_the_bridge(folder):
    found = demur(folder, "convention", "compare", line_of(folder), "fd-shifts").stdout
    assert found.startswith("abst: in against drop\n  abstentions count in the number of units\n")
    assert "  → divide by 1, and multiply by 1000\n" in found
    assert "Numbers of the two may not be compared.\n" in found
    assert "aurc of fd-shifts = AURC of the answers × 1000\n" in found
    assert found.endswith("Exact; demur convention convert uses it.\n")
    same = demur(folder, "convention", "compare", "demur", line_of(folder)).stdout
    assert same == (
        "They agree in every key that both have.\n\n"
        "Numbers of the two may be compared at equal Cmax, or cut at one coverage.\n"
    )
    none = demur(folder, "convention", "compare", "geifman", "ln").stdout
    assert "No bridge leads from geifman to ln" in none


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("151/480", "--from", "demur", "--to", "fd-shifts", "--cmax", "3/4"),
            "aurc of fd-shifts: 419.444444444 = 3775/9\n",
        ),
        (
            ("7000/36", "--from", "fd-shifts", "--quantity", "augrc", "--cmax", "0.75"),
            "augrc of demur: 0.109375 = 7/64\n",
        ),
        (("0.5", "--from", "demur", "--to", "fd-shifts"), "give --cmax"),
        (("0.5", "--from", "demur"), "aurc of demur: 0.5 = 1/2\n"),
        (("x", "--from", "demur"), "value: risk 'x', expected a number"),
        (("1", "--from", "demur", "--cmax", "2"), "cmax 2, expected a share"),
        (("1", "--from", "LINE"), "the signature of no known convention"),
        (("15.666667", "--from", "PERCENT", "--to", "demur"), "aurc of demur: 0.15666667 "),
        (("419.4444", "--from", "fd-shifts", "--to", "PERCENT", "--cmax", "0.75"), "aurc of demur: 31.45833 "),
    ],
)
def test_convert_takes_a_number_over_the_bridge(folder, words, told):
    line = line_of(folder)
    lines = {"LINE": line.replace("abst:in", "abst:max"), "PERCENT": line.replace("|x:1|", "|x:100|")}
    found = demur(folder, "convention", "convert", *(lines.get(word, word) for word in words))
    assert told in found.stdout + found.stderr
    assert found.returncode == (0 if found.stdout else 2)


def test_a_bridge_that_ties_break_says_so(folder):
    words = ("47/240", "--from", "torch-uncertainty", "--answered", "5", "--first-risk", "0", "--cmax", "1")
    found = demur(folder, "convention", "convert", *words).stdout
    assert found.startswith("aurc of demur: 0.156666666667 = 47/300\nThis holds if no confidences are equal")


def test_rows_of_their_own_have_no_cluster(folder):
    (folder / "rows.csv").write_text("loss,sure\n0,0.9\n1,0.8\n")
    call = ("evaluate", "rows.csv", "--confidence", "sure", "--seed", "7", "--bootstrap-resamples", "20")
    found = demur(folder, *call, "--every-row-its-own-cluster", "--json")
    signature = json.loads(found.stdout)["convention"]["signature"]
    assert "|cluster:none|" in signature
    assert "|boot:item.20.s7|" in signature
