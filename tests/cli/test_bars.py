"""Answers on a terminal: bars with intervals, as wide as the window; plain tables elsewhere."""

from __future__ import annotations

import io
import re
import sys

import pyarrow as pa
import pytest

from onesided.cli.bars import draws_bars, interval_bars, show_answer
from onesided.data.shown import ShownAnswer

LETTERS = re.compile(r"\x1b\[[0-9;]*m")


def answer(highs: list[float]) -> ShownAnswer:
    bounds = ["at_least", "at_most"]
    interval = {"bound": "count of all units", "columns": bounds, "confidence": "0.95"}
    receipt = {
        "kind": "count",
        "request": {"by": ["room"], "domain": {"room": ["a", "[red]b[/red]", None]}},
        "error": {"expected_absolute_error_per_group": "12", "intervals": [interval]},
    }
    columns = {
        "room": ["a", "[red]b[/red]", None],
        "count": [1000.4, 500.0, -3.0],
        "at_least": [900.0, 400.0, 0.0],
        "at_most": highs,
    }
    return ShownAnswer.of(pa.table(columns), receipt)


class Terminal(io.StringIO):
    """A terminal that keeps what it is told."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self.letters = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.letters

    def isatty(self) -> bool:
        return True


def test_a_bar_shows_both_ends_and_the_value() -> None:
    bars = interval_bars(answer([1250.0, 625.0, 20.0]).figures[0], 3, 25)
    assert bars == ["██████████████████▓▓░░░░░", "████████▓▓░░", ""]


def test_an_interval_that_is_far_longer_ends_in_an_arrow() -> None:
    bars = interval_bars(answer([9e9, 625.0, 20.0]).figures[0], 3, 30)
    assert bars[0] == "█" * 18 + "▓▓" + "░" * 9 + "▸"
    assert len(bars[1]) < 30


@pytest.mark.parametrize("width", [46, 60, 200])
def test_an_answer_is_as_wide_as_the_window(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert draws_bars()
    show_answer(answer([1250.0, 625.0, 20.0]))
    lines = LETTERS.sub("", terminal.getvalue()).splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "1,000" in text
    assert "900 – 1,250" in text
    assert "[red]b[/red]" in text
    assert "(all others)" in text
    assert ("█" in text) is (width >= 60)
    assert max(map(len, lines)) > width - 8 or width < 60


def test_a_terminal_without_such_letters_gets_a_plain_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal("ascii"))
    assert not draws_bars()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not draws_bars()
