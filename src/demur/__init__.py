"""demur: measure systems that may decline to answer."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from demur.arrays import grade_units, measure, risk_coverage
    from demur.artifact import Metrics, load
    from demur.calibration import Calibration, load_calibration
    from demur.comparison import Comparison, compare
    from demur.confidences import confidence, served
    from demur.coverage import Coverage
    from demur.curve import Curve, WorkingPoint
    from demur.errors import UserError
    from demur.estimates import Estimate, Estimates, estimate
    from demur.evaluation import Evaluation, Settings, evaluate
    from demur.features import Need
    from demur.fitting import calibrate
    from demur.graded import Graded, grade
    from demur.instruments import GAD7, PHQ8, PHQ9, Instrument, instrument
    from demur.intervals import Interval
    from demur.items import Items
    from demur.quantities import (
        CALIBRATION_METRICS,
        DETECTION_METRICS,
        METRICS,
        RANKING_METRICS,
        Measure,
        Scores,
        augrc_optimal_zero_one,
        aurc_optimal_zero_one,
        calibration_metric,
        metric,
        ranking_metric,
    )
    from demur.ranking_columns import rankings_of
    from demur.rankings import Rankings
    from demur.read import read_items, read_queries, read_run, read_table, read_trec
    from demur.reliabilities import Reliability, reliability
    from demur.report.html import report_html
    from demur.resample import Plan, bootstrap
    from demur.results import metrics_artifact
    from demur.retrieval_artifact import RetrievalMetrics, load_retrieval
    from demur.retrieval_evaluation import RetrievalEvaluation, evaluate_retrieval
    from demur.retrieval_numbers import RetrievalSettings
    from demur.retrieval_results import retrieval_metrics_artifact
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
    from demur.variants import VARIANTS, Confidence, variant

__all__ = [
    "CALIBRATION_METRICS",
    "DETECTION_METRICS",
    "GAD7",
    "METRICS",
    "PHQ8",
    "PHQ9",
    "RANKING_METRICS",
    "VARIANTS",
    "BootstrapDeltaResult",
    "BootstrapResult",
    "Calibration",
    "Comparison",
    "Confidence",
    "Coverage",
    "Curve",
    "Estimate",
    "Estimates",
    "Evaluation",
    "Graded",
    "Instrument",
    "Interval",
    "ItemPrediction",
    "Items",
    "Measure",
    "Metrics",
    "Need",
    "Plan",
    "Rankings",
    "Reliability",
    "RetrievalEvaluation",
    "RetrievalMetrics",
    "RetrievalSettings",
    "RiskCoverageCurve",
    "Scores",
    "Settings",
    "Table",
    "UserError",
    "WorkingPoint",
    "augrc_optimal_zero_one",
    "aurc_optimal_zero_one",
    "bootstrap",
    "bootstrap_by_participant",
    "calibrate",
    "calibration_metric",
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
    "confidence",
    "estimate",
    "evaluate",
    "evaluate_retrieval",
    "grade",
    "grade_units",
    "instrument",
    "load",
    "load_calibration",
    "load_retrieval",
    "measure",
    "metric",
    "metrics_artifact",
    "paired_bootstrap_delta_by_participant",
    "ranking_metric",
    "rankings_of",
    "read_items",
    "read_queries",
    "read_run",
    "read_table",
    "read_trec",
    "reliability",
    "report_html",
    "retrieval_metrics_artifact",
    "risk_coverage",
    "served",
    "variant",
]

# Which room each name lives in. A room is entered when one of its names is first asked for, so that `import demur` and
# `demur --help` pay for nothing they do not use.
_ROOMS = {
    "arrays": ("grade_units", "measure", "risk_coverage"),
    "artifact": ("Metrics", "load"),
    "calibration": ("Calibration", "load_calibration"),
    "fitting": ("calibrate",),
    "comparison": ("Comparison", "compare"),
    "confidences": ("confidence", "served"),
    "coverage": ("Coverage",),
    "curve": ("Curve", "WorkingPoint"),
    "errors": ("UserError",),
    "estimates": ("Estimate", "Estimates", "estimate"),
    "evaluation": ("Evaluation", "Settings", "evaluate"),
    "results": ("metrics_artifact",),
    "retrieval_artifact": ("RetrievalMetrics", "load_retrieval"),
    "retrieval_evaluation": ("RetrievalEvaluation", "evaluate_retrieval"),
    "retrieval_numbers": ("RetrievalSettings",),
    "retrieval_results": ("retrieval_metrics_artifact",),
    "features": ("Need",),
    "graded": ("Graded", "grade"),
    "instruments": ("GAD7", "Instrument", "PHQ8", "PHQ9", "instrument"),
    "intervals": ("Interval",),
    "items": ("Items",),
    "metrics": (
        "CALIBRATION_METRICS",
        "DETECTION_METRICS",
        "METRICS",
        "RANKING_METRICS",
        "Measure",
        "Scores",
        "augrc_optimal_zero_one",
        "aurc_optimal_zero_one",
        "calibration_metric",
        "metric",
        "ranking_metric",
    ),
    "ranking_columns": ("rankings_of",),
    "rankings": ("Rankings",),
    "read": ("read_items", "read_queries", "read_run", "read_table", "read_trec"),
    "reliabilities": ("Reliability", "reliability"),
    "report.html": ("report_html",),
    "resample": ("Plan", "bootstrap"),
    "selective_prediction": (
        "BootstrapDeltaResult",
        "BootstrapResult",
        "ItemPrediction",
        "RiskCoverageCurve",
        "bootstrap_by_participant",
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
        "paired_bootstrap_delta_by_participant",
    ),
    "table": ("Table",),
    "variants": ("Confidence", "VARIANTS", "variant"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _ROOM_OF:
            raise AttributeError(f"module 'demur' has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(f"demur.{_ROOM_OF[name]}"), name)
        return found
