"""The row-by-row API: lists of `ItemPrediction` in, plain numbers out."""

from demur.row_bootstrap import (
    BootstrapDeltaResult,
    BootstrapResult,
    bootstrap_by_participant,
    paired_bootstrap_delta_by_participant,
)
from demur.row_metrics import (
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
]
