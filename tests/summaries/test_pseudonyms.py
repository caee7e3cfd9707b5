"""Pseudonyms: a summary without the ids that its units came with."""

import hashlib
import shutil
from unittest import mock

import pytest

import demur as library
from commands import demur
from demur import UserError
from demur.summaries import pseudonyms
from demur.summaries.file import read_summary
from demur.summaries.pseudonyms import pseudonym, salted
from hospitals import HOW, NAMES, SALT, hospitals, summarize
from sharded import same_in_both, units


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return folder, hospitals(folder, units(clusters=9, rows=90), (2, 5))


@pytest.mark.parametrize(("name", "salt"), [("p17", b"s" * 16), (17, b"s" * 64), ("Ångström/ 1", b"s" * 65)])
def test_a_pseudonym_is_the_site_and_a_salted_hash(name, salt):
    key = (hashlib.sha256(salt).digest() if len(salt) > 64 else salt).ljust(64, b"\0")
    inner, outer = (bytes(byte ^ pad for byte in key) for pad in (0x36, 0x5C))
    expected = hashlib.sha256(outer + hashlib.sha256(inner + str(name).encode()).digest()).hexdigest()[:32]
    assert pseudonym(name, "oslo", salt) == f"oslo:{expected}"


def test_neither_ids_nor_the_salt_are_in_the_file(data):
    content = (data[0] / "bergen" / "run.sum").read_bytes()
    assert b"bergen:" in content
    assert SALT.encode() not in content
    assert not any(f'"u{n}'.encode() in content or b"u%d\0" % n in content for n in range(9))


def test_merged_summaries_of_sites_give_the_bytes_of_one_table_of_pseudonyms(data):
    folder, whole = data
    merged = demur(folder, "summarize", *(f"{name}/run.sum" for name in NAMES), "-o", "all.sum")
    assert merged.returncode == 0, merged.stderr
    found, expected = (
        library.evaluate({"A": path}, columns=columns, **HOW)
        for path, columns in ((folder / "all.sum", None), (whole, {"cluster": "user"}))
    )
    assert same_in_both(found.text) == same_in_both(expected.text)
    assert (found.execution.route, found.execution.sites) == ("summaries", NAMES)


def test_counts_go_with_their_ids(data):
    site, salt = data[0] / "oslo", f"{SALT} oslo".encode()
    made = read_summary(site / "run.sum")[0]
    summarize(site)
    plain = read_summary(site / "run.sum")[0]
    summarize(site, "--site", "oslo", "--salt", "salt.txt")
    held = [
        {name: (summary.of_clusters(n, n + 1).count.tolist(), summary.digests[n]) for n, name in enumerate(summary.ids)}
        for summary in (plain, made)
    ]
    assert {pseudonym(name, "oslo", salt): counts for name, counts in held[0].items()} == held[1]
    assert list(held[1]) == sorted(held[1])


def test_ids_that_become_one_are_refused(data):
    site = data[0] / "oslo"
    summarize(site)
    plain = read_summary(site / "run.sum")[0]
    summarize(site, "--site", "oslo", "--salt", "salt.txt")
    with mock.patch.object(pseudonyms, "_DIGITS", 0), pytest.raises(UserError, match="two ids have the same pseudonym"):
        salted(plain, "oslo", b"s" * 16)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("visits.csv", "--site", "oslo"), "--site and --salt go together"),
        (("visits.csv", "--salt", "salt.txt"), "--site and --salt go together"),
        (("visits.csv", "--site", "o:slo", "--salt", "salt.txt"), "site 'o:slo', expected letters"),
        (("visits.csv", "--site", "oslo", "--salt", "short.txt"), "short.txt: a salt of 5 bytes, expected 16 or more"),
        (("visits.csv", "--site", "oslo", "--salt", "none.txt"), "none.txt: cannot be read"),
        (("run.sum", "--site", "oslo", "--salt", "salt.txt"), "its ids are pseudonyms already, of oslo"),
        (("run.sum", "plain.sum"), "whether ids are pseudonyms differs"),
        (("visits.csv", "--site", "oslo", "--salt", "salt.txt", "-o", "salt.txt"), "salt.txt"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(data, tmp_path, words, message):
    site = shutil.copytree(data[0] / "oslo", tmp_path / "oslo")
    (site / "short.txt").write_text("short\n")
    summarize(shutil.copytree(site, tmp_path / "plain"))
    shutil.copy(tmp_path / "plain" / "run.sum", site / "plain.sum")
    before = (site / "salt.txt").read_bytes()
    how = () if "run.sum" in words else ("--column", "cluster=user", "--confidence", "sure")
    outcome = demur(site, "summarize", "-o", "new.sum", *words, *how)
    assert (outcome.returncode, message in outcome.stderr, outcome.stderr.count("\n")) == (2, True, 1), outcome.stderr
    assert not (site / "new.sum").exists()
    assert (site / "salt.txt").read_bytes() == before
