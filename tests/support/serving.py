"""A server on a real socket of the loopback, in a thread of the test, and whoever asks it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from onesided.ledger.desk import Desk, PersonRole, Rights, open_desk
from onesided.server.app import application
from onesided.server.config import ServerConfig
from onesided.server.operate.logs import RequestLog
from onesided.server.served import Served
from onesided.server.serving import bound, uvicorn_config
from support.visits import write_visits

EVERYTHING = Rights()
DESCRIBED = """
[server]
port = 0
{server}

[server.deadlines]
default = {seconds}

[server.limits]
requests_per_minute = 100000
{limits}

[datasets.visits]
source = "visits.parquet"
unit = ["device", "day"]
policy = "room = 'clinic' OR NOT consent"
budget = {budget}
ledger = "{ledger}"

[datasets.visits.domains]
room = ["cafe", "clinic", "hall", "lab", "office", "*"]
"""


def describe(
    folder: Path,
    *,
    seconds: float | None = 0.3,
    budget: float = 20,
    ledger: str = "visits.ledger",
    server: str = "",
    limits: str = "",
    devices: int = 60,
) -> Path:
    """Data and their description; `seconds` of None turns deadlines off."""
    write_visits(folder, devices=devices)
    text = DESCRIBED.format(
        seconds=seconds, budget=budget, ledger=ledger, server=server, limits=limits
    )
    if seconds is None:
        text = text.replace("[server.deadlines]\ndefault = None\n", "")
        text = text.replace("port = 0", 'port = 0\ndeadlines = "off"')
    path = folder / "onesided.toml"
    path.write_text(text)
    return path


@dataclass
class ServerAtWork:
    """A server that runs, its desk, and what it logged."""

    config: ServerConfig
    served: Served
    desk: Desk
    address: str
    logged: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def token(
        self,
        name: str = "ann",
        role: PersonRole = PersonRole.ANALYST,
        rights: Rights | None = EVERYTHING,
    ) -> str:
        """A token of somebody who may do everything with the data set, or what `rights` say."""
        if role is PersonRole.ANALYST and rights is not None:
            self.desk.set_rights("visits", name, rights)
        return self.desk.add_token(name, role)

    def client(self, token: str | None = None, **more: Any) -> httpx.Client:
        """Somebody who asks."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=30, **more)

    def answered(self, client: httpx.Client, job: Mapping[str, Any]) -> dict[str, Any]:
        """A job once its deadline has passed.

        A machine that does too much at once is late. Then a steward repeats the question.
        """
        time.sleep(job["retry_after"])
        begun = time.monotonic()
        while time.monotonic() - begun < 60:
            said: dict[str, Any] = client.get(job["url"]).raise_for_status().json()
            if said["state"] == "failed":
                with self.client(self.token("repeats", PersonRole.STEWARD)) as steward:
                    url = "/api/v1/datasets/visits/questions"
                    again = steward.post(url, json=said["question"]).raise_for_status()
                    job = again.json()["job"]
            elif said["state"] not in ("accepted", "awaiting"):
                return said
            time.sleep(max(job["retry_after"], 0.05))
        raise AssertionError("There is no answer.")


@contextmanager
def serving(file: Path, **changes: Any) -> Iterator[ServerAtWork]:
    """A server for what a file describes, for the time of the block."""
    config = ServerConfig.read(file, **changes)
    logged: list[str] = []
    said: list[str] = []
    with bound(config) as sock:
        known = config.on_port(sock.getsockname()[1])
        served = Served.of(known, RequestLog(logged.append))
        server = uvicorn.Server(uvicorn_config(known, application(served, said.append)))
        thread = threading.Thread(target=lambda: server.run(sockets=[sock]))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            desk = open_desk(known.ledger)
            yield ServerAtWork(known, served, desk, known.address, logged, said)
            desk.close()
        finally:
            server.should_exit = True
            thread.join()
