"""Engines for the tests of this folder: none of them is ever skipped."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.engines import EngineName, Opener, duckdb_opener, postgres_opener, spark_opener
from support.postgres import TestServer

_SPARK_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "America/New_York",
}


def start_spark(master: str, folder: Path, **more: str) -> Any:
    """A session whose files stay in `folder`."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(master).appName("tests of onesided")
    settings = {
        **_SPARK_SETTINGS,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "spill"),
        **more,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Spark in this process; its time zone is not ours, and must not matter."""
    session = start_spark("local[2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="module", params=list(EngineName), ids=lambda name: name.value)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Opens an Arrow table on each of the engines."""
    return _opener(request.param, request, tmp_path_factory)


@pytest.fixture(
    scope="module", params=[EngineName.DUCKDB, EngineName.SPARK], ids=lambda name: name.value
)
def named(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Opens an Arrow table on the engines that read files, in which rows have names."""
    return _opener(request.param, request, tmp_path_factory)


def _opener(
    engine: EngineName, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Opener:
    match engine:
        case EngineName.DUCKDB:
            return duckdb_opener(tmp_path_factory.mktemp("duckdb"))
        case EngineName.POSTGRES:
            server: TestServer = request.getfixturevalue("postgres_server")
            return postgres_opener(server.new_database())
        case _:
            spark = request.getfixturevalue("spark")
            return spark_opener(tmp_path_factory.mktemp("spark-files"), spark)
