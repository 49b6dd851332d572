"""No false yes of `relaxes` where types meet: the rows that show it are looked for first.

Random policies mix integers, decimals, floats, dates and times through coalesce, CASE, IN, BETWEEN
and arithmetic. The reference evaluator and DuckDB say which of many hostile rows each of them makes
sensitive. Where a row is sensitive under one policy and not under another, `relaxes` must not say
that the one relaxes the other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

from onesided.engine.duckdb.writer import DuckDBWriter
from onesided.errors import OnesidedError, PolicyError
from onesided.policy import BoundPolicy, Policy
from support.engines import WRITERS
from support.relatives import FAR, FAR_MOMENTS, LITERALS, SCHEMA, Maker, rows


class Found(NamedTuple):
    """How many pairs a row refuted, and how many `relaxes` proved that are not trivial.

    In these the policies have different texts, and each of them makes some of the rows sensitive
    and leaves others open.
    """

    refuted: int
    proven: int


def bound(maker: Maker, wanted: int) -> list[tuple[Policy, BoundPolicy]]:
    """Different policies that fit the schema; two thirds of them are relatives of others."""
    found: dict[str, tuple[Policy, BoundPolicy]] = {}
    for _ in range(20 * wanted):
        if len(found) == wanted:
            break
        try:
            related = found and len(found) > wanted // 3
            text = maker.relative(maker.dice.choice(list(found))) if related else maker.policy()
            policy = Policy(text)
            found.setdefault(policy.sql, (policy, policy.bind(SCHEMA)))
        except PolicyError:
            continue
    return list(found.values())


def by_duckdb(policies: Sequence[BoundPolicy], table: str, connection: Any) -> NDArray[np.bool_]:
    listed = ", ".join(each.render_sensitive(DuckDBWriter()) for each in policies)
    columns = connection.sql(f"SELECT {listed} FROM {table}").to_arrow_table().columns
    return np.array([column.to_numpy() for column in columns])


def far_rows(connection: Any) -> None:
    """The same rows with days and times that lie outside the calendar of Python."""
    days = ", ".join(f"DATE '{day}'" for day in FAR)
    moments = ", ".join(f"TIMESTAMP '{moment}'" for moment in FAR_MOMENTS)
    connection.sql(
        f"CREATE TABLE far AS SELECT hostile.* REPLACE (day AS d, other AS e, time AS ts) "
        f"FROM (FROM hostile LIMIT 6) hostile, unnest([{days}, DATE '2020-02-29']) u(day), "
        f"unnest([{days}, NULL]) v(other), unnest([{moments}, ts, NULL]) w(time)"
    )


def hunt(seed: int, families: int, each: int) -> Found:
    """Compares policies of so many families, `each` of one family, with one another."""
    maker = Maker(seed)
    table = rows(random.Random(seed), 400)
    listed = table.to_pylist()
    connection = duckdb.connect()
    connection.register("frame", table)
    connection.sql("CREATE TABLE hostile AS SELECT * REPLACE (CAST(w AS HUGEINT) AS w) FROM frame")
    far_rows(connection)
    refuted = proven = 0
    for _ in range(families):
        maker.family()
        policies = bound(maker, each)
        ready = [own for _, own in policies]
        here = np.array([[own.is_sensitive(row) for row in listed] for own in ready])
        there = by_duckdb(ready, "hostile", connection)
        for policy, own, theirs in zip(policies, here, there, strict=True):
            assert own.tolist() == theirs.tolist(), policy[0].sql
        sensitive = np.hstack([here, by_duckdb(ready, "far", connection)])
        varied = sensitive.any(axis=1) & ~sensitive.all(axis=1)
        for first, second in permutations(range(len(policies)), 2):
            one, other = policies[first][0], policies[second][0]
            if np.any(sensitive[first] & ~sensitive[second]):
                refuted += 1
                for schema in (SCHEMA, None):
                    assert not one.relaxes(other, schema), (one.sql, other.sql, schema)
            elif varied[first] and varied[second]:
                proven += bool(one.relaxes(other, SCHEMA))
    return Found(refuted, proven)


def test_a_row_that_shows_otherwise_is_never_met_by_a_yes() -> None:
    found = hunt(seed=1, families=10, each=10)
    assert found.refuted > 200
    assert found.proven > 25


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_false_yes_in_a_long_hunt(seed: int) -> None:
    found = hunt(seed, families=150, each=16)
    assert found.refuted > 5_000
    assert found.proven > 1_000


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
