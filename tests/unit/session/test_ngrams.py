"""n-grams through a session: bounded for each unit, priced and kept as every count."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import RequestError
from onesided.randomness import seeded
from support.visits import POLICY, ROOMS, UNIT, rows, sensitive_units, visits

EXACT = 1_000_000  # an ε at which the noise is 0, to see what it is added to
ASK: dict[str, Any] = {"by": "room", "order": "ts"}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=60)


@pytest.fixture(scope="module")
def dataset(table: pa.Table) -> Iterator[osd.Dataset]:
    with opened(table) as dataset:
        yield dataset


def opened(table: pa.Table, **options: Any) -> osd.Dataset:
    return osd.open(table, unit=UNIT, policy=POLICY, budget=99 * EXACT, rng=seeded(1), **options)


def units_of(table: pa.Table) -> dict[tuple[Any, ...], set[tuple[str, ...]]]:
    """The pairs of rooms, one after the other, of each non-sensitive unit."""
    journeys: dict[tuple[Any, ...], list[tuple[Any, Any]]] = defaultdict(list)
    for row in rows(table):
        journeys[row["device"], row["day"]].append((row["ts"], row["room"]))
    closed = sensitive_units(table)
    return {
        unit: {(one[1], other[1]) for one, other in pairwise(stays)}
        for unit, stays in ((unit, sorted(stays)) for unit, stays in journeys.items())
        if unit not in closed
    }


def counts(release: osd.Release) -> dict[tuple[str, ...], int]:
    columns = release.table.to_pydict()
    keys = zip(columns["room_1"], columns["room_2"], strict=True)
    return dict(zip(keys, columns["count"], strict=True))


def test_found_pairs_are_those_of_the_definition(dataset: osd.Dataset, table: pa.Table) -> None:
    truth = Counter(gram for grams in units_of(table).values() for gram in grams)
    release = dataset.ngrams(
        2, max_groups=50, epsilon=EXACT, mechanism="one-sided", **ASK, yes=True
    )
    assert counts(release) == truth
    assert release.table.column_names[:2] == ["room_1", "room_2"]


def test_a_unit_counts_for_its_bound_and_no_more(dataset: osd.Dataset, table: pa.Table) -> None:
    units = units_of(table)
    assert max(map(len, units.values())) > 1
    release = dataset.ngrams(2, max_groups=1, epsilon=EXACT, mechanism="one-sided", **ASK, yes=True)
    assert sum(counts(release).values()) == sum(bool(grams) for grams in units.values())


def test_the_noise_grows_with_the_bound(dataset: osd.Dataset) -> None:
    noises = [
        dataset.ngrams(2, max_groups=k, epsilon=1, mechanism="one-sided", **ASK).receipt["noise"]
        for k in (1, 4)
    ]
    assert noises[0] != noises[1]


def test_a_domain_is_that_of_every_token(dataset: osd.Dataset) -> None:
    rooms = [*ROOMS[:2], osd.OTHER]
    release = dataset.ngrams(2, max_groups=3, epsilon=1, mechanism="laplace", domain=rooms, **ASK)
    assert len(release.table) == 3**2


def test_every_number_of_tokens_is_a_request_of_its_own(table: pa.Table, tmp_path: Path) -> None:
    with opened(table, ledger=tmp_path / "account.db", name="visits") as data:
        first = data.ngrams(2, max_groups=2, epsilon=1, **ASK)
        assert data.ngrams(2, max_groups=2, epsilon=1, **ASK).table.equals(first.table)
        assert data.budget.spent == Fraction(1)
        for other in (
            {"n": 3, **ASK},
            {"n": 2, "by": "consent", "order": "ts"},
            {"n": 2, "by": "room", "order": "day"},
        ):
            before = data.budget.spent
            data.ngrams(max_groups=2, epsilon=1, **other)
            assert data.budget.spent == before + 1


def test_a_sample_of_units_needs_no_bound(dataset: osd.Dataset, table: pa.Table) -> None:
    truth = Counter(gram for grams in units_of(table).values() for gram in grams)
    assert counts(dataset.ngrams(2, epsilon=EXACT, mechanism="rr", **ASK, yes=True)) == truth


@pytest.mark.parametrize("mechanism", ["auto", "one-sided", "rr"])
def test_a_table_without_any_ngram_is_answered(table: pa.Table, mechanism: str) -> None:
    nowhere = pa.nulls(len(table), pa.timestamp("us"))
    empty = table.set_column(table.column_names.index("ts"), "ts", nowhere)
    with opened(empty) as data:
        release = data.ngrams(2, max_groups=2, epsilon=1, mechanism=mechanism, **ASK)
        assert len(release.table) == 0


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"n": 0}, "from 1 to"),
        ({"n": True}, "from 1 to"),
        ({"by": "street"}, "street"),
        ({"order": "room"}, "gives no order"),
        ({"max_groups": None}, "max_groups"),
        ({"max_groups": 0}, "max_groups"),
        ({"mechanism": "laplace"}, "room_1"),
    ],
    ids=str,
)
def test_what_is_no_question_is_refused_for_free(
    dataset: osd.Dataset, asked: dict[str, Any], word: str
) -> None:
    before = dataset.budget.spent
    with pytest.raises(osd.InputError, match=word):
        dataset.ngrams(**{"n": 2, "max_groups": 2, "epsilon": 1, **ASK, **asked})
    assert dataset.budget.spent == before


def test_a_column_in_the_way_is_named(table: pa.Table) -> None:
    taken = table.append_column("ROOM_2", table["room"])
    with opened(taken) as data, pytest.raises(RequestError, match="room_2"):
        data.ngrams(2, max_groups=1, epsilon=1, **ASK)


def test_rows_alone_make_no_ngrams(table: pa.Table) -> None:
    with (
        osd.open(table, policy=POLICY, budget=9, unit="rows") as data,
        pytest.raises(RequestError, match="key"),
    ):
        data.ngrams(2, max_groups=1, epsilon=1, **ASK)
