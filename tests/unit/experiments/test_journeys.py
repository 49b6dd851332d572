"""Trajectories as arrays agree with the engine, and contributions are bounded."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from onesided.data.units import Unit
from onesided.datasets.policies import LeastBusy
from onesided.engine.base import Ngrams
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.experiments.features import LEAST_SUPPORT, bounded_features, frequent, plain_features
from onesided.experiments.incidence import Incidence
from onesided.experiments.journeys import Journeys
from onesided.randomness import seeded
from support.grams import gram_query


def table(units: int = 80) -> pa.Table:
    """Trajectories with gaps, sorted as the engine writes them."""
    generator = seeded(2).generator()
    rows = []
    for unit in range(units):
        for slot in sorted({int(each) for each in generator.integers(40, 60, size=12)}):
            ap = f"ap-{int(generator.geometric(0.4)) % 6}"
            rows.append((unit // 2, date(2016, 1, 4) + timedelta(days=unit % 2), slot, ap))
    device, day, slot, ap = zip(*rows, strict=True)
    return pa.table(
        {
            "device": pa.array(device, pa.int64()),
            "day": pa.array(day, pa.date32()),
            "slot": pa.array(slot, pa.int32()),
            "ap": pa.array(ap),
        }
    )


def journeys() -> Journeys:
    trajectories = table()
    label = trajectories["device"].to_numpy() % 3 == 0
    return Journeys.of(trajectories, label, slot_minutes=10)


def test_grams_are_those_of_the_engine() -> None:
    trajectories, made = table(), journeys()
    share = 0.5
    policy = LeastBusy.of(trajectories).first(made.sensitive_points(share))
    engine = DuckDBEngine(trajectories, Unit(("device", "day")))
    try:
        counted = engine.count(gram_query(engine, Ngrams("ap", "slot", 3), policy.sql))
    finally:
        engine.close()
    grams, chosen = made.grams(3), made.nonsensitive(share)
    assert 0 < chosen.mean() < 1
    ours = zip(grams.counts().tolist(), grams.counts(chosen).tolist(), strict=True)
    theirs = zip(counted.all.tolist(), counted.nonsensitive.tolist(), strict=True)
    assert sorted(ours) == sorted(theirs)


def test_occupancy_counts_units_once_an_hour() -> None:
    made = journeys().busiest_day()
    counts = made.occupancy().counts().reshape(-1, 24)
    hours = {
        (int(unit), int(ap), int(slot) // 6)
        for unit, ap, slot in zip(made.unit, made.ap, made.slot, strict=True)
    }
    assert counts.sum() == len(hours)
    assert (counts[:, :6] == 0).all()


def test_journeys_survive_the_disk(tmp_path: Path) -> None:
    made = journeys()
    made.save(tmp_path / "journeys.npz")
    loaded = Journeys.load(tmp_path / "journeys.npz")
    assert loaded.slot_minutes == made.slot_minutes
    for name in ("starts", "slot", "ap", "device", "day", "label", "shares"):
        assert np.array_equal(getattr(loaded, name), getattr(made, name))
    assert [path.name for path in tmp_path.iterdir()] == ["journeys.npz"]


def test_a_selection_keeps_whole_units() -> None:
    made = journeys()
    chosen = made.only(np.array([5, 2]))
    assert chosen.units == 2
    begin, end = made.starts[2], made.starts[3]
    assert np.array_equal(chosen.ap[chosen.starts[1] :], made.ap[begin:end])


@given(
    pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=1, max_size=60),
    k=st.integers(1, 4),
)
def test_at_most_k_cells_of_a_unit(pairs: list[tuple[int, int]], k: int) -> None:
    unit, cell = np.array(pairs).T
    whole = Incidence.of(unit, cell, units=6, cells=8)
    cut = whole.at_most(k, seeded(1))
    before, after = (np.bincount(each.unit, minlength=6) for each in (whole, cut))
    assert np.array_equal(after, np.minimum(before, k))
    assert (cut.counts() <= whole.counts()).all()
    assert cut.widest() <= k


def test_features_of_a_row_depend_on_that_row_alone() -> None:
    made = journeys()
    chosen = np.array([7, 30, 31])
    assert np.allclose(bounded_features(made.only(chosen)), bounded_features(made)[chosen])
    assert np.allclose(np.linalg.norm(bounded_features(made), axis=1), 1)
    assert np.array_equal(plain_features(made)[:, 2:].sum(axis=1), np.diff(made.starts))


def test_patterns_are_mined_from_the_released_rows_alone() -> None:
    from scipy.sparse import csc_array

    rows = LEAST_SUPPORT + 10
    patterns = np.zeros((rows, 3))
    patterns[:LEAST_SUPPORT, 0] = 2
    patterns[:, 1] = 1
    patterns[0, 2] = 99
    sparse = csc_array(patterns)
    assert list(frequent(sparse, np.arange(rows))) == [0, 1]
    assert list(frequent(sparse, np.arange(1, rows))) == [1]
    assert list(frequent(sparse, np.arange(10))) == []
