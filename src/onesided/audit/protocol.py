"""What can be audited: anything that releases something from data with given randomness.

    class MyMechanism:
        def release(self, data, rng):
            return data.nonsensitive.sum() - rng.geometric(Fraction(1), 1)[0]

That is all. `data` is a `Histogram` unless you bring pairs of your own; `rng` is a `Randomness`.
A mechanism that has `release_many(data, runs, rng)` too is run in batches: it gives an array
with one output a row, or any sequence of outputs.

What `release` raises is an outcome like any other, unless the audit itself has raised it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from onesided.audit.draws import AUDITORS_OWN
from onesided.audit.outputs import Observations, Raised, text_number
from onesided.data import Histogram, Measurement
from onesided.mechanisms.base import AdaptiveMechanism, Mechanism, PublicShape
from onesided.randomness import Randomness

ROUNDED_TO = 1024
"""One over the grid of what is `rounded`."""


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
    if not isinstance(mechanism, AuditableInBatches):
        return Observations.of(outcome(mechanism, data, rng) for _ in range(runs))
    try:
        many = mechanism.release_many(data, runs, rng)
        return Observations.of(many)
    except AUDITORS_OWN:
        raise
    except Exception:
        raise BatchRaisedError from None


def outcome(mechanism: Auditable, data: Any, rng: Randomness) -> Any:
    """One output, or the exception that there was in its place: who sees it learns from it."""
    try:
        return mechanism.release(data, rng)
    except AUDITORS_OWN:
        raise
    except Exception as error:
        return Raised(type(error).__qualname__, str(error))


class BatchRaisedError(Exception):
    """One of many runs at once has raised; which one is seen where they are done one by one."""


@dataclass(frozen=True)
class OneByOne:
    """A mechanism of which many runs are not done at once."""

    mechanism: Auditable

    def release(self, data: Any, rng: Randomness) -> Any:
        return self.mechanism.release(data, rng)


@dataclass(frozen=True)
class AtEpsilon:
    """A mechanism of this package, run at OSDP ε = `epsilon`: its terms, and what it measures.

    With `rounded` many runs at once are rounded to a grid of 2⁻¹⁰. That is how idealised mechanisms
    are held to their claim about real numbers, which the bits of their doubles break.
    """

    mechanism: Mechanism
    epsilon: Fraction
    rounded: bool = False

    def release(self, data: Histogram, rng: Randomness) -> tuple[str, Measurement]:
        """What a release says of itself belongs to what an attacker sees."""
        said = self._said(data)
        return said, self.mechanism.release(data, epsilon=self.epsilon, rng=rng)

    def release_many(self, data: Histogram, runs: int, rng: Randomness) -> Iterable[Any]:
        """An array with a run in each row where the mechanism offers that, else run by run."""
        said = self._said(data)
        rows = self.mechanism.release_many(data, epsilon=self.epsilon, runs=runs, rng=rng)
        if rows is None:
            return [outcome(self, data, rng) for _ in range(runs)]
        if self.rounded:
            rows = np.rint(rows * ROUNDED_TO) / ROUNDED_TO
        column = np.full((len(rows), 1), text_number(said), dtype=rows.dtype)
        return np.hstack([column, rows])

    def _said(self, data: Histogram) -> str:
        return repr(self.mechanism.terms(PublicShape.of(data), self.epsilon))


@dataclass(frozen=True)
class StepByStep:
    """A mechanism that looks first, as a session releases it: the probe is there for all to see."""

    mechanism: AdaptiveMechanism
    epsilon: Fraction

    def release(self, data: Histogram, rng: Randomness) -> tuple[Any, ...]:
        public = PublicShape.of(data)
        self.mechanism.check(public)
        said = repr(self.mechanism.probe_terms(public, self.epsilon))
        probe = self.mechanism.probe(data, self.epsilon, rng)
        choice = self.mechanism.choose(probe, public, self.epsilon, rng)
        return said, probe, choice.label, repr(choice.terms), choice.measure(data, rng)
