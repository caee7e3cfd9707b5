"""Reported intervals and standard errors of runs: other draws are accepted within a range, and the command says so."""

import json
import random

import pytest

from commands import demur
from damage import damaged
from demur import UserError
from reported_runs import MODES, audited, scores, verdicts
from runs import written


class TestCommand:
    def test_hand_typed_figures_are_listed_and_the_exit_code_tells(self, folder, both):
        right = scores(both, "few_shot", "llm")
        written(folder, {"aurc": round(right["aurc"], 4), "risk@0.5": right["risk@0.5"]}, "mine.json")
        command = ("audit", "--data", "run.json", "--reported", "mine.json", "--mode", "few_shot")
        good = demur(folder, *command)
        assert (good.returncode, good.stderr) == (0, "")
        assert good.stdout.endswith("2 figures: 2 match, 0 differs, 0 not recognised\n")
        written(folder, {"aurc": round(100 * right["aurc"], 2)}, "mine.json")
        bad = demur(folder, *command, "--json")
        assert bad.returncode == 3
        assert json.loads(bad.stdout)["causes"] == {"would equal it, given in percent (× 100)": 1}

    @pytest.mark.parametrize(
        ("content", "options"),
        [
            ("[0.5]", ()),
            ("{}", ()),
            ('{"aurc": 0.1}', ("--mode", "other")),
        ],
    )
    def test_what_cannot_be_audited_is_one_line_and_exit_code_2(self, folder, content, options, message):
        written(folder, content, "mine.json")
        found = demur(folder, "audit", "--data", "run.json", "--reported", "mine.json", *options)
        assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
        message(found.stderr)

    @pytest.mark.parametrize("trials", [12, pytest.param(60, marks=pytest.mark.slow)])
    @pytest.mark.slow
    def test_a_damaged_report_is_a_clean_error_or_a_list(self, folder, both, trials):
        """Sixty damages are among the slow tests."""
        rng, codes = random.Random(5), set()
        right = {
            mode: {"llm": scores(both, mode, "llm", "abs"), "mae_grid": [[0.9, None]], "loss": "abs"} for mode in MODES
        }
        for _ in range(trials):
            data = damaged(rng, right)
            written(folder, data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"), "mine.json")
            found = demur(folder, "audit", "--data", "run.json", "--reported", "mine.json")
            codes.add(found.returncode)
            assert (found.stdout == "") == (found.returncode == 2)
            assert found.stderr.count("\n") == (found.returncode == 2)
        assert codes == {0, 2, 3}


def of_other_draws(folder, *options):
    """What `demur evaluate` writes with 4000 draws of another seed, without what tells that it was demur."""
    flags = ("--seed", 99, "--bootstrap-resamples", 4000, "--coverage-grid", "0.3,0.6", "--quiet", "--output", "m.json")
    made = demur(folder, "evaluate", "--input", "run.json", *options, "--confidence", "llm", *flags)
    assert made.returncode == 0, made.stderr
    return json.loads((folder / "m.json").read_text(encoding="utf-8"))


def told(content):
    """Some of the intervals or standard errors."""
    return {name: content[name] for name in ("cmax", "augrc_full", "aurc_full", "mae_at_coverage")}


@pytest.fixture(scope="module")
def bootstrap(folder):
    made = of_other_draws(folder, "--mode", "few_shot")["confidence_variants"]["llm"]["bootstrap"]
    return {"n_resamples": 4000, "ci95": told(made["ci95"]), "std_error": told(made["std_error"])}


class TestDraws:
    @pytest.mark.slow
    def test_other_draws_are_accepted_within_a_range_and_ends_outside_it_are_not(self, both, bootstrap):
        found = audited(both, {"few_shot": {"llm": {"bootstrap": bootstrap}}}, resamples=700)
        key = "few_shot.llm.bootstrap"
        assert {one.status for one in found.values()} == {"match"}
        assert {f"{key}.ci95.aurc_full.1", f"{key}.ci95.mae_at_coverage.0.30.0", f"{key}.std_error.cmax"} <= set(found)
        low, high = found[f"{key}.ci95.aurc_full.0"].band
        assert low < bootstrap["ci95"]["aurc_full"][0] < high
        moved = json.loads(json.dumps(bootstrap))
        moved["ci95"]["augrc_full"][0] += 0.6 * bootstrap["std_error"]["augrc_full"]
        moved["std_error"]["cmax"] *= 1.4
        wrong = audited(both, {"few_shot": {"llm": {"bootstrap": moved}}}, resamples=700)
        assert [one.key for one in wrong.values() if one.status == "differs"] == [
            f"{key}.ci95.augrc_full.0",
            f"{key}.std_error.cmax",
        ]

    @pytest.mark.slow
    def test_an_interval_may_stand_beside_its_figure_and_one_of_single_items_is_named(self, both, bootstrap):
        items, low_high = both["few_shot"], bootstrap["ci95"]["cmax"]
        right = {"few_shot": {"cmax": {"value": 0.775, "ci95": low_high}}}
        assert set(verdicts(both, right).values()) == {("match", None)}
        shares = sorted(
            sum(random.Random(draw).choices(items.answered.tolist(), k=len(items))) / len(items) for draw in range(2000)
        )
        single = verdicts(both, {"few_shot": {"cmax": {"ci95": {"low": shares[50], "high": shares[1949]}}}})
        assert set(single.values()) == {("differs", "would equal it, items resampled, not participants")}

    @pytest.mark.slow
    def test_differences_are_drawn_together(self, folder, both):
        content = of_other_draws(folder, "--mode", "zero_shot", "--input", "run.json", "--mode", "few_shot")
        deltas = content["comparison"]["deltas"]["llm"]
        shown = {
            name: {key: deltas[name][key] for key in ("delta", "ci95", "std_error")} for name in ("cmax", "augrc_full")
        }
        found = verdicts(both, {"deltas": {"llm": shown}}, resamples=500)
        assert len(found) == 8
        assert set(found.values()) == {("match", None)}

    def test_what_is_not_drawn_again_says_why(self, both):
        content = {
            "left": {"llm": {"aurc_at_c": {"ci95": [0, 1]}, "aurc": {"ci95": 3}, "cmax": {"n_units": {"se": 1}}}}
        }
        assert [cause for _, cause in verdicts(both, content).values()][:3] == [
            "the common coverage is another in every draw, which is not repeated here",
            "the common coverage is another in every draw, which is not repeated here",
            "it does not say which end of the interval it is",
        ]
        with pytest.raises(UserError, match="^resamples 0, expected 1 or more"):
            audited(both, {"left": {"cmax": 0.5}}, resamples=0)
