"""The whole ledger as JSON for an auditor: what was promised, to whom it was charged, and when."""

from __future__ import annotations

from typing import Any

from onesided.ledger.chain import Kind
from onesided.ledger.rows import FORMAT, Rows


def exported(rows: Rows) -> dict[str, Any]:
    """Every entry with its hash, so that the chain can be checked without this program.

    An entry's hash is the SHA-256 of its `text`, which names the hash before it. Coin keys and
    released data are not part of the chain, only their hashes are.
    """
    entries = [(entry, entry.body()) for entry in rows.entries()]
    return {
        "format": FORMAT,
        "head": {"entries": rows.head.entries, "hash": rows.head.hash},
        "accounts": [
            {"account": entry.number, "opened": body["time"], **body["content"]}
            for entry, body in entries
            if entry.kind == Kind.ACCOUNT
        ],
        "receipts": [
            {"entry": entry.number, "charge": body["charge"], **body["content"]}
            for entry, body in entries
            if entry.kind == Kind.RELEASE
        ],
        "entries": [{"hash": entry.hash, "text": entry.text, **body} for entry, body in entries],
    }
