"""How many requests a person may send: so many a minute, some of them at once.

What is left to each is kept in a file, so that several processes of a server count together.
"""

from __future__ import annotations

import os
import struct
import threading
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from time import monotonic

from onesided.data.owner import locked
from onesided.data.private import PrivateDirectory
from onesided.server.problems import Problem

_FILE, _ENTRY = "requests", struct.Struct("<dd")
_PLACES = 1 << 20
"""Where the entry of a key may be; two keys hardly ever share a place."""


class RequestRate:
    """Lets `a_minute` requests through for each key, on the average.

    - `folder`: where all processes of a server on this machine have their storage.
    """

    def __init__(self, a_minute: int, folder: Path) -> None:
        self._a_second = a_minute / 60
        self._most = float(a_minute)
        self._folder = folder
        self._turn = threading.Lock()

    def take(self, key: str) -> None:
        """Count a request; 429 where there were too many."""
        place = int.from_bytes(sha256(key.encode()).digest()) % _PLACES * _ENTRY.size
        with self._turn, locked(self._file) as entries:
            now = monotonic()  # of the machine, and so the same in all processes
            found = os.pread(entries, _ENTRY.size, place).ljust(_ENTRY.size, b"\0")
            left, since = _ENTRY.unpack(found)
            if not 0 < since <= now:  # a new entry, or one of before the machine was started
                left, since = self._most, now
            left = min(self._most, left + (now - since) * self._a_second)
            allowed = left >= 1
            os.pwrite(entries, _ENTRY.pack(left - 1 if allowed else left, now), place)
        if not allowed:
            wait = str(int((1 - left) / self._a_second) + 1)
            raise Problem(
                429, "These are too many requests; ask more slowly.", headers={"Retry-After": wait}
            )

    @cached_property
    def _file(self) -> Path:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._folder / _FILE):
                return self._folder / _FILE
        except OSError:  # then this process counts for itself
            self._own = PrivateDirectory()
            return self._own.path / _FILE
