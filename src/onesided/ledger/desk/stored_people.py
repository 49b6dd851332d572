"""The part of a desk that knows people: their tokens, their rights and what they have spent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction

from onesided.errors import RequestError
from onesided.ledger.desk import people
from onesided.ledger.desk.base import Person, PersonRole, Rights, TokenPurpose, TokenRecord
from onesided.ledger.desk.shares import PersonalShares
from onesided.ledger.desk.view import DeskTransactions


class StoredPeople(DeskTransactions):
    """Tokens, rights and shares."""

    def add_token(
        self,
        name: str,
        role: PersonRole,
        *,
        expires: datetime | None = None,
        purpose: TokenPurpose = TokenPurpose.ACCESS,
        parent: str | None = None,
    ) -> str:
        """A new token of 256 bits, which is returned this once; its SHA-256 is kept."""
        people.check_name(name)
        if expires is not None and expires.tzinfo is None:
            raise RequestError("The moment at which a token expires needs a time zone.")
        with self._writing() as view:
            return people.add_token(
                view.rows, view.now, name, role, expires=expires, purpose=purpose, parent=parent
            )

    def person(self, token: str, purpose: TokenPurpose = TokenPurpose.ACCESS) -> Person | None:
        """Who holds this token of that purpose; None where it is unknown, expired or revoked."""
        if purpose is TokenPurpose.LOGIN:
            raise ValueError("a token of one login is taken by use_once")
        with self._reading() as view:
            return people.find_token(view.rows, view.now, token, purpose)

    def use_once(self, token: str) -> Person | None:
        """Who holds this token of one login, which is revoked by it; of two callers one gets it."""
        with self._writing() as view:
            found = people.find_token(view.rows, view.now, token, TokenPurpose.LOGIN)
            if found is not None:
                people.revoke(view.rows, view.now, found.token)
            return found

    def revoke(self, name_or_id: str) -> tuple[TokenRecord, ...]:
        """End one token by its id, or all of a name; those that were ended now."""
        with self._writing() as view:
            return people.revoke(view.rows, view.now, name_or_id)

    def tokens(self) -> tuple[TokenRecord, ...]:
        """All tokens, oldest first; those of logins and sessions until they expire."""
        with self._reading() as view:
            return tuple(people.all_tokens(view.rows))

    def set_rights(self, dataset: str, name: str, rights: Rights | None) -> None:
        """What this person may do with a data set from now on; None takes the data set away."""
        with self._writing() as view:
            people.set_rights(view.rows, dataset, name, rights)

    def rights(self, dataset: str, name: str) -> Rights | None:
        """What this person may do with a data set; None: it is not theirs to see."""
        with self._reading() as view:
            return people.find_rights(view.rows, dataset, name)

    def all_rights(self) -> Mapping[tuple[str, str], Rights]:
        """All rights by data set and name."""
        with self._reading() as view:
            return people.all_rights(view.rows)

    def spent(self, dataset: str, name: str) -> Fraction:
        """The ε of the composition of all charges in this name; what a cap is compared with."""
        with self._reading() as view:
            opened = view.rows.account_named(dataset)
            if opened is None:
                return Fraction(0)
            shares = PersonalShares(view.rows, opened.number)
            spent = shares.spent(name)
        if shares.is_behind:  # where nobody has a share, nobody else keeps the sums
            with self._writing() as view:
                PersonalShares(view.rows, opened.number).save()
        return spent
