"""What each person has spent of an account: the composition of the charges in their name.

It is computed by the same arithmetic as the account itself (see totals.py), from the charges and
settlements of the chain. The tables keep the sums up to some entry; what came later is added when
it is needed. So charges that no desk knew of, such as those of the command line, count as well.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction

from onesided.errors import CapError
from onesided.ledger.base import LedgerDamaged, Spending
from onesided.ledger.chain import Entry, EntryKind, canonical
from onesided.ledger.desk.base import Allowance
from onesided.ledger.records import (
    reserves,
    spending_from_json,
    standing_from_json,
    standing_to_json,
)
from onesided.ledger.rows import LedgerRows
from onesided.ledger.totals import Standing, addresses
from onesided.loss import Loss, show

MOST_BEHIND = 100
"""Charges and settlements that are added up again whenever somebody looks."""


@dataclass
class PersonalShares:
    """The shares of the account whose first entry is `account`, within one transaction."""

    rows: LedgerRows
    account: int
    _standings: dict[str, Standing] = field(default_factory=dict)
    _known: bool = False
    _folded: int = 0
    _added: int = 0

    def __post_init__(self) -> None:
        row = self.rows.run(
            "SELECT entry, hash FROM desk_folded WHERE account = ?", (self.account,)
        ).fetchone()
        last = None if row is None else self.rows.entry(row[0])
        # Another chain than the one that was added up is added up from its start.
        self._known = last is not None and last.hash == row[1]
        self._folded = row[0] if self._known else 0

    def spent(self, who: str) -> Fraction:
        """The ε of the composition of all charges in this name, with what is reserved."""
        self._fold()
        return self._standing(who).spent

    @property
    def is_behind(self) -> bool:
        """Whether so much was added since the sums were kept that they should be kept anew."""
        return self._added > MOST_BEHIND

    def check(self, allowance: Allowance, before: Fraction) -> None:
        """Refuse a growth beyond the allowance; what cost nothing is never refused."""
        spent, most = self.spent(allowance.who), allowance.most_in_all
        if spent > max(most, before):
            left = max(most - before, Fraction(0))
            raise CapError(
                f"This release would cost ε = {show(spent - before)} of your share, but "
                f"{show(left)} of {show(most)} is left to you; nothing was spent; ask for a "
                f"smaller epsilon or ask a steward for a larger share."
            )

    def save(self) -> None:
        """Keep the sums, up to the end of the chain."""
        self._fold()
        run, account = self.rows.run, self.account
        if not self._known:
            for table in ("desk_shares", "desk_sums"):
                run(f"DELETE FROM {table} WHERE account = ?", (account,))
        for who, standing in self._standings.items():
            run(
                "INSERT INTO desk_shares VALUES (?, ?, ?) ON CONFLICT (account, who)"
                " DO UPDATE SET standing = excluded.standing",
                (account, who, canonical(standing_to_json(standing))),
            )
            for name, loss in standing.sums.items():
                run(
                    "INSERT INTO desk_sums VALUES (?, ?, ?, ?) ON CONFLICT (account, who, name)"
                    " DO UPDATE SET loss = excluded.loss",
                    (account, who, name, canonical(loss.to_json())),
                )
        head = self.rows.head
        run(
            "INSERT INTO desk_folded VALUES (?, ?, ?) ON CONFLICT (account)"
            " DO UPDATE SET entry = excluded.entry, hash = excluded.hash",
            (account, head.entries, head.hash),
        )
        self._known = True

    def _fold(self) -> None:
        """Add what was charged and settled since."""
        for entry in self.rows.moves_after(self.account, self._folded):
            self._add(entry)
            self._added += 1
        self._folded = self.rows.head.entries

    def _add(self, entry: Entry) -> None:
        paid = entry
        if entry.kind == EntryKind.SETTLEMENT:
            found = self.rows.entry(entry.charge or 0)
            if found is None:
                raise LedgerDamaged(f"The charge of entry {entry.number} is missing")
            paid = found
        content = paid.body()["content"]
        spending, snapshot = spending_from_json(content["spending"]), paid.snapshot
        assert snapshot is not None
        standing = self._touched(content.get("who", ""), spending, snapshot)
        if entry.kind == EntryKind.SETTLEMENT:
            chosen = Loss.from_json(entry.body()["content"]["loss"])
            standing.settle(spending, chosen, snapshot)
        elif reserves(entry):
            standing.hold(spending)
        else:
            standing.add(spending, snapshot)

    def _touched(self, who: str, spending: Spending, snapshot: int) -> Standing:
        """The share of a person, with the sums that `spending` touches."""
        standing = self._standing(who)
        for name in addresses(spending, snapshot).values():
            if self._known and name not in standing.sums:
                row = self.rows.run(
                    "SELECT loss FROM desk_sums WHERE account = ? AND who = ? AND name = ?",
                    (self.account, who, name),
                ).fetchone()
                if row is not None:
                    standing.sums[name] = Loss.from_json(json.loads(row[0]))
        return standing

    def _standing(self, who: str) -> Standing:
        if who not in self._standings:
            row = None
            if self._known:
                row = self.rows.run(
                    "SELECT standing FROM desk_shares WHERE account = ? AND who = ?",
                    (self.account, who),
                ).fetchone()
            self._standings[who] = (
                Standing() if row is None else standing_from_json(json.loads(row[0]))
            )
        return self._standings[who]
