"""What a quantity may ask of a risk–coverage curve."""

from fractions import Fraction
from typing import Any, Protocol

from demur.quantities.coverage import Coverage


class RiskCoverage(Protocol):
    """What a metric may ask: of one curve, in fractions, or of a block of bootstrap replicates, in arrays."""

    coverage_reached: Any
    overall_risk: Any
    generalized_risk_reached: Any
    selective_area: Any
    generalized_area: Any
    optimal_selective_area: Any
    optimal_generalized_area: Any
    achievable_selective_area: Any
    harmonic_area: Any
    pairwise_area: Any

    def selective_area_upto(self, coverage: Coverage) -> Any: ...
    def generalized_area_upto(self, coverage: Coverage) -> Any: ...
    def risk_at(self, coverage: Coverage) -> Any: ...
    def coverage_at_risk(self, risk: Fraction) -> Any: ...
    def ratio(self, part: Any, whole: Any) -> Any: ...
