"""How far a released histogram is from the truth.

Each ratio is |xᵢ − x̃ᵢ| / max(xᵢ, δ), where x is the true histogram (`true`), x̃ the released one
(`released`) and δ = `floor`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesided.data.histogram import Floats
from onesided.errors import RequestError

FLOOR = 1.0


def relative_errors(true: ArrayLike, released: ArrayLike, floor: float = FLOOR) -> Floats:
    """The ratio of every bin."""
    x, estimate = np.asarray(true, dtype=np.float64), np.asarray(released, dtype=np.float64)
    if x.shape != estimate.shape:
        raise RequestError("Two histograms can be compared only where they have the same bins.")
    return np.asarray(np.abs(x - estimate) / np.maximum(x, floor))


def mre(true: ArrayLike, released: ArrayLike, floor: float = FLOOR) -> float:
    """MRE, the mean of the ratios."""
    return float(relative_errors(true, released, floor).mean())


def rel(true: ArrayLike, released: ArrayLike, quantile: float, floor: float = FLOOR) -> float:
    """Rel_q, the q-quantile of the ratios, where q is `quantile` in [0, 1]."""
    return float(np.quantile(relative_errors(true, released, floor), quantile))


def l1(true: ArrayLike, released: ArrayLike) -> float:
    """Σ|xᵢ − x̃ᵢ|."""
    difference = np.asarray(true, dtype=np.float64) - np.asarray(released, dtype=np.float64)
    return float(np.abs(difference).sum())
