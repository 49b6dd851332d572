"""A data set with a map at a server: its facts and pages say so, and its answers are closed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from onesided.ledger.desk import PersonRole
from support.pages import csrf, in_browser, well_labelled
from support.serving import EVERYTHING, ServerAtWork, describe, serving

STEWARD = PersonRole.STEWARD
MAP = """
[datasets.visits.map]
edges = "edges.csv"
place = "room"
time = "ts"
sensitive = ["clinic"]
"""
EDGES = "from,to,seconds\ncafe,hall,60\nhall,lab,60\nlab,office,60\nlab,clinic,20\n"
COUNT = {"epsilon": "0.5", "by": "room", "max_groups": 4, "mechanism": "laplace"}


def test_who_asks_is_told_of_the_map(tmp_path: Path) -> None:
    file = describe(tmp_path, seconds=None)
    (tmp_path / "edges.csv").write_text(EDGES)
    file.write_text(file.read_text() + MAP)
    with serving(file) as server, server.client(server.token("ann")) as ann:
        facts = ann.get("/api/v1/datasets/visits").raise_for_status().json()
        assert "rule certain" in facts["map"][0]
        assert "rule certain" in ann.get("/data/visits").raise_for_status().text
        job = ann.post("/api/v1/datasets/visits/count", json=COUNT).raise_for_status().json()["job"]
        done = server.answered(ann, job)
        receipt = ann.get(done["release"]["url"]).raise_for_status().json()
    assert "closed" in json.dumps(receipt["guarantee"])
    assert receipt["map"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerAtWork]:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "edges.csv").write_text(f"{EDGES}clinic,office,10\n")
    file = describe(tmp_path, seconds=None, server='sources = ["files"]\nledger = "all.ledger"')
    (tmp_path / "visits.parquet").rename(tmp_path / "files" / "visits.parquet")
    file.write_text(file.read_text().split("[datasets.visits]")[0])
    with serving(file) as found:
        yield found


FIELDS = {"map_edges": "edges.csv", "map_place": "room", "map_time": "ts"}
SAID = {"source": "visits.parquet", "unit": ["device", "day"], "policy": "room = 'clinic'"}


def said(sue: httpx.Client, **more: object) -> dict[str, object]:
    return {**SAID, **FIELDS, "map_sensitive": "clinic", **more, "csrf": csrf(sue)}


def test_a_steward_adds_a_map(server: ServerAtWork) -> None:
    with in_browser(server, server.token("sue", STEWARD)) as sue:
        live = sue.post("/new/policy", data=said(sue)).text
        assert "moves between open places" in live
        assert "<svg" in live
        quick = sue.post("/new/policy", data=said(sue, map_rule="quickest")).text
        assert "moves between open places" in quick
        checked = sue.post("/new", data=said(sue, step="policy")).text
        assert "How much may be told in all?" in checked
        assert well_labelled(checked) == []
        last = said(sue, step="publish", budget="3", name="walks", map_slack="1.5", map_gap="900")
        assert sue.post("/new", data=last).headers["location"] == "/data/walks?new=1"
        shown = sue.get("/data/walks/map").text
        assert "slack 1.5" in shown
        assert "gap 900 s" in shown
        assert "<svg" in shown
        server.desk.set_rights("walks", "ann", EVERYTHING)
        with in_browser(server, server.token("ann", rights=None)) as ann:
            assert ann.get("/data/walks/map").status_code == 200
            told = ann.get("/api/v1/datasets/walks/map").json()["said"]
            assert told in ann.get("/data/walks/map").text
    # The same once the server starts again: the map stands in its file.
    with serving(server.config.file) as again, again.client(again.token("z", STEWARD)) as sue:
        assert sue.get("/api/v1/datasets/walks/map").json()["gap"] == "900"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"map_place": "nowhere"}, "map_place"),
        ({"map_place": ""}, "map_place"),
        ({"map_time": "room"}, "map_time"),
        ({"map_sensitive": "nowhere"}, "map_sensitive"),
        ({"map_slack": "x"}, "map_slack"),
        ({"map_gap": "-1"}, "map_gap"),
        ({"map_outside": "nowhere"}, "map_outside"),
        ({"map_edges": "../visits.parquet"}, "map_edges"),
        ({"map_edges": "visits.parquet"}, "map_edges"),
    ],
)
def test_what_is_wrong_with_a_map_stands_beside_its_field(
    server: ServerAtWork, more: dict[str, str], field: str
) -> None:
    with in_browser(server, server.token("sue", STEWARD)) as sue:
        page = sue.post("/new", data=said(sue, step="policy", **more))
        assert page.status_code == 400
        assert f'id="fault-{field}" role="alert"' in page.text


def test_where_rows_are_records_there_is_no_move(server: ServerAtWork) -> None:
    with in_browser(server, server.token("sue", STEWARD)) as sue:
        page = sue.post("/new", data=said(sue, unit=["rows"], step="unit")).text
        assert "map_edges" not in page
