"""The API is as it describes itself: thousands of requests that fit the description, or almost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from onesided.ledger.desk import PersonRole
from onesided.server.api import ROUTES
from onesided.server.describe import openapi
from support.serving import ServerAtWork, describe, serving

schemathesis = pytest.importorskip("schemathesis")

ENDS_A_TOKEN = ("logout", "revoke_token")
SHORT, LONG = 1, 100


@contextmanager
def somebody(folder: Path, role: PersonRole) -> Iterator[tuple[ServerAtWork, str]]:
    with serving(describe(folder, seconds=0.05, budget=100_000)) as found:
        yield found, found.token("somebody", role)


def described() -> Any:
    """The description, in which the data set is one that there is."""
    said = json.loads(json.dumps(openapi(ROUTES)))
    for methods in said["paths"].values():
        for each in methods.values():
            for parameter in each.get("parameters", ()):
                if parameter["name"] == "dataset":
                    parameter["schema"] = {"enum": ["visits"]}
    checks = {
        "positive_data_acceptance": {"enabled": False},
        "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", 503]},
        "negative_data_rejection": {"expected-statuses": ["4xx", 503]},
    }
    config = schemathesis.config.SchemathesisConfig.from_dict({"checks": checks})
    return schemathesis.openapi.from_dict(said, config=config)


@dataclass
class Sender:
    """Sends requests, and checks what is answered against the description."""

    server: ServerAtWork
    token: str
    sent: int = 0

    def send(self, case: Any, *, ends: bool) -> None:
        """One request; what ends a token gets one of its own each time."""
        self.sent += 1
        shown = self.server.token("others", PersonRole.STEWARD) if ends else self.token
        case.call_and_validate(
            base_url=self.server.address,
            headers={"Authorization": f"Bearer {shown}"},
            excluded_checks=[schemathesis.checks.CHECKS.get_one("positive_data_acceptance")],
        )

    def send_all(self, operation: Any, mode: Any, number: int) -> None:
        """So many requests of one route, which fit its description or do not."""
        ends = operation.definition.raw["operationId"] in ENDS_A_TOKEN
        several = hypothesis.settings(
            max_examples=number,
            deadline=None,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[hypothesis.Phase.generate],
        )

        @hypothesis.seed(1)
        @several
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def sending(case: Any) -> None:
            self.send(case, ends=ends)

        try:
            sending()
        except hypothesis.errors.Unsatisfiable:  # nothing can be wrong where nothing is said
            assert mode is schemathesis.GenerationMode.NEGATIVE


def try_all(server: ServerAtWork, token: str, number: int) -> int:
    """So many requests of each route and kind; how many there were in all."""
    schemathesis.checks.load_all_checks()
    sender = Sender(server, token)
    for found in described().get_all_operations():
        for mode in schemathesis.GenerationMode:
            sender.send_all(found.ok(), mode, number)
    return sender.sent


def nothing_refused_was_charged(server: ServerAtWork) -> None:
    """Every charge belongs to a question that was accepted."""
    lines = [json.loads(line) for line in server.logged]
    assert not [line for line in lines if line["event"] == "failure"]
    accepted = {line["job"] for line in lines if line.get("status") == 202}
    charged = {number for job in server.desk.jobs() if job.id in accepted for number in job.charges}
    balance = server.served.datasets["visits"].data.budget
    assert {each.charge.number for each in balance.charges} == charged


def test_a_request_or_two_of_each_route(tmp_path: Path) -> None:
    with somebody(tmp_path, PersonRole.STEWARD) as (server, token):
        assert try_all(server, token, SHORT) > len(ROUTES)
        nothing_refused_was_charged(server)


@pytest.mark.soak
@pytest.mark.parametrize("role", PersonRole, ids=lambda role: role.value)
def test_thousands_of_requests(tmp_path: Path, role: PersonRole) -> None:
    with somebody(tmp_path, role) as (server, token):
        assert try_all(server, token, LONG) > 2_000
        nothing_refused_was_charged(server)
