"""Several processes that serve as one: on one socket, one ledger and one storage.

Each opens the data for itself. A question is run by whichever is first to claim it, and a process
that dies is replaced by another. Where the one that began them is killed, they end as well.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

LEAST_SECONDS = 1.0
"""A process that lived for less was not ended by chance: the next one waits."""


def run_workers(number: int, work: Callable[[], None]) -> None:
    """Have `work` done by so many processes, until an interruption ends all of them."""
    children: dict[int, float] = {}
    # Nothing is ever written into it: it ends with this process, whatever ends that.
    alive, held = os.pipe()
    try:
        while True:
            while len(children) < number:
                children[_forked(work, alive, held)] = time.monotonic()
            ended, _ = os.wait()
            begun = children.pop(ended, None)
            if begun is not None and time.monotonic() - begun < LEAST_SECONDS:
                time.sleep(LEAST_SECONDS)
    finally:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        for child in children:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _forked(work: Callable[[], None], alive: int, held: int) -> int:
    """A process that does `work` and ends."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.close(held)
        threading.Thread(target=_end_after, args=(alive,), daemon=True).start()
        work()
        code = 0
    finally:
        os._exit(code)


def _end_after(alive: int) -> None:
    """End this process, by the signal that lets it finish, when the one that began it is gone."""
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGTERM)
