"""Moments as the tables of a desk keep them: texts in UTC, whose order is that of time."""

from __future__ import annotations

from datetime import UTC, datetime


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_text(text: str) -> datetime:
    """The inverse of `to_text`."""
    return datetime.fromisoformat(text)
