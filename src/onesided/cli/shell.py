"""`onesided completion` and `onesided man`: what a shell and a reader of manuals want."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from onesided.cli.printing import say
from onesided.version import __version__


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands and options.

    For bash: `onesided completion bash > ~/.local/share/bash-completion/completions/onesided`.
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None  # one of the three that click brings
    root = context.find_root().command
    say(made(root, {}, "onesided", "_ONESIDED_COMPLETE").source().strip("\n"))


@click.command()
@click.pass_context
def man(context: click.Context) -> None:
    """Print the manual page, such as for `onesided man | man -l -`."""
    root = context.find_root().command
    assert isinstance(root, click.Group)
    say("\n".join(_page(root)))


def _page(root: click.Group) -> Iterator[str]:
    above = click.Context(root, info_name="onesided")
    yield f'.TH ONESIDED 1 "" "onesided {__version__}"'
    yield ".SH NAME"
    yield _plain("onesided - publish data in which only some records are sensitive")
    yield ".SH SYNOPSIS"
    yield "\\fBonesided\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]"
    yield ".SH DESCRIPTION"
    yield _text(root)
    yield ".SH COMMANDS"
    yield from _commands(root, above)


def _commands(group: click.Group, above: click.Context) -> Iterator[str]:
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is None:
            continue
        context = click.Context(command, info_name=name, parent=above)
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        yield f'.SS "{_plain(usage)}"'
        yield _text(command)
        for option in command.get_params(context):
            record = option.get_help_record(context)
            if record is not None:
                yield from (".TP", f"\\fB{_plain(record[0])}\\fR", _plain(record[1]))
        if isinstance(command, click.Group):
            yield from _commands(command, context)


def _text(command: click.Command) -> str:
    paragraphs = inspect.cleandoc(command.help or "").replace("\b", "").split("\n\n")
    return "\n.PP\n".join(_plain(" ".join(each.split())) for each in paragraphs)


def _plain(text: str) -> str:
    """A text in which roff sees no request, no escape and no hyphen to break at."""
    written = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{written}" if written.startswith((".", "'")) else written
