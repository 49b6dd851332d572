"""A customer who is killed in the middle of a request, at a chosen statement or moment."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from onesided.ledger import rows, store
from support.ledgers import Place, pay, spending, terms

STATEMENTS = 36
"""More than one request runs, so that some customers survive."""


@dataclass(frozen=True)
class Told:
    """What the customer said before it died, which is what the world has seen."""

    charged: int | None
    shown: bytes | None
    survived: bool


@dataclass
class Fuse:
    """Kills its process by -9 before or after the statement number `at`."""

    at: int
    after: bool
    count: int = field(default=0)

    def around(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """`run`, with the fuse burning."""

        def burning(*arguments: Any) -> Any:
            self.count += 1
            if self.count == self.at and not self.after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = run(*arguments)
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return burning


def killed_customer(
    place: Place, request: str, *, fuse: Fuse | None = None, seconds: float | None = None
) -> Told:
    """Run one request in a child that dies by its fuse or after so many seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with suppress(BaseException):
            _serve(place, request, writer, fuse)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.readline() == b"ready\n"
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        lines = dict(line.split(b" ", 1) for line in pipe.read().splitlines())
    os.waitpid(child, 0)
    charged = lines.get(b"charged")
    return Told(int(charged) if charged else None, lines.get(b"shown"), b"done" in lines)


def _serve(place: Place, request: str, writer: int, fuse: Fuse | None) -> None:
    ledger = place.open()
    os.write(writer, b"ready\n")
    if fuse is not None:
        _lay(fuse)
    account = ledger.account(terms(None))
    snapshot = account.snapshot("data-1")
    charge = pay(account, snapshot, request, spending())
    os.write(writer, b"charged %d\n" % charge.number)
    noisy = secrets.token_hex(2000).encode()
    release = charge.release or account.store(charge, noisy, {"request": request})
    os.write(writer, b"shown " + release.payload[:64] + b"\n")
    os.write(writer, b"done now\n")


def _lay(fuse: Fuse) -> None:
    """Count every statement of the ledger, and every commit as one."""
    plain = rows.Rows.__init__

    def fused(self: rows.Rows, run: rows.Runner, *, lock: str = "") -> None:
        plain(self, fuse.around(run), lock=lock)

    rows.Rows.__init__ = fused  # type: ignore[method-assign]
    for kind in store.Store.__subclasses__():
        kind.commit = fuse.around(kind.commit)  # type: ignore[method-assign]
