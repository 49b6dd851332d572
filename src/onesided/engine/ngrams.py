"""n-grams: what a unit had at n consecutive positions, as group keys on any table and engine.

The table is read through a view that adds n columns to *all* of its rows: the tokens of the window
that starts at the row, or NULL where the window is not whole. Counting then goes on as for any
other keys. Sensitivity is still taken over all rows of a unit, whether in a whole window or not,
and a unit may have many n-grams, so that a release needs a bound on them (`max_groups`).
"""

from __future__ import annotations

from itertools import pairwise

from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, Ngrams
from onesided.engine.flavour import Flavour
from onesided.errors import RequestError
from onesided.language import BoundPredicate, Field, Key, Predicate, Schema, Type

LONGEST = 16
TOKEN_TYPES = (Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)


def ngram_query(
    schema: Schema,
    unit: Unit,
    grams: Ngrams,
    policy: BoundPredicate,
    *,
    max_groups: int | None = None,
    coins: Coins | None = None,
) -> CountQuery:
    """Counts distinct units for each n-gram; the keys are called token_1, …, token_n.

    - `policy`: bound to `schema`, the schema of the table.
    - `max_groups`: k, the most n-grams that a unit is counted for; None for no bound, which no
      noise can make private.
    """
    _check(schema, unit, grams)
    wide = widened(schema, grams)
    return CountQuery(
        policy=policy,
        by=tuple(Key.parse(_quoted(column)).bind(wide) for column in grams.columns),
        where=Predicate.parse(f"{_quoted(grams.columns[0])} IS NOT NULL").bind(wide),
        max_groups=max_groups,
        coins=coins,
        grams=grams,
    )


def widened(schema: Schema, grams: Ngrams) -> Schema:
    """The schema of the table with the columns of the n-grams."""
    added = {column: Field(schema[grams.token].type) for column in grams.columns}
    return Schema.of({**dict(schema.fields), **added})


def view(source: str, unit: Unit, grams: Ngrams, flavour: Flavour) -> str:
    """A FROM item: `source` with the columns of the n-grams.

    A window is whole when the positions go up by exactly one at every step and no token is NULL.
    Positions should be unique within a unit; of several rows at one position the last one by token
    begins windows and the first one ends them, on every engine alike.
    """
    token = flavour.name(grams.token)
    position = f"CAST({flavour.name(grams.position)} AS BIGINT)"
    keys = ", ".join(flavour.name(column) for column in unit.columns)
    window = f"OVER (PARTITION BY {keys} ORDER BY {position} NULLS FIRST, {token} NULLS FIRST)"
    steps = range(1, grams.n)
    tokens = [token, *(f"lead({token}, {step}) {window}" for step in steps)]
    positions = [position, *(f"lead({position}, {step}) {window}" for step in steps)]
    # Where a position is above another, one less of it cannot overflow.
    whole = " AND ".join(
        [
            *(f"{each} IS NOT NULL" for each in tokens),
            *(
                f"CASE WHEN {after} > {before} THEN {after} - 1 = {before} ELSE FALSE END"
                for before, after in pairwise(positions)
            ),
        ]
    )
    added = ", ".join(
        f"CASE WHEN {whole} THEN {each} END AS {flavour.name(column)}"
        for each, column in zip(tokens, grams.columns, strict=True)
    )
    return f"(SELECT osd_s.*, {added} FROM {source} osd_s)"


def _check(schema: Schema, unit: Unit, grams: Ngrams) -> None:
    if not 1 <= grams.n <= LONGEST:
        raise RequestError(f"An n-gram has from 1 to {LONGEST} tokens.")
    if unit.is_row:
        raise RequestError("n-grams need units of several rows; name the key of the units.")
    for column in (grams.token, grams.position):
        if column not in schema:
            raise RequestError(f"There is no column {column}; name one of {', '.join(schema)}.")
    if schema[grams.position].type is not Type.INTEGER:
        raise RequestError(f"The positions in {grams.position} must be whole numbers.")
    if schema[grams.token].type not in TOKEN_TYPES:
        raise RequestError(f"The tokens in {grams.token} must be texts, integers or times.")
    taken = [column for column in grams.columns if column in schema]
    if taken:
        raise RequestError(f"The column {taken[0]} is in the way of an n-gram's; rename it.")


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
