"""What a count says it counts is what its intervals cover, under any bound on groups."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.base import CountQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.language import Key, Predicate
from onesided.session import Dataset
from support.statistics import agrees, too_few_p_value

ROOMS = [f"r{number:02}" for number in range(19)]
POLICY = "room = 'r18'"
EPSILON = Fraction(1, 2)
REPEATS = 2
SUMMED = "count of units"


def _trace(units: int) -> pa.Table:
    """Visitors of a conference: most see a few rooms, some see all of them."""
    draw = np.random.Generator(np.random.PCG64(units))
    popular = 1 / np.arange(1, len(ROOMS) + 1)
    who: list[int] = []
    where: list[str] = []
    for unit in range(units):
        seen = min(len(ROOMS), 1 + int(draw.geometric(0.2)))
        rooms = draw.choice(len(ROOMS), seen, replace=False, p=popular / popular.sum())
        who += [unit] * seen
        where += [ROOMS[room] for room in rooms]
    return pa.table({"device": who, "room": where})


def _truth(table: pa.Table, most: int | None) -> dict[str, tuple[int, int]]:
    """The units of each room and the non-sensitive ones, each unit in at most `most` rooms."""
    engine = DuckDBEngine(table, Unit(("device",)))
    keys = (Key.parse("room").bind(engine.schema),)
    found = engine.count(
        CountQuery(Predicate.parse(POLICY).bind(engine.schema), keys, max_groups=most)
    )
    engine.close()
    rooms = found.keys.column(0).to_pylist()
    return dict(
        zip(rooms, zip(found.all.tolist(), found.nonsensitive.tolist(), strict=True), strict=True)
    )


def _covered(release: Any, truth: dict[str, tuple[int, int]], said: dict[str, Any]) -> list[bool]:
    """Whether each cell of an interval holds what it says that it holds."""
    column = int("non-sensitive" in said["bound"])
    columns = [release.table.column(name).to_pylist() for name in said["columns"]]
    true = [truth.get(room, (0, 0))[column] for room in release.table.column("room").to_pylist()]
    low = columns[0]
    high = columns[1] if len(columns) == 2 else [None] * len(low)
    return [a <= x and (b is None or x <= b) for a, x, b in zip(low, true, high, strict=True)]


def confidence(said: dict[str, Any]) -> float:
    stated = said["confidence"]
    return 1.0 if stated == "certain" else float(stated)


def _released(dataset: Dataset, most: int, mechanism: str) -> Any:
    return dataset.count(
        "room",
        epsilon=EPSILON,
        max_groups=most,
        mechanism=mechanism,
        domain={"room": ROOMS},
        fresh=True,
        yes=True,
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mechanism", ["laplace", "one-sided", "auto"])
@pytest.mark.parametrize("units", [150, 1_000, 6_000])
def test_what_is_said_is_what_is_covered(units: int, mechanism: str) -> None:
    table = _trace(units)
    whole = _truth(table, None)
    hits: dict[float, list[bool]] = defaultdict(list)
    with osd.open(
        table, unit="device", policy=POLICY, budget=1_000, rng=osd.seeded(units)
    ) as dataset:
        for most in (1, 4, 8, len(ROOMS)):
            cut = most < len(ROOMS)
            bounded = _truth(table, most)
            for _ in range(REPEATS):
                release = _released(dataset, most, mechanism)
                assert release.receipt["figure"] == SUMMED + _words(most, cut=cut)
                for said in release.error["intervals"]:
                    assert ("each in at most" in said["bound"]) is cut
                    assert ("at_most" in said["columns"]) <= (not cut)
                    if "bucket" in said["bound"]:
                        continue
                    hits[confidence(said)] += _covered(release, bounded, said)
                    if said["columns"][0] == "at_least":
                        low = {**said, "columns": ["at_least"]}
                        hits[confidence(said)] += _covered(release, whole, low)
    for each, covered in hits.items():
        assert all(covered) if each == 1 else agrees(too_few_p_value(np.array(covered), each))


def test_an_upper_bound_of_a_cut_count_would_not_cover_all_units() -> None:
    """The control: the very intervals miss the count of all units, which they do not claim."""
    table = _trace(1_500)
    whole = _truth(table, None)
    with osd.open(table, unit="device", policy=POLICY, budget=10, rng=osd.seeded(3)) as dataset:
        release = _released(dataset, 1, "laplace")
    (said,) = release.error["intervals"]
    assert said["columns"] == ["at_least", "counted_at_most"]
    assert np.mean(_covered(release, whole, said)) < 0.5


def _words(most: int, *, cut: bool) -> str:
    return f", each in at most {most} group{'' if most == 1 else 's'}" if cut else ""
