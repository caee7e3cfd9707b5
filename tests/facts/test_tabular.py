"""Every result is a table: lists, a data frame of the library at hand, and a table in a notebook."""

import inspect
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import demur
from artifacts import GOLDEN
from demur import ItemPrediction, Plan
from demur.extensions.audit.results_audit import audited_runs
from demur.extensions.lab.designs import DESIGNS
from demur.extensions.lab.study import coverage
from demur.facts.frames import Tabular
from installation import needs_all
from parametrized import parametrize_few

RUN = demur.read_run(GOLDEN / "run.json", mode="few_shot")
ROWS = [ItemPrediction(person, 0, 2, person % 2, person) for person in range(4)]
UNITS = {"confidence": [2, 2, 1, 0], "loss": [0, 2, 0, None]}
NONE = Plan(0, seed=None)

# What goes in, by name, and the smallest parts of results: everything else that a public function gives is a table.
NO_TABLES = {"Items", "Rankings", "Graded", "Confidence", "Instrument", "Quantity", "AnyCalibration"}
NO_TABLES |= {"Rule", "Applied"}  # a decision, and how often it was taken

CASES = {
    "Estimates": lambda: demur.estimate(demur.grade_units(**UNITS), plan=Plan(20, seed=1)),
    "Results": lambda: demur.evaluate(RUN, confidence="llm", resamples=0),
    "Scores": lambda: demur.measure(**UNITS),
    "Curve": lambda: demur.risk_coverage(**UNITS),
    "CurveRecord": lambda: demur.evaluate(RUN, confidence="llm", resamples=0).curves["few_shot", "llm"],
    "Reliability": lambda: demur.reliability([0.9, 0.9, 0.3], [1, 0, 0]),
    "Calibration": lambda: demur.calibrate(RUN, method="platt", variant="verbalized"),
    "RiskCoverageCurve": lambda: demur.selective_prediction.compute_risk_coverage_curve(ROWS, loss="abs"),
    "BootstrapResult": lambda: demur.bootstrap_by_participant(
        ROWS, metric_fn=lambda rows: demur.compute_aurc(rows, loss="abs"), n_resamples=9, seed=1
    ),
    "TableOf[Finding]": lambda: audited_runs(demur.evaluate(RUN, confidence="llm", resamples=0), [RUN], None, None),
    "TableOf[Tally]": lambda: coverage(DESIGNS["sizes"], 8, datasets=2, seed=1, resamples=40),
}


@pytest.fixture(scope="module", params=CASES)
def result(request):
    return CASES[request.param]()


def test_the_frame_has_the_columns_and_every_row(result):
    frame, columns = result.to_frame(), result.to_columns()
    assert isinstance(frame, (pl.DataFrame, pd.DataFrame))
    assert len(frame) == len(next(iter(columns.values()))) > 0
    assert {name for name in columns if name not in {"group", "minus"}} <= {*frame.columns}


def test_a_notebook_shows_it(result):
    shown = result._repr_html_()
    assert shown.count("<table>") == shown.count("</table>") == 1


def test_exact_columns():
    assert demur.risk_coverage(**UNITS).to_columns() == {
        "coverage": [0.5, 0.75],
        "selective_risk": [1.0, 2 / 3],
        "generalized_risk": [0.5, 0.5],
        "threshold": [2.0, 1.0],
    }
    assert demur.measure(**UNITS, metrics=["cmax", "risk@0.9"]).to_columns() == {
        "quantity": ["cmax", "risk@0.9"],
        "value": [0.75, None],
        "undefined": [None, "no operating point reaches this coverage"],
    }
    assert demur.reliability([0.75, 0.75, 0.25], [1, 0, 0]).to_columns() == {
        "low": [0.2, 0.7],
        "high": [0.3, 0.8],
        "count": [1, 2],
        "mean_predicted": [0.25, 0.75],
        "fraction_correct": [0.0, 0.5],
        "gap": [-0.25, -0.25],
    }


def test_a_calibration_tells_how_good_it_is_before_and_after():
    made = demur.calibrate(RUN, method="platt", variant="verbalized")
    table = made.to_columns()
    assert table["measured"][:2] == ["as_given", "in_sample"]
    assert table["nll"][:2] == [made.validation.as_given.nll, made.validation.in_sample.nll]


def public_functions():
    for name in demur.__all__:
        value = getattr(demur, name, None)  # of a folder that is not there
        if inspect.isfunction(value):
            yield name, inspect.signature(value, eval_str=False).return_annotation


@needs_all
def test_whatever_a_public_function_gives_is_a_table():
    tables = set()
    for name, given in public_functions():
        kind = given if isinstance(given, str) else getattr(given, "__name__", "")
        result = getattr(demur, kind, None) if kind in demur.__all__ else None
        if isinstance(result, type) and kind not in NO_TABLES:
            assert issubclass(result, Tabular), f"{name} gives {kind}, which has no to_frame"
            tables.add(kind)
    assert tables >= {"Results", "Estimates", "Scores", "Curve", "Reliability", "Calibration", "RiskCoverageCurve"}


def test_without_a_library_of_frames_the_error_names_the_columns(monkeypatch):
    for name in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(demur.UserError, match="install one of them, or use to_columns"):
        demur.risk_coverage(**UNITS).to_frame()


KINDS = {"pandas": (pd.DataFrame, pd.DataFrame), "polars": (pl.DataFrame, pl.DataFrame)}
KINDS |= {"polars lazy": (lambda rows: pl.DataFrame(rows).lazy(), pl.DataFrame), "pyarrow": (pa.table, pa.Table)}
UNITS_OF = {"cluster": [1, 1, 2, 3], "sure": [2.0, 2.0, 1.0, 0.0], "loss": [0, 2, 0, None]}


def made_from(frame):
    """Results of every function that takes a frame, or columns of one."""
    units = demur.grade_units("sure", data=frame, loss="loss", clusters="cluster")
    systems = {"A": frame, "B": frame, "C": frame}
    results = demur.evaluate(systems, confidence="sure", resamples=120, seed=1)
    yield from (results, results.where(system="A"), results.narrowed("sure"), results.leaderboard())
    yield from (demur.measure("sure", data=frame, loss="loss"), demur.risk_coverage("sure", data=frame, loss="loss"))
    yield demur.estimate(units, plan=NONE)
    yield from results.curves.values()
    rule = demur.choose(units, coverage=0.5, seed=1)
    yield from (rule, rule.read_beside(()))
    items = demur.read_table(frame)
    yield from (demur.evaluate(items, resamples=0), demur.measure("sure", data=items))


@parametrize_few("kind", KINDS, 2)
def test_the_frame_is_of_the_kind_that_came_in(kind):
    make, expected = KINDS[kind]
    frame = make(UNITS_OF)
    for result in made_from(frame):
        assert isinstance(result.to_frame(), expected), type(result)


def test_columns_of_a_library_tell_the_kind_as_well():
    for series, expected in ((pd.Series, pd.DataFrame), (pl.Series, pl.DataFrame)):
        assert isinstance(demur.measure(series([2.0, 1.0]), loss=[0, 1]).to_frame(), expected)
        assert isinstance(demur.reliability(series([0.9, 0.1]), [1, 0]).to_frame(), expected)


def test_a_warning_has_words():
    table = {"cluster": [1, 1, 2, 3], "sure": [0.9, 0.8, 0.7, 0.6], "loss": [0, 1, 0, None]}
    results = demur.evaluate({"A": table, "B": table}, resamples=20, seed=1)
    assert len(results.warnings) > 5
    for warning in results.warnings:
        text = str(warning)
        assert text.endswith(warning.message())
        assert not any(code in text for code in ("ResultWarning", "Pattern", "None", "{", "\n")), text
    texts = {*map(str, results.warnings)}
    assert "3 clusters: intervals from fewer than 40 are rough" in texts
    assert any(text.startswith("A, augrc, sure: ") for text in texts)
    assert any(text.startswith("B, sure, minus A: ") for text in texts)
