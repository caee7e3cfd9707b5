"""Verdict: what the numbers say, in words. Nothing is called better that was not compared fairly."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from demur.inference.key import Key
from demur.inference.warnings import ResultWarning
from demur.quantities import Measure
from demur.results.study import SelectiveStudy
from demur.results.table import Results

UNDECIDED = "undecided: the 95 % interval includes 0"
REACHED_AT = "reached at"
ENOUGH_RESAMPLES = 100


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one thing to take away, what it rests on, who is missing, and which warnings bear on it."""

    headline: str
    sentences: tuple[str, ...]
    failures: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """The system a difference speaks for, or the reason why it speaks for none; neither where there is no interval."""

    winner: str | None = None
    reason: str = ""

    @property
    def comparable(self) -> bool:
        """Whether the two sides may be compared, whatever the comparison shows."""
        return self.reason in ("", UNDECIDED)


def decide(results: Results, key: Key) -> Decision:
    """What the difference with this key says of the two systems it is between.

    Decided by the recommended interval at 95 %, whatever other interval is shown: no level of one's choice decides.
    """
    quantity, contrast = Measure.of(key.quantity).quantity, results.get(key)
    never = quantity.better == "neither" or (quantity.of == "curve" and not quantity.comparable)
    if never or contrast is None or contrast.recommended is None or key.minus is None:
        return Decision()
    unfair = why_not_comparable(results, key) or why_nothing_decides(results)
    low, high = contrast.recommended.low, contrast.recommended.high
    if unfair or low <= 0 <= high:
        return Decision(None, unfair or UNDECIDED)
    subtracted = str(key.minus.value)
    larger, smaller = (key.system, subtracted) if low > 0 else (subtracted, key.system)
    return Decision(larger if quantity.better == "higher" else smaller)


def why_nothing_decides(results: Results) -> str:
    """Why no difference at all decides anything: one cluster cannot be resampled, and few resamples have no tails."""
    study = results.study
    if study.bootstrap is None:
        return "nothing was resampled"
    clusters = study.clusters_included if isinstance(study, SelectiveStudy) else study.posts
    if clusters == 1:
        return f"one {study.noun} decides nothing"
    return "" if study.bootstrap.n_resamples >= ENOUGH_RESAMPLES else "too few resamples to decide"


def why_not_comparable(results: Results, key: Key) -> str:
    """Why the two sides of a difference are not measured alike."""
    comparable = Measure.of(key.quantity).quantity.comparable
    if not comparable or key.minus is None:
        return ""
    pair = (key.system, str(key.minus.value))
    curves = [results.curves[system, key.confidence] for system in pair]
    if not all(curve.defined for curve in curves):
        return "one side answers nothing" if any(curve.defined for curve in curves) else "nothing is answered"
    if comparable == "cmax":
        return "" if curves[0].cmax == curves[1].cmax else "not comparable: Cmax differs"
    ends = {system: results[Key(system, key.quantity, key.confidence)].at for system in pair}
    if comparable == "range":
        return "" if len({*ends.values()}) == 1 else "not comparable: one side ends before"
    reached = [ends[system] for system in results.systems if system in pair]
    if None in reached or reached[0] == reached[1]:
        return ""
    return f"{REACHED_AT} {reached[0]:.3g} and {reached[1]:.3g}"


def bearing_warnings(
    results: Results, warnings: Iterable[ResultWarning], codes: Iterable[str], whose: Callable[[ResultWarning], str]
) -> Iterator[str]:
    """Each kind of warning that bears on the verdict, once, with the name of the system it is about, if any."""
    first = {warning.code: warning for warning in reversed([*warnings])}
    for warning in (first[code] for code in codes if code in first):
        message, name = warning.message(results.study.noun), whose(warning)
        yield f"{name}: {message}." if name else f"{message[:1].upper()}{message[1:]}."
