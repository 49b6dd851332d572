"""A ledger in PostgreSQL meets the world: restarts, careless settings, secrets in addresses."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import psycopg
import pytest

from onesided.errors import LedgerError
from onesided.ledger import open_ledger, postgres
from onesided.ledger.postgres import PostgresStore
from onesided.ledger.rows import LedgerRows
from support.ledgers import Place, in_database, pay, terms
from support.postgres import TestServer


@pytest.fixture
def place(ledger_database: str) -> Place:
    return in_database(ledger_database)


def test_a_restart_between_two_steps_goes_unnoticed(
    place: Place, postgres_server: TestServer
) -> None:
    ledger, account, snapshot = place.opened()
    charge = pay(account, snapshot)
    postgres_server.restart()
    account.store(charge, b"kept", {})
    assert ledger.verify().ok
    assert account.balance().spent == 1


@pytest.mark.parametrize("step", ["append", "_name"])
def test_a_restart_in_the_middle_of_a_charge_undoes_it(
    place: Place, postgres_server: TestServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    ledger, account, snapshot = place.opened()
    plain = getattr(LedgerRows, step)

    def interrupted(*arguments: object, **options: object) -> object:
        postgres_server.restart()
        return plain(*arguments, **options)

    monkeypatch.setattr(LedgerRows, step, interrupted)
    with pytest.raises(LedgerError, match=r"PostgreSQL .* repeat the request, which is paid once"):
        pay(account, snapshot)
    monkeypatch.undo()
    assert account.balance().spent == 0
    assert not pay(account, snapshot).reused
    assert ledger.verify().ok


def test_a_server_lost_at_the_commit_charges_once(
    place: Place, postgres_server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, account, snapshot = place.opened()
    plain = PostgresStore.commit

    def answer_lost(store: PostgresStore) -> None:
        plain(store)
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(PostgresStore, "commit", answer_lost)
    with pytest.raises(LedgerError, match="paid once"):
        pay(account, snapshot)
    monkeypatch.undo()
    retry = pay(account, snapshot)
    assert retry.reused
    assert account.balance().spent == 1
    assert ledger.verify().ok


def test_a_server_that_is_down_says_so_and_comes_back(
    place: Place, postgres_server: TestServer
) -> None:
    _, account, snapshot = place.opened()
    postgres_server.stop()
    try:
        with pytest.raises(LedgerError, match="cannot be reached"):
            pay(account, snapshot)
    finally:
        postgres_server.start()
    pay(account, snapshot)
    assert account.balance().spent == 1


def test_a_ledger_set_back_under_a_running_process_is_noticed(place: Place) -> None:
    _, account, snapshot = place.opened()
    pay(account, snapshot)
    place.tamper(
        "DELETE FROM entries WHERE number = 4",
        "UPDATE head SET entries = 3, hash = (SELECT hash FROM entries WHERE number = 3)",
    )
    with pytest.raises(LedgerError, match="replaced by an older copy"):
        pay(account, snapshot, "second")


def test_a_lock_that_lasts_is_reported(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _, account, snapshot = place.opened()
    monkeypatch.setattr(postgres, "_WRITE", postgres._WRITE.replace("'30s'", "'100ms'"))
    assert isinstance(place.where, str)
    with psycopg.connect(place.where) as other:
        other.execute("SELECT * FROM onesided_ledger.head FOR UPDATE")
        with pytest.raises(LedgerError, match="locked by another process"):
            pay(account, snapshot)
    pay(account, snapshot)


def test_a_commit_is_synchronous_whatever_the_default(place: Place) -> None:
    place.opened()[0].close()
    assert isinstance(place.where, str)
    with psycopg.connect(place.where, autocommit=True) as connection:
        connection.execute("ALTER ROLE postgres SET synchronous_commit = off")
    try:
        store = PostgresStore(place.where)
        with store.writing() as rows:
            (setting,) = rows._run("SELECT current_setting('synchronous_commit')").fetchone()
        store.close()
    finally:
        with psycopg.connect(place.where, autocommit=True) as connection:
            connection.execute("ALTER ROLE postgres RESET synchronous_commit")
    assert setting == "on"


def test_a_table_in_front_of_the_ledgers_is_not_looked_at(place: Place) -> None:
    """A pool hands its connection on with the temporary tables of whoever had it before."""
    ledger, account, snapshot = place.opened()
    assert isinstance(place.where, str)
    store = PostgresStore(place.where)
    with store.writing() as rows:
        rows._run("CREATE TEMP TABLE coin_keys (account BIGINT, snapshot BIGINT, secret TEXT)")
        assert rows.coin_key(2, snapshot.number) == snapshot.coin_key.reveal()
    store.close()
    assert not pay(account, snapshot).reused
    ledger.close()


@pytest.fixture
def careless_server(place: Place) -> Iterator[Place]:
    """A server that was told not to wait for its disk."""
    place.raw("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
    yield place
    place.raw("ALTER SYSTEM RESET fsync", "SELECT pg_reload_conf()")


def test_a_server_without_fsync_is_refused(careless_server: Place) -> None:
    with pytest.raises(LedgerError, match="fsync off"):
        careless_server.open()


def test_a_read_only_server_takes_nothing(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    place.raw("REVOKE ALL ON SCHEMA onesided_ledger FROM PUBLIC", "CREATE ROLE auditor LOGIN")
    try:
        place.raw(
            "GRANT USAGE ON SCHEMA onesided_ledger TO auditor",
            "GRANT SELECT ON ALL TABLES IN SCHEMA onesided_ledger TO auditor",
        )
        assert isinstance(place.where, str)
        audited = open_ledger(place.where.replace("//postgres:", "//auditor:"), create=False)
        assert audited.verify().ok
        with pytest.raises(LedgerError, match="may not use it"):
            pay(audited.accounts()[0], snapshot)
        audited.close()
    finally:
        place.raw("DROP OWNED BY auditor", "DROP ROLE auditor")
    assert account.balance().spent == 0
    ledger.close()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://steward:s3cret-word@127.0.0.1:1/ledger",
        "postgresql://127.0.0.1:1/ledger?user=steward&password=s3cret-word",
        "postgresql://steward:s3cret-word@127.0.0.1:not-a-port/ledger",
    ],
)
def test_passwords_stay_out_of_every_text(address: str) -> None:
    with pytest.raises(LedgerError) as caught:
        open_ledger(address)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))
    assert "s3cret" not in repr(PostgresStore(address))


def test_passwords_stay_out_of_the_ledger(place: Place) -> None:
    assert isinstance(place.where, str)
    ledger = open_ledger(place.where.replace("postgres:@", "postgres:s3cret-word@"))
    account = ledger.account(terms())
    pay(account, account.snapshot("data-1"))
    assert "s3cret" not in str(ledger.export()) + repr((ledger, account))
    ledger.close()
