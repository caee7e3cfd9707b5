"""The worked diffs of CONTRIBUTING: each is applied to a copy of the tree, and what it adds is used as a user would."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import demur

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = {"A quantity": 2, "A confidence": 1, "An interval method": 1, "A calibrator": 1, "A section of the page": 2}
FILES |= {"A feature": 5, "An extension": 3, "A format of tables": 1}


def diff_under(heading):
    """The additions of the diff below a heading, by file."""
    text = TEXT.partition(f"### {heading}\n")[2].partition("```diff\n")[2].partition("\n```")[0]
    parts = re.split(r"^--- (\S+)\n\+\+\+ b/(\S+)\n", text, flags=re.MULTILINE)
    groups = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return {path: (old, "".join(f"{line[1:]}\n" for line in body.splitlines())) for old, path, body in groups}


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """A copy of the package with every diff applied."""
    copy = tmp_path_factory.mktemp("copy")
    half_written = shutil.ignore_patterns("*.pyc.*")  # by another process of these tests
    for folder in ("src", "tests/reference"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=half_written)
    for heading in FILES:
        for path, (old, lines) in diff_under(heading).items():
            target = copy / path
            assert target.exists() == (old != "/dev/null"), path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text((target.read_text(encoding="utf-8") if target.exists() else "") + lines, encoding="utf-8")
    _install(copy / "demur-count")
    rows = ["cluster\titem\ttruth\tprediction\tsure", "a\tq\t1\t1\t0.9", "b\tq\t0\t1\t0.2", "c\tq\t0\t\t"]
    (copy / "t.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return Changed(copy, outputs_of(copy))


def _install(package):
    """Make the metadata of a package as an installer does, with its entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = package / "src" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    folder.mkdir()
    about = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (folder / "METADATA").write_text(about, encoding="utf-8")
    points = [
        f"[{group}]\n{name} = {value}\n" for group, of in project["entry-points"].items() for name, value in of.items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(points), encoding="utf-8")


EVALUATE = ("evaluate", "run.json", "run.json", "--mode", "zero_shot", "--mode", "few_shot", "--seed", "7")
EVALUATE += ("--bootstrap-resamples", "60", "--confidence", "llm,root_evidence", "--interval", "basic")
AUDIT = ("audit", "--data", "run.json", "--reported", "m.json", "--json")
FIT = ("--mode", "few_shot", "--method", "histogram", "--variant", "token_msp", "--output", "c.json")
APPLY = ("--mode", "zero_shot", "--confidence", "calibrated:token_msp", "--calibration", "c.json")
LONG = ("--instrument", "none", "--loss", "zero_one", "--confidence", "sure")
POINTS = ("--bootstrap-resamples", "0", "--json", "--output")
COMMANDS = {
    "simulate": ("simulate", "runs", "--output", "run.json", "--participants", "12", "--seed", "1"),
    "evaluate": (*EVALUATE, "--output", "m.json", "--report", "m.html"),
    "tolerance": (*EVALUATE[:-2], "--tolerated-risk", "0.1", "--output", "o.json", "--report", "o.html"),
    "count": ("count", "o.json"),
    "commands": ("--help",),
    "table": ("table", "m.json", "--format", "csv"),
    "audit": AUDIT,
    "fields": ("fields", "run.json", "--mode", "few_shot"),
    "help": ("calibrate", "--help"),
    "calibrate": ("calibrate", "--input", "run.json", *FIT, "--report", "c.html"),
    "apply": ("evaluate", "run.json", *APPLY, *POINTS, "e.json"),
    "format": ("evaluate", "t.tsv", *LONG, *POINTS, "t.json"),
}
# Every command in turn, in one process of the changed package: what each prints, as JSON.
CODE = """
import contextlib, io, json, sys
from demur import Plan, estimate, grade_units, measure
from demur.cli import main
from demur.confidences.calibration import Calibration
from demur.files.strict_reading import schema_of
from reference import number
printed = {}
for name, words in json.loads(sys.argv[1]).items():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main(words)
        except SystemExit as stop:
            if stop.code:
                raise
    printed[name] = out.getvalue()
columns = dict(confidence=[2, 2, 1, 0], loss=[0, 2, 0, None], clusters=["a", "b", "b", "c"])
units = [*zip(columns["loss"], columns["confidence"])]
printed["by its plain loop"] = float(number("augrc_invariant", units))
printed["measured"] = measure(metrics=["augrc_invariant"], **columns)["augrc_invariant"]
row = estimate(grade_units(**columns), plan=Plan(50, seed=1))["augrc_invariant"]
printed["estimated"] = row.recommended is not None
printed["schema"] = str(schema_of(Calibration))
print(json.dumps(printed))
"""


class Changed(NamedTuple):
    """The copy of the package with every diff applied, and what its commands printed."""

    folder: Path
    printed: dict[str, Any]

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def content(self, name):
        return json.loads(self.text(name))


def outputs_of(copy):
    """What each command of the changed package prints."""
    call = [sys.executable, "-c", CODE, json.dumps(COMMANDS)]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy / "tests"), str(copy / "demur-count/src")])
    }
    done = subprocess.run(call, cwd=copy, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("heading", "count"), FILES.items())
def test_a_thing_is_added_in_as_many_files_as_promised(heading, count):
    assert len(diff_under(heading)) == count


@pytest.mark.slow
def test_the_additions_are_clean_code(changed):
    files = [changed.folder / path for heading in FILES for path in diff_under(heading) if path.endswith(".py")]
    settings = ROOT / "pyproject.toml"
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", settings, *files],
        check=False,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
    formatted = [sys.executable, "-m", "ruff", "format", "--check", "--config", settings, *files]
    assert subprocess.run(formatted, check=False, capture_output=True).returncode == 0


@pytest.mark.slow
def test_a_new_quantity_is_measured_and_estimated(changed):
    assert changed.printed["measured"] == changed.printed["by its plain loop"] == 4 / 9
    assert changed.printed["estimated"]


@pytest.mark.slow
def test_a_new_quantity_is_in_the_file_the_schema_the_page_the_table_and_the_audit(changed):
    content = changed.content("m.json")
    run_numbers = content["confidence_variants"]["llm"]["left"]
    assert 0 < run_numbers["augrc_invariant"] < 1
    assert run_numbers["bootstrap"]["ci95_recommended"]["augrc_invariant"]["low"] < run_numbers["augrc_invariant"]
    assert "augrc_invariant" in content["comparison"]["deltas"]["llm"]
    assert "AUGRC/Cmax²" in changed.text("m.html")
    assert "augrc_invariant" in changed.printed["table"]
    report = json.loads(changed.printed["audit"])
    assert report["counts"]["differs"] == 0
    matches = [row for row in report["findings"] if "augrc_invariant" in row["key"] and row["status"] == "match"]
    assert len(matches) > 5


@pytest.mark.slow
def test_a_new_confidence_is_listed_and_evaluated(changed):
    assert "root_evidence" in changed.printed["fields"]
    assert "root_evidence" in changed.content("m.json")["confidence_variants"]


@pytest.mark.slow
def test_a_new_interval_method_makes_the_interval_that_was_requested(changed):
    numbers = changed.content("m.json")["confidence_variants"]["llm"]["left"]
    percentile, basic = (numbers["bootstrap"][name]["aurc_full"] for name in ("ci95", "ci"))
    assert basic["method"] == "basic"
    assert basic["low"] == pytest.approx(2 * numbers["aurc_full"] - percentile[1], abs=1e-12)


@pytest.mark.slow
def test_a_new_calibrator_is_offered_fitted_written_read_and_shown(changed):
    assert "histogram" in changed.printed["help"]
    assert len(changed.content("c.json")["model"]["means"]) == 10
    assert "Histogram binning maps token_msp to the chance of being right." in changed.text("c.html")
    assert "calibrated:token_msp" in json.loads(changed.printed["apply"])["confidence_variants"]
    assert "histogram" in changed.printed["schema"]
    assert "HistogramCalibrator" in changed.printed["schema"]


@pytest.mark.slow
def test_a_new_section_is_on_the_page(changed):
    page = changed.text("m.html")
    assert 'id="resampling"' in page
    assert "60 bootstrap resamples of participants, seed 7." in page


@pytest.mark.slow
def test_a_new_feature_has_its_option_rows_sentence_section_and_record(changed):
    results = demur.load(changed.folder / "m.json")
    assert "tolerated_risk" not in changed.content("m.json")
    content = changed.content("o.json")
    assert content["tolerated_risk"] == 0.1
    names = [*zip(content["estimates"]["quantity"], content["estimates"]["system"])]
    assert {("coverage@risk=0.1", system) for system in results.systems} <= {*names}
    page = changed.text("o.html")
    assert 'id="tolerance"' in page
    sentences = re.findall(r"A risk of at most 0\.1 allows \S+ to answer [0-9.]+%\.", changed.printed["tolerance"])
    assert len(sentences) == 2 * len(results.selective.confidences)
    assert re.sub(r"<.*?>", "", page).count("A risk of at most 0.1 allows") == len(sentences)


@pytest.mark.slow
def test_a_new_extension_is_listed_and_run(changed):
    assert "│ count " in changed.printed["commands"]
    assert re.fullmatch(r"[0-9]+ numbers, [0-9]+ with an interval\n", changed.printed["count"])


@pytest.mark.slow
def test_a_new_format_is_read(changed):
    assert json.loads(changed.printed["format"])["population"]["items_total"] == 3
