"""The audit of whole releases sees: each leak of the past is planted again, and it is found.

The audit is never told which one it looks for: tables, requests and noise follow from the seed
alone, and are the same for every plant. Without a plant it finds nothing.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

import pytest

from laws.test_relaxation_fuzz import hunt
from onesided.audit.session import SessionAudit, SessionReport
from support.plants import PLANTS, Plant, Where

SEEDS = (1, 2, 3)
MOST_PAIRS = 3_000
"""So many pairs find every plant with any seed; most are found by a tenth of them."""

QUICK = (16, 17)
QUICK_SEED = 1
HERE = [plant for plant in PLANTS if plant.where in (Where.ANYWHERE, Where.DUCKDB)]


def audited(plant: Plant | None, seed: int, engine: str = "duckdb", **given: Any) -> SessionReport:
    """The audit, with the plant or without one."""
    with nullcontext() if plant is None else plant.planted():
        audit = SessionAudit(engine=engine, seed=seed, seconds=None, shrinking=0, **given)
        return audit.run()


def words(plant: Plant, report: SessionReport, seconds: float) -> str:
    """What was found, and how soon."""
    found = report.findings[0].outcome if report.findings else "nothing"
    return f"{plant}, seed {report.seed}: {found}, {seconds:.1f} s of CPU, {report.words}"


def find(plant: Plant, seed: int, engine: str = "duckdb", **given: Any) -> None:
    before = time.process_time()
    report = audited(plant, seed, engine, pairs=MOST_PAIRS, **given)
    print(words(plant, report, time.process_time() - before))
    assert report.rejected, plant


@pytest.mark.parametrize("plant", [each for each in HERE if each.number in QUICK], ids=str)
def test_a_few_leaks_are_found_at_once(plant: Plant) -> None:
    find(plant, QUICK_SEED)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("plant", HERE, ids=str)
def test_every_leak_is_found(plant: Plant, seed: int) -> None:
    find(plant, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_found_for_as_long(seed: int) -> None:
    assert not audited(None, seed, pairs=MOST_PAIRS).findings


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_a_false_yes_is_found_by_the_fuzz_of_policies(seed: int) -> None:
    (plant,) = (each for each in PLANTS if each.where is Where.POLICIES)
    with plant.planted(), pytest.raises(AssertionError):
        hunt(seed, families=150, each=16)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_the_leak_in_postgres_is_found(seed: int, postgres_url: str) -> None:
    (plant,) = (each for each in PLANTS if each.where is Where.POSTGRES)
    find(plant, seed, "postgres", connection=postgres_url)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_the_leak_in_spark_is_found(seed: int, spark: Any) -> None:
    (plant,) = (each for each in PLANTS if each.where is Where.SPARK)
    find(plant, seed, "spark", connection=spark)
