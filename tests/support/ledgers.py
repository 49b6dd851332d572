"""What the tests of the ledgers share: places to keep one, terms, spendings, and tampering."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from onesided.ledger import Account, Charge, Ledger, Order, Snapshot, Spending, Terms, open_ledger
from onesided.loss import Loss, Number

BASE = "policy-base"
STRICTER = "policy-stricter"
APPEND_ONLY = ("entries", "coin_keys", "payloads")


def terms(budget: Number | None = 100, **changes: Any) -> Terms:
    """The terms of the data set `visits`."""
    agreed: dict[str, Any] = {
        "dataset": "visits",
        "unit": ("device", "day"),
        "policy_id": BASE,
        "policy_sql": "NOT consent",
        "budget": None if budget is None else Fraction(budget),
        "partition_columns": ("day",),
    }
    return Terms(**(agreed | changes))


def spending(sensitive: Number = 0, nonsensitive: Number = 1, **changes: Any) -> Spending:
    """A charge of (sensitive, nonsensitive) under the account's own policy."""
    fixed_n = changes.pop("fixed_n", False)
    agreed: dict[str, Any] = {
        "loss": Loss(sensitive, nonsensitive, fixed_n=fixed_n),
        "policy_id": BASE,
        "policy_sql": "NOT consent",
    }
    return Spending(**(agreed | changes))


def sample(epsilon: Number, **changes: Any) -> Spending:
    """A true sample drawn with the snapshot's coins."""
    return spending(0, epsilon, shared_coins=True, **changes)


def order(request: str = "request", what: Spending | None = None, **changes: Any) -> Order:
    """An order with a description and terms of no interest."""
    agreed: dict[str, Any] = {
        "request": request,
        "spending": what or spending(),
        "description": {"kind": "count"},
        "terms": {"noise": "rate 1"},
    }
    return Order(**(agreed | changes))


def reservation(request: str = "request", epsilon: Number = 1, **changes: Any) -> Order:
    """An order that holds `epsilon` for a pair that is chosen later."""
    half = Fraction(epsilon) / 2
    return order(request, spending(half, half, **changes), reserves=True)


def pay(
    account: Account,
    snapshot: Snapshot,
    request: str = "request",
    what: Spending | None = None,
    **changes: Any,
) -> Charge:
    """Charge one order."""
    (charge,) = account.charge([order(request, what, **changes)], snapshot)
    return charge


@dataclass
class Place:
    """Where a ledger lives, and how its enemy gets at it."""

    where: str | Path | None
    run_raw: Callable[[list[tuple[str, tuple[Any, ...]]]], list[list[Any]]] | None

    def open(self, *, create: bool = True) -> Ledger:
        """Open it through the front door."""
        return open_ledger(self.where, create=create)

    def opened(self, budget: Number | None = 100) -> tuple[Ledger, Account, Snapshot]:
        """A ledger with an account and its first snapshot."""
        ledger = self.open()
        account = ledger.account(terms(budget))
        return ledger, account, account.snapshot("data-1")

    def raw(self, *statements: str | tuple[str, tuple[Any, ...]]) -> list[list[Any]]:
        """Run statements behind the ledger's back, with its triggers in force."""
        assert self.run_raw is not None
        return self.run_raw([(s, ()) if isinstance(s, str) else s for s in statements])

    def tamper(self, *statements: str | tuple[str, tuple[Any, ...]]) -> None:
        """The same, with the triggers gone."""
        if isinstance(self.where, str):
            gone = [f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in APPEND_ONLY]
        else:
            actions = ("update", "delete")
            gone = [f"DROP TRIGGER IF EXISTS {t}_no_{a}" for t in APPEND_ONLY for a in actions]
        self.raw(*gone, *statements)

    def forge(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Rewrite history: change entries as one likes and chain them again from the start."""
        (rows,) = self.raw("SELECT number, text FROM entries ORDER BY number")
        previous, statements = "0" * 64, []
        for number, text in rows:
            body = json.loads(text)
            change(body)
            body["previous"] = previous
            forged = json.dumps(body, sort_keys=True, separators=(",", ":"))
            previous = hashlib.sha256(forged.encode()).hexdigest()
            statements.append(
                (
                    "UPDATE entries SET text = ?, hash = ? WHERE number = ?",
                    (forged, previous, number),
                )
            )
        self.tamper(*statements, ("UPDATE head SET hash = ?", (previous,)))


def in_memory() -> Place:
    """A ledger that only its own process can see."""
    return Place(None, None)


def in_file(path: Path) -> Place:
    """A ledger in a SQLite file."""

    def run(statements: list[tuple[str, tuple[Any, ...]]]) -> list[list[Any]]:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return [connection.execute(*statement).fetchall() for statement in statements]

    return Place(path, run)


def in_database(url: str) -> Place:
    """A ledger in a PostgreSQL database, which is emptied first."""
    import psycopg

    def run(statements: list[tuple[str, tuple[Any, ...]]]) -> list[list[Any]]:
        results = []
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET search_path = onesided_ledger")
            for text, values in statements:
                cursor = connection.execute(text.replace("?", "%s"), values)
                results.append(cursor.fetchall() if cursor.description else [])
        return results

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS onesided_ledger CASCADE")
    return Place(url, run)
