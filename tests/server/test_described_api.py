"""The API is as it describes itself: thousands of requests that fit the description, or almost."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
SHORT, LONG = 2, 100


@pytest.fixture(params=list(PersonRole), ids=lambda role: role.value)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[ServerAtWork, str]]:
    with serving(describe(tmp_path, seconds=0.05, budget=100_000)) as found:
        yield found, found.token("somebody", request.param)


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
    }
    config = schemathesis.config.SchemathesisConfig.from_dict({"checks": checks})
    return schemathesis.openapi.from_dict(said, config=config)


def try_all(server: ServerAtWork, token: str, number: int) -> int:
    """So many requests of each route and kind; how many there were in all."""
    schemathesis.checks.load_all_checks()
    left_out = [schemathesis.checks.CHECKS.get_one("positive_data_acceptance")]
    sent = 0
    for found in described().get_all_operations():
        operation = found.ok()
        name = operation.definition.raw["operationId"]
        # What ends a token gets one of its own each time.
        ends = name in ENDS_A_TOKEN

        def send(case: Any, ends: bool = ends) -> None:
            nonlocal sent
            sent += 1
            shown = server.token("others", PersonRole.STEWARD) if ends else token
            case.call_and_validate(
                base_url=server.address,
                headers={"Authorization": f"Bearer {shown}"},
                excluded_checks=left_out,
            )

        for mode in schemathesis.GenerationMode:
            strategy = operation.as_strategy(generation_mode=mode)
            asked = hypothesis.given(case=strategy)(send)
            several = hypothesis.settings(
                max_examples=number,
                deadline=None,
                database=None,
                suppress_health_check=list(hypothesis.HealthCheck),
                phases=[hypothesis.Phase.generate],
            )
            try:
                hypothesis.seed(1)(several(asked))()
            except hypothesis.errors.Unsatisfiable:
                assert mode is schemathesis.GenerationMode.NEGATIVE
    return sent


def nothing_refused_was_charged(server: ServerAtWork) -> None:
    """Every charge belongs to a question that was accepted."""
    lines = [json.loads(line) for line in server.logged]
    assert not [line for line in lines if line["event"] == "failure"]
    accepted = {line["job"] for line in lines if line.get("status") == 202}
    charged = {number for job in server.desk.jobs() if job.id in accepted for number in job.charges}
    balance = server.served.datasets["visits"].data.budget
    assert {each.charge.number for each in balance.charges} == charged


def test_a_few_requests_of_each_route(server: tuple[ServerAtWork, str]) -> None:
    at_work, token = server
    assert try_all(at_work, token, SHORT) > len(ROUTES)
    nothing_refused_was_charged(at_work)


@pytest.mark.soak
def test_thousands_of_requests(server: tuple[ServerAtWork, str]) -> None:
    at_work, token = server
    assert try_all(at_work, token, LONG) > 2_000
    nothing_refused_was_charged(at_work)
