"""Ctrl-C for a real process of the command, as soon as it has charged for what it is asked."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from onesided.ledger import Balance, open_ledger

COMMAND = str(Path(sys.executable).with_name("onesided"))
SECONDS = 240  # a busy machine takes its time to start Java
LEDGER = "account.ledger"
OUT = "sample.parquet"


def command(ask: Sequence[str], folder: Path) -> list[str]:
    """`ask` for ε = 1 of a budget of 2, with ledger and output in `folder`."""
    account = ["--epsilon", "1", "--ledger", str(folder / LEDGER), "--budget", "2"]
    return [COMMAND, *ask, *account, "--out", str(folder / OUT)]


def interrupted(
    ask: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The exit code and what is said on standard error; standard output has to be empty."""
    process = subprocess.Popen(
        command(ask, folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # A shell lets what it runs in the background ignore Ctrl-C, tests included.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        _wait_for_the_charge(folder)
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()  # only where it did not end by itself
    assert shown == ""
    return process.returncode, said


def balance(folder: Path) -> Balance | None:
    """Where the account stands; None before it is opened."""
    if not (folder / LEDGER).exists():
        return None
    ledger = open_ledger(folder / LEDGER, create=False)
    try:
        accounts = ledger.accounts()
        return accounts[0].balance() if accounts else None
    finally:
        ledger.close()


def _wait_for_the_charge(folder: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = balance(folder)
        if found is not None and found.charges:
            return
        time.sleep(0.01)
    raise AssertionError("nothing was charged")
