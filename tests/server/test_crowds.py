"""Many analysts at once against a budget that does not suffice: nobody overspends."""

from __future__ import annotations

from pathlib import Path

import pytest

from onesided.ledger.desk import PersonRole
from support.crowds import Crowd, check_books, read_all
from support.serving import describe, serving

SMALL = Crowd(analysts=8, questions=4, most=2)
LARGE = Crowd(analysts=64, questions=50, most=4)
BUDGET, GRANTED = 2, 20
LARGE_BUDGET, LARGE_GRANTED = 20, 200


def _crowd(folder: Path, crowd: Crowd, budget: int, granted: int, seconds: float) -> None:
    limits = "open_jobs_of_one = 1000"
    with serving(describe(folder, seconds=seconds, budget=budget, limits=limits)) as server:
        statuses = crowd.asks(server.desk, [server.address])
        assert statuses == {202: granted, 402: crowd.analysts * crowd.questions - granted}
        check_books(crowd, server.desk, server.served.ledger, granted)
        with server.client(server.token("sue", PersonRole.STEWARD)) as sue:
            read_all(sue, server.desk, granted)


@pytest.mark.soak
def test_a_crowd_spends_the_budget_and_no_more(tmp_path: Path) -> None:
    _crowd(tmp_path, SMALL, BUDGET, GRANTED, seconds=0.3)


@pytest.mark.soak
def test_a_large_crowd_spends_the_budget_and_no_more(tmp_path: Path) -> None:
    _crowd(tmp_path, LARGE, LARGE_BUDGET, LARGE_GRANTED, seconds=0.5)
