"""The states of an account's data: how they are named in the chain, and their coin keys."""

from __future__ import annotations

import hmac
from dataclasses import replace

from onesided.ledger.base import CoinKey, LedgerDamaged, Snapshot
from onesided.ledger.chain import Entry, EntryKind, format_of
from onesided.ledger.records import coin_key_digest, fingerprint_key_digest, keyed_fingerprint
from onesided.ledger.rows import LedgerRows
from onesided.randomness import fresh_coin_key

FINGERPRINT_KEY = 0
"""The number under which an account's secret for fingerprints stands among its coin keys."""


def current_snapshot(rows: LedgerRows, account: int, fingerprint: str) -> Snapshot | None:
    """The account's last snapshot if it is of this state of the data."""
    latest = rows.latest(account, EntryKind.SNAPSHOT)
    if latest is None:
        return None
    body = latest.body()
    name = fingerprint
    if format_of(body) > 1:  # before, the fingerprint itself was the name
        key = rows.coin_key(account, FINGERPRINT_KEY)
        if key is None or fingerprint_key_digest(key) != body["content"]["fingerprint_key_sha256"]:
            raise LedgerDamaged("The key of the fingerprints is missing or was changed")
        name = keyed_fingerprint(fingerprint, key)
    return _snapshot(rows, latest) if hmac.compare_digest(latest.label, name) else None


def new_snapshot(rows: LedgerRows, account: int, fingerprint: str) -> Snapshot:
    """The next snapshot, with a coin key of its own."""
    latest = rows.latest(account, EntryKind.SNAPSHOT)
    number = 1 if latest is None else latest.body()["snapshot"] + 1
    coin_key = CoinKey(fresh_coin_key())
    secret = _fingerprint_key(rows, account)
    entry = rows.append(
        EntryKind.SNAPSHOT,
        account=account,
        label=keyed_fingerprint(fingerprint, secret),
        snapshot=number,
        content={
            "coin_key_sha256": coin_key_digest(coin_key),
            "fingerprint_key_sha256": fingerprint_key_digest(secret),
        },
    )
    rows.add_coin_key(account, number, coin_key.reveal())
    return replace(_snapshot(rows, entry), fresh=True)


def _fingerprint_key(rows: LedgerRows, account: int) -> str:
    """The account's secret; it is drawn with the first snapshot that needs it."""
    known = rows.coin_key(account, FINGERPRINT_KEY)
    if known is None:
        known = fresh_coin_key()
        rows.add_coin_key(account, FINGERPRINT_KEY, known)
    return known


def _snapshot(rows: LedgerRows, entry: Entry) -> Snapshot:
    body = entry.body()
    secret = rows.coin_key(entry.account, body["snapshot"])
    if secret is None or coin_key_digest(CoinKey(secret)) != body["content"]["coin_key_sha256"]:
        raise LedgerDamaged("The coin key of the current snapshot is missing or was changed")
    return Snapshot(
        number=body["snapshot"],
        fingerprint=entry.label,
        time=body["time"],
        coin_key=CoinKey(secret),
    )
