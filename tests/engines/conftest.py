"""Engines for the tests of this folder: none of them is ever skipped."""

from __future__ import annotations

import pytest

from support.engines import EngineName, Opener, opener_of

# Each of its answers takes Spark a second: in a short run the contract suite alone asks it.
_ENGINES = [
    pytest.param(each, marks=pytest.mark.soak if each is EngineName.SPARK else ())
    for each in EngineName
]


@pytest.fixture(scope="module", params=_ENGINES, ids=lambda name: name.value)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Opens an Arrow table on each of the engines."""
    return opener_of(request.param, request, tmp_path_factory)


@pytest.fixture(
    scope="module",
    params=[EngineName.DUCKDB, EngineName.DATAFUSION, EngineName.SPARK],
    ids=lambda name: name.value,
)
def named(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Opens an Arrow table on the engines that read files, in which rows have names."""
    return opener_of(request.param, request, tmp_path_factory)
