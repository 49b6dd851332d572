"""Who made a private directory, and whether that process still lives."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

_MOST_BYTES = 4096
_WORD = "onesided private directory"


@dataclass(frozen=True)
class Owner:
    """A process: its number, when it started, and on which start of which machine.

    What the system does not tell is empty.
    """

    process: int
    started: str
    host: str
    boot: str
    word: str = _WORD

    @classmethod
    def of_this_process(cls) -> Owner:
        return cls(os.getpid(), _started(os.getpid()), platform.node(), _boot())

    @classmethod
    def read(cls, mark: int) -> Owner | None:
        """Who wrote the open file; None where nobody did, or not to its end."""
        try:
            content = json.loads(os.pread(mark, _MOST_BYTES, 0))
            owner = cls(**content)
        except (ValueError, TypeError):
            return None
        return owner if owner.word == _WORD else None

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    def is_dead(self) -> bool:
        """Whether nobody holds what it locked, for whoever has the lock now.

        Another machine that shares the folder may not see our locks, nor we its own.
        """
        here = self.host == platform.node() or (self.boot != "" and self.boot == _boot())
        lives = self.started != "" and _started(self.process) == self.started
        return here and not (lives and self.boot == _boot())


def is_locked_by_us(handle: int, *, wait: bool = False) -> bool:
    """Lock the open file for this process; False where another one has it or nobody can."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Nobody else is in such a block for this file, which is made for it, and open in it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        is_locked_by_us(handle, wait=True)
        yield handle
    finally:
        os.close(handle)


def _started(process: int) -> str:
    """The moment in ticks since the machine started; empty where it is not known."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is a name in parentheses that may hold anything; the 22nd is the start.
    return told.rpartition(")")[2].split()[19]


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
