"""What a command says about a release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from onesided.cli.output import MOST_ROWS, show_facts, show_json, show_table


def check_output(out: Path | None, *, overwrite: bool) -> None:
    """Refuse an output that cannot be written before anything is paid for it."""
    from onesided.data.release import output_files

    if out is not None:
        output_files(out, overwrite=overwrite, receipt=True)


def show_release(release: Any, out: Path | None, *, overwrite: bool, as_json: bool) -> None:
    """Write a released table with its receipt to `out`, or show it where there is none."""
    written = () if out is None else release.write(out, overwrite=overwrite, receipt=True)
    if not as_json and out is None:
        show_rows(release.table)
    report(release, written, as_json, rows=out is None)


def show_rows(table: Any) -> None:
    """The first rows of a released table, and how many there are more."""
    shown = table.slice(0, MOST_ROWS)
    show_table(None, shown.column_names, zip(*shown.to_pydict().values(), strict=True))
    if len(table) > MOST_ROWS:
        click.echo(f"… {len(table) - MOST_ROWS:,} more rows; --out writes all of them.")


def report(
    release: Any, written: Sequence[str | Path], as_json: bool, *, rows: bool = False
) -> None:
    """Where a release was written, what it promises and what it cost; with `rows` itself too."""
    receipt = release.receipt
    if as_json:
        content = {"written": [str(path) for path in written], "receipt": dict(receipt.content)}
        if rows:
            content["rows"] = release.table.to_pylist()
        show_json(content)
        return
    account = receipt["account"]
    facts = {"written": ", ".join(map(str, written))} if written else {}
    show_facts(
        {
            **facts,
            "mechanism": receipt["mechanism"],
            "promise": receipt["guarantee"],
            "cost": f"ε = {account['cost']}; spent {account['spent']} of {account['budget']}, "
            f"left {account['left']} ({account['ledger']})",
        }
    )
