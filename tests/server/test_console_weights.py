"""Samples that stand for everybody, in a browser: asked at once, or from what was released."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from support.pages import ask, csrf, in_browser, well_labelled
from support.serving import ServerAtWork, describe, serving

SAMPLE = {"epsilon": "2", "stands": ["room", "", ""], "stands_values": ["", "", ""], "noisy": "1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    with serving(describe(tmp_path_factory.mktemp("weights"), seconds=None)) as found:
        yield found


@pytest.fixture(scope="module")
def ann(server: ServerAtWork) -> Iterator[httpx.Client]:
    with in_browser(server, server.token("ann")) as found:
        yield found


def test_a_sample_that_stands_for_everybody(server: ServerAtWork, ann: httpx.Client) -> None:
    form = {**SAMPLE, "csrf": csrf(ann)}
    planned = ann.post("/data/visits/ask/sample/plan", data=form).text
    assert "Stands for <bdi>room: 6 groups" in planned
    place = ask(server, ann, "sample", form)
    seen = ann.get(place, follow_redirects=True)
    for said in ("Without weights", "With weights", "Effective size", "<svg", "Stays biased"):
        assert said in seen.text
    assert "that stand for room" in seen.text
    assert well_labelled(seen.text) == []
    rows = ann.get(f"{seen.url.path}/rows.json").json()["rows"]
    assert all(row["weight"] > 0 for row in rows)
    again = ask(server, ann, "sample", form)
    assert "This was free" in ann.get(again, follow_redirects=True).text


def test_a_released_sample_is_weighed(server: ServerAtWork, ann: httpx.Client) -> None:
    mark = csrf(ann)
    count = {"by": ["room", "", ""], "values": ["", "", ""], "max_groups": "1"}
    counted = ask(
        server, ann, "count", {**count, "epsilon": "2", "mechanism": "laplace", "csrf": mark}
    )
    number = ann.get(counted, follow_redirects=True).url.path.rpartition("/")[2]
    sampled = ask(server, ann, "sample", {"epsilon": "3", "csrf": mark})
    page = ann.get(sampled, follow_redirects=True)
    assert "Let it stand for everybody" in page.text
    weigh = f"{page.url.path}/weigh"
    none = ann.post(weigh, data={"csrf": mark})
    assert none.status_code == 400
    assert "Choose at least one count." in none.text
    spent = server.desk.spent("visits", "ann")
    sent = ann.post(weigh, data={"csrf": mark, "counts": [number], "noisy": "1"})
    assert sent.status_code == 303, re.findall("refused.*", sent.text)
    seen = ann.get(sent.headers["location"]).text
    for said in ("With weights", "Effective size", "<svg", "True records with weights"):
        assert said in seen
    assert f".weighted([ds.released({number})])" in seen
    assert server.desk.spent("visits", "ann") == spent
    api = {"sample": int(page.url.path.rpartition("/")[2]), "counts": [int(number)], "noisy": True}
    found = ann.post("/api/v1/datasets/visits/weigh", json=api, headers={"X-CSRF-Token": mark})
    assert found.json()["release"]["url"].rpartition("/")[2] in sent.headers["location"]


def test_what_cannot_be_weighed_is_refused_beside_the_counts(
    server: ServerAtWork, ann: httpx.Client
) -> None:
    mark = csrf(ann)
    few = {"epsilon": "2", "columns": ["room"], "csrf": mark}
    page = ann.get(ask(server, ann, "sample", few), follow_redirects=True)
    for number in ("1", "999999", "x"):
        sent = ann.post(f"{page.url.path}/weigh", data={"csrf": mark, "counts": [number]})
        assert sent.status_code == 400
        assert 'role="alert"' in sent.text
    assert ann.post("/data/visits/releases/999/weigh", data={"csrf": mark}).status_code == 404
    assert ann.post("/data/visits/releases/x/weigh", data={"csrf": mark}).status_code == 404
