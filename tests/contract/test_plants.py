"""Each planted leak is really there: by hand, two things that are equal differ where it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.plants import PLANTS, Plant, Where, proofs

PROOFS: dict[str, Callable[..., proofs.Pair]] = {
    "noise of a mean follows keys": proofs.noise_of_a_mean,
    "a mean of no row fails": proofs.a_mean_of_no_row,
    "auto reads keys as objects": proofs.far_keys,
    "a mean by NaN fails": proofs.a_mean_by_nan,
    "coarse moments raise": proofs.coarse_moments,
    "policies read all cells": proofs.cells_not_read,
    "operators of others": proofs.operators,
    "capitals in names": proofs.capitals,
    "paths are patterns": proofs.other_files,
    "wide literals": proofs.missing_numbers,
    "false yes": proofs.false_yes,
    "one name for two requests": proofs.one_name,
    "n read and not said": proofs.claimed,
    "exports confirm guesses": proofs.guesses,
    "statistics decide": proofs.statistics,
    "bits of NaN": proofs.bits,
    "cells of files raise": proofs.cells_of_files,
    "offsets are lost": proofs.offsets,
    "formats found again": proofs.orders_of_dates,
    "headers are not read": proofs.headers,
    "not found is false": proofs.not_found,
}
HERE = [plant for plant in PLANTS if plant.where not in (Where.POSTGRES, Where.SPARK)]


def check(plant: Plant, *given: Any, again: tuple[Any, ...] | None = None) -> None:
    proof = PROOFS[plant.leaks]
    with plant.planted():
        one, other = proof(*given)
    assert one != other, "the plant does not leak"
    one, other = proof(*(given if again is None else again))
    assert one == other, "the code of today leaks"


@pytest.mark.parametrize("plant", HERE, ids=str)
def test_a_plant_leaks_and_the_code_of_today_does_not(plant: Plant, tmp_path: Path) -> None:
    for name in ("planted", "today"):
        (tmp_path / name).mkdir()
    check(plant, tmp_path / "planted", again=(tmp_path / "today",))


def named(where: Where) -> Plant:
    (found,) = (plant for plant in PLANTS if plant.where is where)
    return found


def test_the_plant_in_postgres_leaks(postgres_server: Any) -> None:
    first, second = (postgres_server.new_database() for _ in range(2))
    check(named(Where.POSTGRES), first, again=(second,))


@pytest.mark.soak
def test_the_plant_in_spark_leaks(spark: Any, tmp_path: Path) -> None:
    check(named(Where.SPARK), spark, tmp_path)


def test_every_finding_has_a_plant_and_every_plant_a_proof() -> None:
    assert {plant.number for plant in PLANTS} == set(range(1, 21))
    assert set(PROOFS) == {plant.leaks for plant in PLANTS}
