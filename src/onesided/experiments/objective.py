"""ObjDP: logistic regression by objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011).

For records xᵢ with ‖xᵢ‖ ≤ 1 and labels yᵢ = ±1 it minimises

    (1/n)·Σ log(1 + e^(−yᵢ·fᵀxᵢ)) + (Λ/2)·‖f‖² + (1/n)·bᵀf + (Δ/2)·‖f‖²

over f, where b is drawn with a density proportional to e^(−β‖b‖). The logistic loss has a first
derivative of at most 1 and a second one of at most c = 1/4. With

    ε′ = ε − 2·log(1 + c/(nΛ))

take Δ = 0 and β = ε′/2 where ε′ > 0; otherwise Δ = c/(n·(e^(ε/4) − 1)) − Λ and β = ε/4. The exact
minimiser is ε-differentially private for replacing one of the n records: f fixes b, two such b are
at most 2 apart, and the remainder of the budget pays for the change of variables. Replace-one ε-DP
is OSDP ε under every policy. Floating point and an approximate minimiser: for experiments only.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.errors import RequestError
from onesided.randomness import Randomness

CURVATURE = 0.25
NORM_SLACK = 1e-9
TOLERANCE = 1e-10
MOST_STEPS = 2_000


@dataclass(frozen=True)
class Perturbation:
    """`rate` is β and `extra` is Δ."""

    rate: float
    extra: float


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation:
    """ε = `epsilon` and Λ = `regularisation`, both chosen without looking at the data."""

    epsilon: float
    regularisation: float = 0.01

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and self.regularisation > 0):
            raise RequestError("Objective perturbation needs a positive epsilon and regulariser.")

    def perturbation(self, n: int) -> Perturbation:
        """How much noise and how much more regularisation `n` records need."""
        rest = self.epsilon - 2 * log1p(CURVATURE / (n * self.regularisation))
        if rest > 0:
            return Perturbation(rest / 2, 0.0)
        extra = CURVATURE / (n * expm1(self.epsilon / 4)) - self.regularisation
        return Perturbation(self.epsilon / 4, extra)

    def fit(self, x: Floats, positive: NDArray[np.bool_], rng: Randomness) -> Floats:
        """The weights f for records in the rows of `x`."""
        if not x.shape[0] or float(np.linalg.norm(x, axis=1).max()) > 1 + NORM_SLACK:
            raise RequestError("Objective perturbation needs records of norm at most 1.")
        plan = self.perturbation(x.shape[0])
        noise = spherical_noise(x.shape[1], plan.rate, rng)
        sign = np.where(positive, 1.0, -1.0)
        return minimiser(x * sign[:, None], noise, self.regularisation + plan.extra)


def spherical_noise(dimensions: int, rate: float, rng: Randomness) -> Floats:
    """b with density proportional to e^(−`rate`·‖b‖): a random direction, a Gamma(d) length."""
    generator = rng.generator()
    direction = generator.standard_normal(dimensions)
    length = generator.gamma(dimensions, 1 / rate)
    return np.asarray(direction * (length / np.linalg.norm(direction)))


def minimiser(signed: Floats, noise: Floats, ridge: float) -> Floats:
    """argmin over f of (1/n)·Σ log(1 + e^(−fᵀzᵢ)) + (ridge/2)·‖f‖² + noiseᵀf/n, zᵢ = yᵢxᵢ."""
    from scipy.optimize import minimize

    n, dimensions = signed.shape

    def objective(f: Floats) -> tuple[float, Floats]:
        margin = signed @ f
        value = np.logaddexp(0, -margin).mean() + ridge / 2 * (f @ f) + noise @ f / n
        slope = -np.exp(-np.logaddexp(0, margin))
        return float(value), signed.T @ slope / n + ridge * f + noise / n

    found = minimize(
        objective,
        np.zeros(dimensions),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_STEPS, "ftol": 0.0, "gtol": TOLERANCE},
    )
    return np.asarray(found.x)
