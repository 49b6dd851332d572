"""The halving tree: every level partitions the bins into boxes, and refines the one above."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.buckets.tree import HalvingTree, halving_tree

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)


def boxes(tree: HalvingTree, level: int) -> list[np.ndarray]:
    return np.split(tree.order, tree.levels[level][1:])


@given(shapes)
def test_order_visits_every_bin_once(shape: tuple[int, ...]) -> None:
    tree = halving_tree(shape)
    assert np.array_equal(np.sort(tree.order), np.arange(np.prod(shape)))


@given(shapes)
def test_values_are_laid_along_the_order_and_back(shape: tuple[int, ...]) -> None:
    tree = halving_tree(shape)
    bins = np.arange(tree.bins).reshape(shape)
    assert np.array_equal(tree.along(bins), tree.order)
    assert np.array_equal(tree.back(tree.along(bins)), bins)


@given(shapes)
def test_levels_go_from_the_whole_to_single_bins(shape: tuple[int, ...]) -> None:
    tree = halving_tree(shape)
    assert tree.levels[0].tolist() == [0]
    assert tree.levels[-1].tolist() == list(range(tree.bins))


@given(shapes)
def test_every_group_is_a_full_box(shape: tuple[int, ...]) -> None:
    tree = halving_tree(shape)
    for level in range(len(tree.levels)):
        for bins in boxes(tree, level):
            sides = [np.unique(axis).size for axis in np.unravel_index(bins, shape)]
            spans = [np.ptp(axis) + 1 for axis in np.unravel_index(bins, shape)]
            assert sides == spans
            assert np.prod(sides) == bins.size


@given(shapes)
def test_boxes_are_halved_or_stay(shape: tuple[int, ...]) -> None:
    tree = halving_tree(shape)
    for level in range(len(tree.levels) - 1):
        first, halved = tree.first_parts[level], tree.halved[level]
        below = boxes(tree, level + 1)
        for number, bins in enumerate(boxes(tree, level)):
            parts = below[first[number] : first[number] + (2 if number in halved else 1)]
            assert np.array_equal(np.concatenate(parts), bins)


def test_one_dimension_is_dyadic_where_it_can_be() -> None:
    tree = halving_tree((16,))
    assert tree.order.tolist() == list(range(16))
    assert [level.tolist() for level in tree.levels] == [
        list(range(0, 16, width)) for width in (16, 8, 4, 2, 1)
    ]


def test_the_longest_side_is_halved_first() -> None:
    tree = halving_tree((2, 8))
    assert sorted(boxes(tree, 1)[0].tolist()) == [0, 1, 2, 3, 8, 9, 10, 11]
    assert sorted(boxes(tree, 2)[0].tolist()) == [0, 1, 8, 9]


@pytest.mark.parametrize("bins", [1, 2, 3, 1000, 1023, 1025])
def test_depth_is_logarithmic(bins: int) -> None:
    assert len(halving_tree((bins,)).levels) == (bins - 1).bit_length() + 1
