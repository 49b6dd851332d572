"""A data set at a server: connections that break, deadlines, tools that speak SQL, and limits."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

import onesided as osd
from onesided import dbapi
from onesided.client import wire
from onesided.client.problems import AwaitsApproval, ServerBusy, ServerUnreachable
from onesided.errors import BudgetError, Interrupted, ReleaseFailed, RequestError
from onesided.ledger.desk import PersonRole, Rights
from support.cutting import CutWay, cut_way
from support.dialects import register_dialects
from support.serving import ServerAtWork, describe, serving

SECONDS = 3.0
"""A deadline that a count keeps on a machine with much to do."""
COUNT: dict[str, Any] = {"by": "room", "max_groups": 4, "mechanism": "laplace"}
UNITS = "COUNT(DISTINCT device, day)"

register_dialects()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    folder = tmp_path_factory.mktemp("served")
    with serving(describe(folder, seconds=None, budget=100)) as at_work:
        yield at_work


@pytest.fixture
def way(server: ServerAtWork, monkeypatch: pytest.MonkeyPatch) -> Iterator[CutWay]:
    monkeypatch.setattr(wire, "PAUSES", (0.01, 0.02))
    with cut_way(server.address) as found:
        yield found


def remote(server: ServerAtWork, address: str | None = None, name: str = "ann") -> Any:
    return osd.connect(f"{address or server.address}/visits", token=server.token(name))


def posts(way: CutWay) -> int:
    return sum(each.startswith(b"POST") and b"/questions" in each for each in way.seen)


def test_an_answer_is_waited_for_and_asked_for_once(tmp_path: Path) -> None:
    with (
        serving(describe(tmp_path, seconds=SECONDS, devices=10)) as server,
        cut_way(server.address) as way,
        remote(server, way.address) as dataset,
    ):
        assert dataset.deadlines["count"] == SECONDS
        before = time.monotonic()
        release = dataset.count(**COUNT, epsilon="0.1")
        assert time.monotonic() - before >= SECONDS
        assert release.receipt["asked_by"] == "ann"
        assert sum(b"/jobs/" in each for each in way.seen) == 1
        spent, asked = dataset.budget.spent, len(way.seen)
        assert dataset.count(**COUNT, epsilon="0.1").table == release.table
        assert not any(b"/jobs/" in each for each in way.seen[asked:]), "it is there at once"
        assert dataset.budget.spent == spent


@pytest.mark.parametrize(
    "part",
    [
        b"/questions",
        b"/jobs/",
        pytest.param(b"/data", marks=pytest.mark.soak),
        pytest.param(b"GET /api/v1/datasets", marks=pytest.mark.soak),
    ],
)
def test_what_is_lost_on_its_way_is_asked_for_again_and_paid_once(
    server: ServerAtWork, way: CutWay, part: bytes
) -> None:
    with remote(server, way.address) as dataset:
        spent = dataset.budget.spent
        way.dropped[part] = 2
        epsilon = Fraction(1, 7 + len(part))
        release = dataset.count(**COUNT, epsilon=epsilon)
        assert way.dropped[part] == 0
        assert release.loss.epsilon == epsilon
        assert dataset.budget.spent == spent + epsilon


def test_a_question_that_pays_anew_is_sent_again_and_paid_once(
    server: ServerAtWork, way: CutWay
) -> None:
    with remote(server, way.address) as dataset:
        dataset.count(**COUNT, epsilon="0.2")
        spent, sent = dataset.budget.spent, posts(way)
        way.dropped[b"/questions"] = 1
        dataset.count(**COUNT, epsilon="0.2", fresh=True)
        assert posts(way) == sent + 2
        assert dataset.budget.spent == spent + Fraction(1, 5)
        way.dropped[b"/questions"] = 100
        with pytest.raises(ReleaseFailed, match="before you ask anew"):
            dataset.count(**COUNT, epsilon="0.2", fresh=True)
        way.dropped[b"/questions"] = 0
        assert dataset.budget.spent == spent + Fraction(2, 5)


def test_a_server_that_is_gone_is_said(server: ServerAtWork, way: CutWay) -> None:
    with remote(server, way.address) as dataset:
        way.dropped[b"/account"] = 100
        with pytest.raises(ServerUnreachable, match="cannot be reached"):
            _ = dataset.budget
        way.dropped[b"/questions"] = 100
        connection = dbapi.connect(dataset, epsilon="0.43", most=1)
        with pytest.raises(dbapi.InternalError, match="may be charged"):
            connection.cursor().execute(f"SELECT {UNITS} FROM visits")
        assert connection.purse.left == Fraction(57, 100), "what may be charged is counted"
    with pytest.raises(ServerUnreachable, match="cannot be reached"):
        osd.connect("http://127.0.0.1:9/visits", token="x")


@pytest.mark.parametrize(
    ("answer", "kind", "word"),
    [
        (b"302 Found\r\nLocation: https://elsewhere.example/", ServerUnreachable, "redirects"),
        (b"307 Temporary Redirect\r\nLocation: /other", ServerUnreachable, "redirects"),
        (b"200 OK", ServerUnreachable, "says nothing of a data set"),
        (b"429 Too Many Requests\r\nRetry-After: 1000", ServerBusy, "429"),
        (b"503 Service Unavailable", ServerBusy, "503"),
        (b"500 Internal Server Error", ServerUnreachable, "500"),
        (b"200 OK\r\nContent-Type: text/html", ServerUnreachable, "says nothing"),
    ],
)
def test_answers_of_no_such_server_are_refused(
    server: ServerAtWork, way: CutWay, answer: bytes, kind: type[Exception], word: str
) -> None:
    way.instead[b"/datasets/visits"] = b"HTTP/1.1 " + answer + b"\r\nContent-Length: 2\r\n\r\n{}"
    with pytest.raises(kind, match=word):
        remote(server, way.address)
    assert all(b"elsewhere" not in each and b"/other" not in each for each in way.seen)


def test_the_server_cannot_send_the_client_elsewhere(server: ServerAtWork, way: CutWay) -> None:
    with remote(server, way.address) as dataset:
        for url in ("https://elsewhere.example/x", "//elsewhere.example/x", "/api/v1/../x", "7"):
            release = f'{{"job": null, "release": {{"url": "{url}", "data_url": "{url}"}}}}'
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(release)}\r\n\r\n"
            way.instead[b"/questions"] = (head + release).encode()
            with pytest.raises(ReleaseFailed, match="not its own"):
                dataset.count(**COUNT, epsilon="0.1")


def test_tokens_and_names_that_are_unknown(server: ServerAtWork) -> None:
    with pytest.raises(RequestError):
        osd.connect(f"{server.address}/visits", token="wrong")
    with pytest.raises(RequestError):
        osd.connect(f"{server.address}/elsewhere", token=server.token("ann"))
    with pytest.raises(RequestError):
        osd.connect(
            f"{server.address}/visits", token=server.desk.add_token("nobody", PersonRole.ANALYST)
        )


def test_over_https_the_certificate_has_to_be_trusted(tmp_path: Path) -> None:
    """The certificate is made for the loopback, and signed by itself."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    files = ["-nodes", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made, *files, *subject], check=True, capture_output=True)
    file = describe(tmp_path, seconds=None, devices=10)
    with serving(file, tls_cert=certificate, tls_key=key) as server:
        address, token = f"{server.address}/visits", server.token("ann")
        assert address.startswith("https://")
        with osd.connect(address, token=token, certificates=certificate) as dataset:
            assert dataset.count(epsilon="0.5", mechanism="laplace")
        with pytest.raises(ServerUnreachable, match="not trusted"):
            osd.connect(address, token=token)
        with pytest.raises(RequestError, match="file of certificates"):
            osd.connect(address, token=token, certificates=key)


def test_shares_and_approvals(server: ServerAtWork) -> None:
    token = server.token("cap", rights=Rights(most_in_all=Fraction(1, 2)))
    with osd.connect(f"{server.address}/visits", token=token) as dataset:
        dataset.count(**COUNT, epsilon="0.31")
        with pytest.raises(BudgetError):
            dataset.count(**COUNT, epsilon="0.32")
        balance = dataset.budget
        assert (balance.own_spent, balance.own_most) == (Fraction(31, 100), Fraction(1, 2))
        assert "by you" in repr(balance)
    token = server.token("eve", rights=Rights(needs_approval=True))
    with osd.connect(f"{server.address}/visits", token=token) as dataset:
        spent = dataset.budget.spent
        with pytest.raises(AwaitsApproval):
            dataset.count(**COUNT, epsilon="0.33", purpose="a test")
        assert dataset.budget.spent == spent


def test_an_interruption_says_what_became_of_the_question(
    server: ServerAtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with remote(server) as dataset:
        with monkeypatch.context() as waiting:
            waiting.setattr("onesided.client.answering.time.sleep", stop)
            with pytest.raises(Interrupted, match="asking it again is free"):
                dataset.count(**COUNT, epsilon="0.41")
        spent = dataset.budget.spent
        assert dataset.count(**COUNT, epsilon="0.41")
        assert dataset.budget.spent == spent


@pytest.mark.soak
def test_threads_share_a_data_set(server: ServerAtWork) -> None:
    answers: list[Any] = []
    with remote(server) as dataset:
        threads = [
            threading.Thread(
                target=lambda part: answers.append(dataset.count(**COUNT, epsilon=part)),
                args=(Fraction(1, 20 + number),),
            )
            for number in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {each.loss.epsilon for each in answers} == {Fraction(1, 20 + n) for n in range(3)}


def test_tools_ask_through_a_server(server: ServerAtWork) -> None:
    host = server.address.removeprefix("http://")
    token = server.token("tool")
    engine = sa.create_engine(
        f"onesided+http://:{token}@{host}/visits?epsilon=0.055&max_groups=4&most=0.125"
        "&mechanism=laplace"
    )
    assert token not in repr(engine)
    assert sa.inspect(engine).get_table_names() == ["visits"]
    visits = sa.Table("visits", sa.MetaData(), autoload_with=engine)
    units = sa.func.count(sa.distinct(sa.tuple_(visits.c.device, visits.c.day))).label("n")
    statement = sa.select(visits.c.room, units).group_by(visits.c.room)
    frame = pd.read_sql(statement, engine)
    assert list(frame.columns) == ["room", "n"]
    with engine.connect() as connection:
        text = f"SELECT {UNITS} FROM visits /* epsilon=0.07 */"
        assert len(connection.execute(sa.text(text)).all()) == 1
        with pytest.raises(sa.exc.OperationalError, match="was not sent"):
            connection.execute(sa.text(f"SELECT {UNITS} FROM visits WHERE room <> 'lab'"))
    engine.dispose()
    with remote(server, name="tool") as dataset:
        assert dataset.budget.own_spent == Fraction(125, 1000)
        cursor = dataset.cursor(epsilon="0.055", max_groups=4, mechanism="laplace")
        cursor.execute("SELECT room, COUNT(DISTINCT (device, day)) AS n FROM visits GROUP BY room")
        assert cursor.rowcount == 6
        assert dataset.budget.own_spent == Fraction(125, 1000), "the same question is free"


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("epsilon=0.1&epsilon=0.2", "twice"),
        ("epsilom=0.1", "did you mean epsilon"),
        ("most=much", "number"),
        ("epsilon=much", "number"),
    ],
)
def test_addresses_of_tools_that_make_no_sense(server: ServerAtWork, query: str, word: str) -> None:
    host = server.address.removeprefix("http://")
    url = f"onesided+http://:{server.token('tool')}@{host}/visits?{query}"
    with pytest.raises((sa.exc.DBAPIError, dbapi.Error), match=word):
        sa.create_engine(url).connect()
