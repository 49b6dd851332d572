"""What an account was opened on, and whether somebody asks for the same."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from onesided.errors import LedgerError
from onesided.ledger.base import Terms
from onesided.ledger.chain import Entry, EntryKind, canonical
from onesided.ledger.records import format_to_json, terms_from_json
from onesided.ledger.rows import LedgerRows
from onesided.loss import show

_FURTHER = {
    "lookups": "declaration of its lookup tables",
    "map": "map, or another rule for it",
    "time_zones": "time zones",
}
"""What the further terms that are known here are called in sentences."""


def agreed(rows: LedgerRows, opened: Entry) -> Terms:
    """The terms of the account that the entry `opened`, with the budget of today."""
    return terms_from_json(_content(rows, opened), rows.budget(opened.number))


def continued(rows: LedgerRows, opened: Entry, asked: Terms) -> Terms | None:
    """The terms of the account, which must be those that are asked for; LedgerError otherwise.

    None where the format that is asked for must be frozen first: see `freeze`.
    """
    content = _content(rows, opened)
    terms = terms_from_json(content, rows.budget(opened.number))
    assert terms.budget is not None
    _same_terms(terms, asked, terms.budget)
    first = terms.format is None and asked.format is not None
    if not (first and "extra" not in content):
        for name in sorted({*terms.extra, *asked.extra}):
            words = _FURTHER.get(name, "further terms")
            _same(terms.extra.get(name), asked.extra.get(name), terms.dataset, words)
    if first:
        return None
    if asked.format is not None:
        _same(terms.format, asked.format, terms.dataset, "format of its data: columns or dialect")
    return terms


def freeze(rows: LedgerRows, opened: Entry, asked: Terms) -> None:
    """Freeze the format of an account that has none, as all of format 1."""
    rows.append(
        EntryKind.FORMAT, account=opened.number, label=asked.dataset, content=format_to_json(asked)
    )


def _content(rows: LedgerRows, opened: Entry) -> dict[str, Any]:
    content: dict[str, Any] = opened.body()["content"]
    frozen = rows.frozen_format(opened.number)
    return content if frozen is None else {**content, **frozen.body()["content"]}


def _same_terms(terms: Terms, asked: Terms, budget: Fraction) -> None:
    for term, words in (
        ("unit", "unit"),
        ("policy_id", "policy"),
        ("partition_columns", "partition columns"),
    ):
        _same(getattr(terms, term), getattr(asked, term), terms.dataset, words)
    if asked.budget is not None and asked.budget != budget:
        raise LedgerError(
            f"The budget of {terms.dataset!r} in this ledger is {show(budget)}; leave the budget "
            f"out, or have it raised with who and why."
        )


def _same(known: object, asked: object, dataset: str, words: str) -> None:
    if canonical(known) != canonical(asked):
        raise LedgerError(
            f"The account of {dataset!r} in this ledger was opened with another {words}; use the "
            f"same or open a data set of another name."
        )
