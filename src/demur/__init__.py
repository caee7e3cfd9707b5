"""demur: measure systems that may decline to answer."""

__version__ = "0.1.0"

from demur.arrays import grade_units, measure, risk_coverage
from demur.comparison import Comparison, compare
from demur.coverage import Coverage
from demur.curve import Curve, WorkingPoint
from demur.errors import UserError
from demur.estimates import Estimate, Estimates, estimate
from demur.graded import Graded, grade
from demur.instruments import GAD7, PHQ8, PHQ9, Instrument, instrument
from demur.intervals import Interval
from demur.items import Items
from demur.metrics import METRICS, Measure, Scores, augrc_optimal_zero_one, aurc_optimal_zero_one, metric
from demur.read import read_run, read_table
from demur.resample import Plan, bootstrap
from demur.selective_prediction import (
    BootstrapDeltaResult,
    BootstrapResult,
    ItemPrediction,
    RiskCoverageCurve,
    bootstrap_by_participant,
    compute_augrc,
    compute_augrc_at_coverage,
    compute_augrc_optimal,
    compute_aurc,
    compute_aurc_achievable,
    compute_aurc_at_coverage,
    compute_aurc_optimal,
    compute_cmax,
    compute_eaugrc,
    compute_eaurc,
    compute_risk_at_coverage,
    compute_risk_coverage_curve,
    paired_bootstrap_delta_by_participant,
)
from demur.table import Table

__all__ = [
    "GAD7",
    "METRICS",
    "PHQ8",
    "PHQ9",
    "BootstrapDeltaResult",
    "BootstrapResult",
    "Comparison",
    "Coverage",
    "Curve",
    "Estimate",
    "Estimates",
    "Graded",
    "Instrument",
    "Interval",
    "ItemPrediction",
    "Items",
    "Measure",
    "Plan",
    "RiskCoverageCurve",
    "Scores",
    "Table",
    "UserError",
    "WorkingPoint",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
    "bootstrap",
    "bootstrap_by_participant",
    "compare",
    "compute_augrc",
    "compute_augrc_at_coverage",
    "compute_augrc_optimal",
    "compute_aurc",
    "compute_aurc_achievable",
    "compute_aurc_at_coverage",
    "compute_aurc_optimal",
    "compute_cmax",
    "compute_eaugrc",
    "compute_eaurc",
    "compute_risk_at_coverage",
    "compute_risk_coverage_curve",
    "estimate",
    "grade",
    "grade_units",
    "instrument",
    "measure",
    "metric",
    "paired_bootstrap_delta_by_participant",
    "read_run",
    "read_table",
    "risk_coverage",
]
