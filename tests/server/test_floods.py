"""Connections that want the server for themselves: by number, by size and by taking their time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onesided.ledger.desk import PersonRole, open_desk
from onesided.server.problems import Problem
from onesided.server.serving import bound, uvicorn_config
from onesided.server.tables import MOST_JSON_CELLS, rows_reply
from support.server_processes import ServerProcess, server_processes
from support.serving import ServerAtWork, describe, serving

CONNECTIONS = 2000
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LIMITS = "send_seconds = 2"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    with serving(describe(tmp_path_factory.mktemp("flooded"), limits=LIMITS)) as found:
        yield found


def _connected(port: int, seconds: float = 10) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=seconds)


def _is_closed(connection: socket.socket) -> bool:
    """Whether the other side has ended the connection, after what it may have sent before."""
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True
    return True


def _is_refused(connection: socket.socket, part: bytes, *, times: int, pause: float = 0) -> bool:
    """Whether the connection ends while the same is sent again and again."""
    try:
        for _ in range(times):
            connection.sendall(part)
            time.sleep(pause)
    except (ConnectionResetError, BrokenPipeError):
        return True
    return False


def _answer(connection: socket.socket) -> bytes:
    """A whole answer of the health check, which may come in pieces."""
    found = b""
    while not found.endswith(b"}"):
        piece = connection.recv(65536)
        assert piece, found
        found += piece
    return found


def test_half_a_head_after_a_whole_one_is_not_waited_for(server: ServerAtWork) -> None:
    with closing(_connected(server.config.port)) as connection:
        connection.sendall(HEAD)
        assert _answer(connection).startswith(b"HTTP/1.1 200")
        connection.sendall(HEAD[:20])
        assert _is_closed(connection)


def test_a_head_in_drops_is_not_waited_for(server: ServerAtWork) -> None:
    with closing(_connected(server.config.port)) as connection:
        assert _is_refused(connection, b"G", times=100, pause=0.1)


def test_a_connection_that_asks_again_and_again_stays(server: ServerAtWork) -> None:
    with closing(_connected(server.config.port)) as connection:
        for _ in range(4):
            connection.sendall(HEAD)
            assert _answer(connection).startswith(b"HTTP/1.1 200")
            time.sleep(0.7)


def test_a_flood_without_tokens_is_no_flood_of_the_health_check(tmp_path: Path) -> None:
    file = describe(tmp_path)
    file.write_text(file.read_text().replace("= 100000", "= 6"))
    with serving(file) as server, server.client() as nobody:
        assert [nobody.get("/api/v1/me").status_code for _ in range(8)][-1] == 429
        assert nobody.get("/healthz").status_code == 200


LARGE = 30_000_000


@pytest.fixture
def large_answers(server: ServerAtWork) -> Iterator[int]:
    """The port of the same sockets before an application with one large answer."""

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(bytes(LARGE))(scope, receive, send)

    config = uvicorn_config(server.config, answered)
    config.lifespan = "off"
    with bound(server.config.on_port(0)) as sock:
        large = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: large.run(sockets=[sock]))
        thread.start()
        while not large.started:
            time.sleep(0.01)
        yield sock.getsockname()[1]
        large.should_exit = True
        thread.join()


def test_an_answer_that_is_taken_slowly_arrives_whole(large_answers: int) -> None:
    with closing(_connected(large_answers)) as slow:
        slow.sendall(HEAD)
        received, begun = 0, time.monotonic()
        while received < LARGE and (part := slow.recv(200_000)):
            received += len(part)
            time.sleep(0.03 if time.monotonic() - begun < 4 else 0)
    assert received > LARGE


def test_an_answer_that_nobody_takes_ends(large_answers: int) -> None:
    with closing(_connected(large_answers)) as stuck:
        stuck.sendall(HEAD)
        time.sleep(5)
        received = 0
        with suppress(ConnectionResetError):
            while part := stuck.recv(200_000):
                received += len(part)
    assert received < LARGE


@pytest.fixture
def process(tmp_path: Path) -> Iterator[ServerProcess]:
    with server_processes(describe(tmp_path, limits="send_seconds = 10")) as (found,):
        yield found


@pytest.mark.soak
def test_two_thousand_open_connections_keep_nobody_out(process: ServerProcess) -> None:
    desk = open_desk(process.file.parent / "visits.ledger")
    headers = {"Authorization": f"Bearer {desk.add_token('sue', PersonRole.STEWARD)}"}
    desk.close()
    port = httpx.URL(process.address).port
    assert port is not None
    with ExitStack() as stack:
        idle = [stack.enter_context(closing(_connected(port))) for _ in range(CONNECTIONS)]
        for number, connection in enumerate(idle):
            connection.sendall(HEAD[: number % len(HEAD)])
        for path in ("/healthz", "/api/v1/me", "/api/v1/datasets/visits"):
            answer = httpx.get(f"{process.address}{path}", headers=headers, timeout=8)
            assert answer.status_code == 200
        begun = time.monotonic()
        for connection in idle:
            connection.settimeout(30)
            assert _is_closed(connection)
        assert time.monotonic() - begun < 30
    assert httpx.get(f"{process.address}/healthz", timeout=8).status_code == 200


@pytest.mark.soak
def test_bodies_of_100_megabytes_are_not_kept(process: ServerProcess) -> None:
    psutil = pytest.importorskip("psutil")
    assert process.process is not None
    before = psutil.Process(process.process.pid).memory_info().rss
    desk = open_desk(process.file.parent / "visits.ledger")
    token = desk.add_token("sue", PersonRole.STEWARD)
    desk.close()
    port = httpx.URL(process.address).port
    assert port is not None
    for length in ("Content-Length: 100000000", "Transfer-Encoding: chunked"):
        with closing(_connected(port)) as connection:
            connection.sendall(
                f"POST /api/v1/datasets/visits/count HTTP/1.1\r\nHost: localhost\r\n{length}\r\n"
                f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\r\n".encode()
            )
            part = b" " * 100_000
            if "chunked" in length:
                part = b"%x\r\n%s\r\n" % (len(part), part)
            assert _is_refused(connection, part, times=1000)
    grown = psutil.Process(process.process.pid).memory_info().rss - before
    assert grown < 60_000_000
    assert httpx.get(f"{process.address}/healthz", timeout=8).status_code == 200


def test_json_holds_few_rows() -> None:
    zeros = np.zeros(MOST_JSON_CELLS // 4)
    batch = pa.record_batch({"a": zeros, "b": zeros})
    few = pa.RecordBatchReader.from_batches(batch.schema, [batch.slice(0, 3)])
    assert len(rows_reply(few, "application/json").content["rows"]) == 3
    many = pa.RecordBatchReader.from_batches(batch.schema, [batch] * 3)
    with pytest.raises(Problem, match="at most 500,000 rows"):
        rows_reply(many, "application/json")
