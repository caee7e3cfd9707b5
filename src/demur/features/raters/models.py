"""Models of what result files hold of raters and published points."""

from typing import ClassVar, Literal

from demur.files.strict_model import Count, Part, Share
from demur.results.file_models import Columns, Many, Number, Numbers, Pair


class HandoverCurve(Columns):
    """Units that the system declines go to a rater: their share, and the coverage and risk of the two together.

    The first point is the rater alone, without a threshold; `joint` is the summed loss over all units.
    """

    of: ClassVar[str] = "a hand-over curve"
    threshold: Many[Number]
    share: Numbers
    coverage: Numbers
    risk: Many[Number]
    joint: Numbers


class PointEnds(Part):
    """Intervals of a point at 95 %, of its coverage and of its risk; null where nothing is known."""

    coverage: Pair | None = None
    risk: Pair | None = None


class ExternalPoint(Part):
    """An operating point of a rater or a publication; `given` is the text of a published point as typed."""

    name: str
    kind: Literal["paired", "forced", "counts", "published"]
    source: str | None = None
    population: str | None = None
    given: str | None = None
    loss: str | None = None
    coverage: Share
    risk: float
    n_units: Count | None = None
    n_answered: Count | None = None
    ci95: PointEnds
    note: Many[str] = ()


class GapNumbers(Part):
    """The risk of a point minus that of the system: positive where the system errs less."""

    value: Number
    ci95: Pair | None
    ci95_recommended: Pair | None
    ci95_simultaneous: Pair | None
    std_error: Number
    p_value: Share | None
    drop_rate: Share | None


class AnsweredByBoth(Part):
    """The units that the rater and the system answer: their risks, and the rater's minus the system's."""

    n: Count
    system: float
    rater: float
    delta: GapNumbers


class BesidePoint(Part):
    """A system beside one point: its risk at the coverage of the point, the gap, and the verdict."""

    system_risk_at_coverage: Number
    achieved: Share
    risk_gap: GapNumbers
    rater_risk_on_answered: Number
    answered_by_both: AnsweredByBoth | None
    verdict: str
    notes: Many[str]
