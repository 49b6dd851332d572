"""Deviations of boxes and of windows, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.buckets.deviation import (
    box_deviations,
    largest_count,
    window_lengths,
    window_mean_deviations,
)
from onesided.mechanisms.buckets.tree import halving_tree

histograms = st.lists(st.integers(0, 12), min_size=1, max_size=40).map(np.array)


def by_definition(counts: np.ndarray) -> int:
    return min(int(np.abs(counts - center).sum()) for center in counts)


@given(histograms)
def test_boxes_deviate_from_their_median(counts: np.ndarray) -> None:
    tree = halving_tree(counts.shape)
    for level, deviations in enumerate(box_deviations(counts, tree)):
        groups = np.split(counts, tree.levels[level][1:])
        assert deviations.tolist() == [by_definition(group) for group in groups]


@given(histograms, st.data())
def test_one_unit_moves_a_partition_by_at_most_one(counts: np.ndarray, data: st.DataObject) -> None:
    tree = halving_tree(counts.shape)
    more = counts.copy()
    more[data.draw(st.integers(0, counts.size - 1))] += 1
    for fewer_units, more_units in zip(
        box_deviations(counts, tree), box_deviations(more, tree), strict=True
    ):
        assert np.abs(fewer_units - more_units).sum() <= 1


@given(histograms)
def test_windows_deviate_from_their_mean(counts: np.ndarray) -> None:
    for length, deviations in zip(
        window_lengths(counts.size), window_mean_deviations(counts), strict=True
    ):
        windows = np.lib.stride_tricks.sliding_window_view(counts, length)
        expected = np.abs(windows - windows.mean(axis=1, keepdims=True)).sum(axis=1)
        assert deviations == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("bins", [1, 5, 1024])
def test_the_largest_counts_do_not_overflow(bins: int) -> None:
    counts = np.full(bins, largest_count(bins))
    counts[: bins // 2] = 0
    tree = halving_tree(counts.shape)
    whole = int(box_deviations(counts, tree)[0][0])
    assert whole == (bins // 2) * largest_count(bins)
