"""What can be audited: anything that releases something from data with given randomness.

    class MyMechanism:
        def release(self, data, rng):
            return data.nonsensitive.sum() - rng.geometric(Fraction(1), 1)[0]

That is all. `data` is a `Histogram` unless you bring pairs of your own; `rng` is a `Randomness`.
A mechanism that has `release_many(data, runs, rng)` too is run in batches: it gives an array
with one output a row, or any sequence of outputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from onesided.audit.outputs import Observations
from onesided.data import Histogram, Measurement
from onesided.mechanisms.base import AdaptiveMechanism, Mechanism, PublicShape
from onesided.randomness import Randomness


class Auditable(Protocol):
    """The one method that an audit needs."""

    def release(self, data: Any, rng: Randomness) -> Any:
        """One output on `data`, with all its randomness from `rng`."""
        ...


@runtime_checkable
class AuditableInBatches(Protocol):
    """What a fast mechanism may offer besides."""

    def release_many(self, data: Any, runs: int, rng: Randomness) -> Iterable[Any]:
        """`runs` independent outputs on `data`."""
        ...


def observe(mechanism: Auditable, data: Any, runs: int, rng: Randomness) -> Observations:
    """`runs` outputs on `data`, in batches where the mechanism offers that."""
    if isinstance(mechanism, AuditableInBatches):
        return Observations.of(mechanism.release_many(data, runs, rng))
    return Observations.of(mechanism.release(data, rng) for _ in range(runs))


@dataclass(frozen=True)
class AtEpsilon:
    """A mechanism of this package, run at OSDP ε = `epsilon`."""

    mechanism: Mechanism
    epsilon: Fraction

    def release(self, data: Histogram, rng: Randomness) -> tuple[str, Measurement]:
        """What a release says about its noise belongs to what an attacker sees."""
        noise = self.mechanism.terms(PublicShape.of(data), self.epsilon).noise
        return noise, self.mechanism.release(data, epsilon=self.epsilon, rng=rng)


@dataclass(frozen=True)
class StepByStep:
    """A mechanism that looks first, as a session releases it: the probe is there for all to see."""

    mechanism: AdaptiveMechanism
    epsilon: Fraction

    def release(self, data: Histogram, rng: Randomness) -> tuple[Any, ...]:
        public = PublicShape.of(data)
        self.mechanism.check(public)
        probe = self.mechanism.probe(data, self.epsilon, rng)
        choice = self.mechanism.choose(probe, public, self.epsilon, rng)
        said = self.mechanism.probe_terms(public, self.epsilon).noise, choice.terms.noise
        return *said, probe, choice.measure(data, rng)


@dataclass(frozen=True)
class BinByBin(AtEpsilon):
    """A mechanism that treats bins alike and each for itself: many runs are one long histogram.

    With `rounded` the values are rounded to a grid of 2⁻¹⁰. That is how idealised mechanisms are
    held to their claim about real numbers, which the bits of their doubles break.
    """

    rounded: bool = False

    def release_many(self, data: Histogram, runs: int, rng: Randomness) -> NDArray[Any]:
        repeated = data.rearranged(np.tile(np.arange(data.bins), runs))
        whole = self.mechanism.release(repeated, epsilon=self.epsilon, rng=rng)
        value = whole.value.reshape(runs, data.bins)
        return np.rint(value * 1024) / 1024 if self.rounded else np.asarray(value)
