"""The groups of a question about n-grams: any mechanism that counts units counts their n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onesided.engine.base import Ngrams
from onesided.engine.ngrams import check_ngrams, whole, widened
from onesided.language.words import spelled
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.scope import Scope


def ngram_groups(
    facts: DatasetFacts,
    within: Scope,
    n: int,
    by: str,
    order: str,
    max_groups: int | None,
    domain: Sequence[Any] | None,
) -> Grouping:
    """A group for each n-gram of the column `by`, keyed by its tokens `by_1`, …, `by_n`.

    - `max_groups`: the most n-grams that count for one unit.
    - `domain`: the values of a token.
    """
    grams = Ngrams(facts.schema.resolve(by), facts.schema.resolve(order), n)
    facts.withheld.refuse((grams.token, grams.position), "what n-grams are made of")
    check_ngrams(facts.schema, facts.unit, grams)
    wide = widened(facts.schema, grams)
    tokens = [spelled(column) for column in grams.columns]
    groups = facts.groups_of(
        wide,
        by=tokens,
        where=whole(wide, grams),
        max_groups=max_groups,
        domain={} if domain is None else dict.fromkeys(tokens, domain),
        inside=within.inside,
    )
    asked = {"by": grams.token, "order": grams.position, "n": n}
    return replace(groups, grams=grams, details={**groups.details, "ngrams": asked})
