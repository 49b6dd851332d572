"""Who asked what and when, as one JSON object a line; requests and costs, never answers or values.

Of a request the log has the route and not the address: an address may hold what somebody typed.
Times of answers are not in it: they are not for everybody who may read a log.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any


def _to_standard_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class RequestLog:
    """Writes lines one after the other."""

    def __init__(self, write: Callable[[str], None] = _to_standard_error) -> None:
        self._write = write
        self._turn = threading.Lock()

    def note(self, event: str, **facts: Any) -> None:
        """One line."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        said = {name: each for name, each in facts.items() if each not in (None, "")}
        line = json.dumps({"time": time, "event": event, **said}, ensure_ascii=True, default=str)
        with self._turn:
            self._write(line)

    def failure(self, error: BaseException, **facts: Any) -> None:
        """An error that was not foreseen: its class and place, since its text may hold a value."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        code = None if trace is None else trace.tb_frame.f_code
        place = "" if code is None or trace is None else f"{code.co_filename}:{trace.tb_lineno}"
        self.note("failure", error=type(error).__name__, place=place, **facts)
