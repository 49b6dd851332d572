"""The command `onesided`: thin, one file per group of commands, each loaded when it is called."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

#: Exit codes of what ended the command from outside, as a shell writes them: 128 and the signal.
INTERRUPTED = 130
TERMINATED = 143
READER_GONE = 141


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; every error is one sentence on standard error and an exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # As long as there is nothing to tidy up, Ctrl-C ends the process without a word.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from onesided.cli.program import run_as_program

    sys.exit(run_as_program(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """As `main`, but returns the exit code."""
    from onesided.cli.program import run

    return run(arguments)
