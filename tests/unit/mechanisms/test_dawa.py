"""`dawa`: what it promises, returns and refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram, Measured
from onesided.errors import InputError, MechanismRefused
from onesided.loss import Loss
from onesided.mechanisms.base import Kind, Mechanism
from onesided.mechanisms.buckets.workload import Workload
from onesided.mechanisms.dawa import Dawa, shrunk
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.published.dawa_reference import DawaReference
from onesided.randomness import seeded
from support.terms import stated

RUNS = 10

NEAR = 1.5
"""The most that the relative error may be, against an algorithm that is not private."""


def all_nonsensitive(counts: np.ndarray, k: int = 1) -> Histogram:
    return Histogram(counts, counts, k=k)


def sparse(bins: int = 512) -> np.ndarray:
    """A few plateaus and spikes among empty bins."""
    counts = np.zeros(bins, dtype=np.int64)
    counts[60:90] = 40
    counts[300:302] = 500
    counts[::97] = 80
    return counts


def spiky(bins: int = 512) -> np.ndarray:
    """One bin in 32 is not empty."""
    return np.where(seeded(5).below(32, bins) == 0, seeded(6).below(400, bins), 0)


def hilly(bins: int = 512) -> np.ndarray:
    """A smooth hill, and noise that grows with it."""
    hill = 60 * np.exp(-(((np.arange(bins) - 200) / 50) ** 2))
    return (hill + seeded(7).below(1000, bins) / 500 * np.sqrt(hill)).astype(np.int64)


def decaying(bins: int = 512) -> np.ndarray:
    """Counts that fall like 1/rank, in order."""
    return 5000 // np.arange(1, bins + 1)


def values(mechanism: Mechanism, counts: np.ndarray, epsilon: str) -> list[np.ndarray]:
    data = all_nonsensitive(counts)
    return [mechanism.release(data, epsilon=epsilon, rng=seeded(run)).value for run in range(RUNS)]


def absolute_error(mechanism: Mechanism, counts: np.ndarray, epsilon: str) -> float:
    return float(np.abs(np.array(values(mechanism, counts, epsilon)) - counts).mean())


def relative_error(mechanism: Mechanism, counts: np.ndarray, epsilon: str) -> float:
    errors = np.abs(np.array(values(mechanism, counts, epsilon)) - counts)
    return float((errors / np.maximum(counts, 1)).mean())


def test_the_pair_is_half_and_half() -> None:
    assert Dawa.kind is Kind.SOUND
    for fixed_n in (False, True):
        assert Dawa().loss(Fraction(1), fixed_n=fixed_n) == Loss("1/2", "1/2")


def test_a_bucket_has_one_value_which_is_its_shrunk_total() -> None:
    result = Dawa().release(all_nonsensitive(sparse()), epsilon=1, rng=seeded(4))
    assert result.buckets is not None
    totals = result.parts["bucket_totals"]
    assert totals.dtype == np.int64
    for number, total in enumerate(totals):
        values = result.value[result.buckets == number]
        assert np.ptp(values) == 0
        assert values.sum() == pytest.approx(max(shrunk(np.array([total + 0.0]), 8.0)[0], 0))


def test_buckets_are_intervals_of_the_tree() -> None:
    result = Dawa().release(all_nonsensitive(sparse()), epsilon=1, rng=seeded(4))
    assert result.buckets is not None
    starts = np.flatnonzero(np.diff(result.buckets, prepend=-1))
    sizes = np.diff(starts, append=result.buckets.size)
    assert np.all(np.diff(result.buckets) >= 0)
    assert np.all(sizes & (sizes - 1) == 0)
    assert np.all(starts % sizes == 0)


@pytest.mark.parametrize("epsilon", ["1e-9", "1", "1000"])
@pytest.mark.parametrize(
    "counts",
    [
        np.array([0]),
        np.array([2**53]),
        np.zeros(100, dtype=np.int64),
        np.arange(1000),
        np.full((3, 5, 2), 7),
        np.full(2000, 2**53),
    ],
    ids=["empty bin", "full bin", "no records", "not a power of two", "3-D", "largest counts"],
)
def test_any_input_has_an_answer(counts: np.ndarray, epsilon: str) -> None:
    result = Dawa().release(all_nonsensitive(counts), epsilon=epsilon, rng=seeded(1))
    assert result.value.shape == counts.shape
    assert np.all(np.isfinite(result.value))
    assert np.all(result.value >= 0)


def test_a_large_budget_gives_the_counts_back() -> None:
    counts = 50 + seeded(0).below(950, 13 * 9).reshape(13, 9)
    result = Dawa().release(all_nonsensitive(counts), epsilon=1000, rng=seeded(1))
    assert result.value == pytest.approx(counts, abs=0.01)


def test_noise_grows_with_the_contribution_bound() -> None:
    counts = sparse()
    one, many = (stated(Dawa(), all_nonsensitive(counts, k), 1) for k in (1, 10))
    assert "rate 1/4 on bucket totals" in one.noise
    assert "rate 1/40 on bucket totals" in many.noise
    assert "e^(−1/8·deviation)" in one.noise
    assert "e^(−1/80·deviation)" in many.noise


def test_the_interval_is_about_bucket_totals() -> None:
    result = Dawa().release(all_nonsensitive(sparse()), epsilon=1, rng=seeded(4))
    (interval,) = result.intervals
    assert interval.of is Measured.BUCKETS
    assert interval.lower.shape == result.parts["bucket_totals"].shape


@pytest.mark.parametrize("epsilon", ["1", "0.1"])
def test_sparse_data_have_a_fraction_of_the_noise_of_laplace(epsilon: str) -> None:
    ours, noise = (absolute_error(each, sparse(), epsilon) for each in (Dawa(), Laplace()))
    assert ours < noise / 4


@pytest.mark.parametrize("epsilon", ["1", "0.1"])
def test_error_is_near_that_of_the_unsound_reference(epsilon: str) -> None:
    ratios = [
        relative_error(Dawa(), counts, epsilon) / relative_error(DawaReference(), counts, epsilon)
        for counts in (spiky(), hilly(), decaying())
    ]
    assert np.mean(ratios) < NEAR


def test_shrinking_removes_noise_and_keeps_counts() -> None:
    totals = np.array([-5.0, 0.0, 7.9, 8.0, 16.0, 8000.0])
    assert shrunk(totals, 8.0) == pytest.approx([0, 0, 0, 0, 12, 7999.992])
    assert shrunk(totals, 0.0) == pytest.approx([0, 0, 7.9, 8, 16, 8000])


@pytest.mark.parametrize(
    "parameters",
    [{"partition_share": 0}, {"partition_share": 1}, {"stay": "0.9999"}, {"shrink": -1}],
)
def test_parameters_outside_their_range_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Dawa(**parameters)  # type: ignore[arg-type]


def test_ranges_need_one_dimension() -> None:
    data = all_nonsensitive(np.ones((4, 4), dtype=np.int64))
    with pytest.raises(MechanismRefused, match="one dimension"):
        Dawa(workload=Workload.RANGES).release(data, epsilon=1, rng=seeded(0))


def test_an_open_domain_is_refused() -> None:
    data = Histogram([1, 2], [1, 2], open_domain=True)
    with pytest.raises(MechanismRefused, match="declared domain"):
        Dawa().release(data, epsilon=1, rng=seeded(0))
