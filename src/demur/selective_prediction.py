"""The row-by-row API: lists of `ItemPrediction` in, plain numbers out."""

# ruff: noqa: PLC0414  (the names are given on)

from demur.row_bootstrap import BootstrapDeltaResult as BootstrapDeltaResult
from demur.row_bootstrap import BootstrapResult as BootstrapResult
from demur.row_bootstrap import bootstrap_by_participant as bootstrap_by_participant
from demur.row_bootstrap import paired_bootstrap_delta_by_participant as paired_bootstrap_delta_by_participant
from demur.row_metrics import ItemPrediction as ItemPrediction
from demur.row_metrics import RiskCoverageCurve as RiskCoverageCurve
from demur.row_metrics import compute_augrc as compute_augrc
from demur.row_metrics import compute_augrc_at_coverage as compute_augrc_at_coverage
from demur.row_metrics import compute_augrc_optimal as compute_augrc_optimal
from demur.row_metrics import compute_aurc as compute_aurc
from demur.row_metrics import compute_aurc_achievable as compute_aurc_achievable
from demur.row_metrics import compute_aurc_at_coverage as compute_aurc_at_coverage
from demur.row_metrics import compute_aurc_optimal as compute_aurc_optimal
from demur.row_metrics import compute_cmax as compute_cmax
from demur.row_metrics import compute_eaugrc as compute_eaugrc
from demur.row_metrics import compute_eaurc as compute_eaurc
from demur.row_metrics import compute_risk_at_coverage as compute_risk_at_coverage
from demur.row_metrics import compute_risk_coverage_curve as compute_risk_coverage_curve
