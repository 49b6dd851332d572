"""The commands on a table in a real PostgreSQL, with the account in another database of it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest

from onesided.cli import run
from support.engines import load
from support.interrupting import interrupted
from support.postgres import TestServer
from support.visits import POLICY, UNIT, visits

ASK = ["--unit", ",".join(UNIT), "--policy", POLICY, "--epsilon", "1"]
PASSWORD = "do-not-tell"


@pytest.fixture
def table(postgres_server: TestServer) -> list[str]:
    """Options that name the table."""
    url = postgres_server.new_database()
    load(url, "visits", visits(devices=40))
    # The server trusts everybody on its socket, and so takes any password.
    return ["--table", "visits", "--connection", url.replace("postgres:@", f"postgres:{PASSWORD}@")]


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """Everything that was said, which never holds a password."""
    said = capsys.readouterr()
    assert PASSWORD not in said.out + said.err
    return said.out + said.err


def test_the_same_sample_as_from_a_file(
    table: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(visits(devices=40), tmp_path / "visits.parquet")
    account = ["--ledger", str(tmp_path / "v.ledger"), "--budget", "1", "--data-version", "1"]
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    assert run(["sample", *table, *ASK, *account, "--out", str(there)]) == 0
    source = str(tmp_path / "visits.parquet")
    assert run(["sample", source, *ASK, *account, "--out", str(here)]) == 0
    assert pq.read_table(here).equals(pq.read_table(there))
    assert "spent 1 of 1" in shown(capsys)


def test_every_question_and_the_account_in_a_database(
    table: list[str], postgres_server: TestServer, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = postgres_server.new_database()
    ask = [*table, *ASK, "--ledger", ledger, "--budget", "9"]
    by = ["--by", "room", "--max-groups", "1"]
    amount = ["--column", "device", "--bound", "40"]
    assert run(["plan", *ask, *by]) == 0
    assert run(["count", *ask, *by]) == 0
    assert run(["sum", *ask, *by, *amount, "--statement-timeout", "60"]) == 0
    assert run(["mean", *ask, *by, *amount]) == 0
    query = "SELECT room, COUNT(DISTINCT device, day) AS n FROM visits GROUP BY room"
    assert run(["sql", query, *ask, "--max-groups", "1"]) == 0  # asked by count before: free
    assert run(["sample", *ask, "--into", "public.sample"]) == 0
    shown(capsys)
    assert run(["budget", ledger, "--verify", "--json"]) == 0
    told = json.loads(shown(capsys))
    (account,) = told["accounts"]
    assert (account["dataset"], account["spent"], account["left"]) == ("visits", "4", "5")
    assert told["verified"]["entries"] > 4
    raising = ["--raise", "visits", "--to", "10", "--who", "steward", "--why", "agreed"]
    assert run(["budget", ledger, *raising]) == 0
    assert "raised to 10 by steward: agreed" in shown(capsys)
    with psycopg.connect(table[3]) as connection:
        found = connection.execute("SELECT count(*) > 0 FROM sample").fetchone()
    assert found == (True,)


def test_parts_and_a_stricter_policy(
    table: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = str(tmp_path / "v.ledger")
    account = ["--ledger", ledger, "--budget", "2", "--partition-by", "day"]
    ask = ["count", *table, *ASK, *account, "--by", "room", "--max-groups", "1"]
    for day in ("2024-01-01", "2024-01-02"):
        part = ["--part", f"day={day}", "--mechanism", "one-sided"]
        assert run([*ask, *part]) == 0
        assert "spent 1 of 2" in shown(capsys)
    stricter = ["--stricter-policy", f"{POLICY} OR room = 'lab'", "--mechanism", "one-sided"]
    assert run([*ask, *stricter, "--json"]) == 0
    receipt = json.loads(shown(capsys))["receipt"]
    assert "lab" in receipt["policy"]["sql"]
    assert receipt["account"]["spent"] == "2"
    assert run([*ask, "--stricter-policy", "room = 'lab'", "--mechanism", "one-sided"]) == 2
    assert "relax" in shown(capsys)
    assert run([*ask, "--part", "room=lab"]) == 2
    assert "--partition-by" in shown(capsys)


def test_what_the_steward_prepares(
    table: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from_file, from_table = tmp_path / "file.parquet", tmp_path / "table.parquet"
    pq.write_table(visits(devices=40), tmp_path / "visits.parquet")
    columns = ["--ap", "room", "--slot", "60"]
    source = str(tmp_path / "visits.parquet")
    assert run(["trajectories", source, *columns, "--out", str(from_file)]) == 0
    assert run(["trajectories", *table, *columns, "--out", str(from_table)]) == 0
    assert pq.read_table(from_table).equals(pq.read_table(from_file))
    zone = ["--timezone", "Europe/Berlin"]
    assert run(["trajectories", *table, *columns, *zone, "--out", str(tmp_path / "x.csv")]) == 2
    assert "carry no zone" in shown(capsys)
    with psycopg.connect(table[3], autocommit=True) as connection:
        connection.execute("ALTER TABLE visits ALTER ts TYPE timestamptz")
    assert run(["trajectories", *table, *columns, *zone, "--out", str(tmp_path / "x.csv")]) == 0
    assert run(["policy", "check", "rooom = 'lab'", *table]) == 2
    assert "no column" in shown(capsys)
    assert run(["policy", "check", "room = 'lab'", *table]) == 0
    assert run(["policy", "relaxes", "room = 'lab'", POLICY, *table]) == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        *("file.parquet", "table.parquet", "visits.parquet", "x.csv")
    ]


NOWHERE = f"postgresql://reader:{PASSWORD}@127.0.0.1:1/none"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["sample", "--table", "v", "--connection", NOWHERE, *ASK, "--out", "o.csv"], "reached"),
        (["sample", NOWHERE, *ASK, "--out", "o.csv"], "no file"),
        (["sample", "a.parquet", NOWHERE, *ASK, "--out", "o.csv"], "unexpected"),
        (["sample", *ASK, "--out", "o.csv"], "--table and --connection"),
        (["sample", "--table", "v", *ASK, "--out", "o.csv"], "needs a connection"),
        (["sample", "--table", "v", "--connection", NOWHERE, *ASK], "--into"),
        (["count", "--connection", NOWHERE, *ASK], "--table and --connection"),
        (["count", "--connection", NOWHERE, "a.parquet", *ASK], "table="),
        (["budget", NOWHERE], "ledger"),
        (["trajectories", "--out", "o.csv"], "table in PostgreSQL"),
        (["trajectories", "a.csv", "--table", "v", "--out", "o.csv"], "either"),
        (["trajectories", "--table", "v", "--connection", NOWHERE, "--out", "o.csv"], "reached"),
        (["policy", "check", "TRUE", "--table", "v", "--connection", NOWHERE], "reached"),
        (["policy", "check", "TRUE", "--table", "v"], "its connection"),
    ],
)
def test_no_password_is_told_and_nothing_is_left(
    arguments: list[str],
    word: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    said = shown(capsys)
    assert word in said
    assert said.startswith("onesided: ")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sample_of_a_table(
    number: signal.Signals, postgres_url: str, tmp_path: Path
) -> None:
    """The driver would report a signal as an error like any other."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE big AS SELECT i / 4 AS id, i % 90 AS age, repeat('x', i % 50) AS t "
            "FROM generate_series(1, 400000) i"
        )
    options = ["--table", "big", "--connection", postgres_url, "--unit", "id"]
    ask = ["sample", *options, "--policy", "age < 18"]
    code, said = interrupted(ask, tmp_path, number=number)
    assert (code, said.count("free")) == (128 + number, 1), said
    with psycopg.connect(postgres_url) as connection:
        left = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND state = 'active' AND backend_type = 'client backend'"
        ).fetchone()
    assert left == (0,)
