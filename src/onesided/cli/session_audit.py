"""`onesided audit session`."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import click

from onesided.cli.output import as_json, progress, show_facts, show_json, show_line
from onesided.errors import CheckFailed, RequestError

if TYPE_CHECKING:
    from onesided.audit.session import SessionFinding, SessionReport

_MOST_LETTERS = 2000


@click.command("session")
@click.option(
    "--engine",
    default="duckdb",
    show_default=True,
    help="duckdb, postgres, datafusion, spark, command for the command line, or http.",
)
@click.option(
    "--connection", metavar="ADDRESS", help="postgresql://…, or for Spark local[2] or spark://…."
)
@click.option("--time", default=60.0, show_default=True, help="Seconds for the whole audit.")
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    help="Stop after this many pairs; default: when the time is over.",
)
@click.option("--seed", default=0, show_default=True, help="Of the tables and requests.")
@as_json
def session(
    engine: str, connection: str | None, time: float, pairs: int | None, seed: int, as_json: bool
) -> None:
    """Look for anything that a whole release shows and should not; exit code 1 if there is any.

    Pairs of small tables that differ in one sensitive unit, with hostile values, go through
    requests of every kind. All that is seen must follow from the request and the released values.
    With postgres, schemas of our own are made and dropped in the database at --connection.
    """
    from onesided.audit.session import SURFACES, SessionAudit

    if not 0 < time < inf:
        raise RequestError("--time must be a number of seconds above 0.")
    with progress(f"Auditing sessions on {engine}") as advance:
        report = SessionAudit(
            engine=engine,
            connection=connection,
            seconds=time,
            pairs=pairs,
            seed=seed,
            surfaces={**SURFACES, **_served(engine)},
            progress=lambda done, seconds: advance(
                int(1000 * max(seconds / time, done / pairs if pairs else 0)), 1000
            ),
        ).run()
    if as_json:
        show_json(report.to_json())
    else:
        _show(report)
    if report.rejected:
        raise CheckFailed(f"Something is seen that was not released: {report.findings[0].words}.")


def _served(engine: str) -> dict[str, Any]:
    """The server as an engine, where it is the one that is meant."""
    if engine != "http":
        return {}
    from onesided.cli.server import server_needed

    with server_needed():
        from onesided.server.audited import over_http
    return {"http": over_http}


def _show(report: SessionReport) -> None:
    show_line(f"looked at {report.words}")
    for finding in report.findings:
        _show_finding(finding)
    if not report.rejected:
        show_line("nothing was seen but what follows from requests and released values")


def _show_finding(finding: SessionFinding) -> None:
    facts = finding.to_json()
    show_facts({"differs": finding.words, "policy": facts["policy"], "unit": facts["unit"]})
    for request in finding.case.requests:
        show_line(f"request    {request}")
    show_line(f"columns    {facts['types']}")
    for name, rows in facts["tables"].items():
        show_line(f"{name}:")
        for row in rows:
            show_line("  " + _short(" | ".join(row)))
    for side in ("seen", "explained"):
        show_line(f"{side}:")
        for line in _short(facts[side]).splitlines():
            show_line("  " + line)


def _short(text: Any) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
