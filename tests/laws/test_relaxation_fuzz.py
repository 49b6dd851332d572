"""No false yes of `relaxes` where types meet: the rows that show it are looked for first.

Random policies mix integers, decimals, floats, dates and times through coalesce, CASE, IN, BETWEEN
and arithmetic. The reference evaluator and DuckDB say which of many hostile rows each of them makes
sensitive. Where a row is sensitive under one policy and not under another, `relaxes` must not say
that the one relaxes the other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from onesided.engine.duckdb.writer import DuckDBWriter
from onesided.errors import OnesidedError, PolicyError
from onesided.language import Field, Schema, Type
from onesided.policy import BoundPolicy, Policy
from support.engines import WRITERS

SCHEMA = Schema.of(
    {
        "i": Type.INTEGER,
        "j": Type.INTEGER,
        "w": Type.WIDE_INTEGER,
        "f": Type.FLOAT,
        "g": Type.FLOAT,
        "p": Field.decimal(5, 2),
        "q": Field.decimal(38, 0),
        "d": Type.DATE,
        "e": Type.DATE,
        "ts": Type.TIMESTAMP,
        "t": Type.TEXT,
        "b": Type.BOOLEAN,
    }
)
ARROW = {
    "i": pa.int64(),
    "j": pa.int32(),
    "w": pa.decimal128(38, 0),
    "f": pa.float64(),
    "g": pa.float32(),
    "p": pa.decimal128(5, 2),
    "q": pa.decimal128(38, 0),
    "d": pa.date32(),
    "e": pa.date32(),
    "ts": pa.timestamp("us"),
    "t": pa.string(),
    "b": pa.bool_(),
}
EDGE = 2**53
INTEGERS = [0, 1, -1, 3, EDGE - 1, EDGE, EDGE + 1, EDGE + 2, -EDGE - 1, 2**62, 2**62 + 257]
ENDS = [2**63 - 1, 2**63 - 512, 2**63 - 513, -(2**63), -(2**63) + 1]
WIDE = [2**63, 2**63 + 1, 2**64 - 1, 10**37, -(10**37), 10**38 - 1]
FLOATS = [0.0, -0.0, 0.1, 0.5, 1.0, float(EDGE), float(EDGE) + 2, 2.0**63, 2.0**64, 1e300, 5e-324]
FLOATS += [float("nan"), float("inf"), float("-inf"), -1e300, -(2.0**63)]
DECIMALS = [Decimal(text) for text in ("0.00", "0.01", "0.50", "1.00", "999.99", "-999.99")]
DATES = [
    date(1969, 12, 31),
    date(1970, 1, 1),
    date(2020, 2, 29),
    date(2020, 3, 1),
    date(9999, 12, 31),
]
DATES += [date(1, 1, 1)]
MOMENTS = [datetime(1970, 1, 1), datetime(2020, 2, 29, 12), datetime(2020, 3, 1), datetime.min]
MOMENTS += [datetime(2020, 2, 29, 23, 59, 59, 999999), datetime.max]
CELLS: dict[str, Sequence[Any]] = {
    "i": INTEGERS + ENDS,
    "j": [0, 1, -1, 2, 3, 2**31 - 1, -(2**31)],
    "w": INTEGERS + ENDS + WIDE,
    "f": FLOATS,
    "g": [np.float32(cell).item() for cell in FLOATS if not 1e39 < abs(cell) < float("inf")],
    "p": DECIMALS,
    "q": [Decimal(cell) for cell in INTEGERS + ENDS + WIDE],
    "d": DATES,
    "e": DATES,
    "ts": MOMENTS,
    "t": ["", "a", "a\x01", "b", "B", "é", "😀"],
    "b": [True, False],
}
LITERALS = [str(number) for number in (*INTEGERS, *ENDS, *WIDE, 2**70)]
LITERALS += ["0.1", "0.5", "9007199254740993.5", "0.005", "1.000000000000000055", "1180591620717.5"]
MOMENT_LITERALS = [f"DATE '{day}'" for day in DATES] + [f"TIMESTAMP '{each}'" for each in MOMENTS]
#: Days that DuckDB has and Python has not; only the engine can say what they do.
FAR = ["300000-01-01", "infinity", "-infinity", "20000-01-01", "4000-01-01 (BC)"]
NUMBERS = ("i", "i", "f", "f", "j", "g", "w", "p", "q")
MOMENT_COLUMNS = ("d", "ts", "e")


class Maker:
    """Texts of predicates; most bind, since alternatives are of few kinds."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.columns: tuple[str, ...] = ()
        self.literals: list[str] = []

    def family(self) -> None:
        """A few columns and literals, so that policies have them in common."""
        numbers = self.dice.random() < 0.75
        self.columns = tuple(self.dice.sample(NUMBERS if numbers else MOMENT_COLUMNS, 2))
        self.literals = self.dice.sample(LITERALS if numbers else MOMENT_LITERALS, 3)
        self.numbers = numbers

    def policy(self) -> str:
        depth = self.dice.choice((0, 1, 1, 2))
        return self.condition(depth)

    def condition(self, depth: int) -> str:
        if depth == 0:
            return self.atom()
        parts = [self.condition(depth - 1) for _ in range(2)]
        shape = self.dice.choice(
            ("{} AND {}", "{} OR {}", "NOT ({})", "({}) IS TRUE", "({}) IS FALSE")
        )
        return shape.format(*(f"({part})" for part in parts))

    def atom(self) -> str:
        value, literals = self.value(1), self.literals
        match self.dice.randrange(7):
            case 0:
                return f"{value} IS NULL"
            case 1:
                return f"{value} IN ({', '.join(self.dice.sample(literals, 2))})"
            case 2:
                return f"{value} BETWEEN {self.dice.choice(literals)} AND {self.value(1)}"
            case 3:
                return f"{value} IS DISTINCT FROM {self.dice.choice(literals)}"
            case _:
                sign = self.dice.choice(("=", "<>", "<", "<=", ">", ">="))
                return f"{value} {sign} {self.dice.choice((*literals, self.value(0)))}"

    def value(self, depth: int) -> str:
        column, other = self.dice.choice(self.columns), self.dice.choice(self.columns)
        if depth == 0 or self.dice.random() < 0.4:
            return column
        last = self.dice.choice((other, self.dice.choice(self.literals)))
        match self.dice.randrange(6 if self.numbers else 3):
            case 0 | 1:
                return f"coalesce({column}, {last})"
            case 2:
                test = self.dice.choice((f"{other} IS NULL", f"{column} > {self.literals[0]}", "b"))
                return f"CASE WHEN {test} THEN {column} ELSE {last} END"
            case 3:
                return f"CASE {other} WHEN {self.literals[1]} THEN {column} ELSE {last} END"
            case 4:
                return f"({column} + {self.literals[0]})"
            case _:
                return f"coalesce(-{column}, {last})"


def rows(dice: random.Random, count: int) -> pa.Table:
    """Hostile cells, NULL among them."""
    return pa.table(
        {
            name: pa.array(
                [None if dice.random() < 0.15 else dice.choice(CELLS[name]) for _ in range(count)],
                kind,
            )
            for name, kind in ARROW.items()
        }
    )


def bound(maker: Maker, wanted: int) -> list[tuple[Policy, BoundPolicy]]:
    """Policies that fit the schema."""
    found: list[tuple[Policy, BoundPolicy]] = []
    for _ in range(20 * wanted):
        if len(found) == wanted:
            break
        try:
            policy = Policy(maker.policy())
            found.append((policy, policy.bind(SCHEMA)))
        except PolicyError:
            continue
    return found


def by_duckdb(policies: Sequence[BoundPolicy], table: str, connection: Any) -> NDArray[np.bool_]:
    listed = ", ".join(each.render_sensitive(DuckDBWriter()) for each in policies)
    columns = connection.sql(f"SELECT {listed} FROM {table}").to_arrow_table().columns
    return np.array([column.to_numpy() for column in columns])


def far_rows(connection: Any) -> None:
    """The same rows with days that lie outside the calendar of Python."""
    days = ", ".join(f"DATE '{day}'" for day in FAR)
    connection.sql(
        f"CREATE TABLE far AS SELECT hostile.* REPLACE (day AS d, other AS e) "
        f"FROM (FROM hostile LIMIT 20) hostile, unnest([{days}]) u(day), "
        f"unnest([{days}, NULL]) v(other)"
    )


def hunt(seed: int, families: int, each: int) -> int:
    """The number of pairs for which a hostile row stood against a yes."""
    maker = Maker(seed)
    table = rows(random.Random(seed), 400)
    listed = table.to_pylist()
    connection = duckdb.connect()
    connection.register("frame", table)
    connection.sql("CREATE TABLE hostile AS SELECT * REPLACE (CAST(w AS HUGEINT) AS w) FROM frame")
    far_rows(connection)
    refuted = 0
    for _ in range(families):
        maker.family()
        policies = bound(maker, each)
        ready = [own for _, own in policies]
        here = np.array([[own.is_sensitive(row) for row in listed] for own in ready])
        there = by_duckdb(ready, "hostile", connection)
        for policy, own, theirs in zip(policies, here, there, strict=True):
            assert own.tolist() == theirs.tolist(), policy[0].sql
        sensitive = np.hstack([here, by_duckdb(ready, "far", connection)])
        for first, (one, _) in enumerate(policies):
            for second, (other, _) in enumerate(policies):
                if np.any(sensitive[first] & ~sensitive[second]):
                    refuted += 1
                    for schema in (SCHEMA, None):
                        assert not one.relaxes(other, schema), (one.sql, other.sql, schema)
    return refuted


def test_a_row_that_shows_otherwise_is_never_met_by_a_yes() -> None:
    assert hunt(seed=1, families=10, each=10) > 200


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_false_yes_in_a_long_hunt(seed: int) -> None:
    assert hunt(seed, families=150, each=16) > 5_000


FALSE_YES = [
    ("f = 0.0 AND coalesce(i, f) > 9007199254740992", "f IS NULL"),
    ("f IS NULL", "coalesce(i, f) >= 9223372036854775808"),
    ("i < 1180591620717411303424", "i IS NULL"),
    ("i > -1180591620717411303424", "i <> i"),
    ("CASE WHEN b THEN i ELSE f END > 9007199254740992", "i <> 9007199254740994"),
]


@pytest.mark.parametrize(("account", "stricter"), FALSE_YES)
def test_what_was_a_false_yes(account: str, stricter: str) -> None:
    for schema in (SCHEMA, None):
        assert not Policy(account).relaxes(Policy(stricter), schema)


@pytest.mark.parametrize("day", FAR)
def test_far_days_are_in_order_with_times_too(day: str) -> None:
    """They were NULL beside a time of day, and so sensitive, and beside a date they were not."""
    texts = ("coalesce(d, ts) < TIMESTAMP '2020-01-01 12:00:00'", "d < DATE '2020-01-01'")
    listed = ", ".join(Policy(text).bind(SCHEMA).render_sensitive(DuckDBWriter()) for text in texts)
    row = f"SELECT DATE '{day}' AS d, CAST(NULL AS TIMESTAMP) AS ts"
    at_noon, at_midnight = duckdb.connect().sql(f"SELECT {listed} FROM ({row})").fetchall()[0]
    assert at_noon == at_midnight


def test_what_must_be_refused_is_refused_in_a_sentence() -> None:
    text = (
        "f <> CASE WHEN d BETWEEN DATE '1970-01-01' AND TIMESTAMP '2020-01-01 05:00:00' THEN w "
        "ELSE 9223372036854775808 END"
    )
    with pytest.raises(PolicyError, match="mixes float"):
        Policy(text).bind(SCHEMA)


def test_nothing_but_a_sentence_is_raised() -> None:
    """Any mix of types in any place binds, renders and is compared, or is refused."""
    maker = Maker(5)
    maker.numbers = True
    outcomes = {True: 0, False: 0}
    known: list[Policy] = []
    longest = 0
    for _ in range(700):
        maker.columns = tuple(maker.dice.choices(list(SCHEMA), k=3))
        strange = ["'a'", "NULL", "TRUE", "DATE '2020-01-01'", "TIMESTAMP '2020-01-01 05:00:00'"]
        maker.literals = maker.dice.sample(
            [*LITERALS, *strange, "hour(ts)", "lower(t)", "date(ts)"], 3
        )
        try:
            policy = Policy(maker.policy())
            own = policy.bind(SCHEMA)
            for writer in WRITERS.values():
                own.render_sensitive(writer)
            for other in known[-2:]:
                policy.relaxes(other, SCHEMA)
                other.relaxes(policy)
            known.append(policy)
            outcomes[True] += 1
        except OnesidedError as error:
            outcomes[False] += 1
            longest = max(longest, len(str(error)))
    assert min(outcomes.values()) > 50
    assert longest < 400
