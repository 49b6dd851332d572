"""How many requests a person may send: so many a minute, some of them at once."""

from __future__ import annotations

import threading
from time import monotonic

from onesided.server.problems import Problem

_MOST_KNOWN = 10_000


class RequestRate:
    """Lets `a_minute` requests through for each key, on the average."""

    def __init__(self, a_minute: int) -> None:
        self._a_second = a_minute / 60
        self._most = float(a_minute)
        self._left: dict[str, tuple[float, float]] = {}
        self._turn = threading.Lock()

    def take(self, key: str) -> None:
        """Count a request; 429 where there were too many."""
        with self._turn:
            now = monotonic()
            left, since = self._left.get(key, (self._most, now))
            left = min(self._most, left + (now - since) * self._a_second)
            allowed = left >= 1
            if len(self._left) >= _MOST_KNOWN:
                self._left.clear()
            self._left[key] = (left - 1 if allowed else left, now)
        if not allowed:
            wait = str(int((1 - left) / self._a_second) + 1)
            raise Problem(
                429, "These are too many requests; ask more slowly.", headers={"Retry-After": wait}
            )
