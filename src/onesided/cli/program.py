"""The group of all commands, and what every way in and out of it has in common.

`--help` and `--version` answer from this file alone, without NumPy or an engine.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from onesided.cli import INTERRUPTED, READER_GONE
from onesided.cli.printing import NotPrinted, ReaderGone, fill_closed_streams, note, silence
from onesided.cli.quick_start import start_without_pandas
from onesided.cli.stop import NOTHING_CHARGED, Stop
from onesided.errors import Interrupted, OnesidedError, RequestError
from onesided.spelling import meant
from onesided.version import __version__
from onesided.visible import visible

_COMPLETION = "_ONESIDED_COMPLETE"
#: Python's stand-ins for bytes that are no text.
_LONE = re.compile("[\ud800-\udfff]")
_PASSWORD = re.compile(r"(://[^\s:/@]*):[^\s@]*@")

#: name → (module below onesided.cli, function, summary)
_COMMANDS = {
    "demo": ("demo", "demo", "Simulate a building and publish it: a tour in a minute."),
    "sample": ("releases", "sample", "Publish true records of non-sensitive units."),
    "count": ("releases", "count", "Publish counts of units by group."),
    "sum": ("sums", "sum_", "Publish sums of a column by group."),
    "mean": ("sums", "mean", "Publish means of a column by group."),
    "quantile": ("quantiles", "quantile", "Publish quantiles of a column by group."),
    "histogram": ("quantiles", "histogram", "Publish how many units are between given edges."),
    "describe": (
        "describe",
        "describe",
        "Publish what each column holds: missing, different, spread.",
    ),
    "distinct": ("distinct", "distinct", "Publish how many different values a column has."),
    "weigh": ("weigh", "weigh", "Give a released sample weights, from released counts; free."),
    "sql": ("sql", "sql", "Answer one SELECT: counts, sums and means by group."),
    "run": ("runs", "run", "Answer several questions from a file, charged all or none."),
    "check": ("check", "check", "What a steward should look at before publishing; free."),
    "snapshot": ("snapshots", "snapshot", "Open the new state of data that grow; for the steward."),
    "plan": ("plans", "plan", "Show what a question would cost and how exact it would be; free."),
    "budget": ("account", "budget", "Show, verify or raise the budgets of a ledger."),
    "serve": ("serve", "serve", "Let people ask who do not hold the data; and say who may."),
    "ui": ("ui", "ui", "Open the console in a browser, for a file of your own."),
    "publish": ("publishing", "publish", "Write a page about releases, for who gets the data."),
    "report": ("publishing", "report", "Write a page about a ledger, for who audits it."),
    "verify": ("publishing", "verify", "Check a published page, a receipt or a chain."),
    "policy": ("policies", "policy", "Check a policy, or whether one relaxes another."),
    "map": ("maps", "map_", "Say what a public map makes sensitive; from the map alone."),
    "mechanisms": ("mechanisms", "mechanisms", "List the mechanisms."),
    "audit": ("audits", "audits", "Try to refute what a mechanism or a session promises."),
    "attack": ("attacks", "attack", "Attack releases, and show what an attacker learns."),
    "simulate": ("datasets", "simulate", "Make the Wi-Fi trace of a building."),
    "trajectories": (
        "datasets",
        "trajectories",
        "Turn Wi-Fi associations into trajectories.",
    ),
    "reproduce": ("reproduce", "reproduce", "Measure the paper's evaluation again."),
    "completion": ("shell", "completion", "Print what makes a shell complete commands."),
    "man": ("shell", "man", "Print the manual page."),
}


class _LazyGroup(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, function, _ = _COMMANDS[cmd_name]
        command = getattr(import_module(f"onesided.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            from onesided.spelling import meant

            raise RequestError(
                f"There is no command {name}{meant(name, _COMMANDS)}; see onesided --help."
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in _COMMANDS.items()])


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="onesided", message="%(prog)s %(version)s")
def cli() -> None:
    """Publish data in which only some records are sensitive.

    A policy says which records are sensitive. One-sided differential privacy protects them and even
    hides which they are. The other records are used almost freely.

    Exit codes: 0 done, 1 a check says no, 2 bad input, 3 over budget, 4 failed after the charge,
    130 interrupted, 141 nobody reads the output any more, 143 terminated.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command within another program; the exit code."""
    stop = Stop()
    with stop.installed():
        return _run(sys.argv[1:] if arguments is None else list(arguments), stop)


def run_as_program(arguments: Sequence[str] | None) -> int:
    """Run the command as a process of its own, which ends afterwards; the exit code."""
    start_without_pandas()
    fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # letters that it lacks are written out
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    stop = Stop()
    with stop.installed(to_the_end=True):
        code = _run(sys.argv[1:] if arguments is None else list(arguments), stop)
        silence()
        return code


def _run(arguments: list[str], stop: Stop) -> int:
    try:
        stop.begin()
        code, sentence = _ended(arguments, stop)
        stop.finish()
    except KeyboardInterrupt:
        stop.finish()
        code, sentence = stop.exit_code or INTERRUPTED, NOTHING_CHARGED
    if sentence:
        # What was typed may be quoted in it, but no password.
        note("onesided: " + visible(_PASSWORD.sub(r"\1:…@", sentence)))
    return code


def _ended(arguments: list[str], stop: Stop) -> tuple[int, str]:
    """The exit code, and what is said on standard error."""
    try:
        return _invoked(arguments, stop), ""
    except OnesidedError as error:
        stop.finish()
        return error.exit_code, _as_options(str(error), arguments)
    except click.exceptions.Exit as end:
        return end.exit_code, ""
    except click.NoSuchOption as error:
        # Of several options that are spelt alike, the one that is spelt most alike is meant.
        likely = meant(error.option_name, error.possibilities or ())
        return 2, f"There is no option {error.option_name}{likely}."
    except click.ClickException as error:
        # A list of choices comes in lines of its own.
        return 2, " ".join(error.format_message().split())
    except (ReaderGone, BrokenPipeError):
        return READER_GONE, ""
    except NotPrinted:
        return 2, "The answer could not be printed; check what standard output leads to."
    except Interrupted as error:
        return stop.exit_code or INTERRUPTED, str(error)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return 2, f"The system refused something: {reason}; check disk, memory and rights."
    except Exception:
        stop.check()  # a library may report an interruption as an error of its own
        raise


def _as_options(sentence: str, arguments: list[str]) -> str:
    """A sentence with the options of a command in place of the arguments of a function."""
    command = next((cli.get_command(None, each) for each in arguments if each in _COMMANDS), None)
    for option in [] if command is None else command.params:
        if isinstance(option, click.Option) and option.name is not None and "_" in option.name:
            sentence = re.sub(rf"(?<![\w'\"-]){option.name}(?![\w'\"-])", option.opts[-1], sentence)
    return sentence.replace("yes=True", "--yes")


def _invoked(arguments: list[str], stop: Stop) -> int:
    if any(_LONE.search(each) for each in arguments):
        raise RequestError("What was typed is not UTF-8; rename the file, or type it as UTF-8.")
    if _COMPLETION in os.environ:
        cli.main(prog_name="onesided")
    with cli.make_context("onesided", arguments, obj=stop) as context:
        result = cli.invoke(context)
    return result if isinstance(result, int) else 0
