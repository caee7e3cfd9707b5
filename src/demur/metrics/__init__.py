"""Metrics: registered functions of a curve."""

from demur.metrics import selective, selective_ranking
from demur.metrics.registry import METRICS, Measure, Metric, default_measures, metric
from demur.metrics.scores import Scores
from demur.metrics.selective_ranking import augrc_optimal_zero_one, aurc_optimal_zero_one

__all__ = [
    "METRICS",
    "Measure",
    "Metric",
    "Scores",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
    "default_measures",
    "metric",
    "selective",
    "selective_ranking",
]
