"""Calibrators: functions from features to the chance of being right, fitted with numpy or scikit-learn.

Features are columns by name (a dict or a frame), one column, or a matrix; named features are never matched by position.
"""

# ruff: noqa: PLC0414  (names that belong to the same subject are re-exported)

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from demur.confidences.calibration_methods import CALIBRATORS as CALIBRATORS
from demur.confidences.calibration_methods import Calibrator, calibrator, training_rows
from demur.confidences.calibration_methods import method_names as method_names
from demur.confidences.features import CalibratorFeatureExtractor as CalibratorFeatureExtractor
from demur.errors import UserError, literal, shown
from demur.files.strict_reading import STRICT
from demur.quantities.calibration import LEAST_LIKELY
from demur.quantities.calibration import compute_binary_nll as compute_binary_nll
from demur.quantities.calibration import compute_ece as compute_ece
from demur.quantities.forecasts import checked_shares
from demur.types import Floats

COLDEST, HOTTEST = 0.05, 10.0
PENALTY = 1.0
_SPREADS = 3
_MOST_STEPS, _CLOSE_ENOUGH = 100, 1e-12
Numbers = Annotated[tuple[float, ...], Field(strict=False, min_length=1)]
Positive = Annotated[float, Field(gt=0)]
Names = Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None


@calibrator("temperature_scaling", "temperature scaling", aliases=("temperature",))
@dataclass(frozen=True, slots=True, config=STRICT)
class TemperatureScalingCalibrator(Calibrator):
    """sigmoid(logit(p) / T): the same odds, raised to the power 1/T. T > 1 makes every probability less extreme.

    p is clipped to [1e-6, 1 − 1e-6]; T minimises the negative log-likelihood over [0.05, 10].

    >>> calibrator = TemperatureScalingCalibrator(temperature=2.0)
    >>> calibrator([0.5, 0.8]).round(6).tolist()
    [0.5, 0.666667]
    """

    temperature: Positive = 1.0
    features: Names = None

    takes_probabilities: ClassVar[bool] = True

    @classmethod
    def fit(cls, features: Any, target: Any) -> Self:
        """Fit the temperature; the log-likelihood is concave in 1/T, so the optimum is unique."""
        from scipy.optimize import minimize_scalar  # noqa: PLC0415  (slow to import, and only fitting needs it)

        names, (probability,), outcome = training_rows(features, target, binary=True)
        odds, sign = _logit(probability), np.where(outcome == 1, 1.0, -1.0)

        def surprise(inverse: float) -> float:
            return float(np.logaddexp(0, -sign * odds * inverse).mean())

        ends = 1 / HOTTEST, 1 / COLDEST
        inside = minimize_scalar(surprise, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        best = min((1.0, *ends, float(inside)), key=surprise)  # 1 if all temperatures are equally good
        return cls(1 / best, names)

    @property
    def at_bound(self) -> bool:
        """Whether the temperature is at a bound of the search range."""
        return not COLDEST * (1 + 1e-6) < self.temperature < HOTTEST * (1 - 1e-6)

    def _applied(self, *columns: Floats) -> Floats:
        (probability,) = columns
        with np.errstate(over="ignore"):
            return _sigmoid(_logit(probability) / self.temperature)

    def describe(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:  # noqa: ARG002  (it has one input)
        """The temperature."""
        yield "temperature", f"{self.temperature:.6g}"

    def warnings(self, auroc: float | None) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """A warning if the temperature is at a bound."""
        if self.at_bound:
            text = f"the best temperature, {self.temperature:g}, lies at a bound: scaling does not fit these data"
            yield "at_bound", text

    def domain(self, low: float, high: float) -> tuple[float, float]:
        """The given bounds, or [0, 1] where they are infinite."""
        return (low, high) if math.isfinite(high - low) else (0.0, 1.0)


@dataclass(frozen=True, slots=True, config=STRICT)
class _Weighted(Calibrator):
    """An intercept and a coefficient for each standardised feature."""

    features: Names = None
    mean: Numbers = ()
    scale: Annotated[tuple[Positive, ...], Field(strict=False, min_length=1)] = ()
    coefficients: Numbers = ()
    intercept: float = 0.0

    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        sizes = {"mean": len(self.mean), "scale": len(self.scale), "coefficients": len(self.coefficients)}
        if self.features is not None:
            sizes["features"] = len(self.features)
            if len(set(self.features)) < len(self.features):
                raise ValueError(f"the feature list {literal(list(self.features))} has a name twice")
        if len(set(sizes.values())) > 1:
            counts = ", ".join(f"{size} {name}" for name, size in sizes.items())
            raise ValueError(f"expected one mean, scale and coefficient for each feature, not {counts}")

    @property
    def inputs(self) -> int:
        """The number of features."""
        return len(self.coefficients)

    @classmethod
    def fit(cls, features: Any, target: Any) -> Self:
        """Standardise the features and fit the coefficients."""
        names, columns, outcome = training_rows(features, target, binary=cls.binary, several=True)
        matrix = np.column_stack(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, scale = matrix.mean(axis=0), matrix.std(axis=0)
        for index, spread in enumerate(scale.tolist()):
            which = shown(names[index]) if names else f"number {index + 1}"
            if not math.isfinite(spread):
                raise UserError(f"the feature {which} has values too large to be standardised")
            if not spread > 1e-12 * abs(mean[index]):  # a smaller spread is rounding error
                raise UserError(f"the feature {which} is the same everywhere: it has no information, leave it out")
        coefficients, intercept = cls._solved((matrix - mean) / scale, outcome)
        return cls(names, _plain(mean), _plain(scale), _plain(coefficients), float(intercept))

    @classmethod
    def _solved(cls, matrix: Floats, outcome: Floats) -> tuple[Floats, float]:
        raise NotImplementedError

    def _weighted_sum(self, columns: Sequence[Floats]) -> Floats:
        """The linear predictor, summed feature by feature, so that equal rows give exactly equal numbers."""
        total = np.full(len(columns[0]), self.intercept)
        with np.errstate(over="ignore", invalid="ignore"):
            for column, mean, scale, weight in zip(columns, self.mean, self.scale, self.coefficients, strict=True):
                total += weight * ((column - mean) / scale)
        if np.isnan(total).any():
            raise UserError("the parameters and the features are too large to be added up")
        return total

    def describe(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The intercept, and the coefficient of each input."""
        yield "intercept", f"{self.intercept:.6g}"
        for name, weight, mean, scale in zip(names, self.coefficients, self.mean, self.scale, strict=True):
            yield name, f"coefficient {weight:.6g} of (input − {mean:.6g}) / {scale:.6g}"

    def domain(self, low: float, high: float) -> tuple[float, float]:
        """The range of most of the training data."""
        reach = _SPREADS * self.scale[0]
        return max(low, self.mean[0] - reach), min(high, self.mean[0] + reach)


@calibrator("logistic", "logistic regression", several_inputs=True)
@calibrator("platt", "Platt scaling")
@dataclass(frozen=True, slots=True, config=STRICT)
class LogisticCalibrator(_Weighted):
    """sigmoid(b + Σ w·(x − mean)/scale): logistic regression on standardised features, L2 penalty with C = 1.

    On one feature it is Platt scaling.

    >>> calibrator = LogisticCalibrator.fit({"evidence": [0, 1, 2, 3]}, [0, 1, 0, 1])
    >>> calibrator({"evidence": [3, 0]}).round(3).tolist()
    [0.648, 0.352]
    """

    link: Literal["logit"] = "logit"

    binary: ClassVar[bool] = True

    @classmethod
    def _solved(cls, matrix: Floats, outcome: Floats) -> tuple[Floats, float]:
        """Newton's method on the penalised negative log-likelihood, which is strictly convex: the minimum is unique.

        A step that increases it is halved; the tolerance is for rounding error close to the minimum.
        """
        if outcome.min() == outcome.max():
            raise UserError(f"every target is {outcome[0]:g}: there is nothing to tell apart")
        design = np.column_stack([matrix, np.ones(len(outcome))])
        penalty, sign = np.diag([PENALTY] * matrix.shape[1] + [0.0]), np.where(outcome == 1, 1.0, -1.0)

        def surprise(weights: Floats) -> float:
            return float(np.logaddexp(0, -sign * (design @ weights)).sum() + weights @ penalty @ weights / 2)

        weights = np.zeros(design.shape[1])
        for _ in range(_MOST_STEPS):
            chance = _sigmoid(design @ weights)
            gradient = design.T @ (chance - outcome) + penalty @ weights
            step = np.linalg.solve((design.T * (chance * (1 - chance))) @ design + penalty, gradient)
            while surprise(weights - step) > surprise(weights) * (1 + 1e-12):
                step /= 2
            weights = weights - step
            if np.abs(step).max() <= _CLOSE_ENOUGH * np.abs(weights).max():
                break
        return weights[:-1], float(weights[-1])

    def _applied(self, *columns: Floats) -> Floats:
        return _sigmoid(self._weighted_sum(columns))

    def warnings(self, auroc: float | None) -> Iterator[tuple[str, str]]:
        """A warning about complete separation."""
        if auroc == 1:
            text = "right and wrong are told apart completely: nothing but the penalty bounds the coefficients"
            yield "separated", text


@calibrator("linear", "ridge regression", several_inputs=True, binary=False, target="loss")
@dataclass(frozen=True, slots=True, config=STRICT)
class LinearCalibrator(_Weighted):
    """b + Σ w·(x − mean)/scale, clipped to [0, 1]: ridge regression on standardised features, penalty 1.

    >>> calibrator = LinearCalibrator.fit([0, 1, 2, 3], [0, 1/3, 2/3, 1])
    >>> calibrator([3, 9]).round(3).tolist()
    [0.9, 1.0]
    """

    link: Literal["identity"] = "identity"

    @classmethod
    def _solved(cls, matrix: Floats, outcome: Floats) -> tuple[Floats, float]:
        from sklearn.linear_model import Ridge  # noqa: PLC0415  (slow to import, and only fitting needs it)

        model = Ridge(alpha=PENALTY).fit(matrix, outcome)
        return model.coef_, model.intercept_

    def _applied(self, *columns: Floats) -> Floats:
        return np.clip(self._weighted_sum(columns), 0, 1)


@calibrator("isotonic", "isotonic regression", directed=True)
@dataclass(frozen=True, slots=True, config=STRICT)
class IsotonicCalibrator(Calibrator):
    """The best monotonic fit: linear between its knots, constant beyond them.

    >>> calibrator = IsotonicCalibrator.fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> calibrator([0, 1, 1.5, 2, 3, 9]).tolist()
    [0.0, 0.0, 0.25, 0.5, 0.5, 1.0]
    """

    x: Numbers = ()
    y: Annotated[tuple[Annotated[float, Field(ge=0, le=1)], ...], Field(strict=False, min_length=1)] = ()
    features: Names = None

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"{len(self.x)} knots x and {len(self.y)} values y, expected as many of each")
        if any(right <= left for left, right in pairwise(self.x)):
            raise ValueError("the knots x are not in ascending order")
        steps = np.diff(self.y)
        if (steps < 0).any() and (steps > 0).any():
            raise ValueError("the values y both rise and fall")

    @classmethod
    def fit(cls, features: Any, target: Any, *, increasing: bool = True) -> Self:
        """Fit with scikit-learn; set `increasing` to false for a feature whose lower values mean more confident."""
        from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415

        names, (column,), outcome = training_rows(features, target, binary=False)
        model = IsotonicRegression(increasing=increasing, out_of_bounds="clip").fit(column, outcome)
        return cls(_plain(model.X_thresholds_), _plain(model.y_thresholds_), names)

    def _applied(self, *columns: Floats) -> Floats:
        (column,) = columns
        return np.interp(column, self.x, self.y)

    def describe(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:  # noqa: ARG002  (it has one input)
        """The number and the range of the knots."""
        yield "knots", f"{len(self.x)}, from {self.x[0]:.6g} to {self.x[-1]:.6g}"

    @property
    def knots(self) -> tuple[float, ...]:
        """The inputs between which the calibrator is linear."""
        return self.x


def _logit(probability: Floats) -> Floats:
    clipped = np.clip(checked_shares("probability", probability), LEAST_LIKELY, 1 - LEAST_LIKELY)
    return np.log(clipped) - np.log1p(-clipped)


def _sigmoid(odds: Floats) -> Floats:
    small = np.exp(-np.abs(odds))
    return np.where(odds >= 0, 1 / (1 + small), small / (1 + small))


def _plain(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).tolist())
