"""What a mechanism says before the data are read, and what it gives back once it has run.

Everything that can be said beforehand is in `MeasurementTerms` and follows from public facts. A
`Measurement` holds released numbers and what follows from them, and cannot speak of the terms.
"""

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
class Covers:
    """An interval that an answer will have: of which quantity, and how often it holds.

    - `upper`: whether there is an upper bound beside the lower one.
    - `confidence`: as in `Interval`.
    - `whole`: whether the bounds are integers.
    """

    of: Measured
    upper: bool
    confidence: float
    whole: bool = True


@dataclass(frozen=True)
class MeasurementTerms:
    """All that can be said of a run before the data are read.

    - `loss`: the pair that the run costs.
    - `noise`: the noise in words, for the receipt.
    - `whole`: whether the released values are integers.
    - `covers`: the intervals that the answer will have, in their order.
    - `buckets`: whether the answer says which bucket each bin is in.
    - `variance`: of a released value around the count of all units, where the noise alone makes it
      and is the same in every bin.
    """

    loss: Loss
    noise: str
    whole: bool
    covers: tuple[Covers, ...] = ()
    buckets: bool = False
    variance: float | None = None


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
    - `intervals`: what the value says about the truth, see `Interval`.
    - `buckets`: for mechanisms that measure buckets, the number of the bucket of each bin.
    - `keys`: for an open domain, the positions (in the input's sorted key list) of the listed keys.
    - `parts`: other released intermediate results by name; all of them are as public as the value.
    """

    value: NDArray[Any]
    intervals: tuple[Interval, ...] = ()
    buckets: NDArray[np.int64] | None = None
    keys: NDArray[np.int64] | None = None
    parts: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def beside(self) -> tuple[NDArray[Any], ...]:
        """The numbers beside the value: parts by name, and the bounds of intervals."""
        bounds = (bound for each in self.intervals for bound in (each.lower, each.upper))
        parts = (self.parts[name] for name in sorted(self.parts))
        return (*parts, *(each for each in bounds if each is not None))
