"""From a token to an answer, over a real socket."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.ledger.desk import PersonRole, Rights
from support.serving import ServerAtWork, describe, serving

COUNT = {
    "kind": "count",
    "epsilon": "0.5",
    "by": "room",
    "max_groups": 4,
    "mechanism": "laplace",
}
PLAN = {name: each for name, each in COUNT.items() if name != "mechanism"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    with serving(describe(tmp_path_factory.mktemp("served"), seconds=None)) as at_work:
        yield at_work


def test_a_count_is_answered_at_its_deadline(tmp_path: Path) -> None:
    with serving(describe(tmp_path, seconds=3)) as server:
        _asked_and_repeated(server)


def _asked_and_repeated(server: ServerAtWork) -> None:
    with server.client(server.token("ann")) as ann:
        facts = ann.get("/api/v1/datasets/visits").raise_for_status().json()
        assert facts["units"] > 0
        assert facts["deadlines"]["count"] == 3
        plan = ann.post("/api/v1/datasets/visits/plan", json=PLAN).raise_for_status()
        assert plan.json()["options"]
        accepted = ann.post("/api/v1/datasets/visits/questions", json=COUNT)
        assert accepted.status_code == 202
        job = accepted.json()["job"]
        assert accepted.headers["location"] == job["url"]
        assert "release" not in ann.get(job["url"]).json()
        done = server.answered(ann, job)
        assert done["state"] == "done"
        receipt = ann.get(done["release"]["url"]).raise_for_status().json()
        assert receipt["asked_by"] == "ann"
        rows = ann.get(done["release"]["data_url"])
        table = pa.ipc.open_stream(rows.content).read_all()
        assert table.num_rows == 6
    with server.client(server.token("bob")) as bob:
        again = bob.post("/api/v1/datasets/visits/count", json={**without_kind(COUNT)})
        assert again.status_code == 200
        assert again.json()["release"]["asked_by"] == "ann"
        listed = bob.get("/api/v1/datasets/visits/releases").json()["releases"]
        assert [each["who"] for each in listed] == ["ann"]
        account = bob.get("/api/v1/datasets/visits/account").json()
        assert account["spent"] == "0.5"
        assert account["own"]["spent"] == "0"


def without_kind(question: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in question.items() if name != "kind"}


KINDS: dict[str, dict[str, Any]] = {
    "sample": {"columns": ["room", "day"]},
    "sum": {"column": "device", "bound": 60, "by": "room", "max_groups": 4},
    "mean": {"column": "device", "bound": "60", "by": "room", "max_groups": 4},
    "quantile": {"column": "device", "bounds": [0, 60]},
    "distinct": {"column": "room", "max_values": 2},
    "histogram": {"column": "device", "edges": [0, 30, 60]},
    "touches": {"by": "room"},
    "ngrams": {"n": 2, "by": "room", "order": "ts", "max_groups": 4, "mechanism": "one-sided"},
    "sql": {
        "statement": "SELECT room, COUNT(*) AS n FROM data GROUP BY room ORDER BY room",
        "max_groups": 4,
        "max_rows": 3,
        "mechanism": "laplace",
    },
}


STANDS_FOR = {"stands_for": ["room"], "noisy": True, "columns": ["room", "device", "day"]}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_and_read_in_every_form(server: ServerAtWork, kind: str) -> None:
    with server.client(server.token("ann")) as ann:
        said = {"kind": kind, "epsilon": 0.25, **KINDS[kind]}
        job = ann.post("/api/v1/datasets/visits/questions", json=said).raise_for_status().json()
        done = server.answered(ann, job["job"])
        assert done["state"] == "done", done
        release = done["release"]
        released_as = "count" if kind in ("touches", "ngrams") else kind
        assert ann.get(release["url"]).raise_for_status().json()["kind"] == released_as
        arrow = ann.get(release["data_url"]).raise_for_status().content
        table = pa.ipc.open_stream(arrow).read_all()
        for kind_of_rows, read in READERS.items():
            headers = {"Accept": kind_of_rows}
            rows = ann.get(release["data_url"], headers=headers).raise_for_status()
            assert rows.headers["content-type"].startswith(kind_of_rows)
            assert read(rows.content) == table.num_rows
        again = ann.post("/api/v1/datasets/visits/questions", json=said)
        assert again.status_code == 200
        found = again.json()["release"]
        repeated = ann.get(found["data_url"]).raise_for_status().content
        assert pa.ipc.open_stream(repeated).read_all() == table


READERS = {
    "application/vnd.apache.parquet": lambda rows: pq.read_table(io.BytesIO(rows)).num_rows,
    "application/json": lambda rows: len(json.loads(rows)["rows"]),
    "text/csv": lambda rows: len(rows.decode().splitlines()) - 1,
}


def test_a_sample_that_stands_for_everybody(server: ServerAtWork) -> None:
    with server.client(server.token("ann")) as ann:
        said = {"kind": "sample", "epsilon": "0.9", **STANDS_FOR}
        job = ann.post("/api/v1/datasets/visits/questions", json=said).raise_for_status().json()
        release = server.answered(ann, job["job"])["release"]
        table = rows(ann, release)
        assert table.column_names == ["room", "device", "day", "weight"]
        assert list(release["figures"]) == ["sample", "count by room"]
        receipt = ann.get(release["url"]).raise_for_status().json()
        assert "room" in receipt["weights"]["margins"]
        found = ann.post("/api/v1/datasets/visits/questions", json=said).json()["release"]
        assert rows(ann, found) == table
        numbers = [each["number"] for each in release["figures"].values()]
        spent = ann.get("/api/v1/datasets/visits/account").json()["spent"]
        asked = {"sample": numbers[0], "counts": numbers[1:], "noisy": True}
        weighed = ann.post("/api/v1/datasets/visits/weigh", json=asked).raise_for_status().json()
        assert rows(ann, weighed["release"]).column_names == table.column_names
        assert ann.get("/api/v1/datasets/visits/account").json()["spent"] == spent
        for sample, status in ((numbers[1], 400), (10**9, 404)):
            wrong = ann.post("/api/v1/datasets/visits/weigh", json={**asked, "sample": sample})
            assert wrong.status_code == status


def rows(client: httpx.Client, release: dict[str, Any]) -> pa.Table:
    content = client.get(release["data_url"]).raise_for_status().content
    return pa.ipc.open_stream(content).read_all()


def test_several_questions_at_once(server: ServerAtWork) -> None:
    questions = [
        {"kind": "count", "name": "rooms", "mechanism": "laplace", **ROOMS},
        {"kind": "sql", "epsilon": "0.4", **KINDS["sql"]},
    ]
    only_counts = Rights(kinds=frozenset({"count"}))
    with (
        server.client(server.token("ann")) as ann,
        server.client(server.token("eve", rights=only_counts)) as eve,
    ):
        said = {"questions": questions, "epsilon": "0.07"}
        refused = eve.post("/api/v1/datasets/visits/run", json=said)
        assert refused.status_code == 403
        job = ann.post("/api/v1/datasets/visits/run", json=said).raise_for_status().json()["job"]
        done = server.answered(ann, job)
        assert (done["kind"], done["cost"]) == ("run", "0.47")
        answers = done["release"]["answers"]
        assert list(answers) == ["rooms", "sql-2"]
        tables = [rows(ann, each) for each in answers.values()]
        again = ann.post("/api/v1/datasets/visits/run", json=said).raise_for_status().json()
        assert again["job"] is None
        assert [rows(ann, each) for each in again["release"]["answers"].values()] == tables
        too_much = [*questions, {"kind": "count", "epsilon": 10**6}]
        before = ann.get("/api/v1/datasets/visits/account").json()["spent"]
        wrong = ann.post("/api/v1/datasets/visits/run", json={**said, "questions": too_much})
        assert wrong.status_code == 400
        assert ann.get("/api/v1/datasets/visits/account").json()["spent"] == before


def test_several_questions_that_wait_for_a_steward(server: ServerAtWork) -> None:
    questions = [
        {"kind": "count", "epsilon": "0.03", "mechanism": "laplace", **ROOMS},
        {"kind": "sample", "epsilon": "0.7", **STANDS_FOR},
    ]
    with (
        server.client(server.token("zoe", rights=Rights(needs_approval=True))) as zoe,
        server.client(server.token("sue", PersonRole.STEWARD)) as sue,
    ):
        asked = zoe.post("/api/v1/datasets/visits/run", json={"questions": questions})
        job = asked.raise_for_status().json()["job"]
        (waiting,) = sue.get("/api/v1/approvals").json()["approvals"]
        assert (waiting["kind"], waiting["greatest_cost"]) == ("run", "0.73")
        assert "±" in waiting["plan"]
        decided = sue.post(f"/api/v1/approvals/{job['id']}", json={"decision": "approve"})
        done = server.answered(zoe, decided.raise_for_status().json())
        answers = done["release"]["answers"]
        assert list(answers["sample-2"]["figures"]) == ["sample", "count by room"]
        assert "weight" in rows(zoe, answers["sample-2"]).column_names


ROOMS = {"by": "room", "max_groups": 4}


def test_what_is_sent_again_under_its_key_is_paid_once(server: ServerAtWork) -> None:
    asked = {"kind": "count", "epsilon": "0.01", "mechanism": "laplace", **ROOMS, "fresh": True}
    url = "/api/v1/datasets/visits/questions"
    with server.client(server.token("ann")) as ann, server.client(server.token("bob")) as bob:
        mine = {"Idempotency-Key": "once-and-for-all"}
        jobs = {
            ann.post(url, json=asked, headers=mine).raise_for_status().json()["job"]["id"]
            for _ in range(3)
        }
        assert len(jobs) == 1
        assert len({*jobs, ann.post(url, json=asked).json()["job"]["id"]}) == 2
        assert len({*jobs, bob.post(url, json=asked, headers=mine).json()["job"]["id"]}) == 2
        other = ann.post(url, json={**asked, "epsilon": "0.02"}, headers=mine)
        assert other.status_code == 409
        for key in ("", "a b", "x" * 201, "ä"):
            wrong = ann.post(url, json=asked, headers={"Idempotency-Key": key.encode()})
            assert wrong.status_code == 400


def test_a_question_that_waits_for_a_steward(server: ServerAtWork) -> None:
    asked = {"kind": "count", "epsilon": "0.1", "by": "room", "mechanism": "laplace"}
    asked |= {"max_groups": 2, "purpose": "why"}
    with (
        server.client(server.token("eve", rights=Rights(needs_approval=True))) as eve,
        server.client(server.token("sue", PersonRole.STEWARD)) as sue,
    ):
        before = sue.get("/api/v1/datasets/visits/account").json()["spent"]
        job = eve.post("/api/v1/datasets/visits/questions", json=asked).raise_for_status().json()
        assert job["job"]["state"] == "awaiting"
        (waiting,) = sue.get("/api/v1/approvals").json()["approvals"]
        assert waiting["purpose"] == "why"
        assert waiting["greatest_cost"] == "0.1"
        assert "±" in waiting["plan"]
        assert sue.get("/api/v1/datasets/visits/account").json()["spent"] == before
        decided = sue.post(f"/api/v1/approvals/{waiting['id']}", json={"decision": "approve"})
        done = server.answered(eve, decided.raise_for_status().json())
        assert done["state"] == "done"
        asked["epsilon"] = "0.11"
        job = eve.post("/api/v1/datasets/visits/questions", json=asked).json()["job"]
        refused = {"decision": "refuse", "why": "no"}
        sue.post(f"/api/v1/approvals/{job['id']}", json=refused).raise_for_status()
        assert eve.get(job["url"]).json()["decision"]["why"] == "no"
        job = eve.post("/api/v1/datasets/visits/questions", json=asked).json()["job"]
        assert eve.delete(job["url"]).json()["state"] == "cancelled"
