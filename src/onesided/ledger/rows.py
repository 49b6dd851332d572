"""The SQL that both stores share: the rows of a ledger inside one transaction.

Entries are found through `latest`, an index by name: the last entry of a kind, the last charge and
release of a request on a snapshot, and the last charge that moved a sum (see totals.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from types import NoneType
from typing import Any, Protocol

from onesided.errors import LedgerError
from onesided.ledger.base import Head, LedgerDamaged
from onesided.ledger.chain import (
    FORMAT,
    GENESIS,
    Entry,
    EntryKind,
    canonical,
    changed,
    digest,
    now_after,
)

READABLE = (1, FORMAT)
"""The formats that this version reads. The first entry that it writes makes the last of them."""

_INDEX_CHANGED = "The index of the ledger was changed"


class StatementResult(Protocol):
    """What a statement returns."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchmany(self, size: int, /) -> list[Any]: ...


class StatementRunner(Protocol):
    """Runs one statement with `?` for its parameters."""

    def __call__(self, statement: str, parameters: Sequence[object] = (), /) -> StatementResult: ...


def kind_name(kind: EntryKind) -> str:
    """Leads to the account's last entry of this kind; to its first entry before there is one."""
    return digest(canonical(["kind", kind.value]))


#: Names that one statement may look up.
_AT_ONCE = 500


def request_name(kind: EntryKind, request: str, snapshot: int) -> str:
    """Leads to the last charge or release of a request on a snapshot."""
    return digest(canonical(["request", kind.value, request, snapshot]))


def settlement_name(charge: int) -> str:
    """Leads to the settlement of a charge."""
    return digest(canonical(["settlement", charge]))


def names_of(entry: Entry) -> list[str]:
    """The names that lead to a new entry, besides those of the sums that it moves.

    A settlement moves the account's sums as a charge does, so the name of the last charge leads to
    whichever of both was last.
    """
    if entry.kind == EntryKind.ACCOUNT:
        return [
            kind_name(kind) for kind in (EntryKind.SNAPSHOT, EntryKind.CHARGE, EntryKind.BUDGET)
        ]
    names = []
    if entry.kind in (EntryKind.FORMAT, EntryKind.SNAPSHOT, EntryKind.CHARGE, EntryKind.BUDGET):
        names.append(kind_name(entry.kind))
    if entry.kind in (EntryKind.CHARGE, EntryKind.RELEASE) and entry.snapshot is not None:
        names.append(request_name(entry.kind, entry.label, entry.snapshot))
    if entry.kind == EntryKind.SETTLEMENT and entry.charge is not None:
        names += [kind_name(EntryKind.CHARGE), settlement_name(entry.charge)]
    return names


def _seal(name: str, number: int) -> str:
    """Notices an index that was damaged by accident; malice is found by verifying the ledger."""
    return digest(f"{name} {number}")[:16]


class LedgerRows:
    """The rows of a ledger inside one transaction."""

    def __init__(self, run: StatementRunner, *, lock: str = "") -> None:
        self._run = run
        row = run(f"SELECT version, entries, hash, time FROM head WHERE one = 1{lock}").fetchone()
        if row is None:
            raise LedgerError("This is not a ledger of onesided; name another file or database.")
        version, self._entries, self._hash, self._time = row
        self._found: dict[tuple[int, str], Entry | None] = {}
        if version not in READABLE:
            raise LedgerError(_other_format(version))
        if list(map(type, row)) != [int, int, str, str]:
            raise LedgerDamaged("The head of the ledger was changed")
        self._version = int(version)

    @staticmethod
    def create(run: StatementRunner) -> None:
        """The head and the first entry of a new ledger."""
        run("INSERT INTO head VALUES (1, ?, 0, ?, ?)", (FORMAT, GENESIS, ""))
        LedgerRows(run).append(
            EntryKind.LEDGER, account=None, label="onesided", content={"format": FORMAT}
        )

    @property
    def run(self) -> StatementRunner:
        """Runs a statement in this transaction, on tables that stand beside the ledger's own."""
        return self._run

    @property
    def version(self) -> int:
        """The format of the last entry."""
        return self._version

    @property
    def head(self) -> Head:
        """The end of the chain according to the head."""
        return Head(entries=self._entries, hash=self._hash)

    def append(
        self,
        kind: EntryKind,
        *,
        account: int | None,
        label: str,
        content: dict[str, Any],
        snapshot: int | None = None,
        charge: int | None = None,
        names: Sequence[str] = (),
    ) -> Entry:
        """Write the next entry, found from now on under `names` as well.

        Without an `account` it is the first entry of a new one.
        """
        number, time = self._entries + 1, now_after(self._time)
        entry = Entry.write(
            number=number,
            previous=self._hash,
            time=time,
            kind=kind,
            account=number if account is None else account,
            label=label,
            content=content,
            snapshot=snapshot,
            charge=charge,
        )
        self._run(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, kind.value, entry.account, label, snapshot, charge, entry.text, entry.hash),
        )
        self._run(
            "UPDATE head SET version = ?, entries = ?, hash = ?, time = ? WHERE one = 1",
            (FORMAT, number, entry.hash, time),
        )
        self._version = FORMAT
        self._entries, self._hash, self._time = number, entry.hash, time
        self._name(entry, [*names_of(entry), *names])
        return entry

    def _name(self, entry: Entry, names: Sequence[str]) -> None:
        if not names:
            return
        values = [
            value
            for name in names
            for value in (entry.account, name, entry.number, _seal(name, entry.number))
        ]
        self._run(
            f"INSERT INTO latest VALUES {', '.join(['(?, ?, ?, ?)'] * len(names))} ON CONFLICT"
            " (account, name) DO UPDATE SET number = excluded.number, seal = excluded.seal",
            values,
        )
        self._found.update({(entry.account, name): entry for name in names})

    def look_up(self, account: int, names: Sequence[str]) -> list[Entry | None]:
        """The entries that these names lead to now; each is fetched once a transaction."""
        unknown = [name for name in names if (account, name) not in self._found]
        if unknown:
            self._found.update({(account, name): None for name in unknown})
            marks = ", ".join("?" * len(unknown))
            found = self._run(
                f"SELECT name, seal, {_QUALIFIED} FROM latest"
                " JOIN entries ON entries.number = latest.number"
                f" WHERE latest.account = ? AND name IN ({marks})",
                (account, *unknown),
            ).fetchall()
            for name, seal, *columns in found:
                entry = _entry(columns)
                if seal != _seal(name, entry.number) or entry.account != account:
                    raise LedgerDamaged(_INDEX_CHANGED)
                self._found[account, name] = entry
        return [self._found[account, name] for name in names]

    def latest(self, account: int, kind: EntryKind) -> Entry | None:
        """The last entry of an account that is a snapshot, or that moved its sums (a charge)."""
        (entry,) = self.look_up(account, [kind_name(kind)])
        if entry is None:
            raise LedgerDamaged("The index of the ledger is missing")
        return None if entry.kind == EntryKind.ACCOUNT else entry

    def budget(self, account: int) -> Fraction:
        """The budget at the opening of an account, or the last one it was raised to."""
        (entry,) = self.look_up(account, [kind_name(EntryKind.BUDGET)])
        if entry is None:
            raise LedgerDamaged("The index of the ledger is missing")
        return Fraction(entry.body()["content"]["budget"])

    def frozen_format(self, account: int) -> Entry | None:
        """The entry that froze the format of an account that was opened without one."""
        return self.look_up(account, [kind_name(EntryKind.FORMAT)])[0]

    def latest_of(self, account: int, kind: EntryKind, request: str, snapshot: int) -> Entry | None:
        """The last charge or release of one request on one snapshot."""
        return self.look_up(account, [request_name(kind, request, snapshot)])[0]

    def first_of(
        self, account: int, kind: EntryKind, request: str, snapshots: Sequence[int]
    ) -> Entry | None:
        """The last charge or release of one request on the first of these that has one."""
        names = [request_name(kind, request, each) for each in snapshots]
        for start in range(0, len(names), _AT_ONCE):
            found = self.look_up(account, names[start : start + _AT_ONCE])
            for entry in found:
                if entry is not None:
                    return entry
        return None

    def index(self) -> dict[tuple[int, str], int]:
        """Every name of every account, with the entry it leads to."""
        rows = self._run("SELECT account, name, number FROM latest").fetchall()
        if any(list(map(type, row)) != [int, str, int] for row in rows):
            raise LedgerDamaged(_INDEX_CHANGED)
        return {(account, name): number for account, name, number in rows}

    def account_named(self, dataset: str) -> Entry | None:
        """The entry that opened the account of `dataset`."""
        return self._one("kind = 'account' AND label = ?", dataset)

    def moves_after(self, account: int, number: int) -> list[Entry]:
        """The charges and settlements of an account behind an entry."""
        rows = self._run(
            f"SELECT {_COLUMNS} FROM entries WHERE number > ? AND account = ?"
            " AND kind IN ('charge', 'settlement') ORDER BY number",
            (number, account),
        )
        return [_entry(row) for row in rows.fetchall()]

    def releases_of(self, charges: Sequence[int]) -> dict[int, int]:
        """The entries of the releases that are stored for these charges, by charge."""
        found: dict[int, int] = {}
        for start in range(0, len(charges), _AT_ONCE):
            some = charges[start : start + _AT_ONCE]
            found.update(
                self._run(
                    "SELECT charge, number FROM entries WHERE kind = 'release'"
                    f" AND charge IN ({', '.join('?' * len(some))})",
                    some,
                ).fetchall()
            )
        return found

    def opened_accounts(self) -> list[Entry]:
        """The entries that opened accounts, oldest first."""
        rows = self._run(f"SELECT {_COLUMNS} FROM entries WHERE kind = 'account' ORDER BY number")
        return [_entry(row) for row in rows.fetchall()]

    def of_charge(self, kind: EntryKind, charge: int) -> list[Entry]:
        """The steps or the settlement of a charge, found without the index.

        They follow soon after their charge, so this looks at few entries.
        """
        rows = self._run(
            f"SELECT {_COLUMNS} FROM entries WHERE number > ? AND kind = ? AND charge = ?"
            " ORDER BY number",
            (charge, kind.value, charge),
        )
        return [_entry(row) for row in rows.fetchall()]

    def settlement_of(self, account: int, charge: int) -> Entry | None:
        """The settlement of a reservation.

        Were it overlooked, the same reservation would be settled twice and pay for another one as
        well; so what the index does not know is looked for behind the charge.
        """
        (found,) = self.look_up(account, [settlement_name(charge)])
        return found or next(iter(self.of_charge(EntryKind.SETTLEMENT, charge)), None)

    def release_of(self, charge: int) -> Entry | None:
        """The release that was stored for a charge."""
        return self._one("kind = 'release' AND charge = ?", charge)

    def entry(self, number: int) -> Entry | None:
        """One entry by its number."""
        return self._one("number = ?", number)

    def entries(self, account: int | None = None) -> Iterator[Entry]:
        """All entries in order, or those of one account."""
        condition, values = ("", ()) if account is None else ("WHERE account = ?", (account,))
        cursor = self._run(f"SELECT {_COLUMNS} FROM entries {condition} ORDER BY number", values)
        while rows := cursor.fetchmany(500):
            yield from (_entry(row) for row in rows)

    def _one(self, condition: str, value: object) -> Entry | None:
        row = self._run(f"SELECT {_COLUMNS} FROM entries WHERE {condition}", (value,)).fetchone()
        return _entry(row) if row else None

    def coin_key(self, account: int, snapshot: int) -> str | None:
        """The coin key of a snapshot, or under number 0 the account's own secret."""
        row = self._run(
            "SELECT secret FROM coin_keys WHERE account = ? AND snapshot = ?", (account, snapshot)
        ).fetchone()
        return str(row[0]) if row else None

    def add_coin_key(self, account: int, snapshot: int, secret: str) -> None:
        """Keep the coin key of a new snapshot, or under number 0 the account's own secret."""
        self._run("INSERT INTO coin_keys VALUES (?, ?, ?)", (account, snapshot, secret))

    def payload(self, number: int) -> bytes | None:
        """The bytes of a stored release or step."""
        row = self._run("SELECT content FROM payloads WHERE number = ?", (number,)).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def add_payload(self, number: int, content: bytes) -> None:
        """Keep the bytes of a release or step."""
        self._run("INSERT INTO payloads VALUES (?, ?)", (number, content))


_NAMES = ("number", "kind", "account", "label", "snapshot", "charge", "text", "hash")
_COLUMNS = ", ".join(_NAMES)
_QUALIFIED = ", ".join(f"entries.{name}" for name in _NAMES)


_TYPES: tuple[type | tuple[type, ...], ...] = (
    int,
    str,
    int,
    str,
    (int, NoneType),
    (int, NoneType),
    str,
    str,
)
_KINDS = frozenset(EntryKind)


def _entry(row: Sequence[Any]) -> Entry:
    number, kind, account, label, snapshot, charge, text, hash_ = row
    if not all(map(isinstance, row, _TYPES)) or kind not in _KINDS:
        raise changed(number)
    return Entry(number, EntryKind(kind), account, label, snapshot, charge, text, hash_)


def _other_format(version: object) -> str:
    if isinstance(version, int) and version > FORMAT:
        return (
            f"This ledger was written by a newer onesided (format {version}, this one reads up to "
            f"{FORMAT}); update onesided."
        )
    return "This ledger has an unknown format; restore it from a backup or update onesided."
