"""What is printed in the paper and cannot be followed."""

from __future__ import annotations

import numpy as np
import pytest

from onesided.audit.published import printed_ratio
from onesided.mechanisms.recipe import move_to_survivors

BUCKETS = np.array([0, 0, 0, 0, 1, 1, 2])
LOOKS_EMPTY = np.array([True, True, True, False, False, True, True])
VALUE = np.array([5.0, 5.0, 5.0, 5.0, 3.0, 3.0, 4.0])


def mass(value: np.ndarray, bucket: int) -> float:
    return float(value[bucket == BUCKETS].sum())


def test_the_printed_ratio_loses_mass_and_ours_keeps_it():
    ours, printed = (
        rule(VALUE, BUCKETS, LOOKS_EMPTY) for rule in (move_to_survivors, printed_ratio)
    )
    assert mass(ours, 0) == 20
    assert mass(printed, 0) == pytest.approx(
        20 / 3
    )  # one survivor of four takes 4/3 of itself, not 4
    assert mass(ours, 1) == mass(printed, 1) == 6  # half a bucket is the one case that agrees
    assert mass(ours, 2) == mass(printed, 2) == 0


def test_the_printed_ratio_gains_mass_where_little_looks_empty():
    looks_empty = np.array([True, False, False, False, False, False, False])
    assert mass(printed_ratio(VALUE, BUCKETS, looks_empty), 0) == 60
    assert mass(move_to_survivors(VALUE, BUCKETS, looks_empty), 0) == 20
