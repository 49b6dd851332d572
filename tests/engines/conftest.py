"""Engines for the tests of this folder: none of them is ever skipped."""

from __future__ import annotations

import pytest

from support.engines import (
    EngineName,
    Opener,
    datafusion_opener,
    duckdb_opener,
    postgres_opener,
    spark_opener,
)
from support.postgres import TestServer


@pytest.fixture(scope="module", params=list(EngineName), ids=lambda name: name.value)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Opens an Arrow table on each of the engines."""
    return _opener(request.param, request, tmp_path_factory)


@pytest.fixture(
    scope="module",
    params=[EngineName.DUCKDB, EngineName.DATAFUSION, EngineName.SPARK],
    ids=lambda name: name.value,
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
        case EngineName.DATAFUSION:
            return datafusion_opener(tmp_path_factory.mktemp("datafusion"))
        case EngineName.POSTGRES:
            server: TestServer = request.getfixturevalue("postgres_server")
            return postgres_opener(server.new_database())
        case _:
            spark = request.getfixturevalue("spark")
            return spark_opener(tmp_path_factory.mktemp("spark-files"), spark)
