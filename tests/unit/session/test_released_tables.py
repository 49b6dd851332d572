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


def test_a_plan_says_what_could_be_read_from_releases() -> None:
    asked = "SELECT room, COUNT(*) AS n FROM data GROUP BY room"
    with osd.open(VISITS, unit="rows", policy="secret", budget=10**7, rng=osd.seeded(1)) as data:
        assert data.plan.sql(asked, epsilon=1).from_releases == ()
        fine = data.count(["room", "paid"], mechanism="one-sided", epsilon=10**6, yes=True)
        (by_both,) = data.released
        (said,) = data.plan.sql(asked, epsilon=1).from_releases
        text, error, free = _parts(said)
        assert text == f"SELECT room, SUM(count) AS count FROM {by_both} GROUP BY room"
        assert error.startswith("expected error at most ±")
        assert free == "ε = 0"
        assert data.released.sql(text).to_pylist() == [
            {"room": "a", "count": 40},
            {"room": "b", "count": 60},
        ]
        assert f"from releases: {said}" in str(data.plan.sql(asked, epsilon=1))
        for other in ("WHERE paid > 1", "WHERE room = 'a'"):
            changed = f"SELECT room, COUNT(*) FROM data {other} GROUP BY room"
            assert data.plan.sql(changed, epsilon=1).from_releases == ()
        assert data.plan.sql(asked, epsilon=1, policy="secret OR paid = 1").from_releases == ()
        data.count("room", mechanism="one-sided", epsilon=10**6, yes=True)
        text, error, _ = _parts(data.plan.sql(asked, epsilon=1).from_releases[0])
        assert text == f"SELECT room, count FROM {list(data.released)[-1]}"
        assert "at most" not in error
        assert fine.table.num_rows == 8


def test_units_of_several_groups_are_not_added_up() -> None:
    many = VISITS.append_column("who", pa.array([row % 30 for row in range(100)]))
    with osd.open(many, unit="who", policy="secret", budget=100, rng=osd.seeded(1)) as data:
        data.count(["room", "paid"], epsilon=1, max_groups=2)
        asked = "SELECT room, COUNT(DISTINCT who) FROM data GROUP BY room"
        assert data.plan.sql(asked, epsilon=1, max_groups=2).from_releases == ()


def test_the_command_says_so_before_it_charges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    named = [str(tmp_path / "visits.parquet"), "--unit", "rows", "--policy", "secret"]
    named += ["--budget", "9", "--ledger", str(tmp_path / "v.ledger"), "--epsilon", "1"]
    assert (
        run(["sql", "SELECT room, SUM(paid) FROM data GROUP BY room", *named, "--bound", "paid=4"])
        == 0
    )
    assert "Note" not in capsys.readouterr().err
    assert run(["sql", "SELECT SUM(paid) AS s FROM data", *named, "--bound", "paid=4"]) == 0
    assert (
        "Note: from releases, sum(paid): SELECT SUM(sum) AS sum FROM r" in capsys.readouterr().err
    )


def _parts(said: str) -> list[str]:
    return said.removeprefix("count(*): ").rsplit(", ", 2)
