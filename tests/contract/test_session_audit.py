"""The audit of whole releases: on what is sound it finds nothing, and what is planted it finds."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from onesided.audit.session import SURFACES, SessionAudit, SessionReport, audit
from onesided.audit.session.sources import Written
from onesided.cli import run
from onesided.engine.base import CountQuery, Engine, GroupCounts, SampleQuery
from onesided.engine.together import one_by_one
from onesided.ledger import snapshots
from onesided.session import kernel
from onesided.session.table import Reading

SHORT = {"duckdb": 8, "postgres": 4, "datafusion": 6, "command": 1}
#: Pairs by engine and seed. DuckDB's ten thousand are two halves, so that two processes share them.
LONG = {
    ("duckdb", 1): 5_000,
    ("duckdb", 2): 5_000,
    ("postgres", 1): 1_000,
    ("datafusion", 1): 1_000,
    ("spark", 1): 100,
    ("command", 1): 200,
}
NO_END = 3600.0


@pytest.fixture
def connection(request: pytest.FixtureRequest) -> Any:
    """What the engine of the test needs."""
    needed = {"postgres": "postgres_url", "spark": "spark"}.get(request.getfixturevalue("engine"))
    return None if needed is None else request.getfixturevalue(needed)


def audited(engine: str, connection: Any, pairs: int, **options: Any) -> SessionReport:
    return SessionAudit(
        engine=engine, connection=connection, seconds=NO_END, pairs=pairs, **options
    ).run()


def assert_nothing_found(report: SessionReport, pairs: int) -> None:
    assert [finding.to_json() for finding in report.findings] == []
    assert report.effort.pairs >= pairs
    assert report.effort.failed < 2 * report.effort.pairs
    assert report.effort.not_opened + report.effort.unwritable < report.effort.sessions


@pytest.mark.parametrize("engine", SHORT)
def test_nothing_is_seen_but_what_was_released(
    engine: str, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "command":  # so few pairs that their keys would hardly be looked at
        monkeypatch.setattr(audit, "TWICE_IN", 1)
    assert_nothing_found(audited(engine, connection, SHORT[engine]), SHORT[engine])


@pytest.mark.soak
@pytest.mark.parametrize(("engine", "seed"), LONG)
def test_nothing_is_seen_in_many_pairs(
    engine: str, seed: int, connection: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    report = audited(engine, connection, LONG[engine, seed], seed=seed)
    with capsys.disabled():
        print(f"\n{report.words}", file=sys.stderr)
    assert_nothing_found(report, LONG[engine, seed])


def found(report: SessionReport) -> Mapping[str, Any]:
    """The one finding, after it was made smaller."""
    (finding,) = report.findings
    return finding.to_json()


def plant_keys_in_receipts(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = [0]
    plain, written = Reading.counts, kernel.receipt

    def counting(reading: Reading, *given: Any, **more: Any) -> GroupCounts:
        counts = plain(reading, *given, **more)
        counted.append(len(counts.keys))
        return counts

    monkeypatch.setattr(Reading, "counts", counting)
    monkeypatch.setattr(kernel, "receipt", lambda *given: {**written(*given), "keys": counted[-1]})


@pytest.mark.parametrize("engine", ["duckdb"])
def test_a_receipt_may_not_count_keys(
    engine: str, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_keys_in_receipts(monkeypatch)
    facts = found(audited(engine, connection, 10**6, shrinking=1))
    assert facts["outcome"] == "receipt"
    assert '"keys"' in facts["seen"]
    assert facts["tables"]["D"] != facts["tables"]["D′"]


@pytest.mark.parametrize("engine", ["duckdb"])
def test_a_hash_of_the_data_is_no_nonce(
    engine: str, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "keyed_fingerprint", lambda fingerprint, key: fingerprint)
    assert found(audited(engine, connection, 10**6, shrinking=1))["outcome"] == "keys"


class Lying:
    """Answers as another engine does, with one unit more in each group."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def count(self, query: CountQuery) -> GroupCounts:
        counts = self._engine.count(query)
        more = (replace(each, nonsensitive=each.nonsensitive + 1) for each in counts.figures)
        return replace(counts, figures=tuple(more))

    def count_each(self, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        return one_by_one(self.count, queries)

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        return self._engine.sample(query)


@pytest.mark.parametrize("engine", ["duckdb"])
def test_released_values_are_held_against_a_second_engine(engine: str, connection: Any) -> None:
    def same(table: pa.Table, written: Written, opened: Engine) -> Engine:
        return opened

    def lying(table: pa.Table, written: Written, opened: Engine) -> Any:
        return Lying(opened)

    assert not audited(engine, connection, 8, second=same).rejected
    facts = found(audited(engine, connection, 10**6, second=lying, shrinking=1))
    assert facts["outcome"] == "released values"
    assert facts["requests"][0]["ask"] != "sample"


def test_the_same_seed_makes_the_same_worlds() -> None:
    one, other = (audited("duckdb", None, 1, seed=4) for _ in range(2))
    assert one.effort == other.effort
    assert one.effort != audited("duckdb", None, 1, seed=5).effort


def test_the_command_says_what_it_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "session", "--pairs", "2", "--time", str(NO_END), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rejected"] is False
    assert said["pairs"] >= 2
    assert sum(said["kinds"].values()) == said["pairs"]


def test_the_command_shows_the_pair_that_differs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_keys_in_receipts(monkeypatch)
    monkeypatch.setattr(audit, "shrunk", lambda case, *given: case)  # tested for itself above
    assert run(["audit", "session", "--time", str(NO_END)]) == 1
    told = capsys.readouterr()
    assert "Something is seen that was not released: receipt of" in told.err
    for part in ("policy", "request", "plain:", "D:", "D′:", "seen:"):
        assert part in told.out


@pytest.mark.parametrize("given", [["--engine", "nothing"], ["--time", "0"], ["--pairs", "0"]])
def test_the_command_refuses_what_makes_no_audit(given: list[str]) -> None:
    assert run(["audit", "session", *given]) == 2


def test_a_database_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "session", "--engine", "postgres"]) == 2
    assert "postgresql://" in capsys.readouterr().err


def test_the_help_explains_both_audits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "onesided audit NAME" in said
    assert "onesided audit session" in said
    assert run(["audit", "one-sided", "--help"]) == 0
    assert "--method" in capsys.readouterr().out


def test_every_surface_is_audited() -> None:
    assert {engine for engine, _ in LONG} == set(SURFACES)
