"""Each role against each route, in one table, and tokens that are none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from onesided.ledger.desk import PersonRole, Rights
from onesided.server.api import ROUTES
from support.serving import ServerAtWork, describe, serving

COUNT = {"epsilon": "0.5", "by": "room", "max_groups": 4, "mechanism": "laplace"}
SQL = "SELECT COUNT(*) AS n FROM data"
VISITS = "/api/v1/datasets/visits"
# Method and path; a body that is right; then what stewards, analysts, analysts without a right to
# the data set, auditors and nobody are answered. A question of nobody's is 404 for all who may ask.
TABLE: list[tuple[str, str, Any, tuple[int, int, int, int, int]]] = [
    ("GET", "/api/v1", None, (200, 200, 200, 200, 200)),
    ("GET", "/api/v1/me", None, (200, 200, 200, 200, 401)),
    ("GET", "/api/v1/datasets", None, (200, 200, 200, 200, 401)),
    ("GET", VISITS, None, (200, 200, 404, 200, 401)),
    ("POST", f"{VISITS}/plan", {"kind": "count", "epsilon": 1}, (200, 200, 404, 403, 401)),
    ("POST", f"{VISITS}/snapshots", {"source": "../x"}, (409, 403, 403, 403, 401)),
    ("POST", f"{VISITS}/questions", {"kind": "count", **COUNT}, (202, 202, 404, 403, 401)),
    ("POST", f"{VISITS}/count", COUNT, (202, 202, 404, 403, 401)),
    (
        "POST",
        f"{VISITS}/sum",
        {"epsilon": 1, "column": "device", "bound": 9},
        (202, 202, 404, 403, 401),
    ),
    (
        "POST",
        f"{VISITS}/mean",
        {"epsilon": 1, "column": "device", "bound": 9},
        (202, 202, 404, 403, 401),
    ),
    ("POST", f"{VISITS}/sample", {"epsilon": 1}, (202, 202, 404, 403, 401)),
    ("POST", f"{VISITS}/sql", {"epsilon": 1, "statement": "x"}, (400, 400, 404, 403, 401)),
    (
        "POST",
        f"{VISITS}/run",
        {"questions": [{"kind": "count", **COUNT}]},
        (202, 202, 404, 403, 401),
    ),
    ("POST", f"{VISITS}/weigh", {"sample": 1, "counts": [2]}, (404, 404, 404, 403, 401)),
    ("GET", "/api/v1/jobs", None, (200, 200, 200, 200, 401)),
    ("GET", "/api/v1/jobs/{job}", None, (200, 200, 404, 200, 401)),
    ("DELETE", "/api/v1/jobs/{job}", None, (403, 409, 404, 403, 401)),
    ("GET", "/api/v1/jobs/{job}/release", None, (404, 404, 404, 403, 401)),
    ("GET", "/api/v1/jobs/{job}/release/data", None, (404, 404, 404, 403, 401)),
    ("GET", f"{VISITS}/releases", None, (200, 200, 404, 200, 401)),
    ("GET", f"{VISITS}/releases/1", None, (404, 404, 404, 404, 401)),
    ("GET", f"{VISITS}/releases/1/data", None, (404, 404, 404, 403, 401)),
    ("GET", f"{VISITS}/answers/x", None, (404, 404, 404, 403, 401)),
    ("GET", f"{VISITS}/answers/x/data", None, (404, 404, 404, 403, 401)),
    ("GET", f"{VISITS}/account", None, (200, 200, 404, 200, 401)),
    ("POST", f"{VISITS}/budget", {"budget": 1, "why": "more"}, (400, 403, 403, 403, 401)),
    ("GET", "/api/v1/ledger", None, (200, 403, 403, 200, 401)),
    ("GET", "/api/v1/ledger/verification", None, (200, 403, 403, 200, 401)),
    ("GET", "/api/v1/approvals", None, (200, 403, 403, 403, 401)),
    ("POST", "/api/v1/approvals/{job}", {"decision": "approve"}, (409, 403, 403, 403, 401)),
    ("GET", "/api/v1/tokens", None, (200, 403, 403, 403, 401)),
    ("POST", "/api/v1/tokens", {"name": "new", "role": "analyst"}, (200, 403, 403, 403, 401)),
    ("DELETE", "/api/v1/tokens/nobody", None, (404, 403, 403, 403, 401)),
    ("GET", f"{VISITS}/rights/ann", None, (200, 403, 403, 403, 401)),
    ("PUT", f"{VISITS}/rights/new", {"kinds": ["count"]}, (200, 403, 403, 403, 401)),
    ("DELETE", f"{VISITS}/rights/new", None, (200, 403, 403, 403, 401)),
    ("GET", "/api/v1/sources", None, (200, 403, 403, 403, 401)),
    ("POST", "/api/v1/sources/columns", {"source": "../x"}, (400, 403, 403, 403, 401)),
    (
        "POST",
        "/api/v1/sources/check",
        {"source": "../x", "unit": "rows", "policy": "TRUE"},
        (400, 403, 403, 403, 401),
    ),
    ("POST", "/api/v1/policies", {"policy": "TRUE"}, (400, 403, 403, 403, 401)),
    (
        "POST",
        "/api/v1/datasets",
        {"name": "more", "source": "../x", "unit": "rows", "policy": "TRUE", "budget": 1},
        (400, 403, 403, 403, 401),
    ),
    ("GET", f"{VISITS}/check", None, (200, 403, 403, 403, 401)),
    ("POST", "/api/v1/sessions", None, (200, 200, 200, 200, 401)),
    ("GET", "/login/x", None, (404, 404, 404, 404, 404)),
    ("GET", "/healthz", None, (200, 200, 200, 200, 200)),
    ("GET", "/readyz", None, (200, 200, 200, 200, 200)),
    ("GET", "/metrics", None, (200, 403, 403, 200, 401)),
    ("GET", "/api/v1/openapi.json", None, (200, 200, 200, 200, 200)),
    ("GET", "/api/v1/docs", None, (200, 200, 200, 200, 200)),
    ("GET", "/api/v1/docs.css", None, (200, 200, 200, 200, 200)),
    # Last, since it ends the token that is shown.
    ("DELETE", "/api/v1/sessions", None, (200, 200, 200, 200, 401)),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    folder = tmp_path_factory.mktemp("roles")
    with serving(describe(folder, seconds=600, budget=1000, server="stop_seconds = 0")) as found:
        yield found


def test_each_role_at_each_route(server: ServerAtWork) -> None:
    tokens = (
        server.token("sue", PersonRole.STEWARD),
        server.token("ann"),
        server.token("out", rights=None),
        server.token("aud", PersonRole.AUDITOR),
        None,
    )
    with server.client(tokens[1]) as ann:
        first = {**COUNT, "epsilon": "0.25"}
        job = ann.post(f"{VISITS}/count", json=first).json()["job"]["id"]
    clients = [server.client(each) for each in tokens]
    wrong = {}
    for method, path, body, expected in TABLE:
        found = []
        for client in clients:
            more = {} if body is None else {"json": body}
            answer = client.request(method, path.replace("{job}", job), **more)
            found.append(answer.status_code)
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == "application/problem+json"
        if tuple(found) != expected:
            wrong[method, path] = (tuple(found), expected)
    for client in clients:
        client.close()
    assert not wrong


def test_the_table_names_every_route() -> None:
    shapes = {(method, _shape(path)) for method, path, *_ in TABLE}
    assert {(each.method, _shape(each.path)) for each in ROUTES} == shapes
    assert len(TABLE) == len(shapes)


def _shape(path: str) -> str:
    """A path with its parameters, or what stands for them in the table, left out."""
    parts = path.replace("{dataset}", "visits").split("/")
    free = {"nobody", "ann", "new", "1", "x"}
    return "/".join("*" if each in free or each.startswith("{") else each for each in parts)


def test_tokens_that_are_none(server: ServerAtWork) -> None:
    good = server.token("ben")
    past = server.desk.now() + timedelta(milliseconds=50)
    expired = server.desk.add_token("ben", PersonRole.ANALYST, expires=past)
    revoked = server.token("rex")
    server.desk.revoke("rex")
    tried = {
        "expired": f"Bearer {expired}",
        "revoked": f"Bearer {revoked}",
        "truncated": f"Bearer {good[:-1]}",
        "longer": f"Bearer {good}x",
        "another case": f"Bearer {good.swapcase()}",
        "basic": f"Basic {good}",
        "empty": "Bearer",
        "alone": good,
        "very long": "Bearer " + "x" * 10_000,
    }
    with server.client() as nobody:
        for name, header in tried.items():
            found = nobody.get("/api/v1/me", headers={"Authorization": header})
            assert found.status_code == 401, name
            assert found.headers["www-authenticate"].startswith("Bearer")
        twice = [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")]
        assert nobody.get("/api/v1/me", headers=twice).status_code == 401
        assert nobody.get(f"/api/v1/me?token={good}").status_code == 401
        fine = nobody.get("/api/v1/me", headers={"Authorization": f"bearer {good}"})
        assert fine.json()["name"] == "ben"
    assert not [line for line in server.logged if good in line or revoked in line]


RIGHTS = {
    "kind": (Rights(kinds=frozenset({"sum"})), "of the kind count"),
    "too much": (Rights(most_per_release=1), "at most"),
    "too little": (Rights(least=5), "at least"),
}


@pytest.mark.parametrize("name", RIGHTS)
def test_rights_are_checked_before_anything(server: ServerAtWork, name: str) -> None:
    rights, said = RIGHTS[name]
    asked = {**COUNT, "epsilon": 2}
    with server.client(server.token(f"limited {name}", rights=rights)) as client:
        found = client.post(f"{VISITS}/count", json=asked)
        assert found.status_code == 403
        assert said in found.json()["detail"]


def test_a_share_of_the_account_is_kept(server: ServerAtWork) -> None:
    with server.client(server.token("cap", rights=Rights(most_in_all=1))) as client:
        fine = client.post(f"{VISITS}/count", json={**COUNT, "epsilon": "0.75"})
        assert fine.status_code == 202
        over = client.post(f"{VISITS}/count", json={**COUNT, "epsilon": "0.76"})
        assert (over.status_code, over.json()["error"]) == (402, "CapError")
        own = client.get(f"{VISITS}/account").json()["own"]
        assert own == {"spent": "0.75", "most_in_all": "1"}


def test_over_budget(server: ServerAtWork) -> None:
    with server.client(server.token("sam", PersonRole.STEWARD)) as client:
        over: httpx.Response = client.post(
            f"{VISITS}/count", json={**COUNT, "epsilon": 5000, "yes": True}
        )
        assert (over.status_code, over.json()["error"]) == (402, "BudgetError")
