"""Counts of units over bins: all of them, and the non-sensitive ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesided.errors import InputError

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_COUNT = 2**53
"""Beyond it a float can no longer say which integer it meant."""


@dataclass(frozen=True)
class Axis:
    """One attribute of a histogram: its name and the label of each position along it."""

    name: str
    labels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, init=False)
class Histogram:
    """The counts x (`all`) and x_ns (`nonsensitive`) of distinct units over the same bins.

    - `axes`: names and labels, one per dimension; None for bare arrays.
    - `k`: the most bins that one unit may touch; declared, and enforced before counting. A unit
      cannot touch more bins than a declared domain has, so k is at most the number of bins there.
    - `total_public`: each unit is in exactly one bin *by construction* (k = 1, no filter, a
      catch-all bin), so the public number of units stands for the sum of `all`. It is a statement
      about the query; looking at the counts to find it out would be a leak.
    - `n`: the public number of units, handed over by the session. A bare histogram whose total is
      public may leave it out: its total is n then.
    - `open_domain`: the bins are the keys that happened to occur, in sorted order; which keys those
      are is secret, and a mechanism may name only keys that it has found through its noise.
    - `only_sensitive`: True for bins that, by the policy's text, can hold sensitive units only; a
      function of bin and policy, never of the data. None where the policy does not say.
    """

    all: Counts
    nonsensitive: Counts
    axes: tuple[Axis, ...] | None
    k: int
    total_public: bool
    n: int | None
    open_domain: bool
    only_sensitive: NDArray[np.bool_] | None = field(compare=False)

    def __init__(
        self,
        all: ArrayLike,
        nonsensitive: ArrayLike,
        axes: tuple[Axis, ...] | None = None,
        k: int = 1,
        total_public: bool = True,
        *,
        n: int | None = None,
        open_domain: bool = False,
        only_sensitive: ArrayLike | None = None,
    ) -> None:
        x, x_ns = _counts(all, "all"), _counts(nonsensitive, "nonsensitive")
        if x.shape != x_ns.shape:
            raise InputError("A histogram's `all` and `nonsensitive` must have the same shape.")
        if np.any(x_ns > x):
            raise InputError("No bin may hold more non-sensitive units than units.")
        if x.size == 0 and not open_domain:
            raise InputError("A histogram needs at least one bin.")
        if axes is not None and tuple(len(axis) for axis in axes) != x.shape and not open_domain:
            raise InputError("A histogram's axes must have as many labels as the counts have bins.")
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InputError("k, the most bins that one unit may touch, must be an integer ≥ 1.")
        bound = k if open_domain else min(k, x.size)
        public = total_public and bound == 1
        if n is None and public:
            n = int(x.sum())
        mask = None if only_sensitive is None else np.asarray(only_sensitive, dtype=np.bool_)
        if mask is not None and mask.shape != x.shape:
            raise InputError("`only_sensitive` must have the shape of the counts.")
        values = (x, x_ns, axes, bound, public, n if public else None, open_domain, mask)
        names = ("all", "nonsensitive", "axes", "k", "total_public", "n", "open_domain")
        for name, value in zip((*names, "only_sensitive"), values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of bins along each dimension."""
        return self.all.shape

    @property
    def bins(self) -> int:
        """d, the number of bins."""
        return int(self.all.size)

    @property
    def sensitive(self) -> Counts:
        """x_s = x − x_ns, the counts of sensitive units."""
        return self.all - self.nonsensitive

    def flat(self) -> Histogram:
        """The same counts along one dimension, in row-major order, without labels."""
        return self.rearranged(np.arange(self.bins))

    def rearranged(self, order: NDArray[np.int64]) -> Histogram:
        """The flattened counts in the given order of bins (a Hilbert curve, a subset of keys)."""
        mask = None if self.only_sensitive is None else self.only_sensitive.reshape(-1)[order]
        return Histogram(
            self.all.reshape(-1)[order],
            self.nonsensitive.reshape(-1)[order],
            k=self.k,
            total_public=self.total_public,
            n=self.n,
            open_domain=self.open_domain,
            only_sensitive=mask,
        )


def _counts(values: ArrayLike, name: str) -> Counts:
    """Integer counts from anything array-like; a float is accepted where it is a whole number."""
    try:
        array = np.asarray(values)
        floats = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be an array of counts.") from None
    if array.ndim == 0:
        raise InputError(f"`{name}` must be an array of counts, not a single number.")
    if not np.all(np.isfinite(floats)):
        raise InputError(f"`{name}` must not contain NaN or infinite counts.")
    if np.any(floats < 0) or np.any(floats != np.floor(floats)):
        raise InputError(f"`{name}` must contain whole numbers that are not negative.")
    if floats.size and floats.max() > LARGEST_COUNT:
        raise InputError(f"`{name}` must not contain counts above 2^53.")
    counts = array.astype(np.int64)
    counts.flags.writeable = False
    return counts
