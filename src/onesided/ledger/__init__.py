"""The durable account: nobody can overspend it, and a release is paid for once."""

from __future__ import annotations

from onesided.ledger.base import (
    Balance,
    BudgetRaise,
    Charge,
    ChargeRecord,
    ChargeState,
    CoinKey,
    Head,
    Json,
    LedgerDamaged,
    LedgerMissing,
    Moment,
    Order,
    Part,
    Quote,
    Snapshot,
    Spending,
    StewardLook,
    StoredRelease,
    Terms,
    Verification,
)
from onesided.ledger.opening import agreed_terms, check_ledger, open_ledger
from onesided.ledger.protocols import Account, Ledger, RunBooks

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
    "LedgerMissing",
    "Moment",
    "Order",
    "Part",
    "Quote",
    "RunBooks",
    "Snapshot",
    "Spending",
    "StewardLook",
    "StoredRelease",
    "Terms",
    "Verification",
    "agreed_terms",
    "check_ledger",
    "open_ledger",
]
