"""What goes wrong, as application/problem+json: the sentence of the command, and its class.

A sentence never holds a value of the data. What was not foreseen is a 503 of one fixed sentence;
the log has the class of the error and the place in the code, and not its text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from onesided.errors import (
    BudgetError,
    InputError,
    LedgerError,
    OnesidedError,
    OutputError,
    ReleaseFailed,
    SourceError,
)
from onesided.ledger.desk import DeskConflict, QueueFull
from onesided.visible import visible

MEDIA_TYPE = "application/problem+json"
_LATER = "The server cannot do this now; ask again later, or tell a steward."


@dataclass
class Problem(Exception):
    """An answer that is a refusal.

    - `error`: the class in `onesided.errors` that a client raises for it; empty for its own.
    """

    status: int
    detail: str
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail

    @property
    def content(self) -> bytes:
        """The body."""
        said: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": visible(self.detail),
        }
        if self.error:
            said["error"] = self.error
        return json.dumps(said, ensure_ascii=False).encode()


def problem_of(error: Exception, *, steward: bool = False) -> Problem:
    """The refusal for an error.

    - `steward`: who asks may be told what is wrong with the data or the ledger.
    """
    name = type(error).__name__
    match error:
        case Problem():
            return error
        case BudgetError():
            return Problem(402, str(error), name)
        case QueueFull():
            return Problem(429, str(error), "", {"Retry-After": "5"})
        case DeskConflict():
            return Problem(409, str(error), "RequestError")
        case LedgerError() | OutputError() | SourceError() | ReleaseFailed():
            said = str(error) if steward else _LATER
            return Problem(503, said, "", {"Retry-After": "5"})
        case InputError():
            return Problem(400, str(error), name)
        case OnesidedError():
            return Problem(400, str(error), name)
        case _:
            return Problem(503, _LATER, "", {"Retry-After": "5"})
