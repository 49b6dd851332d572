"""Whole releases under a map: nothing is seen but what was released, and the engines are right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onesided.audit.session import SessionAudit
from onesided.audit.session import worlds as worlds_module
from onesided.session import maps as maps_module

SEED = 3


@pytest.fixture(autouse=True)
def a_map_wherever_there_can_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds_module, "MAPPED_IN", 1)


@pytest.fixture
def maps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The maps that were handed to engines."""
    seen, handed = [], maps_module.held_map

    def held(engine: Any, closed: Any) -> Any:
        seen.append(closed)
        return handed(engine, closed)

    monkeypatch.setattr(maps_module, "held_map", held)
    return seen


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("datafusion", marks=pytest.mark.soak)])
def test_nothing_is_seen_but_what_was_released(engine: str, maps: list[Any]) -> None:
    report = SessionAudit(engine=engine, seconds=None, pairs=6, seed=SEED).run()
    assert not report.rejected, report.findings[0].to_json()
    assert maps


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["duckdb", "datafusion", "command", "postgres", "spark"])
def test_nothing_is_seen_of_many_pairs(
    engine: str, maps: list[Any], request: pytest.FixtureRequest
) -> None:
    needed = {"postgres": "postgres_url", "spark": "spark"}.get(engine)
    connection = None if needed is None else request.getfixturevalue(needed)
    audit = SessionAudit(engine=engine, seconds=120, seed=SEED + 1, connection=connection)
    report = audit.run()
    print(report.words)
    assert not report.rejected, report.findings[0].to_json()
    assert maps or engine == "command"


@pytest.mark.soak
def test_an_engine_that_forgets_moves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    handed = maps_module.held_map
    monkeypatch.setattr(maps_module, "held_map", lambda *given: replace(handed(*given), moves=None))
    audit = SessionAudit(engine="duckdb", seconds=60, seed=SEED, shrinking=0)
    assert audit.run().rejected
