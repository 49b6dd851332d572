"""Generated statements are answered as plain DuckDB answers them, where ε is large."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import duckdb
import pytest

import onesided as osd
from onesided.errors import InputError
from onesided.randomness import seeded
from support.analysts.answers import CLOSE, Rows, difference
from support.analysts.generated import BOUNDS, PUBLIC, statements, table

EXACT = 10**6
EACH = 250
#: A variance is a difference of means. In a group of one row nothing divides their noise. Its scale
#: is the square of the widest range by the share of ε, which at most 40 figures of all groupings
#: have together. Noise beyond 15 of its scales is met once in three million figures.
SQUARE, FIGURES, SCALES = 100**2, 40, 15
CLOSE_IN_SPREAD = (0.1, SCALES * SQUARE * FIGURES / EXACT)


@pytest.fixture
def made() -> Iterator[osd.Dataset]:
    with osd.open(
        table(),
        unit="rows",
        policy="FALSE",
        budget=10**9,
        name="made",
        public={"rooms": PUBLIC},
        rng=seeded(3),
    ) as dataset:
        yield dataset


def disagreements(dataset: osd.Dataset, seed: int, count: int) -> tuple[list[str], int]:
    """Statements with what is not alike, and how many were refused."""
    wrong, refused = [], 0
    with duckdb.connect() as plain:
        plain.register("made", table())
        plain.register("rooms", PUBLIC)
        for statement in islice(statements(seed), count):
            expected = plain.sql(statement).fetchall()
            try:
                released = dataset.sql(
                    statement, epsilon=EXACT, mechanism="one-sided", bounds=BOUNDS, yes=True
                )
            except InputError as refusal:
                refused += 1
                if not str(refusal).endswith("."):
                    wrong.append(f"{statement}: {refusal}")
                continue
            found = [tuple(row.values()) for row in released.table.to_pylist()]
            spread = "VAR" in statement or "STDDEV" in statement
            close = CLOSE_IN_SPREAD if spread else (CLOSE, CLOSE)
            apart = difference(counted(found), counted(expected), *close)
            if apart:
                wrong.append(f"{statement}: {apart}")
    return wrong, refused


def counted(rows: Rows) -> Rows:
    """A sum over no rows is 0 here, and NULL plainly."""
    return [tuple(0 if cell is None else cell for cell in row) for row in rows]


def test_some_are_answered_as_plain_duckdb_does(made: osd.Dataset) -> None:
    wrong, refused = disagreements(made, seed=1, count=25)
    assert wrong == []
    assert refused <= 2


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 10))
def test_thousands_are(made: osd.Dataset, seed: int) -> None:
    wrong, refused = disagreements(made, seed, EACH)
    assert wrong == []
    assert refused <= EACH // 10
