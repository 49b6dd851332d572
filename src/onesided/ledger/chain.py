"""Entries, their one way of being written, and the hash that chains each to the one before.

The text of an entry is canonical JSON that names its number and the hash of the entry before it;
its hash is the SHA-256 of that text. A changed, removed or reordered entry no longer fits.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from onesided.errors import RequestError
from onesided.ledger.base import LedgerDamaged

FORMAT = 2
"""The version of a ledger's tables and entries. Format 1 is read, and continued as format 2."""

GENESIS = "0" * 64
"""The hash before the first entry."""


class EntryKind(StrEnum):
    """What an entry records."""

    LEDGER = "ledger"
    ACCOUNT = "account"
    FORMAT = "format"
    SNAPSHOT = "snapshot"
    CHARGE = "charge"
    STEP = "step"
    SETTLEMENT = "settlement"
    RELEASE = "release"
    FAILURE = "failure"
    BUDGET = "budget"
    LOOK = "look"


def canonical(value: object) -> str:
    """The one JSON text of `value`: sorted keys, no blanks, ASCII, no NaN."""
    try:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        )
    except (TypeError, ValueError, RecursionError):
        raise RequestError(
            "A ledger entry takes plain JSON only: texts, finite numbers, true, false, null, lists "
            "and objects; write anything else as text."
        ) from None


def digest(text: str) -> str:
    """SHA-256 of `text` in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def now_after(previous: str) -> str:
    """The time of a new entry in UTC; a clock that was moved back repeats the time before it."""
    return max(previous, datetime.now(UTC).isoformat(timespec="microseconds"))


@dataclass(frozen=True)
class Entry:
    """An entry of the chain. `label` is what it is looked up by: a data set, request or snapshot.

    `account` is the number of the account's first entry, `snapshot` counts within the account, and
    `charge` is the entry of the charge that a step, settlement, release or failure belongs to.
    """

    number: int
    kind: EntryKind
    account: int
    label: str
    snapshot: int | None
    charge: int | None
    text: str
    hash: str

    @classmethod
    def write(
        cls,
        *,
        number: int,
        previous: str,
        time: str,
        kind: EntryKind,
        account: int,
        label: str,
        content: dict[str, Any],
        snapshot: int | None = None,
        charge: int | None = None,
    ) -> Entry:
        """A new entry at the end of the chain."""
        body = {
            "format": FORMAT,
            "number": number,
            "previous": previous,
            "time": time,
            "kind": kind.value,
            "account": account,
            "label": label,
            "snapshot": snapshot,
            "charge": charge,
            "content": content,
        }
        text = canonical(body)
        return cls(number, kind, account, label, snapshot, charge, text, digest(text))

    def body(self) -> dict[str, Any]:
        """The entry's JSON, after checking that text, hash and columns agree."""
        return self._body

    @cached_property
    def _body(self) -> dict[str, Any]:
        if digest(self.text) != self.hash:
            raise changed(self.number)
        body: dict[str, Any] = json.loads(self.text)
        columns = self.number, self.kind, self.account, self.label, self.snapshot, self.charge
        names = "number", "kind", "account", "label", "snapshot", "charge"
        if columns != tuple(body[name] for name in names):
            raise changed(self.number)
        return body


def format_of(body: dict[str, Any]) -> int:
    """The format that an entry was written in; those of format 1 do not say so."""
    return int(body.get("format", 1))


def changed(number: int) -> LedgerDamaged:
    """The finding that an entry is not what was written."""
    return LedgerDamaged(f"Entry {number} of the ledger was changed after it was written")
