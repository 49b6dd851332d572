"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator

import click


def every_command() -> str:
    """A section for each command: what it does, how it is called, and its options."""
    from onesided.cli.program import cli

    return "\n".join(_sections(cli, click.Context(cli, info_name="onesided")))


def _sections(group: click.Group, above: click.Context) -> Iterator[str]:
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is None or command.hidden:
            continue
        context = click.Context(command, info_name=name, parent=above)
        yield _section(command, context)
        if isinstance(command, click.Group):
            yield from _sections(command, context)


def _section(command: click.Command, context: click.Context) -> str:
    # An option's help may hold what Markdown reads as HTML or as a cell of a table.
    depth = 2 if context.parent is not None and context.parent.parent is None else 3
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"{'#' * depth} {context.command_path}", "", f"```text\n{usage}\n```", ""]
    lines += [_plain(textwrap.dedent(inspect.cleandoc(command.help or ""))), ""]
    records = [
        record
        for option in command.get_params(context)
        if (record := option.get_help_record(context)) is not None
    ]
    if records:
        lines += ["| option | what it is for |", "|---|---|"]
        lines += [f"| `{name}` | {_plain(text)} |".replace("\n", " ") for name, text in records]
    example = getattr(command, "example", "")
    if example:
        lines += ["", f"```text\n{example}\n```"]
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), ("|", "&#124;"), ("*", "&#42;")):
        text = text.replace(sign, written)
    return text.replace("\b\n", "")
