"""Who is a resident: each condition of the definition, met and just missed."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from onesided.datasets.residents import residents

MONTHS = (5, 6, 7, 8, 9)
SEVEN_HOURS = tuple(range(9 * 60, 16 * 60, 10))
WITH_A_BREAK = tuple(range(9 * 60, 13 * 60, 10)) + tuple(range(14 * 60, 17 * 60, 10))
SIX_HOURS = tuple(range(9 * 60, 15 * 60, 10))
EVENING = (18 * 60 + 50, 19 * 60)
BEFORE_SEVEN = (18 * 60 + 50,)


def _days(
    minutes: tuple[int, ...], *, days: int = 12, months: tuple[int, ...] = MONTHS
) -> list[datetime]:
    """The same slots on the first days of each month."""
    return [
        datetime(2016, month, day) + timedelta(minutes=minute)
        for month in months
        for day in range(1, days + 1)
        for minute in minutes
    ]


def _is_resident(moments: list[datetime]) -> bool:
    # A second device marks the end of the trace.
    times = [*moments, datetime(2016, 9, 30, 12)]
    devices = ["me"] * len(moments) + ["end"]
    table = pa.table({"device": devices, "ts": pa.array(times, pa.timestamp("us"))})
    return residents(table).to_pylist() == ["me"]


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (SEVEN_HOURS, True),
        (EVENING, True),
        (SIX_HOURS, False),
        (WITH_A_BREAK, False),
        (BEFORE_SEVEN, False),
    ],
)
def test_late_or_long_days_make_a_resident(minutes: tuple[int, ...], expected: bool) -> None:
    assert _is_resident(_days(minutes)) is expected


@pytest.mark.parametrize(("days", "expected"), [(10, True), (9, False)])
def test_ten_days_a_month_are_needed(days: int, expected: bool) -> None:
    assert _is_resident(_days(SEVEN_HOURS, days=days)) is expected


def test_every_one_of_the_last_five_months_counts() -> None:
    assert not _is_resident(_days(SEVEN_HOURS, months=(4, 5, 6, 7, 8)))
    assert not _is_resident(_days(SEVEN_HOURS, months=(5, 6, 7, 9)))


@pytest.mark.parametrize(("long_days", "expected"), [(5, True), (4, False)])
def test_once_a_week_is_a_rate(long_days: int, expected: bool) -> None:
    # Five months have 21 whole weeks: five long days a month are enough, four are not.
    moments = _days(BEFORE_SEVEN) + _days(SEVEN_HOURS, days=long_days)
    assert _is_resident(moments) is expected


def test_a_short_gap_does_not_end_a_stretch() -> None:
    asleep = {12 * 60, 12 * 60 + 10, 12 * 60 + 20}
    minutes = tuple(minute for minute in SEVEN_HOURS if minute not in asleep)
    assert _is_resident(_days(minutes))


def test_the_order_of_rows_does_not_matter() -> None:
    assert _is_resident(_days(SEVEN_HOURS)[::-1])


def test_no_rows_have_no_residents() -> None:
    schema = pa.schema({"device": pa.int64(), "ts": pa.timestamp("us")})
    assert len(residents(schema.empty_table())) == 0
