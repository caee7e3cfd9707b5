"""Metrics: registered functions of a curve, of forecasts, and of rankings."""

from demur.metrics import calibration, detection, retrieval, selective, selective_ranking
from demur.metrics.detection import DETECTION_METRICS
from demur.metrics.forecasts import CALIBRATION_METRICS, CalibrationMetric, Forecasts, calibration_metric
from demur.metrics.registry import METRICS, Measure, Metric, default_measures, metric
from demur.metrics.retrieval import RANKING_METRICS, RankingMetric, ranking_metric
from demur.metrics.scores import Scores
from demur.metrics.selective_ranking import augrc_optimal_zero_one, aurc_optimal_zero_one

__all__ = [
    "CALIBRATION_METRICS",
    "DETECTION_METRICS",
    "METRICS",
    "RANKING_METRICS",
    "CalibrationMetric",
    "Forecasts",
    "Measure",
    "Metric",
    "RankingMetric",
    "Scores",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
    "calibration",
    "calibration_metric",
    "default_measures",
    "detection",
    "metric",
    "ranking_metric",
    "retrieval",
    "selective",
    "selective_ranking",
]
