"""Metrics: registered functions of a curve, and of forecasts."""

from demur.metrics import calibration, detection, retrieval, selective, selective_ranking
from demur.metrics.forecasts import CALIBRATION_METRICS, CalibrationMetric, Forecasts, calibration_metric
from demur.metrics.registry import METRICS, Measure, Metric, default_measures, metric
from demur.metrics.scores import Scores
from demur.metrics.selective_ranking import augrc_optimal_zero_one, aurc_optimal_zero_one

__all__ = [
    "CALIBRATION_METRICS",
    "METRICS",
    "CalibrationMetric",
    "Forecasts",
    "Measure",
    "Metric",
    "Scores",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
    "calibration",
    "calibration_metric",
    "default_measures",
    "detection",
    "metric",
    "retrieval",
    "selective",
    "selective_ranking",
]
