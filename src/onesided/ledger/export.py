"""The whole ledger as JSON for an auditor: what was promised, to whom it was charged, and when."""

from __future__ import annotations

from typing import Any

from onesided.ledger.chain import Entry, EntryKind, format_of
from onesided.ledger.rows import LedgerRows

EXPORT_FORMAT = 2
"""The version of what `exported` returns; docs/schemas/export.json describes it."""

WITHHELD = "this entry of format 1 holds a plain hash of the data, which could confirm a guess"


def exported(rows: LedgerRows) -> dict[str, Any]:
    """Every entry with its hash, so that the chain can be checked without this program.

    An entry's hash is the SHA-256 of its `text`, which names the hash before it. Keys and released
    data are not part of the chain, only their hashes are. What the data are is named under a secret
    key. Where format 1 named it by a plain hash, text and content are withheld. Such an entry is
    shown by its own hash, which confirms no guess: its text also holds the hash of a coin key,
    which is random and shown nowhere.
    """
    entries = [(entry, entry.body()) for entry in rows.entries()]
    frozen = {
        entry.account: body["content"] for entry, body in entries if entry.kind == EntryKind.FORMAT
    }
    return {
        "format": EXPORT_FORMAT,
        "ledger_format": rows.version,
        "head": {"entries": rows.head.entries, "hash": rows.head.hash},
        "accounts": [
            {
                "account": entry.number,
                "opened": body["time"],
                "format": None,
                "extra": {},
                **body["content"],
                **frozen.get(entry.number, {}),
            }
            for entry, body in entries
            if entry.kind == EntryKind.ACCOUNT
        ],
        "receipts": [
            {"entry": entry.number, "charge": body["charge"], **body["content"]}
            for entry, body in entries
            if entry.kind == EntryKind.RELEASE
        ],
        "entries": [_shown(entry, body) for entry, body in entries],
    }


def _shown(entry: Entry, body: dict[str, Any]) -> dict[str, Any]:
    if entry.kind == EntryKind.SNAPSHOT and format_of(body) == 1:
        kept = {name: body[name] for name in body if name not in ("label", "content")}
        return {"hash": entry.hash, "withheld": WITHHELD, **kept}
    return {"hash": entry.hash, "text": entry.text, **body}
