"""How commands show results: a short table for people, JSON for programs, nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace existing output.")

MOST_ROWS = 40
_WIDE = 200


def show_json(content: Mapping[str, Any] | Sequence[Any]) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, default=str))


def show_table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table as wide as its content."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    width = None if sys.stdout.isatty() else _WIDE
    Console(highlight=False, width=width).print(table)


def show_facts(facts: Mapping[str, Any]) -> None:
    """Names and values, one a line."""
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:<{width}}  {value}")


@contextmanager
def working(message: str) -> Iterator[None]:
    """A sign of life on a terminal; nothing in a pipe, and nothing that depends on the data."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


@contextmanager
def progress(message: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with the remaining time on a terminal, moved by `advance(done, total)`."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
