"""The worked diffs of CONTRIBUTING: each is applied to a copy of the tree, and what it adds is used as a user would."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = {"A quantity": 2, "A confidence": 1, "An interval method": 1, "A calibrator": 1, "A section of the page": 2}
FILES |= {"A format of tables": 1}


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
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for heading in FILES:
        for path, (old, lines) in diff_under(heading).items():
            target = copy / path
            assert target.exists() == (old != "/dev/null"), path
            target.write_text((target.read_text(encoding="utf-8") if target.exists() else "") + lines, encoding="utf-8")
    run(copy, "simulate", "runs", "--output", "run.json", "--participants", "12", "--seed", "1")
    run(copy, *EVALUATE, "--output", "m.json", "--report", "m.html")
    return copy


EVALUATE = ("evaluate", "run.json", "run.json", "--mode", "zero_shot", "--mode", "few_shot", "--seed", "7")
EVALUATE += ("--bootstrap-resamples", "60", "--confidence", "llm,root_evidence", "--interval", "basic")


def run(copy, *words):
    """A command of the changed package."""
    code = "import sys; from demur.cli import main; main(sys.argv[1:])"
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}
    call = [sys.executable, "-c", code, *words]
    done = subprocess.run(call, cwd=copy, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(copy, code):
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("heading", "count"), FILES.items())
def test_a_thing_is_added_in_as_many_files_as_promised(heading, count):
    assert len(diff_under(heading)) == count


def test_the_additions_are_clean_code(changed):
    files = [changed / path for heading in FILES for path in diff_under(heading) if path.endswith(".py")]
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


def test_a_new_quantity_is_measured_and_estimated(changed):
    code = """
from demur import Plan, estimate, grade_units, measure
columns = dict(confidence=[2, 2, 1, 0], loss=[0, 2, 0, None], clusters=["a", "b", "b", "c"])
print(measure(metrics=["augrc_invariant"], **columns)["augrc_invariant"] == 4 / 9)
print(estimate(grade_units(**columns), plan=Plan(50, seed=1))["augrc_invariant"].recommended is not None)
"""
    assert python(changed, code).split() == ["True", "True"]


def test_a_new_quantity_is_in_the_file_the_schema_the_page_the_table_and_the_audit(changed):
    content = json.loads((changed / "m.json").read_text(encoding="utf-8"))
    run_numbers = content["confidence_variants"]["llm"]["left"]
    assert 0 < run_numbers["augrc_invariant"] < 1
    assert run_numbers["bootstrap"]["ci95_recommended"]["augrc_invariant"]["low"] < run_numbers["augrc_invariant"]
    assert "augrc_invariant" in content["comparison"]["deltas"]["llm"]
    assert "AUGRC/Cmax²" in (changed / "m.html").read_text(encoding="utf-8")
    assert "augrc_invariant" in run(changed, "table", "m.json", "--format", "csv")
    audit = ("audit", "--data", "run.json", "--reported", "m.json", "--json")
    for more in ((), ("--independent",)):
        found = json.loads(run(changed, *audit, *more))
        assert found["counts"]["differs"] == 0
        mine = [one for one in found["findings"] if "augrc_invariant" in one["key"] and one["status"] == "match"]
        assert len(mine) > 5


def test_a_new_confidence_is_listed_and_evaluated(changed):
    assert "root_evidence" in run(changed, "fields", "run.json", "--mode", "few_shot")
    content = json.loads((changed / "m.json").read_text(encoding="utf-8"))
    assert "root_evidence" in content["confidence_variants"]


def test_a_new_interval_method_makes_the_interval_that_was_requested(changed):
    content = json.loads((changed / "m.json").read_text(encoding="utf-8"))
    boot = content["confidence_variants"]["llm"]["left"]["bootstrap"]
    value, percentile = content["confidence_variants"]["llm"]["left"]["aurc_full"], boot["ci95"]["aurc_full"]
    basic = boot["ci"]["aurc_full"]
    assert basic["method"] == "basic"
    assert basic["low"] == pytest.approx(2 * value - percentile[1], abs=1e-12)


def test_a_new_calibrator_is_offered_fitted_written_read_and_shown(changed):
    assert "histogram" in run(changed, "calibrate", "--help")
    fit = ("--mode", "few_shot", "--method", "histogram", "--variant", "token_msp", "--output", "c.json")
    run(changed, "calibrate", "--input", "run.json", *fit, "--report", "c.html")
    content = json.loads((changed / "c.json").read_text(encoding="utf-8"))
    assert len(content["model"]["means"]) == 10
    page = (changed / "c.html").read_text(encoding="utf-8")
    assert "Histogram binning maps token_msp to the chance of being right." in page
    apply = ("--mode", "zero_shot", "--confidence", "calibrated:token_msp", "--calibration", "c.json")
    made = run(changed, "evaluate", "run.json", *apply, "--bootstrap-resamples", "0", "--output", "e.json", "--json")
    assert "calibrated:token_msp" in json.loads(made)["confidence_variants"]
    code = "from demur.confidences.calibration import calibration_schema; print(calibration_schema())"
    schema = python(changed, code)
    assert "histogram" in schema
    assert "HistogramCalibrator" in schema


def test_a_new_section_is_on_the_page(changed):
    page = (changed / "m.html").read_text(encoding="utf-8")
    assert 'id="resampling"' in page
    assert "60 draws of clusters with replacement, seed 7." in page


def test_a_new_format_is_read(changed):
    rows = ["cluster\titem\ttruth\tprediction\tsure", "a\tq\t1\t1\t0.9", "b\tq\t0\t1\t0.2", "c\tq\t0\t\t"]
    (changed / "t.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = ("--instrument", "none", "--loss", "zero_one", "--confidence", "sure", "--bootstrap-resamples", "0")
    found = json.loads(run(changed, "evaluate", "t.tsv", *options, "--output", "t.json", "--json"))
    assert found["population"]["items_total"] == 3
