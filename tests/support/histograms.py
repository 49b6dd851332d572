"""Histograms for tests of mechanisms, and where exact and floating-point draws differ."""

from __future__ import annotations

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.mechanisms.registry import MECHANISMS
from onesided.randomness import Randomness, seeded


def small(name: str, *, k: int = 1, total_public: bool = True) -> Histogram:
    """An 8 × 7 histogram that every mechanism answers for, with a last row of sensitive units."""
    dice = seeded(11).generator()
    everyone = dice.poisson(dice.gamma(0.5, 30, size=(8, 7)))
    others = dice.binomial(everyone, 0.6)
    others[-1] = 0
    mask = np.zeros((8, 7), dtype=bool)
    mask[-1] = True
    return shaped(name, everyone, others, mask, k=k, total_public=total_public)


def shaped(
    name: str,
    everyone: np.ndarray,
    others: np.ndarray,
    mask: np.ndarray | None = None,
    *,
    k: int = 1,
    total_public: bool = True,
) -> Histogram:
    """Counts in a shape that suits the mechanism: two dimensions where it needs them."""
    if MECHANISMS[name].dimensions == 2 and everyone.ndim == 1:
        everyone, others = everyone.reshape(1, -1), others.reshape(1, -1)
    if mask is None:
        mask = np.zeros(everyone.shape, dtype=bool)
    return Histogram(
        everyone,
        others,
        k=k,
        total_public=total_public,
        only_sensitive=mask.reshape(everyone.shape),
    )


def exact_only(monkeypatch: pytest.MonkeyPatch, seed: int) -> Randomness:
    """A seeded source that refuses floating-point draws; others made from it may allow them."""
    chosen = seeded(seed)
    allowed = Randomness.generator

    def generator(self: Randomness) -> np.random.Generator:
        assert self is not chosen, "a sound mechanism drew floating-point noise"
        return allowed(self)

    monkeypatch.setattr(Randomness, "generator", generator)
    return chosen
