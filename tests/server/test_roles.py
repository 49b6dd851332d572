"""Each role against each route, where all that the route names is there.

By token, by the cookie of a browser, and by everything that looks like a token and is none.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

import httpx
import pytest

from onesided.ledger.desk import JobState, PersonRole, Rights, TokenPurpose
from onesided.server.api import ROUTES
from onesided.server.people import COOKIE, CSRF_HEADER
from support.serving import ServerAtWork, describe, serving

PEOPLE = {
    "sue": PersonRole.STEWARD,
    "ann": PersonRole.ANALYST,
    "eve": PersonRole.ANALYST,
    "aud": PersonRole.AUDITOR,
}
"""A steward, an analyst of the data set, an analyst without rights on it, and an auditor."""

_DATA = "/api/v1/datasets/visits"
_SAME = "/api/v1/datasets/{dataset}"
EVERYBODY = (200, 200, 200, 200, 200)
SIGNED_IN = (200, 200, 200, 200, 401)
READERS = (200, 200, 404, 200, 401)
ASKERS = (202, 202, 404, 403, 401)
PLANNERS = (200, 200, 404, 403, 401)
STEWARDS = (200, 403, 403, 403, 401)
INSPECTORS = (200, 403, 403, 200, 401)

#: route → what sue, ann, eve, aud and nobody get
TABLE = {
    "GET /api/v1": EVERYBODY,
    "GET /healthz": EVERYBODY,
    "GET /readyz": EVERYBODY,
    "GET /api/v1/openapi.json": EVERYBODY,
    "GET /api/v1/docs": EVERYBODY,
    "GET /api/v1/docs.css": EVERYBODY,
    "GET /login/{once}": (303, 303, 303, 303, 303),
    "GET /api/v1/me": SIGNED_IN,
    "GET /api/v1/datasets": SIGNED_IN,
    "GET /api/v1/jobs": SIGNED_IN,
    "POST /api/v1/sessions": SIGNED_IN,
    "DELETE /api/v1/sessions": SIGNED_IN,
    f"GET {_SAME}": READERS,
    f"GET {_SAME}/account": READERS,
    f"GET {_SAME}/map": READERS,
    f"GET {_SAME}/releases": READERS,
    f"GET {_SAME}/releases/{{number}}": READERS,
    "GET /api/v1/jobs/{job}": READERS,
    f"POST {_SAME}/questions": ASKERS,
    f"POST {_SAME}/count": ASKERS,
    f"POST {_SAME}/sum": ASKERS,
    f"POST {_SAME}/mean": ASKERS,
    f"POST {_SAME}/sample": ASKERS,
    f"POST {_SAME}/sql": ASKERS,
    f"POST {_SAME}/run": ASKERS,
    f"POST {_SAME}/weigh": PLANNERS,
    f"POST {_SAME}/plan": PLANNERS,
    f"GET {_SAME}/releases/{{number}}/data": PLANNERS,
    f"GET {_SAME}/answers/{{question}}": PLANNERS,
    f"GET {_SAME}/answers/{{question}}/data": PLANNERS,
    "GET /api/v1/jobs/{job}/release": PLANNERS,
    "GET /api/v1/jobs/{job}/release/data": PLANNERS,
    "DELETE /api/v1/jobs/{job}": (403, 200, 404, 403, 401),
    f"POST {_SAME}/snapshots": STEWARDS,
    f"POST {_SAME}/budget": STEWARDS,
    f"GET {_SAME}/rights/{{person}}": STEWARDS,
    f"PUT {_SAME}/rights/{{person}}": STEWARDS,
    f"DELETE {_SAME}/rights/{{person}}": STEWARDS,
    f"GET {_SAME}/check": STEWARDS,
    "GET /api/v1/sources": STEWARDS,
    "POST /api/v1/sources/columns": STEWARDS,
    "POST /api/v1/sources/check": STEWARDS,
    "POST /api/v1/policies": STEWARDS,
    "POST /api/v1/maps": STEWARDS,
    "POST /api/v1/attacks": STEWARDS,
    f"GET {_SAME}/releases/{{number}}/publication": STEWARDS,
    "GET /api/v1/ledger/report": INSPECTORS,
    "POST /api/v1/datasets": (201, 403, 403, 403, 401),
    "GET /api/v1/approvals": STEWARDS,
    "POST /api/v1/approvals/{job}": STEWARDS,
    "GET /api/v1/tokens": STEWARDS,
    "POST /api/v1/tokens": STEWARDS,
    "DELETE /api/v1/tokens/{token}": STEWARDS,
    "GET /api/v1/ledger": INSPECTORS,
    "GET /api/v1/ledger/verification": INSPECTORS,
    "GET /metrics": INSPECTORS,
}
GUARDED = [route for route, row in TABLE.items() if row[-1] == 401]
SELECT: dict[str, Any] = {
    "statement": "SELECT room, COUNT(*) AS n FROM data GROUP BY room",
    "max_groups": 4,
    "max_rows": 3,
}


FILE = "visits.parquet"
MAP = {"place": "room", "time": "ts", "sensitive": ["clinic"]}
EDGES = "from,to,seconds\ncafe,clinic,60\nclinic,lab,60\n"
MORE = {"unit": ["device", "day"], "policy": "NOT consent"}


@dataclass
class House:
    """A server in which everything that a route can name is there."""

    server: ServerAtWork
    open: httpx.Client
    names: dict[str, str] = field(default_factory=dict)
    browsers: dict[str, dict[str, str]] = field(default_factory=dict)
    fresh: Iterator[int] = field(default_factory=lambda: count(1))
    weighed: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def build(cls, server: ServerAtWork, client: httpx.Client) -> House:
        """One SELECT that was answered, and again for free."""
        house = cls(server, client)
        server.desk.set_rights("visits", "ann", Rights())
        question = {"epsilon": "0.01", "mechanism": "laplace", **SELECT}
        ann = house.bearer("ann")
        job = client.post(f"{_DATA}/sql", json=question, headers=ann).json()["job"]
        _over(client, ann, job)
        known = client.post(f"{_DATA}/sql", json=question, headers=ann).raise_for_status().json()
        listed = client.get(f"{_DATA}/releases", headers=ann).json()["releases"]
        house.weighed = house.weighable(ann)
        house.names = {
            "{job}": job["id"],
            "{dataset}": "visits",
            "{person}": "ann",
            "{number}": str(listed[0]["number"]),
            "{question}": known["release"]["url"].rpartition("/")[2],
        }
        return house

    def weighable(self, headers: dict[str, str]) -> dict[str, Any]:
        """A sample and a count that were released, by their numbers."""
        asked = {"epsilon": 1, "stands_for": ["room"], "noisy": True}
        job = self.open.post(f"{_DATA}/sample", json=asked, headers=headers).json()["job"]
        done = _over(self.open, headers, job)
        sample, *counts = (each["number"] for each in done["release"]["figures"].values())
        return {"sample": sample, "counts": counts, "noisy": True}

    def token(self, name: str, **more: Any) -> str:
        return self.server.desk.add_token(name, PEOPLE[name], **more)

    def bearer(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token(name)}"}

    def cookie(self, name: str) -> dict[str, str]:
        """What a browser sends that is logged in, with its CSRF token."""
        asked = self.open.post("/api/v1/sessions", headers=self.bearer(name)).json()
        entered = self.open.get(asked["url"])
        cookie = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
        self.open.cookies.clear()
        said = self.open.get("/api/v1/me", headers=cookie).raise_for_status().json()
        return {**cookie, CSRF_HEADER: said["csrf"]}

    def browser(self, name: str) -> dict[str, str]:
        """The same of a browser that has been logged in for long."""
        if name not in self.browsers:
            self.browsers[name] = self.cookie(name)
        return self.browsers[name]

    def awaiting(self) -> str:
        """A question of ann's that waits for a steward."""
        self.server.desk.set_rights("visits", "ann", Rights(needs_approval=True))
        asked = self.open.post(f"{_DATA}/count", json=self.counting(), headers=self.bearer("ann"))
        self.server.desk.set_rights("visits", "ann", Rights())
        return str(asked.raise_for_status().json()["job"]["id"])

    def counting(self) -> dict[str, Any]:
        """A question that nobody asked before."""
        where = f"device <> {next(self.fresh) + 10_000}"
        return {"epsilon": "0.001", "by": "room", "max_groups": 4, "where": where} | _LAPLACE

    def call(self, route: str, headers: dict[str, str]) -> httpx.Response:
        """Call a route with everything that it needs to succeed for whoever may."""
        method, _, path = route.partition(" ")
        names, body = dict(self.names), None
        if route in _BODIES:
            body = _BODIES[route](self)
        if route in ("DELETE /api/v1/jobs/{job}", "POST /api/v1/approvals/{job}"):
            names["{job}"] = self.awaiting()
        if "{token}" in path:
            found = self.server.desk.person(self.token("aud"))
            assert found is not None
            names["{token}"] = found.token
        if "{once}" in path:
            names["{once}"] = self.token("ann", purpose=TokenPurpose.LOGIN)
        for name, value in names.items():
            path = path.replace(name, value)
        answer = self.open.request(method, path, json=body, headers=headers)
        self.open.cookies.clear()
        if "rights" in path:
            self.server.desk.set_rights("visits", "ann", Rights())
        return answer


def _over(client: httpx.Client, headers: dict[str, str], job: dict[str, Any]) -> dict[str, Any]:
    """A job when it is no longer on its way."""
    while (said := client.get(job["url"], headers=headers).json())["state"] == "accepted":
        time.sleep(0.02)
    found: dict[str, Any] = said
    return found


_LAPLACE = {"mechanism": "laplace"}
_SUM = {"column": "device", "bound": 60, "by": "room", "max_groups": 4, "epsilon": "0.001"}


def _with(question: dict[str, Any]) -> Callable[[House], dict[str, Any]]:
    return lambda house: {**question, "where": f"device <> {next(house.fresh) + 10_000}"}


def _selecting(house: House) -> dict[str, Any]:
    where = f"WHERE device <> {next(house.fresh) + 10_000}"
    text = SELECT["statement"].replace("GROUP", f"{where} GROUP")
    return {**SELECT, **_LAPLACE, "statement": text, "epsilon": "0.001"}


_BODIES: dict[str, Callable[[House], dict[str, Any]]] = {
    f"POST {_SAME}/questions": lambda house: {"kind": "count", **house.counting()},
    f"POST {_SAME}/count": House.counting,
    f"POST {_SAME}/sum": _with(_SUM),
    f"POST {_SAME}/mean": _with(_SUM),
    f"POST {_SAME}/sample": lambda house: {
        "epsilon": f"0.0{next(house.fresh):06}",
        "columns": ["room"],
        "fresh": True,
    },
    f"POST {_SAME}/sql": _selecting,
    f"POST {_SAME}/run": lambda house: {"questions": [{"kind": "count", **house.counting()}]},
    f"POST {_SAME}/weigh": lambda house: house.weighed,
    f"POST {_SAME}/plan": lambda house: (
        {"kind": "count", "by": "room", "max_groups": 4} | {"epsilon": "0.1"}
    ),
    f"POST {_SAME}/snapshots": lambda house: {},
    f"POST {_SAME}/budget": lambda house: {"budget": 1000 + next(house.fresh), "why": "more"},
    f"PUT {_SAME}/rights/{{person}}": lambda house: {},
    "POST /api/v1/approvals/{job}": lambda house: {"decision": "refuse", "why": "no"},
    "POST /api/v1/sources/columns": lambda house: {"source": FILE},
    "POST /api/v1/sources/check": lambda house: {"source": FILE, **MORE},
    "POST /api/v1/policies": lambda house: {"dataset": "visits", "policy": MORE["policy"]},
    "POST /api/v1/attacks": lambda house: {"epsilon": 1},
    "POST /api/v1/maps": lambda house: {"edges": "edges.csv", **MAP},
    "POST /api/v1/datasets": lambda house: {
        "name": f"more-{next(house.fresh)}",
        "source": FILE,
        "budget": 1,
        **MORE,
    },
    "POST /api/v1/tokens": lambda house: {"name": "aud", "role": "auditor"},
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    (folder / "more").mkdir()
    file = describe(folder, seconds=None, budget=1000, server='sources = ["more"]')
    shutil.copy(folder / FILE, folder / "more")
    (folder / "more" / "edges.csv").write_text(EDGES)
    described = "".join(f"{name} = {each!r}\n" for name, each in MAP.items())
    added = f'\n[datasets.visits.map]\nedges = "more/edges.csv"\n{described}'
    file.write_text(file.read_text() + added)
    with serving(file) as server, server.client() as client:
        yield House.build(server, client)


def _rest(house: House) -> None:
    """A new state is opened when nothing runs."""
    while house.server.desk.jobs(states=[JobState.ACCEPTED]):
        time.sleep(0.02)


def test_the_table_names_every_route() -> None:
    assert sorted(TABLE) == sorted(f"{each.method} {each.path}" for each in ROUTES)


@pytest.mark.parametrize("route", TABLE)
def test_a_role_gets_what_the_table_says(house: House, route: str) -> None:
    _rest(house)
    by_token = [house.call(route, house.bearer(name)) for name in PEOPLE]
    nobody = house.call(route, {})
    assert tuple(each.status_code for each in (*by_token, nobody)) == TABLE[route]
    for answer in (*by_token, nobody):
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["status"] == answer.status_code
            assert "Traceback" not in answer.text


@pytest.mark.soak
@pytest.mark.parametrize("route", GUARDED)
def test_a_browser_gets_the_same_with_its_csrf_token(house: House, route: str) -> None:
    _rest(house)
    others = house.browser("ann")
    for name, expected in zip(PEOPLE, TABLE[route], strict=False):
        cookie = house.cookie(name) if route == "DELETE /api/v1/sessions" else house.browser(name)
        if not route.startswith("GET") and name == "sue":
            forged = {"Cookie": cookie["Cookie"]}
            assert house.call(route, forged).status_code == 403, "without its CSRF token"
            forged[CSRF_HEADER] = others[CSRF_HEADER]
            assert house.call(route, forged).status_code == 403, "with that of another session"
        # A session begets no other.
        wanted = 403 if route == "POST /api/v1/sessions" else expected
        assert house.call(route, cookie).status_code == wanted, name


def _wrong_tokens(house: House) -> dict[str, dict[str, str]]:
    """What looks like a token of a steward, and is none."""
    desk, soon = house.server.desk, timedelta(milliseconds=1)
    revoked, good = house.token("sue"), house.token("sue")
    found = desk.person(revoked)
    assert found is not None
    desk.revoke(found.token)
    expired = house.token("sue", expires=desk.now() + soon)
    session = house.token("sue", purpose=TokenPurpose.SESSION)
    login = house.token("sue", purpose=TokenPurpose.LOGIN)
    time.sleep(0.01)
    wrong = {
        "revoked": revoked,
        "expired": expired,
        "truncated": good[:-1],
        "longer": good + "A",
        "in other letters": good.swapcase(),
        "of a login": login,
        "of a session": session,
        "an id": found.token,
    }
    found_headers = {name: {"Authorization": f"Bearer {text}"} for name, text in wrong.items()}
    return {
        **found_headers,
        "another scheme": {"Authorization": f"Basic {good}"},
        "no scheme": {"Authorization": good},
        "no token": {"Authorization": "Bearer"},
        "a token as a cookie": {"Cookie": f"{COOKIE}={good}"},
        "a login as a cookie": {"Cookie": f"{COOKIE}={login}"},
        "the cookie of TLS": {"Cookie": f"__Host-{COOKIE}={session}"},
    }


def _opens_nothing(house: House, route: str, headers: dict[str, str], kind: str) -> None:
    method, _, path = route.partition(" ")
    answer = house.open.request(method, path, headers=headers)
    assert answer.status_code == 401, (kind, route)
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_what_is_no_token_opens_nothing(house: House) -> None:
    for kind, headers in _wrong_tokens(house).items():
        _opens_nothing(house, "GET /api/v1/me", headers, kind)


@pytest.mark.soak
def test_what_is_no_token_opens_no_route(house: House) -> None:
    for kind, headers in _wrong_tokens(house).items():
        for route in GUARDED:
            _opens_nothing(house, route, headers, kind)


def test_a_token_in_an_address_opens_nothing(house: House) -> None:
    token = house.token("sue")
    for name in ("token", "access_token", "Authorization", COOKIE):
        assert house.open.get("/api/v1/me", params={name: token}).status_code == 401


def test_two_tokens_are_none(house: House) -> None:
    two = [("Authorization", f"Bearer {house.token('sue')}")] * 2
    assert house.open.get("/api/v1/me", headers=two).status_code == 401


def test_no_token_is_logged(house: House) -> None:
    token = house.token("sue")
    for headers in ({"Authorization": f"Bearer {token}"}, {"Authorization": f"Bearer x{token}"}):
        house.open.get("/api/v1/me", headers=headers)
    house.open.get(f"/api/v1/me?token={token}")
    house.open.get(f"/login/{token}")
    house.open.get(f"/nothing/{token}")
    assert token not in "\n".join(house.server.logged)
