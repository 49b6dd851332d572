"""Nearly empty bins that noise has put among full ones, where buckets are of like noisy counts.

There may be thousands of them for each full bin, and one that is given what full bins have is wrong
by as much. Everything here is post-processing, so floating point does no harm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts

Floats = NDArray[np.float64]

WORTH = 3.0
"""How many times what a cluster loses if its bins are released as 0 lifted bins must cost: not all
of the lowest cluster need be as low as its bins are given, and none need have been lifted."""


def may_hold_lifted(given: Floats, sizes: Counts, edges: Counts, scale: float) -> NDArray[np.bool_]:
    """Which clusters must not have what each bin would be `given`, as some may be lifted ones.

    Clusters are in the order of the noisy counts that they were made of, the smallest of which are
    their `edges`, and the noise has the `scale` s. It puts a bin with v units into a cluster from
    e up to the next one, from f, with probability (e^(−(e − v)/s) − e^(−(f − v)/s))/2, v being what
    bins of the lowest cluster are given. There are as many of them as it has bins, and in a cluster
    that is given L each is wrong by (L − v)/v, or by L − v if v is less than 1. Released as 0, bins
    are wrong by 1.
    """
    low = given[0]
    beyond = np.exp(-np.maximum(edges - low, 0.0) / scale) / 2
    lifted = sizes[0] * (beyond - np.append(beyond[1:], 0.0))
    return np.asarray(lifted * (given - low) / max(low, 1.0) > WORTH * sizes)
