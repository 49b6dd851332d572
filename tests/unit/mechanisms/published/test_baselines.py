"""Baselines, and the paper's continuous mechanisms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.errors import InputError
from onesided.mechanisms.published.baselines import Suppress
from onesided.mechanisms.registry import mechanism
from onesided.randomness import seeded

DATA = Histogram([9, 5, 0, 12], [9, 2, 0, 12])


@pytest.mark.parametrize("name", ["all-ns", "truman"])
def test_access_control_shows_the_others_exactly(name: str) -> None:
    found = mechanism(name).release(DATA, epsilon=1, rng=seeded(1))
    np.testing.assert_array_equal(found.value, DATA.nonsensitive)


def test_non_truman_refuses_where_a_sensitive_unit_is() -> None:
    found = mechanism("non-truman").release(DATA, epsilon=1, rng=seeded(1))
    np.testing.assert_array_equal(found.value, [9, np.nan, 0, 12])


@pytest.mark.parametrize(("factor", "size"), [(10, 1.0), (100, 0.1)])
def test_suppress_has_noise_of_scale_one_over_tau(factor: int, size: float) -> None:
    flat = Histogram(np.full(20_000, 50), np.full(20_000, 30))
    chosen = Suppress(factor=Fraction(factor))
    found = chosen.release(flat, epsilon=Fraction(1, 100), rng=seeded(1))
    spread = np.mean(np.abs(found.value - 30))
    assert spread == pytest.approx(1 / (factor / 100), rel=0.2 if size == 1.0 else 0.6)


def test_suppress_needs_a_positive_factor() -> None:
    with pytest.raises(InputError, match="greater than 0"):
        Suppress(factor=Fraction(0))


def test_the_continuous_mechanisms_are_those_of_the_paper() -> None:
    flat = Histogram(np.full(20_000, 500), np.full(20_000, 400))
    plain = mechanism("osdp-laplace").release(flat, epsilon="1/10", rng=seeded(1)).value
    corrected = mechanism("osdp-laplace-l1").release(flat, epsilon="1/10", rng=seeded(1)).value
    assert np.all(plain <= 400)
    assert np.mean(400 - plain) == pytest.approx(10, rel=0.03)
    np.testing.assert_allclose(corrected - plain, np.log(2) * 10)
    assert np.median(corrected) == pytest.approx(400, abs=0.3)
