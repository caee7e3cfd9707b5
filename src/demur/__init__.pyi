"""Measure systems that may decline to answer. This stub is the one list of public names: `demur` loads each on demand."""

from demur.arrays import grade_units as grade_units, measure as measure, risk_coverage as risk_coverage
from demur.calibration import Calibration as Calibration, load_calibration as load_calibration
from demur.confidences import confidence as confidence, served as served
from demur.coverage import Coverage as Coverage
from demur.curve import Curve as Curve, OperatingPoint as OperatingPoint
from demur.errors import UserError as UserError
from demur.features import Need as Need
from demur.fitting import calibrate as calibrate
from demur.graded import Graded as Graded
from demur.grading import grade as grade
from demur.inference.estimates import Estimate as Estimate, Estimates as Estimates
from demur.inference.key import Group as Group, Key as Key, Minus as Minus
from demur.inference.warnings import ResultWarning as ResultWarning
from demur.instruments import (
    GAD7 as GAD7,
    PHQ8 as PHQ8,
    PHQ9 as PHQ9,
    Instrument as Instrument,
    instrument as instrument,
)
from demur.intervals import Interval as Interval
from demur.items import Items as Items
from demur.quantities import (
    QUANTITIES as QUANTITIES,
    Measure as Measure,
    Quantity as Quantity,
    Scores as Scores,
    augrc_optimal_zero_one as augrc_optimal_zero_one,
    aurc_optimal_zero_one as aurc_optimal_zero_one,
    quantity as quantity,
)
from demur.ranking_columns import rankings_of as rankings_of
from demur.rankings import Rankings as Rankings
from demur.read import (
    read_items as read_items,
    read_queries as read_queries,
    read_run as read_run,
    read_table as read_table,
    read_trec as read_trec,
)
from demur.reliabilities import Reliability as Reliability, reliability as reliability
from demur.report.html import report_html as report_html
from demur.resample import Plan as Plan, bootstrap as bootstrap
from demur.results.load import load as load
from demur.results.retrieval import RetrievalSettings as RetrievalSettings, evaluate_retrieval as evaluate_retrieval
from demur.results.selective import Settings as Settings, compare as compare, estimate as estimate, evaluate as evaluate
from demur.results.table import Results as Results
from demur.selective_prediction import (
    BootstrapDeltaResult as BootstrapDeltaResult,
    BootstrapResult as BootstrapResult,
    ItemPrediction as ItemPrediction,
    RiskCoverageCurve as RiskCoverageCurve,
    bootstrap_by_participant as bootstrap_by_participant,
    compute_augrc as compute_augrc,
    compute_augrc_at_coverage as compute_augrc_at_coverage,
    compute_augrc_optimal as compute_augrc_optimal,
    compute_aurc as compute_aurc,
    compute_aurc_achievable as compute_aurc_achievable,
    compute_aurc_at_coverage as compute_aurc_at_coverage,
    compute_aurc_optimal as compute_aurc_optimal,
    compute_cmax as compute_cmax,
    compute_eaugrc as compute_eaugrc,
    compute_eaurc as compute_eaurc,
    compute_risk_at_coverage as compute_risk_at_coverage,
    compute_risk_coverage_curve as compute_risk_coverage_curve,
    paired_bootstrap_delta_by_participant as paired_bootstrap_delta_by_participant,
)
from demur.table import Table as Table
from demur.variants import VARIANTS as VARIANTS, Confidence as Confidence, variant as variant

__version__: str
