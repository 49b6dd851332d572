"""What is named as a ledger: no password becomes a file name, no name becomes a traceback."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import pytest

from onesided.errors import LedgerError
from onesided.ledger import agreed_terms, check_ledger, open_ledger, sqlite
from support.ledgers import in_file, terms

CONNECTIONS = [
    "host=db.example dbname=visits user=steward password=s3cret-word",
    "password='s3cret-word' host=db.example",
    "password=s3cret-word",
    "dbname = visits password = s3cret-word",
    "Server=db.example;Database=visits;Uid=steward;Pwd=s3cret-word",
    "mysql://steward:s3cret-word@db.example/visits",
    "postgresql+psycopg://steward:s3cret-word@db.example/visits",
    "POSTGRESQL://steward:s3cret-word@db.example/visits",
    "postgresql:steward:s3cret-word@db.example",
    "postgresql:/steward:s3cret-word@db.example/visits",
    "jdbc:postgresql://db.example/visits?password=s3cret-word",
    "steward:s3cret-word@db.example:5432/visits",
    "visits.ledger?password=s3cret-word",
]

FILES = [
    "a?mode=memory&x=%41 ε.ledger",
    "key=value.ledger",
    "x.ledger",
    "10:30.ledger",
    "a@b.ledger",
]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("folder", ["", "folder/"], ids=["as it is", "in a folder"])
@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("text", CONNECTIONS)
def test_a_connection_string_is_no_file(
    text: str, kind: type[str] | type[Path], folder: str, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    for opening in (
        open_ledger,
        check_ledger,
        lambda where: agreed_terms(where, "visits"),
    ):
        with pytest.raises(LedgerError) as caught:
            opening(kind(folder + text))
        assert "s3cret" not in "".join(traceback.format_exception(caught.value))
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


@pytest.mark.parametrize("name", FILES)
def test_other_names_are_names(name: str, tmp_path: Path) -> None:
    in_file(tmp_path / name).open().close()
    open_ledger(name, create=False).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


UNFIT = {
    "too long": "x" * 250,
    "too long in bytes": "ε" * 120,
    "too long a path": "/".join(["folder"] * 1000),
    "not UTF-8": os.fsdecode(b"visits-\xff.ledger"),
    "a null": "visits\x00.ledger",
    "an escape": "visits\x1b[31m.ledger",
    "an address that is not UTF-8": os.fsdecode(b"postgresql://\xff/visits"),
    "an address with a null": "postgresql://db.example/visits\x00",
}


@pytest.mark.parametrize("unfit", UNFIT)
@pytest.mark.parametrize("create", [True, False])
def test_a_name_that_no_file_can_have_is_one_sentence(unfit: str, create: bool) -> None:
    with pytest.raises(LedgerError) as caught:
        open_ledger(UNFIT[unfit], create=create)
    said = str(caught.value)
    assert said.endswith(".")
    assert said.isprintable()
    said.encode()
    if create:
        with pytest.raises(LedgerError):
            check_ledger(UNFIT[unfit])


def test_the_longest_name_can_be_created_and_used(tmp_path: Path) -> None:
    place = in_file(tmp_path / ("x" * sqlite.LONGEST_NAME))
    place.opened()[0].close()
    assert place.open(create=False).accounts()[0].terms == terms()
    with pytest.raises(LedgerError, match="shorten it"):
        open_ledger(tmp_path / ("x" * (sqlite.LONGEST_NAME + 1)))


def test_looking_for_a_ledger_makes_none(tmp_path: Path, ledger_database: str) -> None:
    import psycopg

    with psycopg.connect(ledger_database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS onesided_ledger CASCADE")
    for where in (tmp_path / "visits.ledger", ledger_database):
        check_ledger(where)
        with pytest.raises(LedgerError, match="There is no ledger"):
            open_ledger(where, create=False)
