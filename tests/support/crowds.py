"""Many analysts at once, each with questions of their own, and what must hold afterwards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import httpx

from onesided.ledger import Ledger
from onesided.ledger.desk import Desk, JobState, PersonRole, Rights

PATIENCE = 900
"""Seconds after which a crowd counts as stuck."""

STEP = Fraction(1, 10)
"""The ε of one question of a crowd."""


@dataclass(frozen=True)
class Crowd:
    """So many analysts with so many questions each; every other one has a share of `most` steps."""

    analysts: int
    questions: int
    most: int

    @property
    def names(self) -> list[str]:
        return [f"analyst-{number}" for number in range(self.analysts)]

    def rights(self, name: str) -> Rights:
        """A share for every other one, and as many questions as they like for the others."""
        capped = self.names.index(name) % 2 == 0
        return Rights(most_in_all=self.most * STEP if capped else None)

    def asks(self, desk: Desk, addresses: Sequence[str]) -> Counter[int]:
        """All ask at once, one server after the other; how often each status came."""
        tokens = {}
        for name in self.names:
            desk.set_rights("visits", name, self.rights(name))
            tokens[name] = desk.add_token(name, PersonRole.ANALYST)
        statuses: Counter[int] = Counter()
        with ThreadPoolExecutor(self.analysts) as pool:
            for found in pool.map(
                lambda each: self._ask(each[0], tokens[each[1]], addresses),
                enumerate(self.names),
            ):
                statuses.update(found)
        return statuses

    def _ask(self, number: int, token: str, addresses: Sequence[str]) -> Counter[int]:
        found: Counter[int] = Counter()
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as client:
            for question in range(self.questions):
                address = addresses[(number + question) % len(addresses)]
                answer = client.post(
                    f"{address}/api/v1/datasets/visits/count",
                    json=distinct_count(number * self.questions + question),
                )
                found[answer.status_code] += 1
        return found


def distinct_count(number: int) -> dict[str, Any]:
    """A question that no other number asks, at the ε of a step."""
    return {
        "epsilon": str(STEP),
        "by": "room",
        "max_groups": 4,
        "mechanism": "laplace",
        "where": f"device <> {100_000 + number}",
    }


def check_books(crowd: Crowd, desk: Desk, ledger: Ledger, granted: int) -> None:
    """Exactly so many charges, no share exceeded, one job and one slot for each."""
    (account,) = ledger.accounts()
    balance = account.balance()
    assert len(balance.charges) == granted
    assert balance.spent == balance.plain_sum == granted * STEP
    for name in crowd.names:
        spent, most = desk.spent("visits", name), crowd.rights(name).most_in_all
        assert most is None or spent <= most, name
    jobs = desk.jobs(dataset="visits")
    charged = sorted(charge for job in jobs for charge in job.charges)
    assert charged == [record.charge.number for record in balance.charges]
    verification = ledger.verify()
    assert verification.ok, verification.problem


def read_all(client: httpx.Client, desk: Desk, granted: int) -> None:
    """Every question that was charged is answered, if need be after a steward repeated it.

    A machine that does too much at once is late again and again.
    """
    end = time.monotonic() + PATIENCE
    while hidden := desk.hidden("visits"):
        assert time.monotonic() < end, "the questions do not end"
        time.sleep(0.2)
        if desk.jobs(dataset="visits", states=[JobState.ACCEPTED]):
            continue
        questions = {
            charge: job.question
            for job in desk.jobs(dataset="visits", states=[JobState.FAILED])
            for charge in job.charges
            if charge in hidden
        }
        for question in questions.values():
            url = "/api/v1/datasets/visits/questions"
            client.post(url, json=dict(question)).raise_for_status()
    listed = client.get("/api/v1/datasets/visits/releases").raise_for_status().json()["releases"]
    assert len(listed) == granted
    for each in listed:
        rows = client.get(f"{each['url']}/data", headers={"Accept": "application/json"})
        assert len(rows.raise_for_status().json()["rows"]) == 6
