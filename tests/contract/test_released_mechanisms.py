"""Which mechanisms of the registry a session releases, and that each release is drawn anew."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.data import Histogram
from onesided.errors import MechanismRefused
from onesided.mechanisms.base import Kind
from onesided.mechanisms.registry import mechanism, mechanism_names
from onesided.randomness import seeded
from onesided.session.questions.choosing import released_mechanism
from support.histograms import small
from support.visits import POLICY, ROOMS, UNIT, visits

NOT_RANDOM = frozenset({"all-ns", "truman", "non-truman"})
COUNTED_SAMPLE = "rr"
"""Idealised on a bare histogram, while a session counts a sample that it has drawn exactly."""

SOUND = tuple(name for name in mechanism_names() if mechanism(name).kind is Kind.SOUND)
REFUSED = tuple(name for name in mechanism_names() if name not in (*SOUND, COUNTED_SAMPLE))
QUESTION = {"by": "room", "max_groups": 1, "domain": {"room": list(ROOMS)}, "epsilon": 1}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=40)


@pytest.mark.parametrize("name", REFUSED)
def test_a_session_refuses_what_is_not_sound_and_says_why(name: str, table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        with pytest.raises(MechanismRefused) as refusal:
            dataset.count(**QUESTION, mechanism=name)
        assert dataset.budget.spent == 0
    assert str(refusal.value) == f"{name} is not released: {mechanism(name).refusal}"


@pytest.mark.parametrize("name", [*SOUND, COUNTED_SAMPLE])
def test_a_session_releases_what_is_sound_and_counts_samples(name: str) -> None:
    assert released_mechanism(name, {}).name == name


@pytest.mark.parametrize("name", [name for name in mechanism_names() if name not in NOT_RANDOM])
def test_another_seed_gives_another_release(name: str) -> None:
    chosen, data = mechanism(name), small(name)
    first, second = (chosen.release(data, epsilon="1/2", rng=seeded(seed)) for seed in (1, 2))
    assert not np.array_equal(first.value, second.value)


@pytest.mark.parametrize("name", sorted(NOT_RANDOM))
def test_access_control_is_not_random(name: str) -> None:
    chosen, data = mechanism(name), small(name)
    first, second = (chosen.release(data, epsilon=1, rng=seeded(seed)) for seed in (1, 2))
    np.testing.assert_array_equal(first.value, second.value)


@pytest.mark.parametrize("name", mechanism_names())
@pytest.mark.parametrize("shape", [(30,), (5, 6), (2, 3, 5)])
def test_any_number_of_dimensions_is_answered_in_its_shape(
    name: str, shape: tuple[int, ...]
) -> None:
    everyone = np.arange(30).reshape(shape) * 4
    mask = np.zeros(shape, dtype=bool)
    data = Histogram(everyone, everyone // 2, only_sensitive=mask)
    if mechanism(name).dimensions not in (None, len(shape)):
        with pytest.raises(MechanismRefused, match="two dimensions"):
            mechanism(name).release(data, epsilon=1, rng=seeded(3))
    else:
        assert mechanism(name).release(data, epsilon=1, rng=seeded(3)).value.shape == shape


@pytest.mark.parametrize("name", SOUND)
def test_a_release_leaves_the_histogram_as_it_was(name: str) -> None:
    data, before = small(name), small(name)
    mechanism(name).release(data, epsilon=1, rng=seeded(3))
    np.testing.assert_array_equal(data.all, before.all)
    np.testing.assert_array_equal(data.nonsensitive, before.nonsensitive)
