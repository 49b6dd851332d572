"""Refusals of a server as the errors that they were there, with the same sentences."""

from __future__ import annotations

import json
from typing import Any

from onesided import errors
from onesided.visible import visible

MEDIA_TYPE = "application/problem+json"
_LONGEST = 2_000


class ServerUnreachable(errors.SourceError):
    """The server does not answer, or answers what it should not."""


class ReplyLost(ServerUnreachable):
    """A request was sent, and nothing came back."""


class AnswerLost(errors.ReleaseFailed):
    """A question was sent and may be charged, and its answer did not arrive."""


class ServerBusy(errors.SourceError):
    """The server cannot do it now; nothing says that it was asked."""


class AwaitsApproval(errors.RequestError):
    """A steward has to approve the question first; nothing is charged yet."""


_BY_STATUS: dict[int, type[errors.OnesidedError]] = {
    402: errors.BudgetError,
    429: ServerBusy,
    503: ServerBusy,
}


def error_of(status: int, body: bytes) -> errors.OnesidedError:
    """The error that a refusal stands for."""
    said = _content(body)
    detail = said.get("detail")
    if not isinstance(detail, str) or not detail:
        return _by_status(status)(
            f"The server refused with the status {status} and gave no reason; ask its steward."
        )
    kind = _named(said.get("error")) or _by_status(status)
    return kind(visible(detail)[:_LONGEST])


def _content(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except ValueError:  # also bytes that are no text
        return {}
    return said if isinstance(said, dict) else {}


def _named(name: Any) -> type[errors.OnesidedError] | None:
    """A class of the tree of errors by its name."""
    found = getattr(errors, name, None) if isinstance(name, str) else None
    known = isinstance(found, type) and issubclass(found, errors.OnesidedError)
    return found if known else None


def _by_status(status: int) -> type[errors.OnesidedError]:
    usual = errors.RequestError if 400 <= status < 500 else ServerUnreachable
    return _BY_STATUS.get(status, usual)
