"""What is published: the rows as they were released, and the public part of their receipt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.data.display import ROWS, release_cells, true_cells
from onesided.data.reading import read_receipt, rows_of
from onesided.data.release import Receipt, Release, ReleaseKind, TableRelease, payload_of
from onesided.data.units import Unit
from onesided.errors import CheckFailed, InputError, RequestError
from onesided.html import Cell
from onesided.ledger import Account, Ledger, StoredRelease, open_ledger
from onesided.session.released import as_stored

#: Of a receipt only these leave: no path, no address, and nobody who asked.
PUBLISHED = (
    *("format", "product", "kind", "dataset", "unit", "units", "policy", "request", "time_zones"),
    *("mechanism", "figure", "loss", "epsilon", "guarantee", "lookups", "noise", "randomness"),
    *("columns", "error", "time", "snapshot", "purpose"),
)
_OF_ACCOUNT = ("cost", "spent", "spent_as_plain_sum", "budget", "left")
#: Where an engine has written a sample itself.
_PLACES = ("into", "place")
_ENTRY = re.compile(r"(.+)#(\d+)", re.DOTALL)
_NAME = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class ChainPlace:
    """Where a release stands in the chain of its ledger: its entry, and the hash of its bytes."""

    entry: int
    entry_hash: str
    payload_sha256: str


@dataclass(frozen=True)
class PublishedRelease:
    """A release on its way to a page.

    - `name`: of its files.
    - `table`: its rows.
    - `receipt`: the public part of its receipt.
    - `cells`: headings and first rows as people read them.
    - `payload`: the bytes that the ledger stores, where they were found there.
    - `place`: its place in the chain, where it was found there.
    - `chart`: as SVG for a page, where it has one and the extra `charts` is installed.
    """

    name: str
    table: pa.Table
    receipt: Receipt
    cells: tuple[list[str], list[list[Cell]]]
    payload: bytes | None = None
    place: ChainPlace | None = None
    chart: str | None = None


def public_receipt(content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a receipt that are published."""
    shown = {name: content[name] for name in PUBLISHED if name in content}
    request = content.get("request", {})
    shown["request"] = {name: request[name] for name in request if name not in _PLACES}
    account = content.get("account", {})
    shown["account"] = {name: account[name] for name in _OF_ACCOUNT if name in account}
    return shown


def found(release: str, ledger: str | None) -> PublishedRelease:
    """The release that `FILE` or `LEDGER#NUMBER` names; a file is held against `ledger`, if any."""
    entry = _ENTRY.fullmatch(release)
    if entry is not None and not Path(release).exists():
        return _with_book(entry[1], lambda book: _of_ledger(book, int(entry[2])))
    path = Path(release)
    receipt, table = _read(path)
    if ledger is None:
        public = Receipt(public_receipt(receipt.content))
        return PublishedRelease(_file_name(path.stem), table, public, _cells(table, receipt))
    return _with_book(ledger, lambda book: _compared(book, path, receipt, table))


def _with_book(where: str, use: Any) -> PublishedRelease:
    book = open_ledger(where, create=False)
    try:
        answer: PublishedRelease = use(book)
    finally:
        book.close()
    return answer


def _of_ledger(book: Ledger, number: int) -> PublishedRelease:
    for account in book.accounts():
        stored = account.release_of(number)
        if stored is not None:
            return _published(account, stored, None)
    raise RequestError(
        f"The ledger has no release {number}; `onesided budget LEDGER --json` lists its charges."
    )


def _compared(book: Ledger, path: Path, receipt: Receipt, table: pa.Table) -> PublishedRelease:
    """The release of a file, which must be the one that the ledger has stored."""
    for account in book.accounts():
        for number in receipt.content.get("account", {}).get("charges", []):
            stored = account.release_of(int(number))
            if stored is None or dict(stored.receipt) != dict(receipt.content):
                continue
            kept = as_stored(stored, Unit(account.terms.unit)).table
            if not kept.replace_schema_metadata().equals(_as(table, kept.schema)):
                raise CheckFailed(f"{path.name} holds other rows than the ledger has stored.")
            return _published(account, stored, path.stem)
    raise CheckFailed(f"The receipt of {path.name} does not stand in this ledger.")


def _published(account: Account, stored: StoredRelease, name: str | None) -> PublishedRelease:
    release = as_stored(stored, Unit(account.terms.unit))
    content = stored.receipt
    named = name or f"{content['dataset']}-{content['kind']}-{stored.charge}"
    return PublishedRelease(
        name=_file_name(named),
        table=release.table,
        receipt=Receipt(public_receipt(content)),
        cells=release_cells(release),
        payload=stored.payload,
        place=ChainPlace(stored.number, stored.entry_hash, sha256(stored.payload).hexdigest()),
        chart=_chart(release),
    )


def _chart(release: Release) -> str | None:
    try:
        from onesided.charts.style import Theme

        return release.plot().svg(Theme.PAGE)
    except InputError:  # no such chart, or no charts at all
        return None


def _read(path: Path) -> tuple[Receipt, pa.Table]:
    receipt = read_receipt(path)
    try:
        schema, batches = rows_of(path, receipt)
        return receipt, pa.Table.from_batches(batches, schema)
    except (KeyError, TypeError, ValueError):
        raise RequestError(f"{path.name} cannot be read as its receipt says.") from None


def _cells(table: pa.Table, receipt: Receipt) -> tuple[list[str], list[list[Cell]]]:
    """The first rows of a file, as they would be shown of a release."""
    if receipt["kind"] == ReleaseKind.SAMPLE.value:
        return true_cells(table.slice(0, ROWS))
    return release_cells(TableRelease(receipt, payload_of(table)))


def _as(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with the types of another; as it is where it cannot have them."""
    try:
        return table.cast(schema.remove_metadata())
    except (pa.ArrowException, ValueError):
        return table


def _file_name(text: str) -> str:
    """A name for files that no system and no page misreads."""
    return _NAME.sub("-", text).strip("-").lower()[:80] or "release"
