"""Queries for n-grams as a session puts them to an engine."""

from __future__ import annotations

from onesided.engine.base import Coins, CountQuery, Engine, Ngrams
from onesided.engine.ngrams import whole, widened
from onesided.language import Key, Predicate
from onesided.language.words import spelled


def gram_query(
    engine: Engine,
    grams: Ngrams,
    policy: str,
    *,
    max_groups: int | None = None,
    coins: Coins | None = None,
) -> CountQuery:
    wide = widened(engine.schema, grams)
    return CountQuery(
        policy=Predicate.parse(policy).bind(engine.schema),
        by=tuple(Key.parse(spelled(column)).bind(wide) for column in grams.columns),
        where=whole(wide, grams),
        max_groups=max_groups,
        coins=coins,
        grams=grams,
    )
