"""Damaged and very large logs of Inspect: one line, or nothing is changed; and memory that stays small."""

import subprocess
import sys

import pytest

from importing import imported, refused
from inspect_logs import archive, compress, members_of, needs_zstd, samples, zstd_archive

EXACT = ("--scorer", "exact")


def damaged(data, at, byte=0xFF):
    return data[:at] + bytes([data[at] ^ byte]) + data[at + 1 :]


@pytest.mark.slow
def test_damage_anywhere_in_an_archive_is_one_line_or_changes_nothing(log):
    whole = archive(members_of(samples()[:2]))
    expected = imported(log(whole), "inspect", "log.eval", *EXACT)[1]
    for at in range(0, len(whole), 19):
        folder = log(damaged(whole, at))
        try:
            found = imported(folder, "inspect", "log.eval", *EXACT)[1]
        except AssertionError:
            refused(folder, "inspect", "log.eval", *EXACT)
        else:
            assert all(unit in expected for unit in found)


@needs_zstd
@pytest.mark.slow
def test_damage_to_zstd_is_one_line(log):
    whole = zstd_archive(members_of(samples()[:1])[1:], compress)
    for at in range(60, 300, 7):
        refused(log(damaged(whole, at)), "inspect", "log.eval", *EXACT)


def test_without_zstd_the_error_names_what_is_missing(log, monkeypatch):
    for name in ("compression", "compression.zstd", "backports", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    folder = log(zstd_archive(members_of(), lambda part: b"(\xb5/\xfd" + part))
    assert refused(folder, "inspect", "log.eval") == (
        "log.eval: reading .eval logs compressed with zstd needs Python 3.14 or backports.zstd: "
        "pip install '.[inspect]' in a checkout of demur"
    )


# Not ru_maxrss, which a child process takes over from the one that started it.
LARGE = """
import re
from pathlib import Path
from demur.extensions.importers.registry import ImportOptions
from demur.extensions.importers.units import import_units
imported = import_units("inspect", ["log.eval"], "units.jsonl", ImportOptions())
print(imported.answered, re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="how memory is counted differs")
def test_a_hundred_thousand_samples_are_imported_in_less_than_60_megabytes(log):
    many = [{"id": number, "epoch": 1, "scores": {"only": {"value": "C"}}} for number in range(100_000)]
    folder = log(archive(members_of(many)))
    done = subprocess.run([sys.executable, "-c", LARGE], cwd=folder, check=True, capture_output=True, text=True)
    answered, kilobytes = map(int, done.stdout.split())
    assert answered == 100_000
    assert kilobytes < 60_000
