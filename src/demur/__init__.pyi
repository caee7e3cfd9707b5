# The one list of public names: `demur` loads each from its module when it is first asked for.
from demur.calibration import Calibration as Calibration
from demur.calibration import load_calibration as load_calibration
from demur.confidences import confidence as confidence
from demur.confidences import served as served
from demur.coverage import Coverage as Coverage
from demur.curve import Curve as Curve
from demur.curve import OperatingPoint as OperatingPoint
from demur.errors import UserError as UserError
from demur.features import Need as Need
from demur.fitting import calibrate as calibrate
from demur.graded import Graded as Graded
from demur.grading import grade as grade
from demur.grading import grade_units as grade_units
from demur.grading import measure as measure
from demur.grading import risk_coverage as risk_coverage
from demur.inference.estimates import Estimate as Estimate
from demur.inference.estimates import Estimates as Estimates
from demur.inference.key import Group as Group
from demur.inference.key import Key as Key
from demur.inference.key import Minus as Minus
from demur.inference.warnings import ResultWarning as ResultWarning
from demur.instruments import (
    GAD7 as GAD7,
)
from demur.instruments import (
    PHQ8 as PHQ8,
)
from demur.instruments import (
    PHQ9 as PHQ9,
)
from demur.instruments import (
    Instrument as Instrument,
)
from demur.instruments import (
    instrument as instrument,
)
from demur.intervals import Interval as Interval
from demur.items import Items as Items
from demur.quantities import (
    QUANTITIES as QUANTITIES,
)
from demur.quantities import (
    Measure as Measure,
)
from demur.quantities import (
    Quantity as Quantity,
)
from demur.quantities import (
    Scores as Scores,
)
from demur.quantities import (
    augrc_optimal_zero_one as augrc_optimal_zero_one,
)
from demur.quantities import (
    aurc_optimal_zero_one as aurc_optimal_zero_one,
)
from demur.quantities import (
    quantity as quantity,
)
from demur.ranking_columns import rankings_of as rankings_of
from demur.rankings import Rankings as Rankings
from demur.read import (
    read_items as read_items,
)
from demur.read import (
    read_queries as read_queries,
)
from demur.read import (
    read_run as read_run,
)
from demur.read import (
    read_table as read_table,
)
from demur.read import (
    read_trec as read_trec,
)
from demur.reliabilities import Reliability as Reliability
from demur.reliabilities import reliability as reliability
from demur.report.html import report_html as report_html
from demur.resample import Plan as Plan
from demur.resample import bootstrap as bootstrap
from demur.results.load import load as load
from demur.results.retrieval import RetrievalSettings as RetrievalSettings
from demur.results.retrieval import evaluate_retrieval as evaluate_retrieval
from demur.results.selective import Settings as Settings
from demur.results.selective import compare as compare
from demur.results.selective import estimate as estimate
from demur.results.selective import evaluate as evaluate
from demur.results.table import Results as Results
from demur.selective_prediction import (
    BootstrapDeltaResult as BootstrapDeltaResult,
)
from demur.selective_prediction import (
    BootstrapResult as BootstrapResult,
)
from demur.selective_prediction import (
    ItemPrediction as ItemPrediction,
)
from demur.selective_prediction import (
    RiskCoverageCurve as RiskCoverageCurve,
)
from demur.selective_prediction import (
    bootstrap_by_participant as bootstrap_by_participant,
)
from demur.selective_prediction import (
    compute_augrc as compute_augrc,
)
from demur.selective_prediction import (
    compute_augrc_at_coverage as compute_augrc_at_coverage,
)
from demur.selective_prediction import (
    compute_augrc_optimal as compute_augrc_optimal,
)
from demur.selective_prediction import (
    compute_aurc as compute_aurc,
)
from demur.selective_prediction import (
    compute_aurc_achievable as compute_aurc_achievable,
)
from demur.selective_prediction import (
    compute_aurc_at_coverage as compute_aurc_at_coverage,
)
from demur.selective_prediction import (
    compute_aurc_optimal as compute_aurc_optimal,
)
from demur.selective_prediction import (
    compute_cmax as compute_cmax,
)
from demur.selective_prediction import (
    compute_eaugrc as compute_eaugrc,
)
from demur.selective_prediction import (
    compute_eaurc as compute_eaurc,
)
from demur.selective_prediction import (
    compute_risk_at_coverage as compute_risk_at_coverage,
)
from demur.selective_prediction import (
    compute_risk_coverage_curve as compute_risk_coverage_curve,
)
from demur.selective_prediction import (
    paired_bootstrap_delta_by_participant as paired_bootstrap_delta_by_participant,
)
from demur.table import Table as Table
from demur.variants import VARIANTS as VARIANTS
from demur.variants import Confidence as Confidence
from demur.variants import variant as variant

__version__: str
