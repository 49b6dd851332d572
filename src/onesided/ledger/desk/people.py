"""Tokens and rights in the tables of a desk."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from onesided.errors import RequestError
from onesided.ledger.base import LONGEST_WHO
from onesided.ledger.chain import canonical
from onesided.ledger.charging import check_label, check_text
from onesided.ledger.desk.base import (
    DeskConflict,
    Person,
    PersonRole,
    Rights,
    TokenPurpose,
    TokenRecord,
)
from onesided.ledger.desk.times import from_text, to_text
from onesided.ledger.rows import LedgerRows

PREFIX = "osd_"
"""What every token begins with, so that scanners for leaked secrets can find one."""

_BYTES = 32
_COLUMNS = "id, name, role, purpose, parent, created, expires, revoked"
_AMOUNTS = ("most_per_release", "most_in_all", "least")


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a person in the ledger."""
    if not name.strip() or name != name.strip():
        raise RequestError("A person needs a name without blanks around it.")
    check_text(name, "name of a person", LONGEST_WHO)


def add_token(
    rows: LedgerRows,
    now: datetime,
    name: str,
    role: PersonRole,
    *,
    expires: datetime | None,
    purpose: TokenPurpose,
    parent: str | None,
) -> str:
    """Write a new token; only its digest stays."""
    if expires is not None and expires <= now:
        raise RequestError("A token must expire later than now.")
    for known in all_tokens(rows):
        if known.name == name and known.role != role and known.valid(now):
            raise DeskConflict(
                f"{name} is {_ARTICLE[known.role]} here; revoke the tokens of that name first, or "
                f"choose another name."
            )
    # Browsers come and go; what they held is forgotten once it is over.
    rows.run(
        "DELETE FROM desk_tokens WHERE purpose <> ? AND expires <= ?",
        (TokenPurpose.ACCESS.value, to_text(now)),
    )
    if parent is not None:
        parent = _lasting(rows, parent)
    token = PREFIX + secrets.token_urlsafe(_BYTES)
    times = to_text(now), None if expires is None else to_text(expires), None
    rows.run(
        "INSERT INTO desk_tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (secrets.token_hex(6), _digest(token), name, role.value, purpose.value, parent, *times),
    )
    return token


def find_token(rows: LedgerRows, now: datetime, token: str, purpose: TokenPurpose) -> Person | None:
    """Who holds a token that is valid now.

    It is looked up by its digest, of which time can tell nothing: who tries tokens does not choose
    their digests.
    """
    digest = _digest(token)
    row = rows.run(
        f"SELECT digest, {_COLUMNS} FROM desk_tokens WHERE digest = ?", (digest,)
    ).fetchone()
    if row is None or not hmac.compare_digest(row[0], digest):
        return None
    record = _record(row[1:])
    if record.purpose != purpose or not record.valid(now):
        return None
    if record.parent is not None and not _valid(rows, now, record.parent):
        return None
    return Person(name=record.name, role=record.role, token=record.id)


def revoke(rows: LedgerRows, now: datetime, name_or_id: str) -> tuple[TokenRecord, ...]:
    """End the token of this id, or those of this name."""
    ended = [
        replace(each, revoked=now)
        for each in all_tokens(rows)
        if name_or_id in (each.id, each.name) and each.revoked is None
    ]
    for each in ended:
        rows.run("UPDATE desk_tokens SET revoked = ? WHERE id = ?", (to_text(now), each.id))
    return tuple(ended)


def all_tokens(rows: LedgerRows) -> list[TokenRecord]:
    """Every token, oldest first."""
    found = rows.run(f"SELECT {_COLUMNS} FROM desk_tokens ORDER BY created, id").fetchall()
    return [_record(row) for row in found]


def set_rights(rows: LedgerRows, dataset: str, name: str, rights: Rights | None) -> None:
    """Replace what a person may do with a data set."""
    check_label(dataset, "name of the data set")
    check_name(name)
    rows.run("DELETE FROM desk_rights WHERE dataset = ? AND name = ?", (dataset, name))
    if rights is not None:
        rows.run(
            "INSERT INTO desk_rights VALUES (?, ?, ?)",
            (dataset, name, canonical(_rights_to_json(rights))),
        )


def find_rights(rows: LedgerRows, dataset: str, name: str) -> Rights | None:
    """What a person may do with a data set."""
    row = rows.run(
        "SELECT content FROM desk_rights WHERE dataset = ? AND name = ?", (dataset, name)
    ).fetchone()
    return None if row is None else _rights_from_json(json.loads(row[0]))


def all_rights(rows: LedgerRows) -> Mapping[tuple[str, str], Rights]:
    """All rights by data set and name."""
    found = rows.run("SELECT dataset, name, content FROM desk_rights ORDER BY dataset, name")
    return {
        (dataset, name): _rights_from_json(json.loads(content))
        for dataset, name, content in found.fetchall()
    }


_ARTICLE = {
    PersonRole.STEWARD: "a steward",
    PersonRole.ANALYST: "an analyst",
    PersonRole.AUDITOR: "an auditor",
}


def _lasting(rows: LedgerRows, parent: str) -> str | None:
    """The token that a new one hangs on: of a login, which is over, the one that it came from."""
    row = rows.run("SELECT purpose, parent FROM desk_tokens WHERE id = ?", (parent,)).fetchone()
    return row[1] if row is not None and row[0] == TokenPurpose.LOGIN.value else parent


def _valid(rows: LedgerRows, now: datetime, token_id: str) -> bool:
    row = rows.run(f"SELECT {_COLUMNS} FROM desk_tokens WHERE id = ?", (token_id,)).fetchone()
    return row is not None and _record(row).valid(now)


def _digest(token: str) -> str:
    """A token is 256 random bits, so that a plain hash cannot be searched for it."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _record(row: Any) -> TokenRecord:
    id_, name, role, purpose, parent, created, expires, revoked = row
    return TokenRecord(
        id=id_,
        name=name,
        role=PersonRole(role),
        purpose=TokenPurpose(purpose),
        parent=parent,
        created=from_text(created),
        expires=None if expires is None else from_text(expires),
        revoked=None if revoked is None else from_text(revoked),
    )


def _rights_to_json(rights: Rights) -> dict[str, Any]:
    amounts = {name: getattr(rights, name) for name in _AMOUNTS}
    return {
        "kinds": None if rights.kinds is None else sorted(rights.kinds),
        **{name: None if amount is None else str(amount) for name, amount in amounts.items()},
        "needs_approval": rights.needs_approval,
    }


def _rights_from_json(value: dict[str, Any]) -> Rights:
    amounts = {name: None if value[name] is None else Fraction(value[name]) for name in _AMOUNTS}
    kinds = None if value["kinds"] is None else frozenset(value["kinds"])
    return Rights(kinds=kinds, needs_approval=value["needs_approval"], **amounts)
