"""Nightly runs over data that grow, killed anywhere: each day is charged once, no day is lost."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from onesided.ledger import open_ledger
from onesided.randomness import seeded
from support.crashing import Fuse
from support.nights import FIRST, Nights

#: More than one night takes: statements, commits, questions and files.
STEPS = 76
NAMES = ("rooms", "devices")


def charged(nights: Nights) -> Counter[tuple[str, Any]]:
    """How often each question was charged for each part."""
    ledger = open_ledger(nights.folder / "visits.ledger", create=False)
    assert ledger.verify().ok
    (account,) = ledger.accounts()
    balance = account.balance()
    ledger.close()
    assert balance.spent <= Fraction("1.25")  # of two days the larger of each half of a pair counts
    return Counter(
        (str(each.charge.description["by"]), each.charge.spending.part) for each in balance.charges
    )


def held(nights: Nights, days: int) -> None:
    """Each day is charged once for each question, and in each series once."""
    found = charged(nights)
    assert set(found.values()) == {1}
    assert len(found) == 2 * days
    expected = {str(FIRST + timedelta(days=number)) for number in range(days)}
    for name in NAMES:
        assert nights.series(name) == expected
    with (nights.folder / "published" / "devices.csv").open(newline="") as file:
        assert [row["day"] for row in csv.DictReader(file)] == sorted(expected)


def live(nights: Nights, days: int, killed: dict[int, Any]) -> None:
    """Some nights are killed: every other one is begun again at once, and others a night later."""
    nights.begin()
    late = None
    for number in range(days):
        day = nights.grow(number)
        if late is not None:
            assert nights.run(late) == 0
            late = None
        if number in killed:
            nights.killed(day, **killed[number])
            if number % 2:
                late = day
                continue
        assert nights.run(day) == 0
        if number % 4 == 0:
            assert nights.run(day) == 0  # however often it is started
    if late is not None:
        assert nights.run(late) == 0


def test_a_few_nights(tmp_path: Path) -> None:
    killed = {
        number: {"fuse": Fuse(at, after=after)}
        for number, (at, after) in enumerate(((48, True), (52, False), (57, True)), 1)
    }
    live(Nights(tmp_path), 5, killed)
    held(Nights(tmp_path), 5)


@pytest.mark.soak
def test_every_step_of_a_night(tmp_path: Path) -> None:
    nights = Nights(tmp_path)
    live(
        nights,
        STEPS,
        {number: {"fuse": Fuse(number, after=number % 3 == 0)} for number in range(STEPS)},
    )
    held(nights, STEPS)


@pytest.mark.soak
def test_a_year_of_nights_of_which_twenty_are_killed(tmp_path: Path) -> None:
    nights, generator = Nights(tmp_path, in_folders=False), seeded(2026).generator()
    chosen = generator.choice(365, 20, replace=False)
    killed = {int(number): {"seconds": float(generator.uniform(0, 1.5))} for number in chosen}
    live(nights, 365, killed)
    held(nights, 365)
