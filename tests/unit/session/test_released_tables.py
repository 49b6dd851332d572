"""SQL over what was released: free, and nothing else can be read."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.cli import run
from onesided.errors import OnesidedError

VISITS = pa.table(
    {
        "room": ["a"] * 40 + ["b"] * 60,
        "paid": [1, 2, 3, 4] * 25,
        "secret": [False] * 100,
    }
)


def test_released_tables_are_computed_with_for_free() -> None:
    with osd.open(VISITS, unit="rows", policy="secret", budget=10**7, rng=osd.seeded(1)) as data:
        with pytest.raises(OnesidedError, match="Nothing is released"):
            data.released.sql("SELECT 1 FROM r1")
        counts = data.count("room", mechanism="one-sided", epsilon=10**6, yes=True)
        sums = data.sum("paid", "room", bound=4, epsilon=10**6, yes=True)
        spent = data.budget.spent
        first, second = data.released
        assert repr(data.released).splitlines()[0] == f"{first}: count by room, ε = 1000000"
        answer = data.released.sql(
            f"WITH c AS (SELECT * FROM {first}) SELECT c.room, s.sum / c.count AS mean, "
            f"RANK() OVER (ORDER BY c.count DESC) AS place FROM c JOIN {second} s USING (room) "
            "ORDER BY place"
        )
        assert answer.to_pylist() == [
            {"room": "b", "mean": 2.5, "place": 1},
            {"room": "a", "mean": 2.5, "place": 2},
        ]
        assert data.released[first].table == counts.table
        assert data.released[second].table == sums.table
        assert data.budget.spent == spent


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * FROM visits", "no released table"),
        ("SELECT * FROM read_csv('/etc/passwd')", "no released table"),
        ("SELECT * FROM {0}, main.{0}", "name a released table"),
        ("SELECT now() FROM {0}", "not allowed"),
        ("SELECT nothing FROM {0}", "cannot be computed"),
        ("DROP TABLE {0}", "Only a SELECT"),
        ("SELECT 1; SELECT 2", "one statement"),
    ],
)
def test_nothing_else_can_be_read(query: str, said: str) -> None:
    with osd.open(VISITS, unit="rows", policy="secret", budget=9, rng=osd.seeded(1)) as data:
        data.count("room", epsilon=1)
        (name,) = data.released
        with pytest.raises(OnesidedError, match=said):
            data.released.sql(query.format(name))


def test_the_command_line_computes_from_releases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    source = [str(tmp_path / "visits.parquet"), "--ledger", str(tmp_path / "ledger")]
    ask = ["--unit", "rows", "--policy", "secret"]
    count = ["SELECT room, COUNT(*) AS n FROM data GROUP BY room", *source, *ask]
    assert run(["sql", *count]) == 2
    assert "--epsilon" in capsys.readouterr().err
    assert run(["sql", *count, "--epsilon", "8", "--budget", "8", "--json"]) == 0
    charge = json.loads(capsys.readouterr().out)["receipt"]["account"]["charges"][0]
    again = [f"SELECT SUM(count) AS n FROM r{charge}", *source, *ask, "--from-releases"]
    assert run(["sql", *again, "--json", "--out", str(tmp_path / "out.csv")]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["n"] == pytest.approx(100, abs=9)
    assert (tmp_path / "out.csv").exists()
