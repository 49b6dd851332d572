"""`onesided policy check` and `onesided policy relaxes`."""

from __future__ import annotations

from typing import Any

import click

from onesided.cli.output import as_json, show_facts, show_json
from onesided.cli.sources import Command, with_options
from onesided.errors import RequestError

_OPTIONS = (
    click.option("--schema", "source", help="Check against the columns of this file."),
    click.option(
        "--table", metavar="NAME", help="Check against the columns of this table at --connection."
    ),
    click.option("--connection", metavar="ADDRESS", help="postgresql://…"),
)


def _schema(command: Command) -> Command:
    return with_options(command, _OPTIONS)


@click.group()
def policy() -> None:
    """Check a policy, or whether one relaxes another."""


@policy.command()
@click.argument("sql")
@click.argument("file", required=False)
@_schema
@as_json
def check(sql: str, file: str | None, as_json: bool, **columns: str | None) -> None:
    """Say whether SQL is a policy, for the columns of FILE if one is named.

    The canonical form is shown.
    """
    from onesided.policy import Policy

    if file is not None:
        if columns["source"] is not None:
            raise RequestError("Name the file once: as FILE, or with --schema.")
        columns["source"] = file

    accepted = Policy(sql)
    schema = _schema_of(**columns)
    bound = accepted if schema is None else accepted.bind(schema)
    facts = {"policy": bound.sql, "columns": ", ".join(bound.columns), "id": bound.id}
    (show_json if as_json else show_facts)(facts)


@policy.command()
@click.argument("first")
@click.argument("second")
@_schema
@as_json
def relaxes(first: str, second: str, as_json: bool, **columns: str | None) -> int:
    """Say whether all that FIRST calls sensitive is sensitive under SECOND too.

    Exit code 0 if that is proven, otherwise 1.
    """
    from onesided.policy import Policy

    answer = Policy(first).relaxes(Policy(second), _schema_of(**columns))
    facts: dict[str, Any] = {"relaxes": answer.verdict.value, "reason": answer.reason}
    if answer.counterexample is not None:
        facts["counterexample"] = {
            column: None if value is None else str(value)
            for column, value in answer.counterexample.items()
        }
    (show_json if as_json else show_facts)(facts)
    return 0 if answer else 1


def _schema_of(source: str | None, table: str | None, connection: str | None) -> Any:
    if source is None and table is None and connection is None:
        return None
    from onesided.session import schema_of

    return schema_of(source, table=table, connection=connection)
