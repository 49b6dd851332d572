"""A data set with a map at a server: its facts and pages say so, and its answers are closed."""

from __future__ import annotations

import json
from pathlib import Path

from support.serving import describe, serving

MAP = """
[datasets.visits.map]
edges = "edges.csv"
place = "room"
time = "ts"
sensitive = ["clinic"]
"""
EDGES = "from,to,seconds\ncafe,hall,60\nhall,lab,60\nlab,office,60\nlab,clinic,60\n"
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
