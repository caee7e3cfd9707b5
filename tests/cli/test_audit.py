"""`demur audit` of runs and tables as a user calls it: which data it takes, the exit code, and what is refused."""

import json
import re

import pytest

from commands import ROOT, demur
from parametrized import parametrize_few
from runs import written


@pytest.mark.slow
def test_the_mode_of_a_run_can_be_said_where_the_report_does_not(tmp_path):
    demur(tmp_path, "simulate", "--output", "run.json", "--participants", "8", "--seed", "1")
    arguments = ("--mode", "few_shot", "--bootstrap-resamples", "0", "--output", "m.json", "--quiet")
    demur(tmp_path, "evaluate", "--input", "run.json", *arguments)
    content = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    content["inputs"][0]["mode"] = None
    (tmp_path / "bare.json").write_text(json.dumps(content), encoding="utf-8")
    refused = demur(tmp_path, "audit", "--data", "run.json", "--reported", "bare.json")
    assert refused.returncode == 2
    assert "few_shot" in refused.stderr
    found = demur(tmp_path, "audit", "--data", "run.json", "--reported", "bare.json", "--mode", "few_shot")
    assert found.returncode == 0, found.stdout
    other = demur(tmp_path, "audit", "--data", "run.json", "--reported", "bare.json", "--mode", "zero_shot")
    assert other.returncode == 3


@pytest.mark.slow
def test_an_evaluation_of_a_table_with_columns_of_its_own_names_can_be_audited(tmp_path):
    rows = [f"p{n // 2},q{n % 2},{n % 3 % 2},{'' if n % 5 == 0 else n % 2},{n % 7}" for n in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["who,q,gold,pred,sure", *rows]) + "\n", encoding="utf-8")
    columns = [f"--column={role}" for role in ("cluster=who", "item=q", "truth=gold", "prediction=pred")]
    how = (*columns, "--instrument", "none")
    settings = ("--loss", "zero_one", "--confidence", "sure", "--seed", "3", "--bootstrap-resamples", "40")
    assert demur(tmp_path, "evaluate", "t.csv", *how, *settings, "--output", "m.json").returncode == 0
    done = demur(tmp_path, "audit", "--data", "t.csv", "--reported", "m.json", *how, "--only", "differs")
    assert (done.returncode, done.stderr) == (0, "")
    assert " 0 differs, 0 not recognised" in done.stdout


class TestFalsifiedFileOfOurs:
    """What the printed-digits rule would let pass in a file that people typed."""

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("falsified")
        written(folder, (ROOT / "tests/golden/run.json").read_text(encoding="utf-8"), "run.json")
        settings = ("--mode", "few_shot", "--seed", "7", "--bootstrap-resamples", "20", "--output", "metrics.json")
        assert demur(folder, "evaluate", "run.json", *settings).returncode == 0
        return folder

    def audited(self, folder, member, value):
        content = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        content["confidence_variants"]["llm"][member] = value
        written(folder, content, "falsified.json")
        return demur(folder, "audit", "--data", "run.json", "--reported", "falsified.json", "--only", "differs")

    @parametrize_few(("member", "digits"), [("aurc_full", 1), ("aurc_full", 5), ("augrc_full", 4)], 1)
    def test_a_rounded_number_differs(self, made, member, digits):
        content = json.loads((made / "metrics.json").read_text(encoding="utf-8"))
        rounded = round(content["confidence_variants"]["llm"][member], digits)
        found = self.audited(made, member, rounded)
        name = member.removesuffix("_full")
        assert (found.returncode, found.stdout.splitlines()[1].split()[:3]) == (3, ["differs", "few_shot,", f"{name},"])

    def test_a_cmax_of_1_contradicts_the_curve(self, made):
        found = self.audited(made, "cmax", 1)
        assert (found.returncode, found.stdout) == (2, "")
        assert re.search(r"^demur: falsified.json: .*the curve ends at 0\.\d+, not at cmax 1", found.stderr)


def test_more_resamples_than_there_may_be_are_refused_before_anything_is_read(tmp_path):
    done = demur(tmp_path, "audit", "--data", "none.json", "--reported", "no.json", "--resamples", "1000001")
    assert (done.returncode, done.stderr) == (2, "demur: --resamples 1000001, expected at most 1000000\n")
