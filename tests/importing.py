"""Importing for the tests: a call of the command line, and what it wrote."""

import json

from commands import demur


def imported(folder, tool, *arguments):
    """The header and the units of a successful import, and what was printed."""
    done = demur(folder, "import", tool, *arguments, "-o", "units.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    header, *units = [json.loads(line) for line in (folder / "units.jsonl").read_text(encoding="utf-8").splitlines()]
    assert header["demur_units"] == 1
    return header, units, done.stdout


def refused(folder, tool, *arguments):
    """The one line a refused import prints; nothing is written."""
    done = demur(folder, "import", tool, *arguments, "-o", "refused.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert not (folder / "refused.jsonl").exists()
    return done.stderr.removeprefix("demur: ").removesuffix("\n")


def kinds(header):
    """How many rows were answered, abstained and failed."""
    counts = header["counts"]
    assert counts["rows"] == counts["answered"] + counts["abstained"] + counts["failed"]
    assert sum(counts["by_rule"].values()) == counts["abstained"]
    assert sum(counts["by_cause"].values()) == counts["failed"]
    return counts["answered"], counts["abstained"], counts["failed"]


def read_back(folder, confidence, repeats="units"):
    """The population that `demur evaluate` reads of the file of units that was imported last, and must accept."""
    results = folder / "results.json"
    results.unlink(missing_ok=True)
    words = ["--seed", 1, "--bootstrap-resamples", 0, "--confidence", confidence, "--repeats", repeats]
    done = demur(folder, "evaluate", "units.jsonl", *words, "--quiet", "--output", results)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(results.read_text(encoding="utf-8"))["population"]
