"""A question on its way, as the server describes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from onesided.client.problems import AwaitsApproval, ServerUnreachable
from onesided.errors import ReleaseFailed, RequestError
from onesided.visible import visible

_OVER = {
    "refused": "A steward refused the question; nothing was charged.",
    "cancelled": "The question was cancelled; nothing was charged.",
    "expired": "Nobody approved the question in time; nothing was charged.",
}
_FAILED = "The release failed after its charge, which stands; ask a steward to repeat it."
_AWAITS = (
    "A steward has to approve the question first, and nothing is charged yet; ask again later."
)


@dataclass(frozen=True, kw_only=True)
class SentJob:
    """What became of a question.

    - `seconds`: how long it is until its deadline, by the clock of the server.
    - `release`: where to find what was released; None before.
    """

    name: str
    state: str
    detail: str
    has_deadline: bool
    seconds: float
    release: Mapping[str, Any] | None

    @classmethod
    def of(cls, content: Any) -> SentJob:
        """From an answer, which holds a job, a release, or both."""
        with understood():
            release = content.get("release")
            job = content.get("job") or content
            if not isinstance(job, Mapping):  # a question that was answered before has none
                job = {}
            return cls(
                name=str(job.get("id", "")),
                state=str(job.get("state", "")),
                detail=str(job.get("detail") or ""),
                has_deadline=job.get("deadline") is not None,
                seconds=float(job.get("retry_after") or 0.0),
                release=job.get("release") if release is None else release,
            )

    def check(self) -> None:
        """Raise what it came to where it has no release and will have none."""
        said = visible(self.detail)
        if self.state == "failed":
            raise ReleaseFailed(said or _FAILED)
        if self.state == "awaiting":
            raise AwaitsApproval(said or _AWAITS)
        if self.state in _OVER:
            raise RequestError(said or _OVER[self.state])
        if self.state not in ("accepted", "done") or not self.name:
            raise ServerUnreachable("The answer is none to a question; is a onesided server there?")


@contextmanager
def understood() -> Iterator[None]:
    """What an answer lacks within is said in one sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ServerUnreachable(
            "The server's answer cannot be understood; has it the same version?"
        ) from None
