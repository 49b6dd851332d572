"""The receipt of a release: what was promised, at what cost, with which noise and error.

All of it but the price is the question's terms, which are written with the charge: before the first
statement that reads the data. A receipt follows from its charge alone.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from onesided.data.receipt import Receipt
from onesided.data.units import Unit
from onesided.ledger import Charge
from onesided.loss import Loss, show
from onesided.session.facts import DatasetFacts
from onesided.session.lookups import lookup_promise, lookup_statement
from onesided.session.maps import TERM as MAP
from onesided.session.maps import map_promise, map_terms
from onesided.session.questions.base import Question, ReleaseTerms
from onesided.session.scope import policy_text
from onesided.session.zones import zone_terms
from onesided.version import __version__

FORMAT = 2
"""The version of receipts; docs/formats.md says what is in them."""
_LIBRARIES = ("duckdb", "numpy", "pyarrow", "sqlglot")


@cache
def _version(library: str) -> str:
    """Read from the library's files, but once: a process keeps the libraries it has loaded."""
    return version(library)


def terms_json(question: Question, terms: ReleaseTerms) -> dict[str, Any]:
    """The terms of a release as plain JSON; numbers that must stay exact are texts."""
    facts, policy = question.facts, policy_text(question.scope.policy)
    request = question.request
    return {
        "format": FORMAT,
        "product": f"onesided {__version__}",
        "kind": request.kind.value,
        "dataset": facts.name,
        "unit": str(facts.unit),
        **({"units": facts.units} if facts.chosen_share == 1 else {}),
        "policy": {"sql": policy, "id": request.policy_id},
        "request": {"by": [], **request.to_json()},
        **zone_terms(facts.schema),
        "mechanism": terms.mechanism,
        "figure": terms.figure,
        **loss_statement(terms.loss),
        **map_terms(facts.map),
        "guarantee": guarantee(terms.loss, policy, facts.unit, facts.promised, facts.extra),
        **lookup_statement(facts.lookups, terms.loss),
        "noise": terms.noise,
        "randomness": terms.randomness,
        "columns": column_statement(terms.columns),
        "error": dict(terms.error),
        "durable": facts.durable,
        "versions": {
            "python": platform.python_version(),
            **{library: _version(library) for library in _LIBRARIES},
        },
    }


def receipt(terms: Mapping[str, Any], charge: Charge) -> dict[str, Any]:
    """The receipt of a release that `charge` paid for under these terms."""
    content = {name: value for name, value in terms.items() if name != "durable"}
    durable = bool(terms["durable"])
    return {
        **content,
        "time": charge.time,
        "snapshot": charge.snapshot,
        "purpose": charge.purpose,
        "asked_by": charge.who,
        "account": {
            "ledger": "durable" if durable else "in memory only; forgotten at the end",
            "coin_key": _coin_key(charge.snapshot, durable=durable),
            "charges": [charge.number],
            "cost": show(charge.cost),
            "spent": show(charge.total.epsilon),
            "spent_as_plain_sum": show(charge.plain_sum),
            "budget": show(charge.budget),
            "left": show(charge.left),
        },
    }


def together(receipts: Sequence[Receipt], facts: DatasetFacts, policy_sql: str) -> dict[str, Any]:
    """What one receipt says of several releases: the sums of what theirs say."""
    loss = Loss.sequential(receipt.loss for receipt in receipts)
    accounts = [receipt["account"] for receipt in receipts]
    costs = [Fraction(account["cost"]) for account in accounts]
    return {
        "mechanism": ", ".join(dict.fromkeys(str(each["mechanism"]) for each in receipts)),
        **loss_statement(loss),
        **lookup_statement(facts.lookups, loss),
        **map_terms(facts.map),
        "guarantee": guarantee(loss, policy_sql, facts.unit, facts.promised, facts.extra),
        "noise": "; ".join(dict.fromkeys(str(each["noise"]) for each in receipts)),
        "account": {
            **(accounts[-1] if accounts else {}),
            "charges": [number for account in accounts for number in account["charges"]],
            "cost": show(sum(costs, start=Fraction(0))),
        },
    }


def column_statement(schema: pa.Schema) -> list[dict[str, str]]:
    """The columns of an answer with their types."""
    return [{"name": each.name, "type": str(each.type)} for each in schema]


def loss_statement(loss: Loss) -> dict[str, Any]:
    """The pair, and both ε that follow from it."""
    extended = loss.extended_epsilon
    return {
        "loss": loss.to_json(),
        "epsilon": {
            "osdp": show(loss.epsilon),
            "extended_osdp": None if extended is None else show(extended),
        },
    }


def guarantee(
    loss: Loss,
    policy_sql: str,
    unit: Unit,
    lookups: Mapping[str, int | None] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> str:
    """The promise in one sentence, with its limits; and one for each lookup table.

    - `lookups`: how many units a row of each of them decides over; None for one.
    - `extra`: the further terms of the account, a map among them.
    """
    records = "one row" if unit.is_row else f"all rows of one ({unit})"
    return (
        f"(P, {show(loss.epsilon)})-OSDP for P: sensitive where ({policy_sql}) is true or NULL"
        f"{map_promise((extra or {}).get(MAP))}: "
        f"replacing {records} that is sensitive by any other changes the probability of any "
        f"release by a factor of at most e^{show(loss.epsilon)}; records are taken to be "
        f"independent of each other, and running times are not covered."
        f"{lookup_promise(lookups or {}, loss)}"
    )


def _coin_key(snapshot: int, *, durable: bool) -> str:
    if not durable:
        return "fresh for this session"
    if snapshot > 1:
        return f"drawn for snapshot {snapshot}; earlier samples used other coins"
    return "kept in the ledger"
