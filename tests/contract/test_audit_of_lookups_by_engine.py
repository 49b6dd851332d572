"""The audit of whole releases with lookup tables and withheld columns, on every surface.

Chance makes such worlds seldom in short runs, so here the first ones that dice give are taken.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from onesided.audit.session import SURFACES
from onesided.audit.session.cells import Form
from onesided.audit.session.dice import Dice
from onesided.audit.session.judging import judged
from onesided.audit.session.requests import Request
from onesided.audit.session.worlds import ASIDE, World, world

ENGINES = {
    "duckdb": Form.TYPED,
    "datafusion": Form.TYPED,
    "postgres": Form.SQL,
    "command": Form.CSV,
}
SAMPLE = Request("sample", {"epsilon": "4"})
COUNT = Request(
    "count", {"epsilon": "1", "by": [f"{ASIDE}.secret"], "mechanism": "rr", "max_groups": 2}
)


def made(form: Form, *, chosen: bool) -> World:
    """The first world with a lookup table, whose rows decide over several units or over one.

    Columns whose names differ in capitals alone are refused at the opening.
    """
    for seed in count():
        found = world(form, Dice("by engine", seed), lookups=True)
        names = [column.name for column in found.columns]
        if "Age" in names or not found.aside:
            continue
        if (found.max_units is not None) is chosen:
            return found
    raise AssertionError


def check(
    engine: str, connection: Any, form: Form, *, chosen: bool, written: str | None = None
) -> str:
    """Nothing differs; what is left is the receipt of the count over D."""
    given = made(form, chosen=chosen)
    with SURFACES[engine](connection) as surface:
        assert surface.lookups
        sources = surface.sources(form)
        (source, *_) = [each for each in sources if written in (None, each.name)]
        with surface.staged(given, source, Dice("staged")) as stage:
            asked = [COUNT] if engine == "command" else [SAMPLE, COUNT]
            run, differences = judged(stage, given, asked, 1)
    assert differences == []
    assert all(seen.answered for seen in run.seen)
    return str(run.seen[-1].outcomes)


@pytest.fixture
def connection(request: pytest.FixtureRequest) -> Any:
    """What the engine of the test needs."""
    engine = request.getfixturevalue("engine")
    return request.getfixturevalue("postgres_url") if engine == "postgres" else None


@pytest.mark.parametrize("engine", ENGINES)
def test_neighbouring_lookup_tables_show_nothing(engine: str, connection: Any) -> None:
    check(engine, connection, ENGINES[engine], chosen=False)


@pytest.mark.parametrize("engine", [each for each in ENGINES if each != "command"])
def test_nor_do_those_whose_rows_decide_over_several_units(engine: str, connection: Any) -> None:
    seen = check(engine, connection, ENGINES[engine], chosen=True)
    assert f"replaces at most {made(ENGINES[engine], chosen=True).max_units} of them" in seen


@pytest.mark.parametrize("engine", ["duckdb", "datafusion"])
def test_nor_do_folders_that_name_the_days_of_units(engine: str, connection: Any) -> None:
    seen = check(engine, connection, Form.TYPED, chosen=True, written="Parquet in folders by day")
    assert "day=" not in seen


@pytest.mark.soak
@pytest.mark.parametrize("chosen", [False, True])
def test_nor_on_spark(spark: Any, chosen: bool) -> None:
    check("spark", spark, Form.TYPED, chosen=chosen)
