"""The ledger on any store: its accounts, its verification, its export."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from onesided.errors import LedgerError, RequestError
from onesided.ledger.account import StoredAccount
from onesided.ledger.base import LONGEST_WHO, Head, LedgerDamaged, StewardLook, Terms, Verification
from onesided.ledger.chain import EntryKind, canonical
from onesided.ledger.charging import check_label, check_text
from onesided.ledger.export import exported
from onesided.ledger.protocols import Account
from onesided.ledger.records import format_to_json, terms_to_json
from onesided.ledger.store import Store
from onesided.ledger.terms import agreed, continued, freeze
from onesided.ledger.verification import verified


class StoredLedger:
    """A ledger in `store`; meets the protocol `Ledger`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"Ledger({self._store!r})"

    def account(self, terms: Terms) -> Account:
        """Open the account of `terms.dataset`, or continue it; LedgerError under other terms."""
        check_label(terms.dataset, "name of the data set")
        if terms.unit and not set(terms.partition_columns) <= set(terms.unit):
            raise RequestError(
                "A partition column must be part of the unit key, so that a unit lies in one part."
            )
        canonical(format_to_json(terms))  # refused before anything is written
        with self._store.reading() as rows:
            opened = rows.account_named(terms.dataset)
            known = None if opened is None else continued(rows, opened, terms)
            if opened is not None and known is not None:
                return StoredAccount(self._store, opened.number, known)
        if opened is None and (terms.budget is None or terms.budget <= 0):
            raise LedgerError(
                f"The ledger has no account for {terms.dataset!r} yet; give it a budget above 0."
            )
        with self._store.writing() as rows:
            opened = rows.account_named(terms.dataset) or rows.append(
                EntryKind.ACCOUNT, account=None, label=terms.dataset, content=terms_to_json(terms)
            )
            if continued(rows, opened, terms) is None:
                freeze(rows, opened, terms)
            return StoredAccount(self._store, opened.number, agreed(rows, opened))

    def accounts(self) -> tuple[Account, ...]:
        """The accounts there are, oldest first."""
        with self._store.reading() as rows:
            return tuple(
                StoredAccount(self._store, entry.number, agreed(rows, entry))
                for entry in rows.opened_accounts()
            )

    def note(self, look: StewardLook) -> None:
        """Keep that somebody looked at the data; it belongs to no account, and opens none."""
        check_label(look.dataset, "name of the data set")
        check_text(look.who, "id of who asks", LONGEST_WHO)
        content = {**asdict(look), "unit": list(look.unit)}
        del content["dataset"]
        with self._store.writing() as rows:
            rows.append(EntryKind.LOOK, account=None, label=look.dataset, content=content)

    def verify(self, anchor: Head | None = None) -> Verification:
        """Check the chain, all sums and all releases, and that `anchor` is still part of it."""
        try:
            with self._store.reading() as rows:
                found = verified(rows, anchor)
            if found.ok and (damage := self._store.damage()) is not None:
                return Verification(head=found.head, problem=damage)
        except LedgerDamaged as error:
            return Verification(head=Head(entries=0, hash=""), problem=str(error))
        return found

    def export(self) -> dict[str, Any]:
        """All accounts, entries and receipts for an auditor; no coin key, no released data."""
        with self._store.reading() as rows:
            return exported(rows)

    def head(self) -> Head:
        """The end of the chain."""
        with self._store.reading() as rows:
            return rows.head

    def close(self) -> None:
        """Let go of the file or connection."""
        self._store.close()
