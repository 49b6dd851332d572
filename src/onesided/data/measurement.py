"""What a mechanism gives back: a value, what it cost, and what can be said about its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.loss import Loss


class Measured(Enum):
    """Which true quantity an interval speaks about."""

    NONSENSITIVE = "count of non-sensitive units"
    ALL = "count of all units"
    BUCKETS = "total of each bucket, all units"


@dataclass(frozen=True)
class Interval:
    """Bounds on a true quantity, computed from public facts and released values only.

    Each single entry is covered with probability at least `confidence`; a bound with confidence 1
    is certain. `upper` is None where nothing was measured that could bound the truth from above.
    """

    of: Measured
    lower: NDArray[Any]
    upper: NDArray[Any] | None
    confidence: float


@dataclass(frozen=True)
class Measurement:
    """The result of a mechanism on a histogram.

    - `value`: the released histogram, of the input's shape; for an open domain one entry for each
      listed key.
    - `loss`: the pair that this run cost.
    - `noise`: the noise in words, for the receipt.
    - `intervals`: what the value says about the truth, see `Interval`.
    - `buckets`: for mechanisms that measure buckets, the number of the bucket of each bin.
    - `keys`: for an open domain, the positions (in the input's sorted key list) of the listed keys.
    - `parts`: other released intermediate results by name; all of them are as public as the value.
    """

    value: NDArray[Any]
    loss: Loss
    noise: str
    intervals: tuple[Interval, ...] = ()
    buckets: NDArray[np.int64] | None = None
    keys: NDArray[np.int64] | None = None
    parts: Mapping[str, NDArray[Any]] = field(default_factory=dict)
