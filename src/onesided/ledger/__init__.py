"""The durable account: nobody can overspend it, and a release is paid for once."""

from __future__ import annotations

from onesided.ledger.base import (
    Account,
    Balance,
    BudgetRaise,
    Charge,
    ChargeRecord,
    ChargeState,
    CoinKey,
    Head,
    Json,
    Ledger,
    LedgerDamaged,
    Part,
    Quote,
    Snapshot,
    Spending,
    StoredRelease,
    Terms,
    Verification,
)
from onesided.ledger.opening import check_ledger, open_ledger

__all__ = [
    "Account",
    "Balance",
    "BudgetRaise",
    "Charge",
    "ChargeRecord",
    "ChargeState",
    "CoinKey",
    "Head",
    "Json",
    "Ledger",
    "LedgerDamaged",
    "Part",
    "Quote",
    "Snapshot",
    "Spending",
    "StoredRelease",
    "Terms",
    "Verification",
    "check_ledger",
    "open_ledger",
]
