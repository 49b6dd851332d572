"""SQLAlchemy: what Core compiles is answered as the SQL it stands for, and nothing else costs ε."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import sqlalchemy as sa

import onesided as osd
from onesided import dbapi
from support.dialects import register_dialects
from support.payments import ROOMS, payments
from support.visits import POLICY, UNIT

register_dialects()

EXACT = 50  # an ε at which counts are off by next to nothing
UNITS = "COUNT(DISTINCT device, day)"
OPTIONS: dict[str, Any] = {
    "mechanism": "one-sided",
    "max_groups": 2,
    "max_rows": 3,
    "bounds": {"paid": 20},
}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return payments(devices=20)


@pytest.fixture(scope="module")
def dataset(table: pa.Table) -> Iterator[osd.Dataset]:
    arguments: dict[str, Any] = {"unit": UNIT, "policy": POLICY, "public": {"rooms": ROOMS}}
    with osd.open(table, name="visits", budget=10_000, **arguments) as found:
        yield found


@pytest.fixture
def engine(dataset: osd.Dataset) -> Iterator[sa.Engine]:
    engine = sa.create_engine(
        "onesided://",
        creator=lambda: dbapi.connect(dataset, epsilon=EXACT, yes=True, **OPTIONS),
    )
    yield engine
    engine.dispose()


@pytest.fixture
def visits(engine: sa.Engine) -> sa.Table:
    return sa.Table("visits", sa.MetaData(), autoload_with=engine)


def units(table: Any) -> Any:
    return sa.func.count(sa.distinct(sa.tuple_(table.c.device, table.c.day))).label("n")


def test_tables_and_columns_are_reflected_for_free(engine: sa.Engine, dataset: osd.Dataset) -> None:
    before = dataset.releases
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["visits", "rooms"]
    assert inspector.has_table("visits")
    assert not inspector.has_table("people")
    types = {each["name"]: type(each["type"]) for each in inspector.get_columns("visits")}
    assert types == {
        "device": sa.BigInteger,
        "day": sa.Date,
        "ts": sa.DateTime,
        "room": sa.Text,
        "consent": sa.Boolean,
        "paid": sa.Float,
    }
    both = sa.MetaData()
    both.reflect(engine)
    assert set(both.tables) == {"visits", "rooms"}
    assert inspector.get_view_names() == inspector.get_schema_names() == []
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("people")
    pinging = sa.create_engine(
        "onesided://",
        creator=lambda: dbapi.connect(dataset, epsilon=1),
        pool_pre_ping=True,
    )
    for _ in range(2):
        with pinging.begin():
            pass
    pinging.dispose()
    assert dataset.releases == before


STATEMENTS: dict[str, tuple[Callable[[sa.Table], Any], str]] = {
    "labels and groups": (
        lambda v: sa.select(v.c.room.label("r"), units(v)).group_by(v.c.room),
        f"SELECT room AS r, {UNITS} AS n FROM visits GROUP BY room",
    ),
    "bound values": (
        lambda v: (
            sa.select(v.c.room, units(v))
            .where(v.c.room.not_in(["lab", "hall"]), v.c.day >= date(2024, 1, 2))
            .group_by(v.c.room)
        ),
        f"SELECT room, {UNITS} AS n FROM visits WHERE room NOT IN ('lab', 'hall') "
        "AND day >= DATE '2024-01-02' GROUP BY room",
    ),
    "order and limit": (
        lambda v: (
            sa.select(v.c.room, units(v))
            .group_by(v.c.room)
            .order_by(units(v).desc(), v.c.room)
            .limit(2)
            .offset(1)
        ),
        f"SELECT room, {UNITS} AS n FROM visits GROUP BY room ORDER BY n DESC, room "
        "LIMIT 2 OFFSET 1",
    ),
    "rows": (
        lambda v: sa.select(sa.func.count()).select_from(v).where(v.c.consent.is_(True)),
        "SELECT COUNT(*) AS count_1 FROM visits WHERE consent IS TRUE",
    ),
    "sums, means and having": (
        lambda v: (
            sa.select(
                sa.func.hour(v.c.ts).label("h"),
                sa.func.sum(v.c.paid).label("s"),
                sa.func.avg(v.c.paid).label("a"),
            )
            .group_by("h")
            .having(sa.func.sum(v.c.paid) > 3)
        ),
        "SELECT hour(ts) AS h, SUM(paid) AS s, AVG(paid) AS a FROM visits GROUP BY h "
        "HAVING SUM(paid) > 3",
    ),
    "case": (
        lambda v: sa.select(
            sa.func.sum(sa.case((v.c.room == "lab", 1), else_=0)).label("labs")
        ).where(v.c.paid.between(1, 5)),
        "SELECT SUM(CASE WHEN room = 'lab' THEN 1 ELSE 0 END) AS labs FROM visits "
        "WHERE paid BETWEEN 1 AND 5",
    ),
    "a subquery": (
        lambda v: (lambda s: sa.select(s.c.room, units(s)).group_by(s.c.room))(
            sa.select(v.c.room, v.c.device, v.c.day).where(v.c.room != "lab").subquery()
        ),
        f"SELECT room, {UNITS} AS n FROM visits WHERE room <> 'lab' GROUP BY room",
    ),
}


LONG = ("rows", "labels and groups", "case")


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=pytest.mark.soak if each in LONG else ()) for each in STATEMENTS],
)
def test_what_core_compiles_is_the_statement_it_stands_for(
    engine: sa.Engine, visits: sa.Table, dataset: osd.Dataset, name: str
) -> None:
    made, text = STATEMENTS[name]
    with engine.connect() as connection:
        result = connection.execute(made(visits))
        rows = [tuple(row) for row in result]
    spent = dataset.budget.spent
    plain = dataset.sql(text, epsilon=EXACT, yes=True, **OPTIONS)
    assert dataset.budget.spent == spent, "the same question is paid for already"
    assert rows
    assert list(result.keys()) == plain.table.column_names
    assert rows == [tuple(row.values()) for row in plain]


def test_public_tables_are_joined(engine: sa.Engine, visits: sa.Table) -> None:
    rooms = sa.Table("rooms", sa.MetaData(), autoload_with=engine)
    statement = (
        sa.select(rooms.c.building, units(visits))
        .select_from(visits.join(rooms, visits.c.room == rooms.c.room))
        .group_by(rooms.c.building)
    )
    with engine.connect() as connection:
        assert {row.building for row in connection.execute(statement)} == {"A", "B"}


def test_a_statement_says_its_epsilon(
    engine: sa.Engine, visits: sa.Table, dataset: osd.Dataset
) -> None:
    counted = sa.select(units(visits))
    before = dataset.budget.spent
    with engine.connect() as connection:
        connection.execute(counted, execution_options={"epsilon": "0.5", "purpose": "a test"})
        assert dataset.budget.spent == before + Fraction(1, 2)
        assert dataset.releases[-1].purpose == "a test"
        connection.execute(counted.execution_options(epsilon="0.25"))
        assert dataset.budget.spent == before + Fraction(3, 4)
        text = f"SELECT {UNITS} FROM visits WHERE room <> :room /* epsilon=0.125 */"
        connection.execute(sa.text(text), {"room": "lab"})
        assert dataset.budget.spent == before + Fraction(7, 8)


def test_pandas_reads_answers(engine: sa.Engine, dataset: osd.Dataset) -> None:
    text = f"SELECT room, {UNITS} AS n FROM visits WHERE room <> ? GROUP BY room"
    before = dataset.budget.spent
    frame = pd.read_sql(text, engine, params=("hall",))
    assert list(frame.columns) == ["room", "n"]
    assert set(frame["room"]) == {"cafe", "lab", "office"}
    assert dataset.budget.spent == before + EXACT


def test_refusals_are_errors_of_sqlalchemy(
    engine: sa.Engine, visits: sa.Table, dataset: osd.Dataset
) -> None:
    before = dataset.releases
    text = sa.text(f"SELECT {UNITS} FROM visits WHERE room = :r")
    with engine.connect() as connection:
        with pytest.raises(sa.exc.ProgrammingError, match="GROUP BY"):
            connection.execute(sa.select(visits))
        with pytest.raises(sa.exc.ProgrammingError, match="Only a SELECT"):
            connection.execute(visits.insert().values(room="lab"))
        with pytest.raises(sa.exc.OperationalError, match="nothing was spent"):
            connection.execute(sa.select(units(visits)), execution_options={"epsilon": 20_000})
        with pytest.raises(sa.exc.NotSupportedError, match="one statement at a time"):
            connection.execute(text, [{"r": "lab"}, {"r": "hall"}])
    assert dataset.releases == before
