"""`docs/sql-grammar.md`, from the corpus: what is answered, and what is refused with which words.

`python -m support.analysts.grammar` writes the page, with `tests` on the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onesided as osd
from onesided.errors import InputError
from support.analysts.corpus import FIELDS, AnalystStatement, statements
from support.analysts.field import Field

PAGE = Path(__file__).parents[3] / "docs" / "sql-grammar.md"
_HEAD = """# SQL: what is answered and what is refused

This page is made from the statements that are kept with the tests, 60 of each of five fields.
Analysts wrote them as they write; the tables are made. `python -m support.analysts.grammar` makes
the page anew, and a test holds it against what the program says. [SQL](sql.md) says what each
figure needs.

"""


def verdicts(field: Field) -> Iterator[tuple[AnalystStatement, str]]:
    """The statements of a field, each with the words of its refusal; none where it is answered.

    Plans alone say it, and nothing is run.
    """
    with osd.open(
        field.make(),
        unit=field.unit,
        policy=field.policy,
        budget=10,
        name=field.table,
        public=field.public(),
    ) as dataset:
        for statement in statements(field):
            refusal = ""
            try:
                dataset.plan.sql(
                    statement.in_duckdb(),
                    epsilon=1,
                    max_groups=8,
                    max_rows=field.rows_a_unit,
                    max_values=8,
                    bounds=dict(field.bounds),
                )
            except InputError as error:
                refusal = str(error)
            yield statement, refusal
        assert dataset.budget.spent == 0


def page() -> str:
    """The text of the page."""
    found = {field.name: list(verdicts(field)) for field in FIELDS}
    whole = [each for listed in found.values() for each in listed]
    answered = sum(not refusal for _, refusal in whole)
    parts = [_HEAD, f"Of {len(whole)} statements {answered} are answered.\n"]
    for name, listed in found.items():
        parts.append(f"\n## {name.capitalize()}\n\n" + section(listed))
    return "".join(parts)


def section(listed: list[tuple[AnalystStatement, str]]) -> str:
    """Two tables of one field: what is answered, and what is not."""
    answered = [_cells(each.wish, _code(each)) for each, refusal in listed if not refusal]
    refused = [_cells(each.wish, refusal) for each, refusal in listed if refusal]
    return "\n".join(
        [
            *("| answered | statement |", "|---|---|", *answered, ""),
            *("| refused | why, and what to do |", "|---|---|", *refused, ""),
        ]
    )


def _cells(*texts: str) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"


def _code(statement: AnalystStatement) -> str:
    return f"`{' '.join(statement.sql.rstrip('; ').split())}`".replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
