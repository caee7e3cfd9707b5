"""Summaries: the same bytes as from the data themselves, however these were split and merged."""

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demur as library
from commands import demur
from demur import UserError
from demur.extensions.scale.bins import binned, exponent_for
from demur.extensions.scale.file import content, read_summary
from demur.extensions.scale.keys import grouped
from parametrized import parametrize_few
from sharded import same_in_both, shards, table, units

KEPT = ("--column", "cluster=user", "--confidence", "sure,margin", "--group", "sex=sex", "--loss-max", "1")
PRICED = ("--abstention-cost", "0.2", "--convention", "fd-shifts")
pytestmark = pytest.mark.uses("groups", "costs", "conventions")  # what the summaries are compared on
ASKED = ("--seed", "7", "--bootstrap-resamples", "60", "--created-at", "2026-01-31T12:00:00Z")


def evaluated(folder, *inputs, more=(), output="out.json"):
    outcome = demur(folder, "evaluate", *inputs, *more, *ASKED, "--output", output, "--quiet")
    assert outcome.returncode == 0, outcome.stderr
    return same_in_both((folder / output).read_text())


def summary_of(folder, *parts, more=KEPT, output="run.sum"):
    outcome = demur(folder, "summarize", *parts, *more, "-o", output)
    assert outcome.returncode == 0, outcome.stderr
    return folder / output


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One table, and the same rows in another order in 1, 3 and 8 shards; what the table gives."""
    folder, rows = tmp_path_factory.mktemp("data"), units()
    table(folder / "all.csv", rows)
    for number in (1, 3, 8):
        shards(folder / f"in-{number}", rows, number)
    return folder, evaluated(folder, "A=all.csv", more=(*KEPT, *PRICED))


@parametrize_few("number", [1, 3, 8], 1)
def test_shuffled_shards_give_the_bytes_of_the_whole_table(data, number):
    folder, expected = data
    summary_of(folder, *sorted((folder / f"in-{number}").iterdir()))
    assert evaluated(folder, "A=run.sum", more=("--group", "sex", *PRICED)) == expected


@pytest.mark.slow
def test_a_folder_is_one_system_in_shards(data):
    folder, expected = data
    assert evaluated(folder, "A=in-8", more=(*KEPT, *PRICED)) == expected


def test_merging_in_any_order_gives_the_same_file(data):
    folder, _ = data
    whole = summary_of(folder, "in-8").read_bytes()
    parts = [summary_of(folder, path, output=f"{path.stem}.sum") for path in sorted((folder / "in-8").iterdir())]
    left = summary_of(folder, *parts[5:], more=(), output="left.sum")
    middle = summary_of(folder, parts[4], parts[1], more=(), output="middle.sum")
    merged = summary_of(folder, middle, parts[0], left, parts[3], parts[2], more=(), output="again.sum")
    assert merged.read_bytes() == whole


def test_a_summary_says_what_was_left_out_and_needs_no_names_again(data):
    folder, _ = data
    summary_of(folder, "in-3")
    results = library.evaluate(folder / "run.sum", resamples=0)
    assert results.selective.confidences == ("sure", "margin")
    assert not results.selective.confident_errors
    assert not [row for row in results if row.key.group]


@pytest.mark.slow
def test_truths_and_predictions_are_summarized_by_a_named_loss(tmp_path):
    rows = [{**row, "prediction": "" if row["loss"] == "" else i % 3} for i, row in enumerate(units(3))]
    table(tmp_path / "all.csv", rows, without=("loss", "sex", "margin"))
    shards(tmp_path / "parts", rows, 3, without=("loss", "sex", "margin"))
    more = ("--column", "cluster=user", "--confidence", "sure", "--loss", "abs")
    expected = evaluated(tmp_path, "A=all.csv", more=more)
    assert evaluated(tmp_path, "A=parts", more=more) == expected
    summary_of(tmp_path, "parts", more=more)
    assert evaluated(tmp_path, "A=run.sum") == expected
    refused = demur(tmp_path, "evaluate", "A=run.sum", "--loss", "zero_one", "--seed", "1")
    assert (refused.returncode, "by the loss abs (abs(pred - gt)), not zero_one" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_part_in_which_nothing_succeeded_says_who_failed(tmp_path):
    rows = [{"user": n % 5, "item": n, "loss": n % 2, "sure": n % 3, "status": "ok"} for n in range(20)]
    rows += [{"user": user, "item": "x", "loss": "", "sure": "", "status": "failed: time"} for user in (1, 9)]
    table(tmp_path / "all.csv", rows)
    (tmp_path / "parts").mkdir()
    for name, part in (("1", rows[:20]), ("2", rows[20:21]), ("3", rows[21:])):
        table(tmp_path / "parts" / f"{name}.csv", part)
    more = ("--column", "cluster=user", "--confidence", "sure")
    expected = evaluated(tmp_path, "A=all.csv", more=more)
    assert evaluated(tmp_path, "A=parts", more=more) == expected
    for name in "123":
        summary_of(tmp_path, f"parts/{name}.csv", more=more, output=f"{name}.sum")
    assert evaluated(tmp_path, f"A={summary_of(tmp_path, '3.sum', '1.sum', '2.sum', more=())}") == expected
    (tmp_path / "parts" / "1.csv").unlink()
    for words in (("A=parts", *more), ("A=2.sum",), ("A=parts/3.csv", *more)):
        outcome = demur(tmp_path, "evaluate", *words, "--seed", "1")
        assert (outcome.returncode, outcome.stderr.count("\n")) == (2, 1)
        assert "nothing to evaluate: no cluster succeeded" in outcome.stderr


@pytest.mark.slow
def test_many_units_that_are_alike_are_counted_as_many(tmp_path):
    rows = [{**row, "sure": f"{i % 2}", "margin": "0"} for i, row in enumerate(units(8, clusters=6, rows=3000))]
    table(tmp_path / "all.csv", rows)
    summary_of(tmp_path, "all.csv")
    summary, _ = read_summary(tmp_path / "run.sum")
    assert summary.count.dtype.itemsize < 8
    assert evaluated(tmp_path, "A=run.sum", more=("--group", "sex")) == evaluated(tmp_path, "A=all.csv", more=KEPT)


@pytest.mark.slow
def test_failed_units_are_counted_by_cause(tmp_path):
    states = ["ok", "failed: timeout", "failed", "ok", "ok"]
    rows = [{**row, "status": states[i % 5]} for i, row in enumerate(units(4))]
    table(tmp_path / "all.csv", rows)
    shards(tmp_path / "parts", rows, 3)
    for rule in ("drop", "abstain"):
        more = ("--column", "cluster=user", "--confidence", "margin", "--failed-units", rule)
        assert evaluated(tmp_path, "A=parts", more=more) == evaluated(tmp_path, "A=all.csv", more=more)


@given(st.data())
@settings(max_examples=40)
@pytest.mark.slow
def test_bins_of_bins_are_the_bins_of_all_values(data):
    numbers = st.floats(-1e9, 1e9) | st.sampled_from([0.0, 0.5, 1.0, 1e-300, 1e300])
    values = np.unique(data.draw(st.lists(numbers, min_size=3, max_size=30)))
    lower, most = data.draw(st.booleans()), data.draw(st.integers(2, 12))
    half = values[: data.draw(st.integers(1, len(values)))]
    exponent, narrower = (exponent_for(each, most, lower_is_surer=lower) for each in (values, half))
    if exponent is None:
        assert len(values) <= most
        return
    assert narrower is None or narrower <= exponent
    once = binned(values, exponent, lower_is_surer=lower)
    first = values if narrower is None else binned(values, narrower, lower_is_surer=lower)
    assert np.array_equal(binned(first, exponent, lower_is_surer=lower), once)
    assert len(np.unique(once)) <= most < len(np.unique(binned(values, exponent - 1, lower_is_surer=lower)))
    assert (np.diff(once) >= 0).all()
    assert ((once >= values) if lower else (once <= values)).all()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20), st.sampled_from([3, 2**61]))
def test_rows_are_grouped_as_a_loop_would(rows, size):
    columns, count = grouped([np.array(column) for column in zip(*rows)], [4, size])
    expected = sorted({row: rows.count(row) for row in rows}.items())
    assert [(row, n) for *row, n in zip(*(c.tolist() for c in columns), count.tolist())] == [
        ([*r], n) for r, n in expected
    ]


def test_losses_that_are_no_decimals_are_rounded_to_a_stated_grid(tmp_path):
    rows = [{**row, "loss": str(float(Fraction(i % 7, 7)))} for i, row in enumerate(units(5, rows=60))]
    table(tmp_path / "all.csv", rows)
    kept = ("--column", "cluster=user", "--confidence", "margin")
    refused = demur(tmp_path, "summarize", "all.csv", *kept, "-o", "run.sum")
    assert refused.returncode == 2
    assert "some losses have more than 9 decimals; round them, demur summarize --loss-digits 6" in refused.stderr
    summary_of(tmp_path, "all.csv", more=(*kept, "--loss-digits", "4"))
    summary, _ = read_summary(tmp_path / "run.sum")
    assert summary.losses.tolist() == [round(10_000 * i / 7) for i in range(7)]
    rounded = library.evaluate(tmp_path / "run.sum", resamples=0)
    as_given = library.evaluate(tmp_path / "all.csv", columns={"cluster": "user"}, confidence="margin", resamples=0)
    assert rounded.selective.loss.exact is False
    assert 0 < abs(rounded["augrc"].value - as_given["augrc"].value) <= 0.5e-4


REFUSED = {
    "cut off": (lambda data: data[:20], "cut off: it ends before its counts do"),
    "truncated": (lambda data: data[:-5], "damaged: its bytes are not those that were written"),
    "changed": (lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:], "damaged"),
    "later": (lambda data: data.replace(b"summary 1\n", b"summary 2\n"), "a summary of version 2, expected 1"),
    "empty": (lambda data: data[:16], "cut off"),
    "cut in its first line": (lambda data: data[:15], "cut off"),
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_damaged_summary_is_refused_by_name(data, tmp_path, how):
    folder, _ = data
    damage, expected = REFUSED[how]
    (tmp_path / "bad.sum").write_bytes(damage(summary_of(folder, "in-1").read_bytes()))
    for words in (("evaluate", "A=bad.sum", "--seed", "1"), ("summarize", "bad.sum", "-o", "new.sum")):
        outcome = demur(tmp_path, *words)
        assert outcome.returncode == 2
        assert outcome.stderr.startswith(f"demur: bad.sum: {expected}")
        assert outcome.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.sum"]


def test_numbers_that_do_not_hold_together_are_refused_even_with_a_good_hash(data, tmp_path):
    folder, _ = data
    whole = summary_of(folder, "in-1").read_bytes()
    rng, refused = np.random.default_rng(1), 0
    for _ in range(60):
        body = bytearray(whole[:-32])
        body[int(rng.integers(24, len(body)))] ^= 1 << int(rng.integers(8))
        (tmp_path / "bad.sum").write_bytes(bytes(body) + hashlib.sha256(body).digest())
        try:
            summary, source = read_summary(tmp_path / "bad.sum")
            summary.facts(source)
        except UserError:
            refused += 1
    assert refused


@parametrize_few(
    "other",
    [
        ("--loss-max", "2"),
        ("--bins", "100"),
        ("--noun", "user"),
        ("--confidence", "sure"),
        ("--loss-digits", "2"),
        ("--lower-is-surer", "margin"),
    ],
    3,
)
def test_parts_of_another_kind_are_refused_by_name(data, tmp_path, other, message):
    folder, _ = data
    one, two = sorted((folder / "in-3").iterdir())[:2]
    summary_of(tmp_path, one, more=KEPT, output="one.sum")
    summary_of(tmp_path, two, more=(*KEPT, *other), output="two.sum")
    outcome = demur(tmp_path, "summarize", "one.sum", "two.sum", "-o", "both.sum")
    assert outcome.returncode == 2
    message(outcome.stderr)
    assert "one.sum" in outcome.stderr
    assert not (tmp_path / "both.sum").exists()


def test_losses_that_no_common_grid_holds_are_refused(tmp_path):
    for name, loss in (("large", "123456789012"), ("fine", "0.000000001")):
        (tmp_path / f"{name}.csv").write_text(f"cluster,item,sure,loss\n{name},1,0.5,{loss}\n")
    outcome = demur(tmp_path, "summarize", "large.csv", "fine.csv", "--confidence", "sure", "-o", "x.sum")
    assert (outcome.returncode, (tmp_path / "x.sum").exists()) == (2, False)
    assert "no grid holds the largest loss and all decimals" in outcome.stderr
    rounded = demur(
        tmp_path, "summarize", "large.csv", "fine.csv", "--confidence", "sure", "--loss-digits", "2", "-o", "x.sum"
    )
    assert (rounded.returncode, rounded.stderr) == (0, "")


def test_a_part_that_is_given_twice_is_refused(data, tmp_path):
    folder, _ = data
    one, two, _ = sorted((folder / "in-3").iterdir())
    summary_of(tmp_path, one, two, output="two.sum")
    for parts in ((one, one), (one, "two.sum"), ("two.sum", "two.sum")):
        more = () if parts == ("two.sum", "two.sum") else KEPT
        outcome = demur(tmp_path, "summarize", *parts, *more, "-o", "both.sum")
        assert outcome.returncode == 2
        assert "the same part is in" in outcome.stderr


@parametrize_few(
    "words",
    [
        ("--group", "item"),
        pytest.param(("--rater", "R=rater.csv"), marks=pytest.mark.uses("raters")),
        pytest.param(("--forced", "rater.csv"), marks=pytest.mark.uses("raters")),
        ("--convention", "ln"),
        ("--column", "cluster=user"),
        ("--group", "sex=sex"),
    ],
    3,
)
def test_what_needs_single_units_is_refused_by_name(data, words, message):
    folder, _ = data
    summary_of(folder, "in-1")
    (folder / "rater.csv").write_text("cluster,item,loss\nu1,q1,0\n")
    outcome = demur(folder, "evaluate", "A=run.sum", "--seed", "1", *words)
    assert outcome.returncode == 2
    message(outcome.stderr)


def test_a_folder_without_a_table_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    outcome = demur(tmp_path, "evaluate", "A=empty", "--seed", "1")
    assert outcome.returncode == 2
    assert "no file in it is a table, a run or a summary" in outcome.stderr


@pytest.mark.parametrize("name", ["notes.md", "part-2.csv~", "more/part-2.csv"])
def test_a_folder_in_which_something_is_no_part_is_refused_and_what_is_hidden_is_not(tmp_path, name):
    for hidden in ("_SUCCESS", ".part-1.csv.crc"):
        (tmp_path / hidden).write_text("")
    rows = units(rows=20)
    table(tmp_path / "part-1.csv", rows)
    summary_of(tmp_path, tmp_path, more=KEPT[:4], output="_run.sum")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    table(path, rows)
    outcome = demur(tmp_path, "summarize", tmp_path, *KEPT[:4], "-o", "_run.sum")
    assert outcome.returncode == 2
    assert f"{name.partition('/')[0]} is not a table, a run or a summary: move it out" in outcome.stderr


def test_the_file_has_no_seed_and_nothing_but_plain_arrays(data):
    folder, _ = data
    path = summary_of(folder, "in-1")
    summary, _ = read_summary(path)
    assert b"".join(content(summary)) == path.read_bytes()
    data = path.read_bytes()
    size = int.from_bytes(data[16:24], "little")
    header = json.loads(data[24 : 24 + size])
    assert {kind[1] for _, kind, _ in header["arrays"]} <= {*"iufS"}
