"""The audit of whole releases: two neighbouring tables, and everything that can be seen of both.

worlds.py        pairs of neighbouring tables, and a plain one (cells.py, hostile.py, dice.py)
sources.py       how a table is handed over: files of many makes, frames
requests.py      requests of every kind, from what is public of a table
surfaces.py      what can be asked: `Surface` and `Stage`; engines.py has one line for each
in_python.py     sessions in Python with fixed noise, and released values on a tape (tape.py)
watching.py      everything that is seen of a request
judging.py       what was seen must follow from the request and what was released
shrinking.py     the smallest tables and requests that still differ
report.py        what was looked at, and what differs
audit.py         pair after pair

    SessionAudit(engine="duckdb", seconds=20, seed=1).run().rejected
"""

from __future__ import annotations

from onesided.audit.session.audit import SessionAudit
from onesided.audit.session.engines import SURFACES
from onesided.audit.session.judging import Difference
from onesided.audit.session.report import Effort, SessionFinding, SessionReport
from onesided.audit.session.surfaces import (
    NotOpened,
    Run,
    SecondEngine,
    Stage,
    Surface,
)

__all__ = [
    "SURFACES",
    "Difference",
    "Effort",
    "NotOpened",
    "Run",
    "SecondEngine",
    "SessionAudit",
    "SessionFinding",
    "SessionReport",
    "Stage",
    "Surface",
]
