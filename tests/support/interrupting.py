"""Signals for a real process of the command: as soon as it has charged, or at any moment."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet

from onesided.ledger import Balance, open_ledger

COMMAND = str(Path(sys.executable).with_name("onesided"))
SECONDS = 240  # a busy machine takes its time to start Java
LEDGER = "account.ledger"
OUT = "sample.parquet"


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it said."""

    code: int
    shown: str
    said: str
    seconds: float


def command(ask: Sequence[str], folder: Path) -> list[str]:
    """`ask` for ε = 1 of a budget of 2, with ledger and output in `folder`."""
    account = ["--epsilon", "1", "--ledger", str(folder / LEDGER), "--budget", "2"]
    return [COMMAND, *ask, *account, "--out", str(folder / OUT)]


def interrupted(
    ask: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    number: signal.Signals = signal.SIGINT,
) -> tuple[int, str]:
    """The exit code and what is said on standard error; standard output has to be empty."""
    with _started(ask, folder, environment) as process:
        _wait_for_the_charge(folder)
        process.send_signal(number)
        shown, said = process.communicate(timeout=SECONDS)
    assert shown == ""
    return process.returncode, said


def ended_by(
    ask: Sequence[str],
    folder: Path,
    number: signal.Signals | None,
    moment: float = 0,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """How the command ends that gets the signal `moment` seconds after it began to listen."""
    with _started(ask, folder, environment) as process:
        _wait_for_handlers(process)
        start = time.monotonic()
        if number is not None:
            try:
                process.wait(moment)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
        shown, said = process.communicate(timeout=SECONDS)
        return Ended(process.returncode, shown, said, time.monotonic() - start)


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


def check_left_behind(folder: Path, ended: Ended, number: signal.Signals) -> None:
    """Outputs are whole or absent, and one sentence says what was charged."""
    receipt = (folder / OUT).with_suffix(".receipt.json")
    written = (folder / OUT).exists()
    assert receipt.exists() is written, ended
    if written:
        pyarrow.parquet.read_table(folder / OUT)
        json.loads(receipt.read_text(encoding="utf-8"))
    if ended.code == 0:
        assert written, ended
        assert ended.said == "", ended
        return
    assert ended.code == 128 + number, ended
    assert ended.said.startswith("onesided: Interrupted"), ended
    assert ended.said.count("\n") == 1, ended
    account = balance(folder)
    charged = account is not None and bool(account.charges)
    assert ("before anything was charged" in ended.said) is not charged, (ended, account)
    assert charged is ("ε = " in ended.said), ended


@contextmanager
def _started(
    ask: Sequence[str], folder: Path, environment: Mapping[str, str] | None
) -> Iterator[subprocess.Popen[str]]:
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
        yield process
    finally:
        process.kill()  # only where it did not end by itself
        process.communicate()


def _wait_for_the_charge(folder: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = balance(folder)
        if found is not None and found.charges:
            return
        time.sleep(0.01)
    raise AssertionError("nothing was charged")


def _wait_for_handlers(process: subprocess.Popen[str]) -> None:
    """Until the process handles SIGTERM: what it does with it before is the system's affair."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)
