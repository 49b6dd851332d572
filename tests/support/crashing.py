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
from onesided.loss import Loss
from support.ledgers import Place, order, reservation, terms

STATEMENTS, STATEMENTS_IN_STEPS = 36, 64
"""More than one request runs, at once or in steps, so that some customers survive."""

CHOSEN = Loss("1/4", "3/4")
"""What a customer who asks in steps settles for."""


@dataclass(frozen=True)
class Told:
    """What the customer said before it died, which is what the world has seen."""

    charged: int | None
    seen: bytes | None
    settled: bool
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
    place: Place,
    request: str,
    *,
    fuse: Fuse | None = None,
    seconds: float | None = None,
    in_steps: bool = False,
) -> Told:
    """Run one request in a child that dies by its fuse or after so many seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with suppress(BaseException):
            _serve(place, request, writer, fuse, in_steps=in_steps)
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
    return Told(
        charged=int(charged) if charged else None,
        seen=lines.get(b"seen"),
        settled=b"settled" in lines,
        shown=lines.get(b"shown"),
        survived=b"done" in lines,
    )


def _serve(place: Place, request: str, writer: int, fuse: Fuse | None, *, in_steps: bool) -> None:
    ledger = place.open()
    os.write(writer, b"ready\n")
    if fuse is not None:
        lay(fuse)
    account = ledger.account(terms(None))
    snapshot = account.snapshot("data-1")
    (charge,) = account.charge([reservation(request) if in_steps else order(request)], snapshot)
    os.write(writer, b"charged %d\n" % charge.number)
    if in_steps:
        seen = account.keep_step(charge, "probe", secrets.token_hex(8).encode())
        os.write(writer, b"seen " + seen + b"\n")
        charge = account.settle(charge, CHOSEN, {"noise": "chosen"})
        os.write(writer, b"settled now\n")
    noisy = secrets.token_hex(2000).encode()
    release = charge.release or account.store(charge, noisy, {"request": request})
    os.write(writer, b"shown " + release.payload[:64] + b"\n")
    os.write(writer, b"done now\n")


def lay(fuse: Fuse) -> None:
    """Count every statement of the ledger, and every commit as one."""
    plain = rows.LedgerRows.__init__

    def fused(self: rows.LedgerRows, run: rows.StatementRunner, *, lock: str = "") -> None:
        plain(self, fuse.around(run), lock=lock)

    rows.LedgerRows.__init__ = fused  # type: ignore[method-assign]
    for kind in store.Store.__subclasses__():
        kind.commit = fuse.around(kind.commit)  # type: ignore[method-assign]
