"""One contract for all engines: what plain Python computes from the definitions, bit by bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from onesided.audit.session.reference import Reference
from onesided.engine.base import Engine, Total
from onesided.errors import RequestError, SourceError
from onesided.randomness import seeded
from support.engines import (
    FILE,
    EngineName,
    Opener,
    column_total,
    comparable,
    count_query,
    counted,
    opener_of,
    postgres_opener,
    sample_query,
    sampled,
)

TEXTS = (
    "",
    "a",
    "A",
    "a ",
    "é",
    "e\u0301",
    "ß",
    "Ω",
    "\U0001f600",
    "\U0010ffff",
    "it's",
    'say "x"',
    "a\\b",
    "\\",
    "a\nb",
    "${x}",
    "`",
    "12:3",
    "|",
    "~",
    "\x01",
    "中文",
)
DAYS = (date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(2024, 3, 3))
MOMENTS = (
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(1970, 1, 1),
    # Hours that summer time skips and repeats in the zone of the Spark session.
    datetime(2024, 3, 10, 2, 30),
    datetime(2024, 11, 3, 1, 30, 0, 1),
    datetime(2024, 2, 29, 8, 30),
)
POLICY = "room = 'clinic' OR NOT consent"
ROWS = 600


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Every type of key and cell, with NULL everywhere but in one key."""
    rng = seeded(11)

    def drawn(cells: Sequence[Any], kind: pa.DataType, *, null_in: int = 9) -> pa.Array:
        places, nulls = rng.below(len(cells), ROWS), rng.below(null_in, ROWS)
        return pa.array(
            [
                None if empty == 0 else cells[place]
                for place, empty in zip(places, nulls, strict=True)
            ],
            kind,
        )

    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int32()),
            "number": drawn((0, 1, -1, 2**63 - 1, -(2**63), 12, 123), pa.int64()),
            "text": drawn(TEXTS, pa.string()),
            "flag": drawn((True, False), pa.bool_()),
            "day": drawn(DAYS, pa.date32()),
            "ts": drawn(MOMENTS, pa.timestamp("us")),
            "room": drawn(("clinic", *["lab", "hall", "é"] * 12), pa.string()),
            "consent": drawn((False, *[True] * 40), pa.bool_(), null_in=60),
            "price": drawn(
                (Decimal("-1.50"), Decimal("0.00"), Decimal("17.01")), pa.decimal128(10, 2)
            ),
            "amount": drawn(
                (0.0, -0.0, 1.5, -2.25, 1e300, float("inf"), float("nan")), pa.float64()
            ),
            "small": drawn((-3, 0, 7, 1200), pa.int16()),
        }
    )


@pytest.fixture(scope="module")
def engine(opened: Opener, table: pa.Table) -> Iterator[Engine]:
    """The table with the units that most tests ask about, opened once."""
    with closing(opened(table, UNIT)) as engine:
        yield engine


UNIT = ("text", "day")


@pytest.fixture(scope="module", params=list(EngineName), ids=lambda name: name.value)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Opens an Arrow table on each of the engines; none is left out of the contract."""
    return opener_of(request.param, request, tmp_path_factory)


UNITS = (
    ("id",),
    ("text",),
    ("flag", "ts"),
    ("day", "number"),
    UNIT,
    ("text", "room"),
    ("number", "flag", "ts", "text", "day"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("unit", UNITS, ids="-".join)
def test_samples_of_all_types_of_keys(
    opened: Opener, table: pa.Table, unit: tuple[str, ...]
) -> None:
    engine = opened(table, unit)
    # Where few units have many rows each, a policy on rows would leave none of them.
    few = unit in {("text",), ("flag", "ts"), ("day", "number")}
    query = sample_query(engine, "FALSE" if few else "room = 'clinic'", epsilon="2")
    expected = Reference.of(table, unit).sample(query)
    assert comparable(sampled(engine, query)) == comparable(expected)
    assert expected
    engine.close()


@pytest.mark.parametrize("epsilon", ["1/100", "8"])
def test_samples_grow_with_epsilon(engine: Engine, table: pa.Table, epsilon: str) -> None:
    query = sample_query(engine, POLICY, epsilon=epsilon, where="small > 0", columns=["ts", "text"])
    expected = Reference.of(table, UNIT).sample(query)
    assert comparable(sampled(engine, query)) == comparable(expected)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("by", "where", "max_groups"),
    [
        (["room"], None, 2),
        (["room", "hour(ts)"], None, 3),
        (["room", "weekday(ts)"], "small >= 0 AND room <> 'hall'", 1),
        (["date(ts)", "flag", "bucket(small, 7)"], None, 2),
        (["text", "number"], "consent", 2),
        (["price"], None, None),
        (["amount"], None, None),
        (["text"], None, None),
        ([], None, None),
        ([], "room = 'nowhere'", None),
        (["room"], "room = 'nowhere'", 1),
    ],
    ids=str,
)
def test_histograms(
    engine: Engine, table: pa.Table, by: list[str], where: str | None, max_groups: int | None
) -> None:
    query = count_query(engine, POLICY, by, where=where, max_groups=max_groups)
    expected = Reference.of(table, UNIT).count(query)
    assert comparable(counted(engine.count(query))) == comparable(expected)


def test_units_of_one_row(opened: Opener, table: pa.Table) -> None:
    """A histogram of a sample, sums of floats, and a coin that follows its key."""
    with closing(opened(table, ("id",))) as engine:
        reference = Reference.of(table, ("id",))
        total = column_total("amount", Fraction(1, 2), 100)
        for query in (
            count_query(engine, POLICY, ["room", "flag"], epsilon="1/2"),
            count_query(engine, POLICY, ["room"], max_groups=2, totals=(total, ROWS_UP_TO_THREE)),
        ):
            assert comparable(counted(engine.count(query))) == comparable(reference.count(query))
        first = sampled(engine, sample_query(engine, POLICY, columns=["id"]))
        again = sampled(engine, sample_query(engine, POLICY, columns=["id"]))
        other = sampled(engine, sample_query(engine, POLICY, columns=["id"], key="f" * 32))
        assert first == again != other


ROWS_UP_TO_THREE = Total(None, Fraction(1), 3)


@pytest.mark.parametrize("columns", [["small", "number"], ["price"]], ids="-".join)
def test_sums(engine: Engine, table: pa.Table, columns: list[str]) -> None:
    totals = tuple(column_total(column, Fraction(1, 2), 100) for column in columns)
    query = count_query(engine, POLICY, ["room"], max_groups=2, totals=(*totals, ROWS_UP_TO_THREE))
    expected = Reference.of(table, UNIT).count(query)
    assert comparable(counted(engine.count(query))) == comparable(expected)


def test_units_and_orphans_are_counted_for_the_steward(engine: Engine, table: pa.Table) -> None:
    keys = [(row["text"], row["day"]) for row in table.to_pylist()]
    found = engine.inspect()
    assert found.units == len({key for key in keys if None not in key})
    assert found.rows_without_key == sum(None in key for key in keys)


def test_a_key_without_a_text_is_refused_when_opened(opened: Opener, table: pa.Table) -> None:
    engine = opened(table, ("amount",))
    with pytest.raises(SourceError, match="cannot be of type float"):
        engine.inspect()
    engine.close()


def test_a_policy_in_python_belongs_to_tables_in_memory(engine: Engine) -> None:
    assert not engine.in_memory


def test_rows_are_units_where_files_name_them(named: Opener, table: pa.Table) -> None:
    engine = named(table, ())
    reference = Reference.of(table, (), FILE)
    query = sample_query(engine, POLICY, where="small > 0")
    assert comparable(sampled(engine, query)) == comparable(reference.sample(query))
    counts = count_query(engine, POLICY, ["room", "flag"], where="small > 0")
    assert comparable(counted(engine.count(counts))) == comparable(reference.count(counts))
    engine.close()


def test_a_declared_unique_key_changes_nothing(table: pa.Table, postgres_url: str) -> None:
    engine: Any = postgres_opener(postgres_url)(table, ("id",), constraint=", PRIMARY KEY (id)")
    assert engine.rows_are_units
    reference = Reference.of(table, ("id",))
    query = sample_query(engine, POLICY, where="small > 0")
    assert comparable(sampled(engine, query)) == comparable(reference.sample(query))
    counts = count_query(engine, POLICY, ["room", "flag"], where="small > 0", max_groups=1)
    assert comparable(counted(engine.count(counts))) == comparable(reference.count(counts))
    assert engine.inspect().units == ROWS
    engine.close()
    with pytest.raises(RequestError, match="SQL"):
        engine.evaluate_policy(lambda row: True)
