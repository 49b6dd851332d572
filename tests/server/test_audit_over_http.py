"""The audit of whole releases, with the server as its engine; and leaks that it has to find."""

from __future__ import annotations

from typing import Any

import pytest

from onesided.audit.session import SURFACES, SessionAudit, SessionReport
from onesided.cli import run
from onesided.server.api import datasets
from onesided.server.audited import over_http
from onesided.server.hosted import HostedDataset
from onesided.server.jobs import runner


def audited(seed: int, pairs: int) -> SessionReport:
    surfaces = {**SURFACES, "http": over_http}
    audit = SessionAudit(
        engine="http", seconds=None, pairs=pairs, seed=seed, surfaces=surfaces, shrinking=0.0
    )
    return audit.run()


@pytest.mark.soak
def test_two_thousand_pairs_show_nothing() -> None:
    report = audited(seed=11, pairs=2_000)
    assert not report.rejected, report.findings[0].words


def test_a_fact_that_follows_the_data_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    opening, facts = HostedDataset.open_state, datasets.facts_json

    def opened(hosted: HostedDataset, source: str | None = None) -> int:
        number = opening(hosted, source)
        files = hosted.folder.rglob("*.*")
        sizes.append(sum(each.stat().st_size for each in files if each.suffix != ".json"))
        return number

    def leaking(data: Any) -> dict[str, Any]:
        return {**facts(data), "bytes": sizes[-1]}

    monkeypatch.setattr(HostedDataset, "open_state", opened)
    monkeypatch.setattr(datasets, "facts_json", leaking)
    report = audited(seed=3, pairs=10)
    assert report.rejected
    assert "GET " in report.findings[0].words


@pytest.mark.soak
def test_a_question_that_fails_by_its_data_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    running = runner.run_question

    def failing(data: Any, job: Any, asked: Any = None) -> Any:
        found = running(data, job, asked)
        if any(len(each.stored.payload) % 2 for each in found.answers):
            raise ValueError
        return found

    monkeypatch.setattr(runner, "run_question", failing)
    assert audited(seed=3, pairs=60).rejected


@pytest.mark.soak
def test_the_command_audits_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "session", "--engine", "http", "--pairs", "2", "--seed", "3"]) == 0
    assert "on http" in capsys.readouterr().out
