"""Weights depend on released figures alone: the rest of the data can be anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided as osd
from onesided.data.release import SampleRelease, TableRelease, payload_of
from onesided.data.weighing.weighted import WeightedSample

UNITS = 60
REGIONS = ["east", "south", "west"]
POLICIES = ("out", "out OR age < 18", "region = 'south' OR out")


def _people(seed: int, others: pa.Table | None = None) -> pa.Table:
    """People; those of `others` who are sensitive are replaced by anybody."""
    rng = np.random.default_rng(seed)
    out = rng.random(UNITS) < 0.5
    age, region = rng.integers(0, 60, UNITS), np.array(REGIONS)[rng.integers(0, 3, UNITS)]
    if others is not None:
        stays = ~others["out"].to_numpy()
        out = out & ~stays
        age = np.where(stays, others["age"].to_numpy(), age)
        region = np.where(stays, others["region"].to_numpy(zero_copy_only=False), region)
    return pa.table({"age": age, "region": region, "out": out})


def _released(table: pa.Table, policy: str) -> tuple[SampleRelease, list[TableRelease]]:
    """What is published: a sample, and counts of all units who can be in it."""
    where = "age >= 18" if "age" in policy else None
    asked: dict[str, Any] = {"epsilon": 5, "where": where, "mechanism": "laplace"}
    ages = {"bucket(age, 20)": [0, 20, 40]}
    with osd.open(table, name="people", unit="rows", policy=policy, budget=100) as dataset:
        sample = dataset.sample(3)
        counts = [
            dataset.count("bucket(age, 20)", domain=ages, **asked),
            dataset.count("region", domain={"region": REGIONS}, **asked),
        ]
    assert isinstance(sample, SampleRelease)
    return sample, [each for each in counts if isinstance(each, TableRelease)]


def _weighted(sample: SampleRelease, counts: list[TableRelease]) -> WeightedSample:
    clear = "region" in sample.receipt["policy"]["sql"]
    return sample.weighted(counts[1:] if clear else counts, noisy=True)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(POLICIES))
def test_the_same_releases_of_other_data_give_the_same_weights(seed: int, policy: str) -> None:
    table = _people(seed)
    sample, counts = _released(table, policy)
    other, other_counts = _released(_people(seed + 1, table), policy)
    same = [
        TableRelease(theirs.receipt, payload_of(ours.table))
        for theirs, ours in zip(other_counts, counts, strict=True)
    ]
    first, second = _weighted(sample, counts), _weighted(sample.under(other.receipt), same)
    assert first.table.equals(second.table)
    assert first.receipt["weights"] == second.receipt["weights"]
    assert first.said == second.said
