"""Two neighbouring tables at two servers, and somebody who tries to tell them apart by time.

One sensitive unit has one row in the first table and very many in the second, so that a question to
the second takes longer. Everything is measured that an analyst can measure: when an answer is
there, how long others wait, and when plans and the account change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onesided.ledger.desk import PersonRole, Rights
from support.serving import ServerAtWork, serving

UNITS, SENSITIVE = 50, 7
PATH = "/api/v1/datasets/timed"
DESCRIBED = """
[server]
port = 0
{deadlines}

[server.limits]
requests_per_minute = 1000000

[datasets.timed]
source = "timed.parquet"
unit = "id"
policy = "s"
budget = 1000000
ledger = "timed.ledger"
"""


@dataclass(frozen=True)
class Times:
    """What one try has measured, in seconds.

    - `answer`: from the question to its answer.
    - `other`: from somebody else's question to its deadline.
    - `change`: from the question until the account of all showed that something was stored.
    - `plan`: from the question until the plan of the same question changed for the last time.
    - `load`: what one plan took on the average, while the question was on its way.
    - `late`: the deadline was missed, which is seen.
    """

    answer: float
    other: float
    change: float
    plan: float
    load: float
    late: bool = False


PAUSE = 0.04
"""Seconds between two looks: what is measured is as coarse."""


def write(folder: Path, rows: int, *, seconds: float | None) -> Path:
    """A table whose sensitive unit has so many rows, and how it is served."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = np.concatenate([np.arange(UNITS), np.full(rows - 1, SENSITIVE)])
    content = {"id": ids, "x": np.arange(len(ids)) % 9973, "s": ids == SENSITIVE}
    pq.write_table(pa.table(content), folder / "timed.parquet")
    said = 'deadlines = "off"' if seconds is None else f"deadlines = {{ default = {seconds} }}"
    file = folder / "onesided.toml"
    file.write_text(DESCRIBED.format(deadlines=said))
    return file


class Measuring:
    """Asks one server again and again, each time something new."""

    def __init__(self, server: ServerAtWork) -> None:
        self._server = server
        server.desk.set_rights("timed", "ann", Rights())
        self._client = server.client(server.desk.add_token("ann", PersonRole.ANALYST))
        self._number = 0

    def close(self) -> None:
        self._client.close()

    def _asked(self) -> dict[str, object]:
        self._number += 1
        said = {**self._question, "mechanism": "laplace"}
        answer: httpx.Response = self._client.post(f"{PATH}/count", json=said)
        job: dict[str, object] = answer.raise_for_status().json()["job"]
        return job

    @property
    def _question(self) -> dict[str, str]:
        return {"epsilon": "0.1", "where": f"x > {self._number}"}

    def measure(self) -> Times:
        """One try."""
        before = self._stored()
        begun = time.monotonic()
        job = self._asked()
        asked = self._question
        other = 0.0
        if job["deadline"] is not None:
            other = float(str(self._asked()["retry_after"])) + time.monotonic() - begun
        change = answer = None
        planned, plan = 0.0, self._plan(asked)
        plans: list[float] = []
        state = ""
        while answer is None:
            if change is None and self._stored() > before:
                change = time.monotonic() - begun
            looked, before_it = time.monotonic(), plan
            plan = self._plan(asked)
            plans.append(time.monotonic() - looked)
            if plan != before_it:
                planned = time.monotonic() - begun
            state = self._client.get(str(job["url"])).raise_for_status().json()["state"]
            if state != "accepted":
                answer = time.monotonic() - begun
            time.sleep(PAUSE)
        self._until_the_queue_is_empty()
        load = sum(plans) / len(plans)
        seen = (answer, other, change or answer, planned)
        return Times(*seen, load=load, late=state == "failed")

    def _plan(self, question: dict[str, str]) -> str:
        """What a plan says, whole."""
        said = self._client.post(f"{PATH}/plan", json={"kind": "count", **question})
        return said.raise_for_status().text

    def _stored(self) -> int:
        charges = self._client.get(f"{PATH}/account").raise_for_status().json()["charges"]
        return sum(each["state"] in ("stored", "failed") for each in charges)

    def _until_the_queue_is_empty(self) -> None:
        while self._server.served.desk.next_event("timed") is not None:
            time.sleep(0.005)


@contextmanager
def neighbours(
    folder: Path, rows: Sequence[int], *, seconds: float | None
) -> Iterator[list[Measuring]]:
    """A server for each of the tables."""
    with ExitStack() as stack:
        found = []
        for place, number in enumerate(rows):
            file = write(folder / str(place), number, seconds=seconds)
            found.append(Measuring(stack.enter_context(serving(file))))
            stack.callback(found[-1].close)
        yield found


def tries(asked: Sequence[Measuring], number: int) -> list[list[Times]]:
    """So many tries at each of the servers, side by side."""
    found: list[list[Times]] = [[] for _ in asked]
    with ThreadPoolExecutor(len(asked)) as pool:
        for _ in range(number):
            for place, times in enumerate(pool.map(Measuring.measure, asked)):
                found[place].append(times)
    return found


def told_right(
    first: Sequence[Times], second: Sequence[Times], of: Callable[[Times], float]
) -> float:
    """How often a threshold that was learnt on one half tells the tables of the other half."""
    half = len(first) // 2
    learnt = np.array([of(each) for each in (*first[:half], *second[:half])])
    kinds = np.array([False] * half + [True] * half)
    sizes = np.sort(learnt)
    # Halfway between two times: whoever cuts at one of them takes its like for the other kind.
    cuts = np.concatenate([[-np.inf], (sizes[:-1] + sizes[1:]) / 2])
    rights = [np.mean((learnt > cut) == kinds) for cut in cuts]
    wrongs = [np.mean((learnt <= cut) == kinds) for cut in cuts]
    above = bool(max(rights) >= max(wrongs))
    cut = float(cuts[int(np.argmax(rights if above else wrongs))])
    right = sum((of(each) > cut) != above for each in first[half:])
    right += sum((of(each) > cut) == above for each in second[half:])
    return right / (len(first) + len(second) - 2 * half)
