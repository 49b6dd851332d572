"""What an audit of whole releases says: what was looked at, and which pair differs in what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from onesided.audit.session.cells import Form
from onesided.audit.session.requests import Request
from onesided.audit.session.shrinking import Case
from onesided.audit.session.worlds import Side
from onesided.data.values import python_rows

_SHOWN = 300


@dataclass
class Effort:
    """What was looked at.

    - `pairs`: requests that were charged and answered over D, each of them over two tables.
    - `failed`: requests that were asked and gave no answer over D; most are refused for free.
    - `not_opened`, `unwritable`: worlds that the steward's opening refuses, or a writer.
    """

    pairs: int = 0
    failed: int = 0
    sessions: int = 0
    not_opened: int = 0
    unwritable: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)

    def count(self, source: str, requests: Sequence[Request], answered: Sequence[bool]) -> None:
        """Add a session."""
        self.sessions += 1
        for request, yes in zip(requests, answered, strict=True):
            self.pairs += yes
            self.failed += not yes
            if yes:
                name = request.arguments.get("mechanism")
                self.kinds[f"{request.ask} by {name}" if name else request.ask] += 1
                self.sources[source] += 1


@dataclass(frozen=True)
class SessionFinding:
    """Two neighbouring tables of which something different is seen, made as small as possible.

    - `session`: its number, which with the seed makes it again.
    - `differences`: how many outcomes differed before it was made smaller.
    """

    engine: str
    seed: int
    session: int
    case: Case
    differences: int

    @property
    def outcome(self) -> str:
        """In what they differ."""
        return self.case.difference.outcome

    @property
    def words(self) -> str:
        """One sentence."""
        found = self.case.difference
        asked = "the account" if found.request is None else str(self.case.requests[found.request])
        return (
            f"{found.outcome} of {asked} over {found.side.value} ({self.case.source.name}) does "
            "not follow from the request and what was released"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        case = self.case
        return {
            "engine": self.engine,
            "source": case.source.name,
            "seed": self.seed,
            "session": self.session,
            "outcome": self.outcome,
            "table": case.difference.side.value,
            "seen": case.difference.seen,
            "explained": case.difference.explained,
            "policy": case.world.spelled_policy,
            "aside": list(case.world.aside),
            "withheld": list(case.world.withheld),
            "mapped": case.world.mapped,
            "max_units": case.world.max_units,
            "unit": list(case.world.unit),
            "requests": [request.to_json() for request in case.requests],
            "types": {each.name: each.sql or str(each.type) for each in case.world.columns},
            "tables": {
                side.value: rows_in_words(case.world.table(side), case.world.form) for side in Side
            },
        }


@dataclass(frozen=True)
class SessionReport:
    """What was looked at, and what was found."""

    engine: str
    seed: int
    effort: Effort
    findings: tuple[SessionFinding, ...]
    seconds: float

    @property
    def rejected(self) -> bool:
        """Whether something is seen that follows from nothing public or released."""
        return bool(self.findings)

    def __repr__(self) -> str:
        return f"<Audit of whole releases: {self.said}; {self.words}>"

    @property
    def said(self) -> str:
        """The verdict in words."""
        return f"{len(self.findings)} findings" if self.findings else "nothing was found"

    def _repr_html_(self) -> str:
        from onesided import html

        return html.card(
            f"Audit of whole releases: {self.said}",
            html.note(self.words),
            *(html.note(each.words) for each in self.findings),
        )

    @property
    def words(self) -> str:
        """One sentence of what was looked at."""
        effort = self.effort
        kinds = ", ".join(f"{name} {count}" for name, count in effort.kinds.most_common())
        return (
            f"{effort.pairs:,} pairs in {effort.sessions:,} sessions on {self.engine} "
            f"({kinds or 'none'}), {effort.failed:,} requests without an answer, "
            f"{effort.not_opened + effort.unwritable:,} worlds left out, "
            f"{self.seconds:.0f} seconds, seed {self.seed}"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        effort = self.effort
        return {
            "engine": self.engine,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "rejected": self.rejected,
            "pairs": effort.pairs,
            "sessions": effort.sessions,
            "without_answer": effort.failed,
            "not_opened": effort.not_opened,
            "unwritable": effort.unwritable,
            "kinds": dict(effort.kinds),
            "sources": dict(effort.sources),
            "findings": [each.to_json() for each in self.findings],
        }


def rows_in_words(table: pa.Table, form: Form) -> list[list[str]]:
    """The rows of a table, each cell as a text of one line."""
    return [[_cell(value) for value in row] for row in python_rows(table)]


def _cell(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} letters)"
