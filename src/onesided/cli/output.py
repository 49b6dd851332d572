"""How commands show results: a short table for people, JSON for programs, nothing else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import click

from onesided.cli.printing import note, say
from onesided.visible import json_text, visible

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace existing output.")
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A .parquet, .csv or .arrow file; default: show the table.",
)

MOST_ROWS = 40
_WIDE = 200
_PAUSE = 0.2


def show_json(content: Mapping[str, Any] | Sequence[Any]) -> None:
    """One JSON document on standard output."""
    say(json_text(content, default=str))


def show_table(
    title: str | None,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: Collection[str] = (),
) -> None:
    """A table as wide as its content. No text in it is taken for markup.

    - `numbers`: columns whose cells stand at the right.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heading = None if title is None else Text(visible(title))
    table = Table(title=heading, title_justify="left", title_style="bold", header_style="bold")
    for column in columns:
        justify: Any = "right" if column in numbers else "left"
        table.add_column(Text(visible(column)), overflow="fold", justify=justify)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    terminal = is_terminal(sys.stdout)
    # Rich would end the process by itself where nobody reads any more.
    drawn = StringIO()
    console = Console(
        file=drawn,
        highlight=False,
        force_terminal=terminal,
        width=Console().width if terminal else _WIDE,
    )
    console.print(table)
    say(drawn.getvalue().removesuffix("\n"))


def show_facts(facts: Mapping[str, Any]) -> None:
    """Names and values, one per line."""
    width = max(map(len, facts))
    for name, value in facts.items():
        show_line(f"{name:<{width}}  {value}")


def show_line(text: str) -> None:
    """One line, in which nothing acts."""
    say(visible(text))


@contextmanager
def working(message: str, share: Callable[[], float | None] = lambda: None) -> Iterator[None]:
    """A sign of life on a terminal, nothing in a pipe.

    - `share`: how much is done, asked now and then from another thread; where it answers, the bar
      shows the remaining time. It is for the steward at the terminal, and goes nowhere else.
    """
    if not is_terminal(sys.stderr):
        yield
        return
    with _bar(message) as (bar, task), _repeated(lambda: _moved(bar, task, share())):
        yield


@contextmanager
def progress(message: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with the remaining time on a terminal, moved by `advance(done, total)`."""
    if not is_terminal(sys.stderr):
        yield lambda done, total: None
        return
    with _bar(message) as (bar, task):
        yield lambda done, total: bar.update(task, completed=done, total=total)


def step_by_step() -> Callable[[str], None]:
    """Says each step on a line of its own where no bar moves."""
    return (lambda message: None) if is_terminal(sys.stderr) else note


@contextmanager
def _bar(message: str) -> Iterator[tuple[Any, Any]]:
    """A bar on standard error and its task; it is gone at the end."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield bar, bar.add_task(escape(visible(message)), total=None)


def _moved(bar: Any, task: Any, share: float | None) -> None:
    """Each statement of a release starts from 0 again, and its speed is its own."""
    if share is None:
        return
    if share < bar.tasks[task].completed:
        bar.reset(task)
    bar.update(task, completed=share, total=1)


@contextmanager
def _repeated(work: Callable[[], None]) -> Iterator[None]:
    """Does `work` several times a second in a thread of its own."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(_PAUSE):
            work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def is_terminal(stream: Any) -> bool:
    """Python has no stream where one was closed."""
    return stream is not None and stream.isatty()


def _cell(value: Any) -> str:
    from onesided.digits import ColumnDigits

    if value is None:
        return ""
    return ColumnDigits.of([value]).text(value) if isinstance(value, float) else visible(str(value))
