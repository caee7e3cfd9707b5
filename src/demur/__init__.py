"""demur: measure systems that may decline to answer."""

__version__ = "0.1.0"

from demur.arrays import measure, risk_coverage
from demur.coverage import Coverage
from demur.curve import Curve, WorkingPoint
from demur.errors import UserError
from demur.graded import Graded, grade
from demur.instruments import GAD7, PHQ8, PHQ9, Instrument, instrument
from demur.items import Items
from demur.metrics import METRICS, Measure, Scores, augrc_optimal_zero_one, aurc_optimal_zero_one, metric
from demur.read import read_run, read_table
from demur.selective_prediction import (
    ItemPrediction,
    RiskCoverageCurve,
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
)

__all__ = [
    "GAD7",
    "METRICS",
    "PHQ8",
    "PHQ9",
    "Coverage",
    "Curve",
    "Graded",
    "Instrument",
    "ItemPrediction",
    "Items",
    "Measure",
    "RiskCoverageCurve",
    "Scores",
    "UserError",
    "WorkingPoint",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
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
    "grade",
    "instrument",
    "measure",
    "metric",
    "read_run",
    "read_table",
    "risk_coverage",
]
