"""The audit of whole releases, where every count finds its own bound on groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onesided.audit.session import SessionAudit
from onesided.audit.session.requests import Asking, Request

PAIRS = 8


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Counts with a bound find it themselves; which ones were asked."""
    asked: list[Request] = []
    plain = Asking.request

    def request(asking: Asking) -> Request:
        made = plain(asking)
        if made.ask != "count" or "max_groups" not in made.arguments:
            return made
        asked.append(replace(made, arguments={**made.arguments, "max_groups": "auto"}))
        return asked[-1]

    monkeypatch.setattr(Asking, "request", request)
    return asked


def test_nothing_is_seen_of_a_look_but_what_it_released(found: list[Request]) -> None:
    report = SessionAudit(engine="duckdb", seconds=3600, pairs=PAIRS).run()
    assert [finding.to_json() for finding in report.findings] == []
    assert report.effort.pairs >= PAIRS
    assert len(found) >= 2
