"""What an analyst may do is checked before anything is answered or charged."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from onesided.ledger.desk import PersonRole, Rights
from support.serving import ServerAtWork, describe, serving

COUNT = {"epsilon": "0.5", "by": "room", "max_groups": 4, "mechanism": "laplace"}
VISITS = "/api/v1/datasets/visits"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    folder = tmp_path_factory.mktemp("rights")
    with serving(describe(folder, seconds=600, budget=1000, server="stop_seconds = 0")) as found:
        yield found


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
