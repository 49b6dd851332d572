"""Requests that want more than an answer: other hosts, other pages, large bodies, odd paths."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from onesided.ledger.desk import PersonRole
from onesided.server.people import COOKIE, CSRF_HEADER
from support.serving import ServerAtWork, describe, serving

VISITS = "/api/v1/datasets/visits"
LIMITS = "send_seconds = 1\nbody_bytes = 100000"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "more").mkdir()
    more = 'sources = ["more"]\ncors = ["https://app.example"]'
    with serving(describe(folder, limits=LIMITS, server=more)) as found:
        yield found


@pytest.fixture(scope="module")
def token(server: ServerAtWork) -> str:
    return server.token("ann")


def raw(server: ServerAtWork, sent: bytes, seconds: float = 5) -> bytes:
    """What comes back on a connection of its own, until it ends or nothing comes any more."""
    port = server.config.port
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(sent)
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
        except TimeoutError:
            received += b"(still open)"
        return received


def test_every_answer_has_the_headers(server: ServerAtWork, token: str) -> None:
    with server.client(token) as client:
        for path in ("/api/v1/docs", "/api/v1/docs.css", "/api/v1/me", "/nowhere", VISITS):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-frame-options"] == "DENY"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert "server" not in headers


def test_the_page_loads_nothing_from_outside(server: ServerAtWork) -> None:
    with server.client() as client:
        page = client.get("/api/v1/docs").text
        assert re.findall(r'(?:href|src)="([^"]*)"', page) == [
            "/api/v1/docs.css",
            "/api/v1/openapi.json",
        ]
        assert "<script" not in page
        assert "style=" not in page
        assert not re.findall(r"url\(|@import", client.get("/api/v1/docs.css").text)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example:80", "", "evil.example, 127.0.0.1", "localhost@evil"],
)
def test_another_host_is_refused(server: ServerAtWork, token: str, host: str) -> None:
    with server.client(token) as client:
        assert client.get("/api/v1/me", headers={"Host": host}).status_code == 400
        for fine in ("localhost", "LOCALHOST:1", f"127.0.0.1:{server.config.port}"):
            assert client.get("/api/v1/me", headers={"Host": fine}).status_code == 200


def test_two_hosts_or_none_are_refused(server: ServerAtWork) -> None:
    twice = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"
    none = b"GET /healthz HTTP/1.0\r\n\r\n"
    for sent in (twice, none):
        assert b" 400 " in raw(server, sent, 2).splitlines()[0]


def test_pages_elsewhere_are_let_in_as_listed(server: ServerAtWork, token: str) -> None:
    with server.client(token) as client:
        listed = client.get("/api/v1/me", headers={"Origin": "https://app.example"})
        assert listed.headers["access-control-allow-origin"] == "https://app.example"
        assert "access-control-allow-credentials" not in listed.headers
        other = client.get("/api/v1/me", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


def login(server: ServerAtWork, name: str = "ann") -> tuple[str, str]:
    """The cookie of a new session, and the address that gave it."""
    with server.client(server.token(name)) as client:
        url = client.post("/api/v1/sessions").raise_for_status().json()["url"]
    with server.client() as browser:
        planted = {"Cookie": f"{COOKIE}=planted"}
        answer = browser.get(url, headers=planted)
        assert answer.status_code == 303
        said = answer.headers["set-cookie"]
    assert "HttpOnly" in said
    assert "SameSite=Strict" in said
    value = said.partition(";")[0].partition("=")[2]
    assert value != "planted"
    return value, url


def test_an_address_logs_in_once(server: ServerAtWork) -> None:
    cookie, url = login(server)
    with server.client() as browser:
        assert browser.get(url).status_code == 404
        once = url.rpartition("/")[2]
        for header in (f"Bearer {once}", f"Bearer {cookie}"):
            found = browser.get("/api/v1/me", headers={"Authorization": header})
            assert found.status_code == 401
        shown = {"Cookie": f"{COOKIE}={cookie}"}
        assert browser.get("/api/v1/me", headers=shown).json()["name"] == "ann"
        # A token is no session: it would live on in the browser.
        planted = {"Cookie": f"{COOKIE}={server.token('ann')}"}
        assert browser.get("/api/v1/me", headers=planted).status_code == 401


def test_a_cookie_alone_changes_nothing(server: ServerAtWork) -> None:
    cookie, _ = login(server)
    other, _ = login(server, "bob")
    asked = {"epsilon": "0.01", "by": "room", "max_groups": 4, "mechanism": "laplace"}
    with server.client() as browser:
        shown = {"Cookie": f"{COOKIE}={cookie}"}
        csrf = browser.get("/api/v1/me", headers=shown).json()["csrf"]
        others = browser.get("/api/v1/me", headers={"Cookie": f"{COOKIE}={other}"}).json()["csrf"]
        assert csrf != others
        for sent in ({}, {CSRF_HEADER: "guess"}, {CSRF_HEADER: others}):
            found = browser.post(f"{VISITS}/count", json=asked, headers={**shown, **sent})
            assert found.status_code == 403
            assert browser.delete("/api/v1/sessions", headers={**shown, **sent}).status_code == 403
        fine = {**shown, CSRF_HEADER: csrf}
        assert browser.post(f"{VISITS}/count", json=asked, headers=fine).status_code == 202
        ended = browser.delete("/api/v1/sessions", headers=fine)
        assert "Max-Age=0" in ended.headers["set-cookie"]
        assert browser.get("/api/v1/me", headers=shown).status_code == 401


def test_a_session_ends_with_its_token(server: ServerAtWork) -> None:
    cookie, _ = login(server, "cleo")
    server.desk.revoke("cleo")
    with server.client() as browser:
        shown = {"Cookie": f"{COOKIE}={cookie}"}
        assert browser.get("/api/v1/me", headers=shown).status_code == 401


BODIES: dict[str, tuple[bytes, int]] = {
    "no JSON": (b"{", 400),
    "a name twice": (b'{"epsilon": 1, "epsilon": 2}', 400),
    "not a number": (b'{"epsilon": NaN}', 400),
    "infinite": (b'{"epsilon": 1e999999999}', 400),
    "many digits": (b'{"epsilon": ' + b"9" * 5000 + b"}", 400),
    "deep": (b"[" * 50_000, 400),
    "deep inside": (b'{"epsilon": 1, "domain": ' + b"[" * 30 + b"]" * 30 + b"}", 400),
    "half a character": (b'{"epsilon": 1, "where": "\\ud800"}', 400),
    "NUL": (b'{"epsilon": 1, "where": "\\u0000"}', 400),
    "not UTF-8": (b'{"epsilon": 1, "where": "\xff"}', 400),
    "a list": (b"[]", 400),
    "a path": (b'{"epsilon": 1, "into": "/tmp/x"}', 400),
    "randomness": (b'{"epsilon": 1, "rng": 1}', 400),
    "public tables": (b'{"epsilon": 1, "public": {"x": "/etc/passwd"}}', 400),
    "memory": (b'{"epsilon": 1, "memory_limit": "2GB"}', 400),
    "a parameter that is a field": (b'{"epsilon": 1, "parameters": {"where": "TRUE"}}', 400),
    "a parameter that is not": (b'{"epsilon": 1, "parameters": {"into": "/tmp/x"}}', 400),
    "an id of somebody": (b'{"epsilon": 1, "asked_by": "bob"}', 400),
    "too large": (b'{"where": "' + b"x" * 200_000 + b'"}', 413),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_are_refused(server: ServerAtWork, token: str, name: str) -> None:
    body, status = BODIES[name]
    with server.client(token) as client:
        before = client.get(f"{VISITS}/account").json()["charges"]
        headers = {"Content-Type": "application/json"}
        found = client.post(f"{VISITS}/count", content=body, headers=headers)
        assert found.status_code == status, found.text
        assert client.get(f"{VISITS}/account").json()["charges"] == before


def test_other_types_are_refused(server: ServerAtWork, token: str) -> None:
    with server.client(token) as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            headers = {"Content-Type": kind}
            found = client.post(f"{VISITS}/count", content=b'{"epsilon": 1}', headers=headers)
            assert found.status_code == 415
        assert client.patch(VISITS).status_code == 405


def test_a_body_of_100_megabytes_is_not_read(server: ServerAtWork, token: str) -> None:
    head = (
        f"POST {VISITS}/count HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100000000\r\n\r\n"
    )
    answer = raw(server, head.encode() + b'{"where": "' + b"x" * 1000)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert not answer.endswith(b"(still open)")


def test_connections_that_send_nothing_are_closed(server: ServerAtWork, token: str) -> None:
    begun = time.monotonic()
    assert raw(server, b"") == b""
    assert raw(server, b"GET /healthz HTTP/1.1\r\nHost: local") == b""
    slow = (
        f"POST {VISITS}/count HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a'
    )
    assert raw(server, slow.encode()).startswith(b"HTTP/1.1 400 ")
    assert time.monotonic() - begun < 8


def test_header_injection_is_no_header(server: ServerAtWork, token: str) -> None:
    with server.client(token) as client:
        for path in (
            "/api/v1/datasets/visits%0d%0aSet-Cookie:%20x=1",
            "/login/x%0d%0aX-Evil:%201",
            "/api/v1/jobs/%0d%0aX-Evil:1",
        ):
            found = client.get(path)
            assert found.status_code == 404
            assert "x-evil" not in found.headers
            assert "set-cookie" not in found.headers


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/datasets/..%2f..%2fetc%2fpasswd",
        "/api/v1/datasets/visits/answers/..%2f..%2fstate",
        "/api/v1/datasets/visits/answers/" + "a" * 64,
        "/api/v1/datasets/visits/releases/-1",
        "/api/v1/datasets/visits/releases/٣",
        "/api/v1/datasets/visits/releases/" + "9" * 400,
        "/api/v1/docs/../../etc/passwd",
        "/api/v1/jobs/" + "x" * 3000,
    ],
)
def test_odd_paths_lead_nowhere(server: ServerAtWork, token: str, path: str) -> None:
    with server.client(token) as client:
        assert client.get(path).status_code == 404


SOURCES = (
    *("/etc/passwd", "../visits.parquet", "more/../../visits.parquet", "..", ".", ""),
    *("link/visits.parquet", "*/../../visits.parquet", "\\..\\visits.parquet", "more/*"),
)


def test_sources_stay_below_their_folders(server: ServerAtWork) -> None:
    folder = server.config.file.parent
    (folder / "more" / "link").symlink_to(folder)
    with server.client(server.token("sue", PersonRole.STEWARD)) as sue:
        before = sue.get(VISITS).json()["snapshot"]
        while sue.get("/api/v1/jobs").json()["jobs"] and server.served.desk.next_event("visits"):
            time.sleep(0.1)
        for source in SOURCES:
            found = sue.post(f"{VISITS}/snapshots", json={"source": source})
            assert found.status_code in (400, 503), (source, found.text)
        assert sue.get(VISITS).json()["snapshot"] == before
        (folder / "more" / "new.parquet").write_bytes((folder / "visits.parquet").read_bytes())
        time.sleep(1)
        fine = sue.post(f"{VISITS}/snapshots", json={"source": "new.parquet"})
        assert fine.json() == {"snapshot": before + 1, "units": sue.get(VISITS).json()["units"]}


def test_too_many_requests(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = describe(tmp_path_factory.mktemp("rate"))
    file.write_text(file.read_text().replace("= 100000", "= 6"))
    with serving(file) as server, server.client(server.token("ann")) as ann:
        found = [ann.get("/api/v1/me").status_code for _ in range(8)]
        assert found == [200] * 6 + [429] * 2
        with server.client() as nobody, server.client(server.token("bob")) as bob:
            guessed = [
                nobody.get("/api/v1/me", headers={"Authorization": "Bearer x"}).status_code
                for _ in range(8)
            ]
            assert guessed[-1] == 429
            assert bob.get("/api/v1/me").status_code == 200


def test_the_log_has_no_values_and_no_tokens(server: ServerAtWork, token: str) -> None:
    asked = {"epsilon": "0.02", "where": "room = 'SECRETWORD'", "max_groups": 4}
    with server.client(token) as client:
        client.post(f"{VISITS}/count", json=asked)
        client.get("/api/v1/datasets/SECRETWORD")
    lines: list[dict[str, Any]] = [json.loads(line) for line in server.logged]
    assert "SECRETWORD" not in "".join(server.logged)
    assert token not in "".join(server.logged)
    assert {"time", "event", "route", "status"} <= lines[-1].keys()
    assert not [line for line in lines if line["event"] == "failure"]
