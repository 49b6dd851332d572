"""Columns that never leave: they may name units, decide the policy, and filter counts and sums.

A filter of a sample is no such use. Samples of one snapshot share their coins, so that filters on
them cost nothing and could spell a value out, letter by letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.engine.beside import SecretLookup
from onesided.errors import RequestError
from onesided.language import Schema
from onesided.language.query import public_column

TERM = "withhold"
"""What the terms of an account call them."""


@dataclass(frozen=True)
class Withheld:
    """The columns that were named, and those that have the same values as one of them."""

    columns: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        names: str | Sequence[str],
        schema: Schema,
        lookups: Sequence[SecretLookup],
        agreed: Sequence[str] = (),
    ) -> Withheld:
        """The columns named now and those that were `agreed` before, which stay withheld."""
        listed = [names] if isinstance(names, str) else list(names)
        columns = {schema.resolve(name) for name in (*listed, *agreed)}
        for lookup in lookups:
            for own, other in lookup.on:
                pair = {own, public_column(lookup.name, other)}
                columns |= pair if pair & columns else set()
        return cls(frozenset(columns))

    def terms(self, agreed: Mapping[str, Any] | None) -> dict[str, Any]:
        """What an account keeps of them; one that exists keeps what it has."""
        if agreed is not None:
            return {TERM: agreed[TERM]} if TERM in agreed else {}
        return {TERM: sorted(self.columns)} if self.columns else {}

    def refuse(self, columns: Iterable[str], use: str) -> None:
        """Refuse a use of withheld columns, before anything is paid.

        - `use`: what the column would be, after "it is withheld and cannot be".
        """
        for column in columns:
            if column in self.columns:
                raise RequestError(
                    f"The column {column} never leaves: it is withheld, and cannot be {use}; it "
                    "may stand in the policy and in the WHERE of counts and sums."
                )
