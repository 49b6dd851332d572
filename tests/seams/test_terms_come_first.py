"""The terms come before the data: all of a receipt but its values is written with the charge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import ReleaseFailed, RequestError
from onesided.ledger import ChargeState
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.base import Kind
from onesided.mechanisms.registry import mechanism, mechanism_names
from onesided.session import kept
from support.visits import POLICY, ROOMS, UNIT, visits

Asking = Callable[[osd.Dataset], Any]
PAID = frozenset({"time", "snapshot", "purpose", "asked_by", "account"})
"""What a receipt says of the charge itself."""
DOMAIN = {"room": [*ROOMS[:-1], osd.OTHER]}
SQL = "SELECT room, COUNT(DISTINCT device, day), AVG(device) FROM data GROUP BY room"


def counting(name: str, **more: Any) -> Asking:
    return lambda data: data.count("room", epsilon=1, max_groups=1, mechanism=name, **more)


def sound(*, found: bool) -> list[str]:
    """The mechanisms that a session releases; with `found`, those that need no domain."""
    names = [name for name in mechanism_names() if mechanism(name).kind is Kind.SOUND]
    return [each for each in names if not (found and mechanism(each).needs_domain)]


QUESTIONS: dict[str, Asking] = {
    **{f"{name}, declared": counting(name, domain=DOMAIN) for name in sound(found=False)},
    **{f"{name}, found": counting(name) for name in sound(found=True)},
    "auto bound": lambda data: data.count(
        "room", epsilon=1, max_groups="auto", mechanism="one-sided"
    ),
    "auto bound, auto": lambda data: data.count("room", epsilon=1, max_groups="auto"),
    "touches": lambda data: data.touches("room", epsilon=1),
    "rr": lambda data: data.count("room", epsilon=1, mechanism="rr"),
    "sample": lambda data: data.sample(1),
    "sum": lambda data: data.sum("device", "room", bound=8, epsilon=1, max_groups=2),
    "mean": lambda data: data.mean("device", "room", bound=8, epsilon=1, max_groups=2),
    "auto way, quantile": lambda data: data.quantile(
        "device", bounds=(0, 9), epsilon=1, max_groups=2
    ),
    "auto, ngrams": lambda data: data.ngrams(2, by="room", order="ts", max_groups=2, epsilon=1),
    "ngrams": lambda data: data.ngrams(
        2, by="room", order="ts", max_groups=2, epsilon=1, mechanism="one-sided"
    ),
    "nothing": counting("one-sided", where="room = 'nowhere'"),
    "hybrid, declared": counting("hybrid", domain=DOMAIN, policy="TRUE"),
    "agrid, declared": lambda data: data.count(
        ["room", "hour(ts)"], epsilon=1, max_groups=1, mechanism="agrid", domain=DOMAIN
    ),
}


def opened(table: pa.Table, **options: Any) -> osd.Dataset:
    return osd.open(
        table, unit=UNIT, policy=POLICY, budget=9, rng=osd.seeded(3), name="visits", **options
    )


def terms(data: osd.Dataset) -> list[Any]:
    return [record.charge.terms for record in data.budget.charges]


def watched(monkeypatch: pytest.MonkeyPatch, look: Callable[[], None]) -> None:
    """Calls `look` before each statement that evaluates policy, filter or keys."""
    for name in ("count", "sample", "evaluate_policy"):
        plain = getattr(DuckDBEngine, name)

        def before(*given: Any, plain: Any = plain, **more: Any) -> Any:
            look()
            return plain(*given, **more)

        monkeypatch.setattr(DuckDBEngine, name, before)


@pytest.mark.parametrize("name", QUESTIONS)
def test_terms_are_in_the_ledger_before_the_first_statement(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(visits(devices=20)) as data:
        seen: list[Any] = []
        watched(monkeypatch, lambda: seen.extend(terms(data)))
        receipt = QUESTIONS[name](data).receipt.content
        (settled,) = terms(data)
    assert seen
    assert seen[0]["request"] == settled["request"]
    said = {key: value for key, value in receipt.items() if key not in PAID}
    assert said == {key: value for key, value in settled.items() if key != "durable"}
    if not name.startswith("auto"):
        assert seen[0] == settled


@pytest.mark.parametrize("name", [each for each in QUESTIONS if not each.startswith("auto")])
def test_terms_are_the_same_for_neighbouring_tables(name: str) -> None:
    """The last unit is sensitive in both, and alone in another room in one of them."""
    table = visits(devices=20)
    first, second = (
        pa.concat_tables([table, extra(table.schema, room)]) for room in ("clinic", "hiv")
    )
    found = []
    for each in (first, second):
        with opened(each) as data:
            QUESTIONS[name](data)
            found.append(terms(data))
    assert found[0] == found[1]


def extra(schema: pa.Schema, room: str) -> pa.Table:
    row: dict[str, list[Any]] = {name: [None] for name in schema.names}
    return pa.table({**row, "device": [999], "day": [0], "room": [room]}, schema=schema)


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_has_the_columns_that_its_terms_announce(name: str) -> None:
    with opened(visits(devices=20)) as data:
        release = QUESTIONS[name](data)
    announced = [(each["name"], each["type"]) for each in release.receipt["columns"]]
    assert announced == [(each.name, str(each.type)) for each in release.table.schema]


def test_what_auto_chose_follows_from_the_probe_that_was_stored() -> None:
    """Two accounts with one seed: the settled terms are the same, and so is the answer."""
    answers = []
    for _ in range(2):
        with opened(visits(devices=20)) as data:
            release = counting("auto", domain=DOMAIN)(data)
            answers.append((terms(data), release.table.to_pylist()))
    assert answers[0] == answers[1]


def test_a_reservation_stands_after_a_crash_and_is_replaced_by_what_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "visits.ledger"
    table = visits(devices=20)
    with opened(table, ledger=ledger) as data, monkeypatch.context() as broken:
        broken.setattr(Auto, "choose", lambda *_: 1 / 0)
        with pytest.raises(ReleaseFailed):
            counting("auto", domain=DOMAIN)(data)
        (record,) = data.budget.charges
        assert record.charge.reserved
        assert data.budget.spent == 1
    with opened(table, ledger=ledger) as data:
        release = counting("auto", domain=DOMAIN)(data)
        (record,) = data.budget.charges
    assert record.state is ChargeState.STORED
    assert record.charge.spending.loss == release.loss
    assert release.loss.epsilon == 1


def test_a_statement_pays_for_all_its_figures_or_for_none() -> None:
    limits: dict[str, Any] = {"max_groups": 1, "max_rows": 1, "bounds": {"device": 8}}
    with osd.open(visits(devices=20), unit=UNIT, policy=POLICY, budget=1) as data:
        counting("one-sided")(data)
        with pytest.raises(osd.BudgetError):
            data.sql(SQL, epsilon="0.5", **limits)
        assert len(data.budget.charges) == 1


def test_who_asks_and_to_what_end_is_kept(tmp_path: Path) -> None:
    with opened(visits(devices=20), ledger=tmp_path / "l", asked_by="ann") as data:
        release = data.count("room", epsilon=1, max_groups=1, purpose="the annual report")
        assert release.receipt["purpose"] == "the annual report"
        assert release.receipt["asked_by"] == "ann"
        (record,) = data.budget.charges
        assert (record.charge.purpose, record.charge.who) == ("the annual report", "ann")
        with pytest.raises(RequestError):
            data.count("room", epsilon=2, max_groups=1, purpose="x" * 201)
        assert len(data.budget.charges) == 1


def test_a_repeated_sample_is_served_from_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(visits(devices=20)) as data:
        first = data.sample(1).table
        monkeypatch.setattr(DuckDBEngine, "sample", lambda *_: 1 / 0)
        assert data.sample(1).table.equals(first)


def test_a_large_sample_is_drawn_again_and_held_against_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "LARGEST_KEPT", 0)
    table, ledger = visits(devices=20), tmp_path / "visits.ledger"
    with opened(table, ledger=ledger, version="one") as data:
        first = data.sample(1).table
        assert data.sample(1).table.equals(first)
    changed = table.set_column(3, "room", pa.array(["lab"] * len(table)))
    with opened(changed, ledger=ledger, version="one") as data:
        with pytest.raises(ReleaseFailed, match="not the one that was released"):
            data.sample(1)
        assert data.budget.spent == 1
