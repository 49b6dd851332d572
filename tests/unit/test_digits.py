"""Numbers for people: as many digits as the noise leaves meaning, the same in a column."""

from __future__ import annotations

from decimal import Decimal
from math import inf, nan

import pytest

from onesided.digits import ColumnDigits, plus_minus


@pytest.mark.parametrize(
    ("values", "error", "whole", "texts"),
    [
        ([970.7236877, 3.2], 47.5, False, ["971", "3"]),
        ([35532, -48], 415.5, True, ["35,530", "-50"]),
        ([0.123456, 20.5], 0.0042, False, ["0.1235", "20.5000"]),
        ([12, 1_234_567], None, True, ["12", "1,234,567"]),
        ([12.3456, 1.5], None, False, ["12.35", "1.50"]),
        ([-0.2, 0], 3.0, False, ["-0.2", "0.0"]),
        ([-0.02, 0], 3.0, False, ["0.0", "0.0"]),
        ([Decimal("10.25"), 3], 0.5, False, ["10.25", "3.00"]),
        ([nan, inf, 5], 1.0, True, ["nan", "inf", "5"]),
        ([None, 0], 2.0, True, ["not counted", "0"]),
        ([0, 0], None, False, ["0.000", "0.000"]),
    ],
)
def test_a_column_has_the_digits_that_its_noise_leaves(
    values: list[object], error: float | None, whole: bool, texts: list[str]
) -> None:
    digits = ColumnDigits.of(values, error=error, whole=whole)
    assert [digits.text(each) for each in values] == texts


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.0929e30, "10^30", "3.093"),
        (4.2e-7, "10^-9", "420.0"),
        (9.9e14, "", "990,000,000,000,000"),
    ],
)
def test_a_column_has_one_unit(value: float, unit: str, text: str) -> None:
    digits = ColumnDigits.of([value, value / 10])
    assert (digits.unit, digits.text(value)) == (unit, text)


def test_an_interval_is_rounded_outwards() -> None:
    digits = ColumnDigits.of([1000], error=415.0)
    assert digits.interval(786, 1243) == "780 – 1,250"
    assert digits.interval(786, None) == "≥ 780"
    assert digits.interval(None, 1243) == "≤ 1,250"
    assert digits.interval(None, None) == ""


@pytest.mark.parametrize(("error", "said"), [(47.49, "±47"), (4160.0, "±4,200"), (0.031, "±0.031")])
def test_an_error_has_two_digits(error: float, said: str) -> None:
    assert plus_minus(error) == said
