"""Statements as analysts write them: each is answered as plain DuckDB does, or refused for free."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import onesided as osd
from onesided.errors import InputError
from onesided.randomness import seeded
from support.analysts.answers import CLOSE, difference
from support.analysts.corpus import FIELDS, AnalystStatement, database, statements
from support.analysts.field import Field
from support.analysts.grammar import PAGE, page, section, verdicts

EXACT = 10**6
#: One in so many is asked in a short run.
STRIDE = 7
#: At least this share is answered; the rest says in one sentence why not.
ANSWERED = 0.75
#: DuckDB places a quantile between two of a few values, and counts a value as often as it occurs.
CLOSE_IN_RANK = 0.13
IN_RANK = re.compile(r"\b(median|quantile|percentile)", re.IGNORECASE)
OTHERWISE = {
    ("retail", 35): "a group in which nothing is added up is not listed",
    ("retail", 55): "a group in which nothing is added up is not listed",
    ("telemetry", 286): "DuckDB's own number of values is nearly right",
    ("retail", 321): "DuckDB's own number of values is nearly right",
    ("retail", 314): "values are rounded down to whole steps of the grid",
    ("health", 157): "a truth value has two groups, and NULL is none of them",
    ("transport", 193): "a truth value has two groups, and NULL is none of them",
    ("telemetry", 214): "a truth value has two groups, and NULL is none of them",
}


class Asked:
    """A field's data set in which nobody is sensitive, beside the plain database."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.plain = database(field)
        table = field.make()
        counted = table.group_by(list(field.unit)).aggregate([([], "count_all")])
        self.most_rows = max(counted.column("count_all").to_pylist())
        self.dataset = osd.open(
            table,
            unit=field.unit,
            policy="FALSE",
            budget=10**9,
            name=field.table,
            public=field.public(),
            rng=seeded(3),
        )

    def answer(self, statement: AnalystStatement) -> list[tuple[Any, ...]]:
        released = self.dataset.sql(
            statement.in_duckdb(),
            epsilon=EXACT,
            mechanism="one-sided",
            max_groups=60,
            max_rows=self.most_rows,
            max_values=60 * self.most_rows,
            bounds=dict(self.field.bounds),
            yes=True,
        )
        return [tuple(row.values()) for row in released.table.to_pylist()]

    def expected(self, statement: AnalystStatement) -> list[tuple[Any, ...]]:
        return self.plain.sql(statement.in_duckdb()).fetchall()


@pytest.fixture(params=FIELDS, ids=lambda field: field.name, scope="module")
def asked(request: pytest.FixtureRequest) -> Iterator[Asked]:
    asked = Asked(request.param)
    yield asked
    asked.dataset.close()
    asked.plain.close()


def assert_as_plain(asked: Asked, chosen: Sequence[AnalystStatement]) -> None:
    answered, refusals = 0, []
    for statement in chosen:
        try:
            rows = asked.answer(statement)
        except InputError as refusal:
            refusals.append(str(refusal))
            continue
        answered += 1
        if (asked.field.name, statement.line) in OTHERWISE:
            continue
        close = CLOSE_IN_RANK if IN_RANK.search(statement.sql) else CLOSE
        apart = difference(rows, asked.expected(statement), close)
        assert not apart, f"{statement.sql}: {apart}"
    assert answered > 0
    assert all("\n" not in each and each.endswith((".", "?")) for each in refusals)


def test_some_statements_mean_what_they_say(asked: Asked) -> None:
    assert_as_plain(asked, statements(asked.field)[::STRIDE])


@pytest.mark.soak
def test_all_statements_mean_what_they_say(asked: Asked) -> None:
    assert_as_plain(asked, statements(asked.field))


def share_answered(fields: Sequence[Field]) -> float:
    """Of the statements of some fields; plans alone say it, and nothing is run."""
    refusals = [refusal for field in fields for _, refusal in verdicts(field)]
    return refusals.count("") / len(refusals)


@pytest.mark.soak
def test_most_statements_are_answered() -> None:
    assert share_answered(FIELDS) >= ANSWERED


def test_the_page_of_the_grammar_is_what_the_program_says() -> None:
    written = PAGE.read_text(encoding="utf-8")
    name = FIELDS[0].name.capitalize()
    found = list(verdicts(FIELDS[0]))
    assert f"## {name}\n\n{section(found)}" in written
    assert sum(not refusal for _, refusal in found) >= ANSWERED * len(found)


@pytest.mark.soak
def test_the_whole_page_of_the_grammar_is_what_the_program_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
