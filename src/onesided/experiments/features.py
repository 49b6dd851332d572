"""What a classifier sees of a trajectory.

Length of stay, number of distinct access points, visits to each of them, and how often each
pattern of three consecutive access points occurs. Which patterns are used is learnt from the
*released* trajectories alone: a pattern must be in at least `LEAST_SUPPORT` of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.experiments.journeys import Journeys

PATTERN_LENGTH = 3
LEAST_SUPPORT = 50
MINUTES_A_DAY = 24 * 60


def plain_features(journeys: Journeys) -> Floats:
    """One row per unit: length of stay in slots, distinct access points, slots at each of them."""
    visits = _tally(journeys.unit, journeys.ap, journeys.units, journeys.access_points).toarray()
    first, last = journeys.starts[:-1], journeys.starts[1:] - 1
    stay = journeys.slot[last] - journeys.slot[first] + 1
    return np.column_stack([stay, (visits > 0).sum(axis=1), visits])


def bounded_features(journeys: Journeys) -> Floats:
    """The plain features and a constant, as vectors of length 1, from public bounds alone.

    A stay has at most a day's slots and at most all access points. What is done to a row depends
    on that row alone, as objective perturbation requires.
    """
    slots = MINUTES_A_DAY / journeys.slot_minutes
    bounds = np.full(2 + journeys.access_points, slots)
    bounds[1] = journeys.access_points
    scaled = np.column_stack([plain_features(journeys) / bounds, np.ones(journeys.units)])
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))


def pattern_counts(journeys: Journeys) -> Any:
    """A sparse matrix: how often each unit has each pattern that occurs in any of the units."""
    unit, code = journeys.windows(PATTERN_LENGTH)
    occurring, column = np.unique(code, return_inverse=True)
    return _tally(unit, column, journeys.units, occurring.size).tocsc()


def frequent(patterns: Any, released: NDArray[np.int64]) -> NDArray[np.int64]:
    """The columns of `patterns` that at least `LEAST_SUPPORT` of the `released` rows have."""
    support = np.asarray((patterns[released] > 0).sum(axis=0)).reshape(-1)
    return np.flatnonzero(support >= LEAST_SUPPORT)


def _tally(row: NDArray[np.int64], column: NDArray[np.int64], rows: int, columns: int) -> Any:
    from scipy.sparse import coo_array

    # scikit-learn takes sparse matrices with 32-bit places only.
    places = (row.astype(np.int32), column.astype(np.int32))
    return coo_array((np.ones(row.size), places), shape=(rows, columns)).tocsr()
