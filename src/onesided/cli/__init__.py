"""The command `onesided`: thin, one file a group of commands, each loaded when it is called.

`--help` and `--version` answer from this file alone, without NumPy or an engine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from onesided.errors import Interrupted, OnesidedError
from onesided.version import __version__

INTERRUPTED = 130
_PASSWORD = re.compile(r"(://[^\s:/@]*):[^\s@]*@")

#: name → (module below onesided.cli, function, summary)
_COMMANDS = {
    "demo": ("demo", "demo", "Simulate a building and publish it: a tour in a minute."),
    "sample": ("releases", "sample", "Publish true records of non-sensitive units."),
    "count": ("releases", "count", "Publish counts of units by group."),
    "sum": ("sums", "sum_", "Publish sums of a column by group."),
    "mean": ("sums", "mean", "Publish means of a column by group."),
    "sql": ("sql", "sql", "Answer one SELECT: counts, sums and means by group."),
    "plan": ("account", "plan", "What a count would cost and how exact it would be; free."),
    "budget": ("account", "budget", "Show, verify or raise the budgets of a ledger."),
    "policy": ("policies", "policy", "Check a policy, or whether one relaxes another."),
    "mechanisms": ("mechanisms", "mechanisms", "List the mechanisms."),
    "audit": ("audit", "audit", "Try to refute what a mechanism promises."),
    "attack": ("audit", "attack", "Exclusion attacks: what an attacker learns."),
    "simulate": ("datasets", "simulate", "Make the Wi-Fi trace of a building."),
    "trajectories": (
        "datasets",
        "trajectories",
        "Turn Wi-Fi associations into trajectories.",
    ),
    "reproduce": ("reproduce", "reproduce", "Measure the paper's evaluation again."),
}


class _LazyGroup(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, function, _ = _COMMANDS[cmd_name]
        command = getattr(import_module(f"onesided.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in _COMMANDS.items()])


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="onesided", message="%(prog)s %(version)s")
def cli() -> None:
    """Publish data in which only some records are sensitive.

    A policy says which records are (true or NULL means sensitive); one-sided differential privacy
    protects them and even hides which they are, and the rest is used almost freely.

    Exit codes: 0 done, 1 a check says no, 2 bad input, 3 over budget, 4 failed after the charge,
    130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; every error is one sentence on standard error and an exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """As `main`, but returns the exit code."""
    try:
        result = cli.main(args=arguments, prog_name="onesided", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except OnesidedError as error:
        _say(str(error))
        return error.exit_code
    except click.ClickException as error:
        _say(error.format_message())
        return 2
    except (KeyboardInterrupt, click.Abort) as error:
        # Click wraps an interruption into an error of its own.
        known = next((each for each in (error, error.__cause__) if type(each) is Interrupted), None)
        _say(str(known or "Interrupted; what was charged stays charged."))
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # nobody reads any more; the interpreter must not complain about it
        return 0


def _say(sentence: str) -> None:
    """An error on standard error; what was typed may be quoted in it, but no password."""
    click.echo("onesided: " + _PASSWORD.sub(r"\1:…@", sentence), err=True)
