"""A map of a data set: read once, a term of the account, said in receipts, plans and checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import onesided as osd
from onesided.cli import run
from onesided.errors import InputError, LedgerError
from onesided.ledger import open_ledger
from onesided.session import statements
from support.maps import EVERYBODY, passage, sensitive_units, trips

EXACT = 100_000
EDGES = pa.table(
    [pa.array(each) for each in zip(*passage().edges.listed(), strict=True)],
    names=["from", "to", "seconds"],
)
EDGES = EDGES.set_column(2, "seconds", pa.array([each.as_py() // 10**6 for each in EDGES[2]]))
POLICY = "consent = FALSE"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    found = trips()
    return found.filter(pa.compute.is_valid(found["device"]))


def the_map(**options: Any) -> osd.Map:
    declared = {"edges": EDGES, "place": "place", "time": "ts", "sensitive": ["b"]}
    return osd.Map(**{**declared, "outside": "a", **options})


def opened(table: Any, **options: Any) -> osd.Dataset:
    declared = {"unit": "device,day", "policy": POLICY, "budget": 100 * EXACT, "name": "trips"}
    return osd.open(table, **{**declared, "map": the_map(), **options})


def test_every_answer_is_about_the_closed_policy(table: pa.Table) -> None:
    hidden = sensitive_units(table, passage())
    dataset = opened(table)
    sample = dataset.sample(EXACT, yes=True)
    shown = {(row["device"], row["day"]) for row in sample.to_arrow().to_pylist()}
    total = dataset.count(epsilon=EXACT, mechanism="one-sided", yes=True).table["count"][0].as_py()
    assert shown.isdisjoint(hidden)
    assert len(shown) == total == EVERYBODY - len(hidden)
    found = dataset.check(secret=True)
    assert found.secret is not None
    assert found.secret.sensitive == len(hidden)
    alone = opened(table, map=None).check(secret=True).secret
    assert alone is not None
    assert (alone.by_map, found.secret.by_map) == (0, len(hidden) - alone.sensitive)
    assert found.secret.by_map > 0
    (concern,) = [each for each in found.findings if each.about == "map"]
    assert "3 places of the data are not on it" in concern.text


def test_receipts_and_statements_name_the_map_and_its_rule(table: pa.Table, tmp_path: Path) -> None:
    ledger = tmp_path / "trips.ledger"
    dataset = opened(table, ledger=ledger, map=the_map(rule="quickest", gap=60, slack="1.5"))
    released = dataset.count(epsilon=1, mechanism="one-sided")
    said = "closed over map-"
    assert said in released.guarantee
    assert "by the rule quickest (slack 3/2, gap 60 s; place place, time ts)" in released.guarantee
    assert released.receipt["map"]["id"] == passage().id
    assert dataset.map is not None
    assert dataset.map.id == passage().id
    assert said in dataset.sql("SELECT COUNT(DISTINCT device, day) FROM trips", epsilon=1).guarantee
    dataset.close()
    (statement,) = statements(open_ledger(ledger))
    assert said in statement.promise
    assert statement.to_json()["extra"]["map"] == released.receipt["map"]


def test_the_map_is_a_term_of_the_account(table: pa.Table, tmp_path: Path) -> None:
    ledger = tmp_path / "trips.ledger"
    with opened(table, ledger=ledger) as dataset:
        first = dataset.count(epsilon=1)
        dataset.count(epsilon=1, policy=f"{POLICY} OR place = 'c'")
    reversed_edges = EDGES.take(list(reversed(range(len(EDGES)))))
    with opened(table, ledger=ledger, map=the_map(edges=reversed_edges)) as dataset:
        assert dataset.count(epsilon=1).receipt["time"] == first.receipt["time"]
    for other in (None, the_map(rule="quickest"), the_map(sensitive=["b", "c"]), the_map(gap=9)):
        with (
            opened(table, ledger=ledger, map=other) as dataset,
            pytest.raises(LedgerError, match="another map, or another rule"),
        ):
            dataset.count(epsilon=1)


def test_sensitive_places_may_be_said_in_four_ways(table: pa.Table) -> None:
    places = pa.table({"name": list("abcde"), "kind": ["x", "yard", "x", "x", "x"]})
    ways: list[tuple[str, dict[str, Any]]] = [
        (POLICY, {"sensitive": ["b"]}),
        (POLICY, {"sensitive": "b"}),
        (POLICY, {"sensitive": "place = 'b'"}),
        ("place = 'b'", {"sensitive": None}),
    ]
    for policy, said in ways:
        dataset = opened(table, policy=policy, map=the_map(**said))
        assert dataset.map is not None
        assert dataset.map.sensitive == ("b",)
    by_kind = opened(table, map=the_map(sensitive="kind = 'yard'", places=places))
    assert by_kind.map is not None
    assert by_kind.map.sensitive == ("b", "f")  # nothing is known of f


def test_a_plan_says_what_the_map_does(table: pa.Table) -> None:
    dataset = opened(table)
    text = "units are closed over a map by the rule certain"
    assert text in str(dataset.plan(epsilon=1))
    assert text in dataset.plan.sample(epsilon=1).to_json()["map"][0]


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"sensitive": ["q"]}, "no place of the map"),
        ({"sensitive": "q"}, "neither places of the map nor a condition"),
        ({"sensitive": []}, "No place of the map is sensitive"),
        ({"sensitive": None}, "reads more than place"),
        ({"outside": "b"}, "lies outside"),
        ({"outside": "q"}, "no place of the map"),
        ({"rule": "never"}, "no rule 'never'"),
        ({"slack": 0}, "slack"),
        ({"slack": "quick"}, "slack must be a number"),
        ({"gap": -1}, "gap must be a number of seconds"),
        ({"place": "consent"}, "must be a text or an integer"),
        ({"place": "second"}, "different types"),
        ({"place": "plaze"}, "no column plaze"),
        ({"time": "place"}, "must be a timestamp"),
        ({"edges": "no/such/file.csv"}, "no/such/file.csv"),
        ({"edges": pa.table({"a": ["b"]})}, "two or three columns"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_opening(
    table: pa.Table, said: dict[str, Any], match: str
) -> None:
    with pytest.raises(InputError, match=match) as refused:
        opened(table, map=the_map(**said))
    assert ". " not in str(refused.value)


def test_rows_as_units_have_no_moves(table: pa.Table) -> None:
    with pytest.raises(InputError, match="units of several rows"):
        opened(table, unit="rows")
    with pytest.raises(InputError, match="unknown key 'edge'"):
        opened(table, map={"edge": EDGES})
    with pytest.raises(InputError, match="needs its edges and its time"):
        opened(table, map={"place": "place"})


@pytest.fixture
def folder(table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pa.parquet.write_table(table, tmp_path / "trips.parquet")
    pacsv.write_csv(EDGES, tmp_path / "edges.csv")
    two = EDGES.select(["from", "to"])
    pacsv.write_csv(two, tmp_path / "ways.csv", pacsv.WriteOptions(quoting_style="none"))
    monkeypatch.chdir(tmp_path)
    described = f"""
[datasets.trips]
source = "trips.parquet"
unit = "device,day"
policy = "{POLICY}"
budget = {EXACT}

[datasets.trips.map]
edges = "edges.csv"
place = "place"
time = "ts"
sensitive = ["b"]
outside = "a"
"""
    (tmp_path / "onesided.toml").write_text(described)
    return tmp_path


def answered(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_on_the_command_line_and_by_name(
    folder: Path, table: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--epsilon", str(EXACT), "--mechanism", "one-sided", "--yes", "--json"]
    data = ["trips.parquet", "--unit", "device,day", "--policy", POLICY]
    way = ["--map", "edges.csv", "--map-place", "place", "--map-time", "ts"]
    way += ["--map-sensitive", "b", "--map-outside", "a"]
    expected = EVERYBODY - len(sensitive_units(table, passage()))
    for command in ([*data, *way], ["trips"]):
        assert run(["count", *command, *asked]) == 0
        assert answered(capsys)["rows"][0]["count"] == expected
    assert run(["count", "trips", *way, *asked]) == 2
    assert "has its map in a file already" in capsys.readouterr().err
    assert run(["count", *data, *way[2:], *asked]) == 2
    assert "A map needs --map too." in capsys.readouterr().err
    beside = ["--out", "edges.csv", "--overwrite"]
    assert run(["count", *data, *way, *asked[:-1], *beside]) == 2
    assert pacsv.read_csv(folder / "edges.csv").num_rows == len(EDGES)


def test_a_map_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["map", "check", "trips", "--json"]) == 0
    by_name = answered(capsys)
    options = ["--map-sensitive", "b", "--map-outside", "a"]
    assert run(["map", "check", "edges.csv", *options, "--json"]) == 0
    assert answered(capsys) == by_name
    assert by_name["id"] == passage().id
    assert by_name["moves"] == len(passage().moves)
    by_policy = ["--policy", "room = 'd'", "--place", "room"]
    assert run(["map", "check", "ways.csv", *by_policy]) == 0
    assert "A dead end: closure changes nothing here" in capsys.readouterr().out
