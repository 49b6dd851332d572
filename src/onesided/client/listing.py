"""The list of releases as a server gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from onesided.client.problems import ServerUnreachable
from onesided.data.listed import ReleaseEntry

_SPECIAL = frozenset({"touching", "ngrams", "join", "step"})


def entries_of(said: Any) -> tuple[ReleaseEntry, ...]:
    """The lines of the list."""
    try:
        return tuple(map(ReleaseEntry.from_json, said["releases"]))
    except (KeyError, TypeError, ValueError):
        raise ServerUnreachable("The server's list of releases cannot be understood.") from None


def counted_in(
    releases: Sequence[ReleaseEntry], columns: Sequence[str], snapshot: int, *, part: bool
) -> Iterator[ReleaseEntry]:
    """Counts of all units by one of these columns on this state of the data, the latest first."""
    for entry in reversed(releases):
        asked = entry.question
        plain = entry.kind == "count" and asked.get("where") is None
        by: Sequence[Any] = asked.get("by") or ()
        if not plain or entry.snapshot != snapshot or _SPECIAL & set(asked):
            continue
        if len(by) == 1 and by[0] in columns and ("part" in asked) == part:
            yield entry
