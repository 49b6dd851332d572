"""A fuzz of names: of columns, tables, files and folders, on every engine.

What is opened is answered rightly, whatever its names are. What cannot be is refused with one
sentence before anything is charged. Never does a name mean another column, file or table.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.errors import InputError, RequestError
from onesided.language.words import quoted
from onesided.randomness import seeded
from onesided.session.grouping import ANSWER_COLUMNS
from support.odd_names import Names

ROWS = 12
EPSILON = 40
COLUMNS = 4


class Source(NamedTuple):
    """What `osd.open` is given, and which rows it has."""

    arguments: dict[str, Any]
    columns: dict[str, list[Any]]


Make = Callable[[Names, Path], Source]


class Seen(NamedTuple):
    opened: int
    refused: int


def cells(names: list[str], first: int = 0) -> dict[str, list[Any]]:
    """A key, two columns of numbers and one of texts, under these names."""
    rows = range(first, first + ROWS)
    contents = ([*rows], [n % 5 for n in rows], [n % 3 for n in rows], [f"t{n % 2}" for n in rows])
    return dict(zip(names, contents, strict=True))


def frame(names: Names, folder: Path) -> Source:
    columns = cells(names.columns(COLUMNS))
    return Source({"source": pa.table(columns)}, columns)


def parquet(names: Names, folder: Path) -> Source:
    columns = cells(names.columns(COLUMNS))
    path = _decoyed(folder / names.file(), ".parquet", names)
    pq.write_table(pa.table(columns), path)
    return Source({"source": path}, columns)


def several(names: Names, folder: Path) -> Source:
    """Some files in a folder, whose columns are the same."""
    listed = names.columns(COLUMNS)
    whole: dict[str, list[Any]] = {name: [] for name in listed}
    place = folder / names.file()
    place.mkdir()
    for number, name in enumerate(sorted({names.file() for _ in range(3)})):
        columns = cells(listed, number * ROWS)
        pq.write_table(pa.table(columns), place / f"x{name}.parquet")
        for column, values in columns.items():
            whole[column] += values
    return Source({"source": place}, whole)


def text(names: Names, folder: Path) -> Source:
    columns = cells(names.columns(COLUMNS))
    path = _decoyed(folder / names.file(), ".csv", names)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
    # Blanks around a name in a header do not count, and a name of blanks is none.
    named = (name.strip() or f"column{place}" for place, name in enumerate(columns))
    return Source({"source": path}, dict(zip(named, columns.values(), strict=True)))


def _decoyed(path: Path, ending: str, names: Names) -> Path:
    """A path beside which other files lie that it could be taken for."""
    for decoy in ("a", "x1", "ab", "b", names.file()):
        other = path.with_name(f"{decoy}{ending}")
        if ending == ".csv":
            other.write_text("n\n1\n")
        else:
            pq.write_table(pa.table({"n": [1]}), other)
    return path.with_name(f"{path.name}{ending}")


def database(url: str) -> Make:
    def made(names: Names, folder: Path) -> Source:
        columns = cells([_in_catalogue(each) for each in names.columns(COLUMNS)])
        name = _in_catalogue(names.column())
        kinds = ("int PRIMARY KEY", "int", "bigint", "text")
        listed = ", ".join(
            f"{called(each)} {kind}" for each, kind in zip(columns, kinds, strict=True)
        )
        rows = ", ".join(map(repr, zip(*columns.values(), strict=True)))
        with psycopg.connect(url, autocommit=True) as server:
            try:
                server.execute(f"CREATE TABLE {called(name)} ({listed})".encode())
            except (psycopg.Error, ValueError):
                return made(names, folder)  # no table can have these names
            server.execute(f"INSERT INTO {called(name)} VALUES {rows}".encode())
        return Source({"table": name, "connection": url}, columns)

    return made


def _in_catalogue(name: str) -> str:
    """The part of a name that PostgreSQL keeps."""
    return name.encode()[:63].decode(errors="ignore")


def on_datafusion(names: Names, folder: Path) -> Source:
    source = names.dice.choice((frame, parquet, several))(names, folder)
    return source._replace(arguments={**source.arguments, "connection": "datafusion"})


def on_spark(spark: Any) -> Make:
    def made(names: Names, folder: Path) -> Source:
        make = names.dice.choice((parquet, several))
        source = make(names, folder)
        return source._replace(arguments={**source.arguments, "connection": spark})

    return made


def fuzz(make: Make, seeds: range, folder: Path) -> Seen:
    opened = refused = 0
    for seed in seeds:
        place = folder / str(seed)
        place.mkdir()
        source = make(Names(seed), place)
        try:
            data = _opened(source)
        except InputError as error:
            _check_sentence(str(error))
            refused += 1
            continue
        with data:
            _check_answers(data, source.columns)
        opened += 1
    return Seen(opened, refused)


def _opened(source: Source) -> osd.Dataset:
    unit, number, *_ = source.columns
    return osd.open(
        **source.arguments,
        unit=[unit],
        policy=f"{called(number)} = 4",
        budget=1000,
        rng=seeded(1),
        name="odd",
    )


def called(name: str) -> str:
    """A name as it is written in a predicate."""
    return quoted(name, '"')


def _check_sentence(text: str) -> None:
    assert text.endswith("."), text
    assert len(text) < 400, text
    assert "\n" not in text, text
    assert "Error" not in text, text


def _check_answers(data: osd.Dataset, columns: dict[str, list[Any]]) -> None:
    """At so large an ε nearly every open row is in the sample, and no count is off."""
    unit, _, other, word = columns
    rows = [row for row in zip(*columns.values(), strict=True) if row[1] != 4]
    found = data.sample(EPSILON, yes=True).table
    assert found.column_names == list(columns)
    assert sorted(zip(*(column.to_pylist() for column in found.columns), strict=True)) == rows
    some = data.sample(EPSILON, where=f"{called(other)} <> 1", columns=[unit, word], yes=True).table
    assert some.column_names == [unit, word]
    pairs = sorted(zip(*(column.to_pylist() for column in some.columns), strict=True))
    assert pairs == [(row[0], row[3]) for row in rows if row[2] != 1]
    asked = {"epsilon": EPSILON, "mechanism": "one-sided", "max_groups": 1, "yes": True}
    if word in ANSWER_COLUMNS:
        with pytest.raises(RequestError, match="rename the group key"):
            data.count(by=[called(word)], **asked)
        return
    counts = data.count(by=[called(word)], **asked).table
    assert counts.column_names[0] == word
    pairs = list(zip(counts.column(0).to_pylist(), counts.column(1).to_pylist(), strict=True))
    assert pairs == [(each, sum(row[3] == each for row in rows)) for each in ("t0", "t1")]


WAYS = [frame, parquet, several, text]
SHORT = range(10)
LONG = range(100, 600)


@pytest.mark.parametrize("make", WAYS)
def test_names_on_duckdb(make: Make, tmp_path: Path) -> None:
    assert fuzz(make, SHORT, tmp_path).opened >= 5


def test_names_on_postgres(postgres_url: str, tmp_path: Path) -> None:
    assert fuzz(database(postgres_url), SHORT, tmp_path).opened >= 5


def test_names_on_datafusion(tmp_path: Path) -> None:
    assert fuzz(on_datafusion, SHORT, tmp_path).opened >= 5


@pytest.mark.soak
def test_names_on_spark(spark: Any, tmp_path: Path) -> None:
    assert fuzz(on_spark(spark), range(3), tmp_path).opened >= 2


@pytest.mark.soak
@pytest.mark.parametrize("make", WAYS)
def test_many_names_on_duckdb(make: Make, tmp_path: Path) -> None:
    assert min(fuzz(make, LONG, tmp_path)) > 40


@pytest.mark.soak
def test_many_names_on_postgres(postgres_url: str, tmp_path: Path) -> None:
    assert min(fuzz(database(postgres_url), LONG, tmp_path)) > 40


@pytest.mark.soak
def test_many_names_on_datafusion(tmp_path: Path) -> None:
    assert min(fuzz(on_datafusion, LONG, tmp_path)) > 40


@pytest.mark.soak
def test_many_names_on_spark(spark: Any, tmp_path: Path) -> None:
    assert min(fuzz(on_spark(spark), range(100, 150), tmp_path)) > 4
