"""Servers that are killed, ended and started again, and two of them on one ledger."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from onesided.ledger import open_ledger
from onesided.ledger.desk import Desk, JobState, PersonRole, Rights, open_desk
from onesided.randomness import seeded
from support.crowds import STEP, Crowd, check_books, distinct_count, read_all
from support.server_processes import ServerProcess, server_processes
from support.serving import describe

pytestmark = pytest.mark.soak

KILLS = 100
PAUSE = 1.5
"""Seconds from one question of an analyst to the next."""
CROWD, GRANTED = Crowd(analysts=64, questions=50, most=4), 200
LIMITS = "open_jobs_of_one = 1000\nopen_jobs = 10000"


def _client(address: str, token: str) -> httpx.Client:
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)


@dataclass
class Analyst:
    """Asks one question after the other, of whichever server is up, until the end."""

    number: int
    token: str
    servers: list[ServerProcess]
    ended: threading.Event
    accepted: dict[str, int] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    asked: int = 0

    def run(self) -> None:
        while not self.ended.is_set():
            server = self.servers[self.asked % len(self.servers)]
            question = distinct_count(1000 * self.number + self.asked)
            self.asked += 1
            self.ended.wait(PAUSE)
            try:
                with _client(server.address, self.token) as client:
                    answer = client.post("/api/v1/datasets/visits/count", json=question)
            except httpx.TransportError:
                continue  # it was killed: what became of the question is not known
            self.statuses[answer.status_code] += 1
            if answer.status_code == 202:
                self.accepted[answer.json()["job"]["id"]] = self.asked


def _kill_under_load(folder: Path, ledger: str, kills: int, servers: int, seed: int) -> None:
    """Kill servers again and again while analysts ask; nothing is lost, doubled or overspent."""
    file = describe(folder, seconds=0.5, budget=kills / 4, ledger=ledger, limits=LIMITS)
    draw = seeded(seed)
    where = ledger if "://" in ledger else folder / ledger
    with server_processes(file, servers) as running:
        desk = open_desk(where)
        desk.set_rights("visits", "ann", Rights())
        token = desk.add_token("ann", PersonRole.ANALYST)
        ended = threading.Event()
        analysts = [Analyst(number, token, running, ended) for number in range(3)]
        threads = [threading.Thread(target=analyst.run) for analyst in analysts]
        for thread in threads:
            thread.start()
        try:
            for kill in range(kills):
                time.sleep(int(draw.below(1000, 1)[0]) / 1000)
                victim = running[kill % servers]
                victim.kill()
                victim.start()
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        assert sum(analyst.statuses[202] for analyst in analysts) > 0
        assert set().union(*(analyst.statuses for analyst in analysts)) <= {202, 402, 429, 503}
        _check(desk, where, [job for analyst in analysts for job in analyst.accepted])
        sue = desk.add_token("sue", PersonRole.STEWARD)
        with _client(running[0].address, sue) as client:
            ledger_now = open_ledger(where, create=False)
            (account,) = ledger_now.accounts()
            read_all(client, desk, len(account.balance().charges))
            ledger_now.close()
        desk.close()


def _check(desk: Desk, where: str | Path, told: list[str]) -> None:
    """What was told to be accepted is there; each charge is of some job, and none is paid twice."""
    ledger = open_ledger(where, create=False)
    verification = ledger.verify()
    assert verification.ok, verification.problem
    (account,) = ledger.accounts()
    balance = account.balance()
    jobs = desk.jobs(dataset="visits")
    assert {job.id for job in jobs} >= set(told), "what was accepted is not lost"
    charged = {charge for job in jobs for charge in job.charges}
    assert charged == {record.charge.number for record in balance.charges}
    requests = Counter(record.charge.request for record in balance.charges)
    assert set(requests.values()) == {1}, "nothing is paid twice"
    assert balance.spent == len(balance.charges) * STEP
    ledger.close()


def _kill_one(folder: Path, seconds: float) -> JobState:
    """Kill a server that has accepted a question; what became of the question at its deadline."""
    file = describe(folder, seconds=seconds, budget=2)
    with server_processes(file) as (server,):
        desk = open_desk(folder / "visits.ledger")
        sue = desk.add_token("sue", PersonRole.STEWARD)
        with _client(server.address, sue) as client:
            raised = {"budget": 3, "why": "another year"}
            client.post("/api/v1/datasets/visits/budget", json=raised).raise_for_status()
            client.post("/api/v1/datasets/visits/snapshots", json={}).raise_for_status()
            asked = client.post("/api/v1/datasets/visits/count", json=distinct_count(1))
            assert asked.status_code == 202
        server.kill()
        server.start()
        (job,) = desk.jobs()
        assert job.id == asked.json()["job"]["id"]
        assert job.deadline is not None
        with _client(server.address, sue) as client:
            account = client.get("/api/v1/datasets/visits/account").raise_for_status().json()
            assert (account["budget"], account["spent"]) == ("3", "0.1")
            time.sleep(max((job.deadline - desk.now()).total_seconds(), 0))
            (over,) = desk.jobs()
            read_all(client, desk, 1)
        assert "every question that was charged has its answer" in server.end()
        _check(desk, folder / "visits.ledger", [job.id])
        desk.close()
        return over.state


def test_what_was_accepted_is_answered_in_time_by_the_next_server(tmp_path: Path) -> None:
    assert _kill_one(tmp_path, seconds=60.0) is JobState.DONE


def test_a_hundred_killed_servers_lose_and_double_nothing(tmp_path: Path) -> None:
    _kill_under_load(tmp_path, "visits.ledger", KILLS, servers=1, seed=2)


def test_two_servers_killed_in_turn_behave_as_one(tmp_path: Path, postgres_url: str) -> None:
    _kill_under_load(tmp_path, postgres_url, KILLS // 2, servers=2, seed=3)


def test_a_large_crowd_at_two_servers_on_one_ledger(tmp_path: Path, postgres_url: str) -> None:
    file = describe(tmp_path, seconds=1.0, budget=20, ledger=postgres_url, limits=LIMITS)
    with server_processes(file, 2) as running:
        desk = open_desk(postgres_url)
        statuses = CROWD.asks(desk, [server.address for server in running])
        refused = CROWD.analysts * CROWD.questions - GRANTED
        assert statuses == {202: GRANTED, 402: refused}
        ledger = open_ledger(postgres_url, create=False)
        check_books(CROWD, desk, ledger, GRANTED)
        sue = desk.add_token("sue", PersonRole.STEWARD)
        for server in running:
            with _client(server.address, sue) as client:
                read_all(client, desk, GRANTED)
        ledger.close()
        desk.close()
