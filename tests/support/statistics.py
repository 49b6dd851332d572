"""Statistical tests for stochastic suites, and the only place where their thresholds are named.

A test passes when its p-value is at least `SIGNIFICANCE`. Seeds are fixed, so a test that passes
keeps passing; the threshold says how surprising a seed we would accept. A negative control runs
the very same test against a distribution that is wrong by `CONTROL_FACTOR`, and must be rejected.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

SIGNIFICANCE = 1e-3
"""Least p-value at which data and distribution are said to agree."""

FRESH_SIGNIFICANCE = 1e-9
"""The same where an oracle draws fresh entropy, so that each run is a new chance to fail."""

CONTROL_FACTOR = Fraction(13, 10)
"""Negative controls have a rate wrong by this factor: 30 % too little noise."""

CELLS = 64
"""Cells of nearly equal probability in a chi-square test."""

LEAST_EXPECTED = 5.0
"""Cells expected to hold fewer values are merged, as the chi-square approximation needs."""


class Distribution(Protocol):
    """A discrete distribution on the integers, such as a frozen one of scipy.stats."""

    def cdf(self, value: Any) -> Any: ...
    def ppf(self, probability: Any) -> Any: ...
    def pmf(self, value: Any) -> Any: ...


def agrees(p_value: float) -> bool:
    """Whether a p-value gives no reason to doubt the distribution."""
    return p_value >= SIGNIFICANCE


def binomial_p_value(successes: int, trials: int, probability: float) -> float:
    """Exact two-sided binomial test of `successes` in `trials` against `probability`."""
    return float(stats.binomtest(int(successes), int(trials), probability).pvalue)


def too_few_p_value(covered: NDArray[np.bool_], confidence: float) -> float:
    """Whether as few as these would be covered if the confidence were right, or even greater."""
    test = stats.binomtest(int(covered.sum()), covered.size, confidence, alternative="less")
    return float(test.pvalue)


def chi_square_p_value(sample: NDArray[np.int64], distribution: Distribution) -> float:
    """Pearson's test over intervals of integers that are about equally probable."""
    quantiles = distribution.ppf(np.linspace(0, 1, CELLS + 1)[1:-1])
    edges = np.unique(quantiles)
    cumulated = np.concatenate([[0.0], distribution.cdf(edges), [1.0]])
    cells = np.searchsorted(edges, sample, side="left")
    observed = np.bincount(cells, minlength=edges.size + 1)
    return goodness_of_fit_p_value(observed, np.diff(cumulated))


def goodness_of_fit_p_value(
    observed: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> float:
    """Pearson's test of counts against probabilities; the rarest cells are merged into one."""
    expected = probabilities * observed.sum()
    order = np.argsort(expected)
    expected, observed = expected[order], observed[order]
    rare = int(np.searchsorted(np.cumsum(expected), LEAST_EXPECTED)) + 1
    merged_expected = np.concatenate([[expected[:rare].sum()], expected[rare:]])
    merged_observed = np.concatenate([[observed[:rare].sum()], observed[rare:]])
    if merged_expected.size < 2:
        raise ValueError("A single cell agrees with everything; draw more values.")
    statistic = float(((merged_observed - merged_expected) ** 2 / merged_expected).sum())
    return float(stats.chi2.sf(statistic, merged_expected.size - 1))


def kolmogorov_smirnov_p_value(sample: NDArray[np.int64], distribution: Distribution) -> float:
    """The Kolmogorov–Smirnov test; on integers its p-value errs upwards, never downwards."""
    values, counts = np.unique(sample, return_counts=True)
    after = np.cumsum(counts) / sample.size
    before = after - counts / sample.size
    distance = max(
        float(np.abs(after - distribution.cdf(values)).max()),
        float(np.abs(before - distribution.cdf(values - 1)).max()),
    )
    return float(stats.kstwo.sf(distance, sample.size))


def two_sample_p_value(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Chi-square test that two samples of integers come from the same distribution."""
    pooled = np.sort(np.concatenate([first, second]))
    edges = np.unique(pooled[np.linspace(0, pooled.size - 1, CELLS + 1).astype(int)[1:-1]])
    table = np.array(
        [
            np.bincount(np.searchsorted(edges, sample, side="left"), minlength=edges.size + 1)
            for sample in (first, second)
        ]
    )
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def correlation_p_value(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Two-sided test that two sequences are uncorrelated."""
    return float(stats.pearsonr(first, second).pvalue)


def total_variation(sample: NDArray[np.int64], distribution: Distribution) -> float:
    """½ Σ |empirical − true probability|, over all integers."""
    values, counts = np.unique(sample, return_counts=True)
    truth = distribution.pmf(values)
    unseen = max(0.0, 1.0 - float(truth.sum()))
    return 0.5 * (float(np.abs(counts / sample.size - truth).sum()) + unseen)
