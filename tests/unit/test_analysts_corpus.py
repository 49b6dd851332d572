"""The statements of analysts in `tests/data/analysts`: many, different, plain SQL that runs."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from onesided.policy import Policy
from support.analysts.corpus import FIELDS, AnalystStatement, database, statements
from support.analysts.field import Field

STATEMENTS_OF_A_FIELD = 60
DIALECTS = {"bigquery", "duckdb", "postgres", "spark", "tsql"}


def named(field: Field) -> str:
    return field.name


def words(statement: AnalystStatement) -> str:
    """The statement in one spelling of spaces, so that another layout is no other statement."""
    return " ".join(statement.sql.rstrip("; \n").split())


def test_there_are_enough_different_statements() -> None:
    all_of_them = [each for field in FIELDS for each in statements(field)]
    assert Counter(each.field.name for each in all_of_them) == {
        field.name: STATEMENTS_OF_A_FIELD for field in FIELDS
    }
    assert len({words(each) for each in all_of_them}) == len(all_of_them) >= 300
    assert {each.dialect for each in all_of_them} == DIALECTS


@pytest.mark.parametrize("field", FIELDS, ids=named)
def test_every_statement_runs_as_plain_sql(field: Field) -> None:
    with database(field) as connection:
        for each in statements(field):
            rows = connection.execute(each.in_duckdb()).fetchall()
            assert rows, f"{field.name}.sql:{each.line}: {each.wish}"


@pytest.mark.parametrize("field", FIELDS, ids=named)
def test_the_table_is_made_alike_each_time_and_has_all_types(field: Field) -> None:
    table = field.make()
    assert table == field.make()
    assert 1000 <= table.num_rows <= 5000
    seen = set(table.schema.types)
    assert {pa.string(), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.decimal128(10, 2)} <= seen
    assert any(pa.types.is_integer(each) for each in seen)
    assert any(pa.types.is_floating(each) for each in seen)
    assert any(column.null_count for column in table.columns)


@pytest.mark.parametrize("field", FIELDS, ids=named)
def test_what_the_steward_declares_fits_the_table(field: Field) -> None:
    table = field.make()
    for column, (low, high) in field.bounds.items():
        known = [float(each) for each in table[column].to_pylist() if each is not None]
        assert low <= min(known) <= max(known) <= high, column
    for column, values in field.domains.items():
        if "*" not in values:
            assert {each for each in table[column].to_pylist() if each is not None} <= set(values)
    assert not any(table[column].null_count for column in field.unit)
    rows_of_units = Counter(zip(*(table[each].to_pylist() for each in field.unit), strict=True))
    assert max(rows_of_units.values()) >= field.rows_a_unit


@pytest.mark.parametrize("field", FIELDS, ids=named)
def test_some_units_are_sensitive_and_some_are_not(field: Field) -> None:
    Policy(field.policy)
    unit = ", ".join(field.unit)
    with database(field) as connection:
        sensitive, units = connection.execute(
            f"SELECT count(*) FILTER (WHERE touched), count(*) FROM (SELECT bool_or("
            f"coalesce({field.policy}, TRUE)) AS touched FROM {field.table} GROUP BY {unit})"
        ).fetchall()[0]
    assert 0.05 * units < sensitive < 0.9 * units
