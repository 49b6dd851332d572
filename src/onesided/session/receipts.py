"""The receipt of a release: what was promised, at what cost, with which noise and error."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from onesided.data.units import Unit
from onesided.ledger import Charge, Snapshot
from onesided.loss import Loss, show
from onesided.session.requests import Request
from onesided.version import __version__

COINS = "keyed coins (SHA-256); the promise is computational"
_LIBRARIES = ("duckdb", "numpy", "pyarrow", "sqlglot")


@dataclass(frozen=True)
class Circumstances:
    """What all receipts of a data set have in common."""

    dataset: str
    unit: Unit
    durable: bool
    snapshot: Snapshot


@dataclass(frozen=True)
class Outcome:
    """What a receipt says about one run: the mechanism, its noise and its error."""

    mechanism: str
    loss: Loss
    noise: str
    randomness: str
    error: Mapping[str, Any]


def receipt(
    request: Request, policy_sql: str, outcome: Outcome, charges: list[Charge], where: Circumstances
) -> dict[str, Any]:
    """The receipt as plain JSON; numbers that must stay exact are texts."""
    loss = outcome.loss
    last = charges[-1]
    return {
        "product": f"onesided {__version__}",
        "kind": request.kind.value,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "dataset": where.dataset,
        "snapshot": where.snapshot.number,
        "unit": str(where.unit),
        "policy": {"sql": policy_sql, "id": request.policy_id},
        "request": {"by": [], **request.to_json()},
        "mechanism": outcome.mechanism,
        **loss_statement(loss),
        "guarantee": guarantee(loss, policy_sql, where.unit),
        "noise": outcome.noise,
        "randomness": outcome.randomness,
        "error": dict(outcome.error),
        "account": {
            "ledger": "durable" if where.durable else "in memory only; forgotten at the end",
            "coin_key": _coin_key(where),
            "charges": [charge.number for charge in charges],
            "cost": show(sum((charge.cost for charge in charges), start=last.cost * 0)),
            "spent": show(last.total.epsilon),
            "spent_as_plain_sum": show(last.plain_sum),
            "budget": show(last.budget),
            "left": show(last.left),
        },
        "versions": {
            "python": platform.python_version(),
            **{library: version(library) for library in _LIBRARIES},
        },
    }


def loss_statement(loss: Loss) -> dict[str, Any]:
    """The pair, and both ε that follow from it."""
    extended = loss.extended_epsilon
    return {
        "loss": {
            "sensitive": str(loss.sensitive),
            "nonsensitive": str(loss.nonsensitive),
            "fixed_n": loss.fixed_n,
        },
        "epsilon": {
            "osdp": show(loss.epsilon),
            "extended_osdp": None if extended is None else show(extended),
        },
    }


def guarantee(loss: Loss, policy_sql: str, unit: Unit) -> str:
    """The promise in one sentence, with its limits."""
    records = "one row" if unit.is_row else f"all rows of one ({unit})"
    return (
        f"(P, {show(loss.epsilon)})-OSDP for P: sensitive where ({policy_sql}) is true or NULL: "
        f"replacing {records} that is sensitive by any other changes the probability of any "
        f"release by a factor of at most e^{show(loss.epsilon)}; records are taken to be "
        "independent of each other, and running times are not covered."
    )


def _coin_key(where: Circumstances) -> str:
    if not where.durable:
        return "fresh for this session"
    if where.snapshot.number > 1:
        return f"drawn for snapshot {where.snapshot.number}; earlier samples used other coins"
    return "kept in the ledger"
