"""n-grams: what a unit had at n consecutive positions, as group keys on any table and engine.

The table is read through a view that adds n columns to *all* of its rows: the tokens of the window
that starts at the row, or NULL where the window is not whole. Counting then goes on as for any
other keys. Sensitivity is still taken over all rows of a unit, whether in a whole window or not,
and a unit may have many n-grams, so that a release needs a bound on them (`max_groups`).
"""

from __future__ import annotations

from itertools import pairwise

from onesided.data.units import Unit
from onesided.engine.base import Ngrams
from onesided.engine.flavour import Flavour
from onesided.errors import RequestError
from onesided.language import BoundPredicate, Field, Predicate, Schema, Type
from onesided.language.tree import Column, IsNull, Not

LONGEST = 16
TOKEN_TYPES = (Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)
_POSITION = "osd_position"
_ORDERED = (Type.INTEGER, Type.DATE, Type.TIMESTAMP)


def check_ngrams(schema: Schema, unit: Unit, grams: Ngrams) -> None:
    """Refuse what makes no n-grams of this table; its columns are spelt as in the schema."""
    n = grams.n
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= LONGEST:
        raise RequestError(f"An n-gram has from 1 to {LONGEST} tokens; name a whole number.")
    if unit.is_row:
        raise RequestError("n-grams need units of several rows; name the key of the units.")
    if schema[grams.position].type not in _ORDERED:
        raise RequestError(
            f"{grams.position} gives no order; it must hold whole numbers, dates or timestamps."
        )
    if schema[grams.token].type not in TOKEN_TYPES:
        raise RequestError(
            f"The tokens in {grams.token} must be texts, integers, truth values, dates or times."
        )
    known = {column.casefold() for column in schema}
    taken = [each for each in (*grams.columns, _POSITION) if each.casefold() in known]
    if taken:
        raise RequestError(f"The column {taken[0]} is in the way of an n-gram's; rename it.")


def widened(schema: Schema, grams: Ngrams) -> Schema:
    """The schema of the table with the columns of the n-grams."""
    added = {column: Field(schema[grams.token].type) for column in grams.columns}
    return Schema.of({**dict(schema.fields), **added})


def whole(schema: Schema, grams: Ngrams) -> BoundPredicate:
    """The filter that leaves the rows at which an n-gram starts; `schema` is the widened one."""
    return Predicate(Not(IsNull(Column(grams.columns[0])))).bind(schema)


def view(source: str, schema: Schema, unit: Unit, grams: Ngrams, flavour: Flavour) -> str:
    """A FROM item: `source` with the columns of the n-grams.

    A window is n rows of a unit that follow one another, none of whose tokens and positions is
    NULL. Where positions are whole numbers they also go up by exactly one at every step. Of several
    rows at one whole number the last one by token begins windows and the first one ends them; at
    one date or moment rows follow in the order of their tokens.
    """
    token, position = flavour.name(grams.token), flavour.name(grams.position)
    if schema[grams.position].type is Type.INTEGER:
        # Under a name of its own: an engine may take a column and its cast for one, where the
        # tokens are the positions.
        whole = f"CAST({position} AS BIGINT) AS {_POSITION}"
        source, position = f"(SELECT osd_r.*, {whole} FROM {source} osd_r)", _POSITION
    keys = ", ".join(flavour.name(column) for column in unit.columns)
    window = f"OVER (PARTITION BY {keys} ORDER BY {position} NULLS FIRST, {token} NULLS FIRST)"
    steps = range(1, grams.n)
    tokens = [token, *(f"lead({token}, {step}) {window}" for step in steps)]
    positions = [position, *(f"lead({position}, {step}) {window}" for step in steps)]
    present = [f"{each} IS NOT NULL" for each in (*tokens, position)]
    if schema[grams.position].type is Type.INTEGER:
        # Where a position is above another, one less of it cannot overflow.
        present += [
            f"CASE WHEN {after} > {before} THEN {after} - 1 = {before} ELSE FALSE END"
            for before, after in pairwise(positions)
        ]
    added = ", ".join(
        f"CASE WHEN {' AND '.join(present)} THEN {each} END AS {flavour.name(column)}"
        for each, column in zip(tokens, grams.columns, strict=True)
    )
    return f"(SELECT osd_s.*, {added} FROM {source} osd_s)"
