"""Where an account stands, read from all of its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from onesided.ledger.base import Balance, ChargeRecord, ChargeState, LedgerDamaged, Moment, Terms
from onesided.ledger.chain import Entry, EntryKind
from onesided.ledger.records import (
    charge_from_entry,
    raise_from_entry,
    reserves,
    standing_from_json,
)
from onesided.ledger.totals import Standing

_ENDS = {
    EntryKind.SETTLEMENT: ChargeState.SETTLED,
    EntryKind.RELEASE: ChargeState.STORED,
    EntryKind.FAILURE: ChargeState.FAILED,
}


def balance_of(entries: Sequence[Entry], terms: Terms, budget: Fraction) -> Balance:
    """The balance after `entries`, which are all of one account."""
    history = _history(entries)
    last = next((entry for entry in reversed(entries) if _moves(entry)), None)
    standing = Standing() if last is None else standing_from_json(last.body()["content"])
    return Balance(
        terms=terms,
        budget=budget,
        total=standing.pair,
        plain_sum=standing.plain_sum,
        charges=tuple(_records(entries)),
        raises=tuple(
            raise_from_entry(entry) for entry in entries if entry.kind == EntryKind.BUDGET
        ),
        history=tuple(history),
    )


def _moves(entry: Entry) -> bool:
    return entry.kind in (EntryKind.CHARGE, EntryKind.SETTLEMENT)


def _history(entries: Sequence[Entry]) -> list[Moment]:
    moments, standing = [], Standing()
    for entry in entries:
        if not _moves(entry) and entry.kind != EntryKind.BUDGET:
            continue
        body = entry.body()
        if _moves(entry):
            standing = standing_from_json(body["content"])
        budget = Fraction(body["content"]["budget"])
        moments.append(Moment(body["time"], standing.spent, standing.plain_sum, budget))
    return moments


def _records(entries: Sequence[Entry]) -> list[ChargeRecord]:
    settlements = {entry.charge: entry for entry in entries if entry.kind == EntryKind.SETTLEMENT}
    records: dict[int, ChargeRecord] = {}
    for entry in entries:
        if entry.kind == EntryKind.CHARGE:
            charge = charge_from_entry(entry, settlements.get(entry.number))
            state = ChargeState.RESERVED if reserves(entry) else ChargeState.OPEN
            records[entry.number] = ChargeRecord(charge=charge, state=state)
        elif entry.kind in _ENDS:
            known = records.get(entry.charge or 0)
            if known is None:
                raise LedgerDamaged(f"The charge of entry {entry.number} is missing")
            records[known.charge.number] = replace(known, state=_ENDS[entry.kind])
    return list(records.values())
