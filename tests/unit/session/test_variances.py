"""Receipts state the variance of a group's noise where the terms alone give it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import onesided as osd


def _receipt(**asked: Any) -> Any:
    rows = pa.table({"room": ["cafe", "lab"] * 50, "out": [False, True, False, False] * 25})
    dataset = osd.open(rows, unit="rows", policy="out", budget=4)
    return dataset.count("room", epsilon=1, **asked).receipt


def test_a_count_by_laplace_states_it_and_the_number_of_units() -> None:
    receipt = _receipt(mechanism="laplace", domain={"room": ["cafe", "lab"]})
    rate = 0.5
    exact = 2 * 2.718281828**-rate / (1 - 2.718281828**-rate) ** 2
    assert float(receipt["error"]["variance_per_group"]) == pytest.approx(exact, rel=1e-4)
    assert receipt["units"] == 100


def test_what_depends_on_the_data_states_none() -> None:
    assert "variance_per_group" not in _receipt(mechanism="residual")["error"]
