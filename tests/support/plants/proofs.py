"""By hand, for each plant: two things that are equal, and differ where the leak is really there."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import OnesidedError
from onesided.language import Schema, Type
from onesided.ledger import open_ledger
from onesided.policy import Policy

Pair = tuple[Any, Any]
KEPT = 40
"""At this ε every non-sensitive unit is in a sample."""


def asked(source: Any, ask: Callable[[osd.Dataset], Any], **options: Any) -> Any:
    """What somebody outside gets, an answer or a sentence; the noise is always the same."""
    given = {"unit": "rows", "policy": "hidden", "budget": 500, "rng": osd.seeded(3), **options}
    try:
        with osd.open(source, **given) as data:
            return ask(data)
    except OnesidedError as error:
        return type(error).__name__, str(error)


def sampled(data: osd.Dataset) -> list[Any]:
    return list(data.sample(KEPT, yes=True).table.to_pylist())


def column(cells: pa.Array, secret: pa.Array) -> pa.Table:
    """The cells of four open units, and of one that is hidden."""
    values = pa.concat_arrays([cells, secret])
    count = len(values)
    hidden = [*[False] * (count - 1), True]
    return pa.table({"id": range(count), "hidden": hidden, "x": values, "days": [3] * count})


def wards(secret: str, **options: Any) -> Callable[[Callable[[osd.Dataset], Any]], Any]:
    ward = column(pa.array(["a"] * 10), pa.array([secret]))
    return lambda ask: asked(ward, ask, unit="id", **options)


def mean(data: osd.Dataset, **options: Any) -> Any:
    release = data.mean("days", by="x", bound=1000, grid=1, epsilon=1, max_groups=2, **options)
    return release.receipt["noise"], release.table.to_pylist()


def noise_of_a_mean(folder: Path) -> Pair:
    return wards("hiv")(lambda data: mean(data)[0]), wards("a")(lambda data: mean(data)[0])


def a_mean_of_no_row(folder: Path) -> Pair:
    ask: Callable[[osd.Dataset], Any] = lambda data: mean(data, where="x = 'hiv'")  # noqa: E731
    return wards("hiv")(ask), wards("a")(ask)


def far_keys(folder: Path) -> Pair:
    def seen(secret: int) -> Any:
        days = pa.array([*[0] * 30, secret], pa.int32()).cast(pa.date32())
        table = column(days.slice(0, 30), days.slice(30))
        return asked(
            table, lambda data: type(data.count("x", epsilon=50, mechanism="auto", yes=True))
        )

    return seen(2**31 - 10), seen(0)


def a_mean_by_nan(folder: Path) -> Pair:
    def seen(secret: float) -> Any:
        table = column(pa.array([0.5] * 30), pa.array([secret]))
        return asked(table, lambda data: type(mean(data)))

    return seen(float("nan")), seen(0.5)


def coarse_moments(folder: Path) -> Pair:
    def seen(secret: int) -> Any:
        cells = pa.array([0, 1, 2, secret]).view(pa.timestamp("s"))
        table = column(cells.slice(0, 3), cells.slice(3))
        return asked(table, lambda data: type(data.count("x", epsilon=1, mechanism="one-sided")))

    return seen(2**62), seen(5)


def cells_not_read(folder: Path) -> Pair:
    def seen(secret: int) -> Any:
        cells = pa.array([0, 1, 2, secret]).view(pa.timestamp("us"))
        table = column(cells.slice(0, 3), cells.slice(3))
        ids: Callable[[osd.Dataset], Any] = lambda data: (  # noqa: E731
            data.sample(KEPT, columns=["id"], yes=True).table.to_pylist()
        )
        return asked(table, ids, policy=lambda row: row["hidden"])

    return seen(2**62), seen(5)


def operators(url: str) -> Pair:
    """The reader's own objects are not found: an operator that says no to everybody."""
    statements = (
        "CREATE TABLE people (id int PRIMARY KEY, age int NOT NULL)",
        "INSERT INTO people SELECT i, 10 + 30 * (i % 2) FROM generate_series(1, 20) i",
    )
    operator = (
        "CREATE FUNCTION public.never(integer, numeric) RETURNS boolean LANGUAGE sql "
        "AS 'SELECT FALSE'",
        "CREATE OPERATOR public.< (LEFTARG = integer, RIGHTARG = numeric, FUNCTION = never)",
    )

    def seen() -> Any:
        options = {"table": "people", "connection": url, "unit": "id", "policy": "age < 18.5"}
        return asked(None, sampled, **options)

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[call-overload]
        before = seen()
        for statement in operator:
            connection.execute(statement)  # type: ignore[call-overload]
    return before, seen()


def capitals(folder: Path) -> Pair:
    def seen(secret: int) -> Any:
        table = pa.table([pa.array([30, 40]), pa.array([30, secret])], ["age", "Age"])
        path = folder / f"{secret}.parquet"
        pq.write_table(table, path)
        return [
            asked(source, lambda data: [tuple(row.values()) for row in sampled(data)], policy=rule)
            for source in (table, path)
            for rule in ["Age < 18"]
        ]

    return seen(12), seen(13)


def other_files(folder: Path) -> Pair:
    pq.write_table(pa.table({"n": [1, 2]}), folder / "x[1].parquet")

    def seen(others: list[int]) -> Any:
        pq.write_table(pa.table({"n": others}), folder / "x1.parquet")
        return asked(folder / "x[1].parquet", sampled, policy="n = 0")

    return seen([7, 8]), seen([9])


def missing_numbers(spark: Any, folder: Path) -> Pair:
    def seen(secret: int | None) -> Any:
        path = folder / f"{secret}.parquet"
        pq.write_table(pa.table({"id": [1, 2], "n": pa.array([5, secret], pa.int64())}), path)
        ask: Callable[[osd.Dataset], Any] = lambda data: data.count(  # noqa: E731
            "id",
            epsilon=100,
            mechanism="one-sided",
            yes=True,
        ).table.to_pylist()
        policy = f"n > {2**63} OR n = 7"
        return asked(str(path), ask, connection=spark, unit="id", policy=policy, version="1")

    return seen(None), seen(7)


def false_yes(folder: Path) -> Pair:
    schema = Schema.of({"i": Type.INTEGER, "f": Type.FLOAT})
    account = Policy("f = 0.0 AND coalesce(i, f) > 9007199254740992")
    return bool(account.relaxes(Policy("f IS NULL"), schema)), False


def one_name(folder: Path) -> Pair:
    table = pa.table({"t": ["a", "b", "None"], "hidden": [False] * 3})

    def counts(data: osd.Dataset) -> Any:
        return [
            data.count(
                "t",
                epsilon=200,
                mechanism="laplace",
                domain={"t": values},
                yes=True,
            ).table.to_pydict()
            for values in (["a", "None"], ["a", "*"])
        ]

    found = asked(table, counts)
    return found[0] == found[1], False


def claimed(folder: Path) -> Pair:
    table = pa.table({"t": ["a", "b"] * 40, "hidden": [False] * 80})

    def extended(data: osd.Dataset) -> Any:
        answer = data.count("t", epsilon=8, domain={"t": ["a", "*"]})
        return answer.receipt["epsilon"]["extended_osdp"]

    return asked(table, extended), None


def guesses(folder: Path) -> Pair:
    table = pa.table({"id": [1], "hidden": [False]})
    engine = DuckDBEngine(table, Unit())
    guess = engine.fingerprint()
    engine.close()
    path = folder / "account.ledger"
    with osd.open(table, policy="hidden", budget=1, ledger=path, unit="rows") as data:
        data.sample(1)
    ledger = open_ledger(path)
    exported = str(ledger.export())
    ledger.close()
    return guess in exported, False


def statistics(folder: Path) -> Pair:
    def seen(secret: float) -> Any:
        path = folder / f"{secret}.parquet"
        pq.write_table(pa.table({"k": [1.0, 2.0, secret]}), path)
        return str(asked(path, sampled, policy="k > 5.0"))

    return seen(float("nan")), seen(7.0)


def bits(folder: Path) -> Pair:
    def seen(secret: int) -> Any:
        cells = struct.unpack("<11d", struct.pack("<11Q", secret, *[0x7FF8 << 48] * 10))
        table = pa.table({"x": pa.array(cells), "hidden": [True, *[False] * 10]})

        def keys(data: osd.Dataset) -> Any:
            answer = data.count("x", epsilon=50, mechanism="one-sided", yes=True).table.column("x")
            return answer.combine_chunks().view(pa.uint64()).to_pylist()

        return asked(table, keys)

    return seen(0x7FF8DEADBEEF0001), seen(0x7FF8 << 48)


def cells_of_files(folder: Path) -> Pair:
    def seen(*secrets: Any) -> Any:
        found = []
        texts = pa.array([b"a", b"b", secrets[0]], pa.binary()).view(pa.string())
        moments = pa.array([0, 1, secrets[1]]).view(pa.timestamp("us", "UTC"))
        for name, cells in (("text", texts), ("moment", moments)):
            path = folder / f"{name}-{len(secrets[0])}.parquet"
            pq.write_table(column(cells.slice(0, 2), cells.slice(2)), path)
            ask: Callable[[osd.Dataset], Any] = lambda data: data.sample(  # noqa: E731
                KEPT,
                where="x IS NOT NULL",
                yes=True,
            ).table.to_pylist()
            found.append(asked(path, ask))
        return found

    return seen(b"\xff\xfe", 2**63 - 2), seen(b"c", 5)


def offsets(folder: Path) -> Pair:
    def seen(secret: datetime) -> Any:
        moments = pa.array([datetime(2021, 1, 1)] * 3 + [secret], pa.timestamp("us"))
        domain = {"x": ["2020-01-01T00:00:00+01:00", "2021-01-01T00:00:00"]}
        ask: Callable[[osd.Dataset], Any] = lambda data: data.count(  # noqa: E731
            "x", epsilon=Fraction(1), mechanism="one-sided", domain=domain
        ).table.to_pylist()
        return asked(column(moments.slice(0, 3), moments.slice(3)), ask)

    return seen(datetime(2020, 1, 1)), seen(datetime(2019, 1, 1))


def orders_of_dates(folder: Path) -> Pair:
    def written(name: str, secret: str) -> Path:
        path = folder / name / "days.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"id,hidden,day\n1,true,{secret}\n2,false,03/04/2020\n")
        return path

    def seen(name: str, secret: str) -> Any:
        ledger = folder / f"{name}.ledger"
        with osd.open(
            written(name, "20/05/2021"),
            policy="hidden",
            budget=90,
            ledger=ledger,
            unit="rows",
        ) as data:
            data.sample(1)
        return asked(written(name, secret), sampled, ledger=ledger, budget=90)

    return seen("one", "02/13/2020"), seen("other", "13/02/2020")


def headers(folder: Path) -> Pair:
    def seen(secret: int) -> Any:
        place = folder / str(secret)
        place.mkdir()
        (place / "a.csv").write_text("id,age,other\n1,30,31\n2,40,41\n")
        (place / "b.csv").write_text(f"id,other,age\n3,33,{secret}\n4,35,36\n")
        return asked(f"{place}/*.csv", sampled, policy="age < 18")

    return seen(12), seen(13)


def not_found(folder: Path) -> Pair:
    """Two people of whom the table beside says nothing: neither is in a sample."""

    def seen(secret: str) -> Any:
        table = pa.table({"name": ["ann", "bob", secret]})
        beside = {"people": pa.table({"name": ["ann", "bob"], "out": [False, False]})}
        return asked(table, sampled, unit="name", policy="people.out", lookups=beside)

    return seen("eve"), seen("kim")
