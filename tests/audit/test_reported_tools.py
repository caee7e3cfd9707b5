"""Figures of other tools, held against the run they are of: each is named, also one that only some sort gives."""

import json
import random
from fractions import Fraction as F

import pytest

from cases import graded_of, random_units
from commands import ROOT, demur
from conventions import FD_SHIFTS_ABSTENTIONS, LM_POLYGRAPH, SORTED, TABLES, TORCH_PLOT, rows_of
from demur import Conventions, Key, Plan, Settings, evaluate, read_run
from demur.extensions.audit.reported.names import ReportedQuantity
from demur.extensions.audit.reported.tools import ALSO_KNOWN, KNOWN, figure_of_tool
from parametrized import parametrize_few
from reference.conventions import ALSO_REPORTED, TOOLS, number, with_abstentions
from reference.selective import Unit
from runs import written

RUN = ROOT / "tests" / "golden" / "run.json"


def units(table, reversed_rows=False):
    return [Unit(None if loss is None else F(loss), sure) for loss, sure in rows_of(table, reversed_rows)]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("flipped", [0, 1])
def test_the_loops_give_the_fractions_of_the_table(table, flipped):
    for (convention, name), values in SORTED.items():
        expected = values.get(table, (None, None))[flipped]
        if isinstance(expected, F) and "@" not in name:
            assert number(TOOLS[convention], name, (), units(table, bool(flipped))) == expected
    assert (
        number(ALSO_REPORTED["lm-polygraph"], "aurc", (), units(table, bool(flipped))) == LM_POLYGRAPH[table][flipped]
    )


def test_what_is_known_to_an_audit_alone():
    plot = ALSO_REPORTED["a plot of torch-uncertainty"]
    assert {name: number(plot, name, (), units("T2")) for name in TORCH_PLOT} == TORCH_PLOT
    zero, worst = (name for name in KNOWN if name not in {**TOOLS, **ALSO_REPORTED})
    for (table, loss), values in FD_SHIFTS_ABSTENTIONS.items():
        for name, value in values.items():
            found = figure_of_tool(worst if loss else zero, ReportedQuantity(name), graded_of(units(table)))
            assert found.value == pytest.approx(float(value), abs=1e-9)


@pytest.mark.parametrize("cases", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_every_figure_of_a_tool_is_that_of_the_plain_loops(cases):
    rng, zero_worst = random.Random(8), dict(zip(ALSO_KNOWN, (min, max)))
    for _ in range(cases):
        rows = random_units(rng)
        answered = [row.loss for row in rows if row.loss is not None]
        for tool, known in KNOWN.items():
            taken, plain = rows, (TOOLS | ALSO_REPORTED).get(tool, TOOLS["fd-shifts"])
            if tool not in TOOLS | ALSO_REPORTED:
                taken = with_abstentions(rows, zero_worst[tool](0, max(answered, default=F(0))))
            for name in known.numbers:
                quantity = ReportedQuantity(name, F("0.3") if "@" in name else F(0))
                found = figure_of_tool(tool, quantity, graded_of(rows))
                expected = number(plain, name, [quantity.number] if "@" in name else [], taken)
                assert found.value == (None if expected is None else pytest.approx(float(expected), abs=1e-9)), tool


@pytest.fixture(scope="module")
def results():
    settings = Settings(loss="zero_one", confidence="llm")
    return evaluate(read_run(RUN, mode="zero_shot"), Conventions(*TOOLS), settings=settings, plan=Plan(0, None))


def table_of(results, convention, names=("aurc", "augrc"), digits=4):
    """A paper's table: the run, and its figures to so many digits."""
    rows = {name: results.get(Key("zero_shot", name, "llm", convention=convention)) for name in names}
    figures = {name: round(row.value, digits) for name, row in rows.items() if row is not None}
    return {"zero_shot": {"loss": "zero_one", **figures}}


def audited(folder, content, *more):
    written(folder, content, "paper.json")
    found = demur(folder, "audit", "--data", RUN, "--reported", "paper.json", "--json", *more)
    assert not found.stderr
    return found.returncode, {each["key"]: each for each in json.loads(found.stdout)["findings"]}


@pytest.mark.slow
def test_a_paper_of_each_tool_from_the_same_run_is_named(tmp_path, results):
    code, found = audited(tmp_path, table_of(results, ""))
    assert (code, {each["status"] for each in found.values()}) == (0, {"match"})
    ours = {f"zero_shot.{name}": results[Key("zero_shot", name, "llm")].value for name in ("aurc", "augrc")}
    for tool in ("fd-shifts", "torch-uncertainty"):
        code, found = audited(tmp_path, table_of(results, tool))
        assert code == 3
        for key, title in (("zero_shot.aurc", "AURC"), ("zero_shot.augrc", "AUGRC")):
            assert found[key]["cause"] == f"would equal the {title} of {tool}; in our convention it is {ours[key]:.6g}"
            assert found[key]["recomputed"] == pytest.approx(ours[key])


@parametrize_few("tool", TOOLS, 3)
def test_every_emulation_is_named(tmp_path, results, tool):
    names = [row.key.quantity for row in results if row.key.convention == tool and row.key.quantity != "aurc_hyperbola"]
    _, found = audited(tmp_path, table_of(results, tool, names, digits=6))
    told = {each["cause"].partition(";")[0].rpartition(" of ")[2] for each in found.values() if each["cause"]}
    assert tool in told
    assert found["zero_shot.aurc"]["cause"].startswith(f"would equal the AURC of {tool}; in our convention it is ")


def test_the_loss_that_nobody_stated_is_found_with_the_tool(tmp_path, results):
    content = {"zero_shot": {"aurc": table_of(results, "torch-uncertainty")["zero_shot"]["aurc"]}}
    _, found = audited(tmp_path, content)
    assert "would equal the AURC of torch-uncertainty under the loss zero_one" in found["zero_shot.aurc"]["cause"]


def test_in_percent_it_is_named_with_its_scale(tmp_path, results):
    value = results[Key("zero_shot", "aurc", "llm", convention="torch-uncertainty")].value
    _, found = audited(tmp_path, {"zero_shot": {"loss": "zero_one", "aurc": round(100 * value, 2)}})
    cause = found["zero_shot.aurc"]["cause"]
    assert cause.startswith(
        "would equal the AURC of torch-uncertainty, given in percent (× 100); in our convention it is "
    )


def test_a_figure_that_another_order_of_ties_gives_is_consistent_and_does_not_match(tmp_path, results):
    low, high = results[Key("zero_shot", "aurc", "llm", convention="torch-uncertainty")].over_ties
    content = {"zero_shot": {"loss": "zero_one", "aurc": round(0.31 * low + 0.69 * high, 5)}}
    code, found = audited(tmp_path, content)
    assert code == 3
    assert found["zero_shot.aurc"]["cause"] == (
        f"consistent with the AURC of torch-uncertainty: {low:.6g} to {high:.6g}, as its sort leaves equal confidences"
        " (or of geifman, prefix-mean, ln)"
    )


def test_a_figure_of_a_tool_may_be_cut_off(tmp_path, results):
    value = results[Key("zero_shot", "aurc", "llm", convention="fd-shifts")].value
    figure = next(f"{value:.9f}"[: 4 + digits] for digits in range(1, 9) if f"{value:.9f}"[4 + digits] > "5")
    _, found = audited(tmp_path, {"zero_shot": {"loss": "zero_one", "aurc": float(figure)}})
    cause = "would equal the AURC of fd-shifts, cut off, not rounded; in our convention it is "
    assert found["zero_shot.aurc"]["cause"].startswith(cause)


def signature_of(results, tool):
    return str(results.selective.signature().under(dict(TOOL_KEYS[tool])))


TOOL_KEYS = {
    "torch-uncertainty": {
        "abst": "drop",
        "ties": "given.first",
        "start": "none",
        "dom": "one.renorm",
        "g.start": "none",
    },
    "fd-shifts": {"abst": "drop", "dom": "one", "x": "1000"},
}


@pytest.mark.parametrize("tool", TOOL_KEYS)
def test_with_the_signature_of_a_tool_its_figures_match(tmp_path, results, tool):
    content = table_of(results, tool)
    del content["zero_shot"]["loss"]  # the signature says it
    code, found = audited(tmp_path, content, "--signature", signature_of(results, tool))
    assert (code, {each["status"] for each in found.values()}) == (0, {"match"})


def test_with_a_signature_a_figure_of_another_order_is_said_to_be_consistent(tmp_path, results):
    low, high = results[Key("zero_shot", "aurc", "llm", convention="torch-uncertainty")].over_ties
    content = {"zero_shot": {"aurc": round(0.31 * low + 0.69 * high, 5)}}
    _, found = audited(tmp_path, content, "--signature", signature_of(results, "torch-uncertainty"))
    assert found["zero_shot.aurc"]["status"] == "match"
    assert found["zero_shot.aurc"]["cause"].startswith("consistent with it: within the range")


def test_with_the_signature_of_a_tool_our_figures_are_named(tmp_path, results):
    code, found = audited(tmp_path, table_of(results, ""), "--signature", signature_of(results, "fd-shifts"))
    assert (code, found["zero_shot.aurc"]["cause"]) == (3, "would equal it, our definition, not that of fd-shifts")


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "{}|x:1",
        "ZERO",
        "PERCENT",
    ],
)
def test_a_wrong_signature_is_one_line(tmp_path, results, line, message):
    ours = results.selective.signature()
    changed = {"ZERO": {"abst": "zero"}, "PERCENT": {"x": "100"}}
    line = str(ours.under(changed[line])) if line in changed else line.format(ours)
    written(tmp_path, table_of(results, ""), "paper.json")
    found = demur(tmp_path, "audit", "--data", RUN, "--reported", "paper.json", "--signature", line)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    message(found.stderr)


def test_a_difference_of_two_runs_follows_the_signature_too(tmp_path):
    modes, geifman = ("zero_shot", "few_shot"), Conventions("geifman")
    settings = Settings(loss="zero_one", confidence="llm")
    both = evaluate([read_run(RUN, mode=mode) for mode in modes], geifman, settings=settings, plan=Plan(0, None))
    values = {mode: both[Key(mode, "aurc", "llm", convention="geifman")].value for mode in modes}
    content = {mode: {"aurc": value} for mode, value in values.items()}
    content["deltas"] = {"aurc": values["few_shot"] - values["zero_shot"]}
    keys = {"abst": "drop", "ties": "given.last", "start": "none", "rule": "mean.offbyone", "dom": "one"}
    line = str(both.selective.signature().under(keys))
    code, found = audited(tmp_path, content, "--signature", line)
    assert (code, {each["status"] for each in found.values()}) == (0, {"match"})


class TestLongTables:
    FIVE = "user,{column},sure{more}\n" + "".join(
        f"{user},{{{number}}},0.{9 - number}{{end}}\n" for number, user in enumerate("abcde")
    )

    def audited(self, folder, reported, *words, column="loss", values=(0, 0, 1, 0, 1), signals=""):
        more, end = (f",{signals}", ",1") if signals else ("", "")
        (folder / "five.csv").write_text(self.FIVE.format(*values, column=column, more=more, end=end))
        (folder / "paper.json").write_text(json.dumps(reported))
        found = demur(folder, "audit", "--data", "five.csv", "--reported", "paper.json", "--json", *words)
        if found.returncode == 2:
            return found.stderr
        return {each["key"]: (each["status"], each["cause"]) for each in json.loads(found.stdout)["findings"]}

    @pytest.mark.parametrize(("column", "values"), [("loss", (0, 0, 1, 0, 1)), ("correct", (1, 1, 0, 1, 0))])
    def test_a_table_of_answers_is_enough_to_tell_whose_aurc_it_is(self, tmp_path, column, values):
        reported = {"loss": "zero_one", "aurc": 0.1958, "augrc": 120.0, "auroc": 0.8333, "risk@0.8": 0.25}
        found = self.audited(tmp_path, reported, column=column, values=values)
        assert found["aurc"] == (
            "differs",
            "would equal the AURC of torch-uncertainty; in our convention it is 0.156667",
        )
        assert found["augrc"] == ("differs", "would equal the AUGRC of fd-shifts; in our convention it is 0.12")
        assert found["auroc"] == found["risk@0.8"] == ("match", None)

    @pytest.mark.slow
    def test_tools_that_the_digits_do_not_tell_apart_are_all_named(self, tmp_path):
        torch = "would equal the AURC of torch-uncertainty"
        ours = "; in our convention it is 0.156667"
        assert self.audited(tmp_path, {"aurc": 0.196})["aurc"][1] == f"{torch}{ours}"
        for figure, scale in (("0.20", ""), (20, ", given in percent (× 100)")):
            _, cause = self.audited(tmp_path, {"aurc": figure})["aurc"]
            assert cause == f"{torch}{scale}, or the AURC of prefix-mean{scale}{ours}"

    @pytest.mark.parametrize(
        ("name", "figure", "told"),
        [
            ("aurc", 161.4642, "the AURC of fd-shifts, by hyperbolas; in our convention it is 0.156667"),
            ("aurc", 0.161464, "the AURC of fd-shifts, by hyperbolas, not × 1000; in our convention it is 0.156667"),
            ("eaurc", 0.063162, "the eAURC of fd-shifts, not × 1000; in our convention it is 0.0666667"),
            ("eaurc", 6.3162, "the eAURC of fd-shifts, not × 1000, given in percent (× 100); in our convention"),
            ("aurc_achievable", 0.1275, "the achievable AURC of fd-shifts, not × 1000; in our convention it is 0.115"),
        ],
    )
    def test_fd_shifts_is_named_by_hyperbolas_and_as_a_share(self, tmp_path, name, figure, told):
        status, cause = self.audited(tmp_path, {name: figure})[name]
        assert (status, cause.startswith(f"would equal {told}")) == ("differs", True), cause

    def test_a_folder_is_refused_by_name(self, tmp_path):
        assert self.audited(tmp_path, {"aurc": 0.1567}, "--data", ".") == (
            "demur: .: a folder, and an audit counts single units: give the data as one file per system\n"
        )

    def test_a_signature_may_be_a_name(self, tmp_path):
        assert self.audited(tmp_path, {"aurc": 0.1958}, "--signature", "torch-uncertainty")["aurc"][0] == "match"
        told = self.audited(tmp_path, {"aurc": 0.1958}, "--signature", "torch")
        assert told.startswith("demur: no convention is called torch; ")

    def test_a_section_called_after_a_tool_is_held_against_it(self, tmp_path):
        own = {"aurc": 0.1567, "fd-shifts": {"aurc": 156.67, "cmax": 1.0}, "torch-uncertainty": {"aurc": 0.2}}
        found = self.audited(tmp_path, {**own, "emulated": {"geifman": {"aurc": {"value": 0.1958}}}})
        assert [status for status, _ in found.values()] == ["match"] * 4 + ["differs"]
        cause = "would equal the AURC of torch-uncertainty; in our convention it is 0.156667"
        assert found["emulated.geifman.aurc.value"][1] == cause

    def test_what_is_not_said_is_asked_for(self, tmp_path):
        status, cause = self.audited(tmp_path, {"aurc": 0.1567}, signals="margin")["aurc"]
        assert status == "not recognised"
        assert cause == 'it does not say what ranks the answers: write "confidence" beside it, one of sure, margin'
        assert self.audited(tmp_path, {"sure": {"aurc": 0.1567}}, signals="margin")["sure.aurc"][0] == "match"
        status, cause = self.audited(tmp_path, {"aurc": 0.1567, "loss": "abs"})["aurc"]
        assert (status, cause) == (
            "not recognised",
            "the table gives losses: it does not say what the loss abs would be",
        )

    def test_intervals_are_held_against_draws_of_users(self, tmp_path):
        reported = {"aurc": 0.1567, "bootstrap": {"aurc": {"ci95": [0.9, 0.95]}}}
        found = self.audited(tmp_path, reported, "--resamples", "200")
        assert found["aurc"][0] == "match"
        assert "differs" in {status for key, (status, _) in found.items() if "ci95" in key}
