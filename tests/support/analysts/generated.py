"""Statements that nobody wrote: keys, filters and figures put together by choice.

They read one made table, in DuckDB's words. What they are made of has an answer for every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

import pyarrow as pa

ROWS = 400
BOUNDS = {"n": (0, 40), "price": (0, 100), "delta": (-20, 20), "weight": (0, 2)}
PUBLIC = pa.table({"room": ["a", "b", "c"], "wing": ["x", "x", "y"], "seats": [10, 20, 40]})

_KEYS = (
    *("room", "late", "date_trunc('month', ts)", "year(ts)", "dayname(ts)", "lower(name)"),
    *("CASE WHEN n < 10 THEN 'few' WHEN n < 25 THEN 'some' ELSE 'many' END", "floor(n / 10) * 10"),
    *("floor(n / 8)", "substr(name, 1, 1)", "strftime(ts, '%Y-%m')", "coalesce(note, 'none')"),
    *(
        "n > 20",
        "extract(week FROM ts)",
        "room || '-' || late::VARCHAR",
        "split_part(name, '-', 1)",
    ),
    *("greatest(n, 30)", "abs(delta)", "date_diff('month', DATE '2024-01-01', ts)"),
)
_VALUES = (
    *("n", "price", "delta", "weight", "n * 2", "price * n", "least(price, 50)", "delta * 3"),
    *("CASE WHEN late THEN n ELSE 0 END", "abs(delta)", "n + 1", "greatest(n, 7)", "price / 4"),
    *("CASE WHEN note IS NULL THEN 1 ELSE 0 END", "late::INT", "-delta", "n - delta"),
)
_CONDITIONS = (
    *("n > 12", "late", "NOT late", "room <> 'b'", "note IS NOT NULL", "price BETWEEN 10 AND 70"),
    *("name LIKE '%-1'", "ts >= TIMESTAMP '2024-03-01'", "ts < '2024-05-01'", "delta < 0"),
    *(
        "n IN (1, 2, 3, 20, 30)",
        "hour(ts) < 12",
        "room IN (SELECT room FROM rooms WHERE seats > 15)",
    ),
    *("ts + INTERVAL 2 DAYS < DATE '2024-06-01'", "price > 2 * n", "upper(name) LIKE 'T%'"),
)
_AROUND = ("round({}, 1)", "{} * 2", "{} / 3.0", "abs({})", "-{}", "{} + 1")
_PAIRED = ("{} / nullif({}, 0)", "{} - {}", "100.0 * {} / nullif({}, 0)", "greatest({}, {})")


def table() -> pa.Table:
    """Rows of which every column has its few kinds of values."""
    source = Random(11)
    start = datetime(2024, 1, 1)
    return pa.table(
        {
            "id": list(range(ROWS)),
            "room": [source.choice("aabc") for _ in range(ROWS)],
            "name": [source.choice(("Tea-1", "tea-2", "Oat-1", "rye")) for _ in range(ROWS)],
            "note": [source.choice((None, "late", "ok")) for _ in range(ROWS)],
            "n": [source.randrange(41) for _ in range(ROWS)],
            "delta": [source.randrange(-20, 21) for _ in range(ROWS)],
            "weight": [source.randrange(9) / 4 for _ in range(ROWS)],
            "price": pa.array(
                [Decimal(source.randrange(10_001)) / 100 for _ in range(ROWS)],
                pa.decimal128(10, 2),
            ),
            "late": [source.random() < 0.4 for _ in range(ROWS)],
            "ts": [start + timedelta(minutes=source.randrange(260_000)) for _ in range(ROWS)],
        }
    )


@dataclass(frozen=True)
class Statements:
    """Makes statements by `pick`, which chooses a number below another."""

    pick: Callable[[int], int]

    def __iter__(self) -> Iterator[str]:
        while True:
            yield self.one()

    def one(self) -> str:
        """A SELECT, in one of a few shapes."""
        keys = list(dict.fromkeys(self._of(_KEYS) for _ in range(self.pick(3))))
        figures = [self._computed() for _ in range(1 + self.pick(3))]
        if keys:
            # A group in which nothing is added up is listed where it is counted.
            figures.append("COUNT(*)")
        listed = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        listed += [f"{figure} AS f{place}" for place, figure in enumerate(figures)]
        where = f" WHERE {self._condition()}" if self.pick(2) else ""
        source = "FROM made"
        if self.pick(6) == 0:
            source = f"FROM (SELECT * FROM made{where}) AS inside"
            where = ""
        group = f" GROUP BY {self._grouped(keys)}" if keys else ""
        having = f" HAVING COUNT(*) > {self.pick(9)}" if keys and self.pick(4) == 0 else ""
        return f"SELECT {', '.join(listed)} {source}{where}{group}{having}"

    def _grouped(self, keys: Sequence[str]) -> str:
        names = ", ".join(f"k{place}" for place in range(len(keys)))
        match self.pick(8):
            case 0:
                return f"ROLLUP ({', '.join(keys)})"
            case 1:
                return f"CUBE ({', '.join(keys)})"
            case 2:
                return ", ".join(str(place + 1) for place in range(len(keys)))
            case 3:
                return "ALL"
            case 4:
                return names
            case _:
                return ", ".join(keys)

    def _computed(self) -> str:
        match self.pick(5):
            case 0:
                return self._of(_AROUND).format(f"({self._figure()})")
            case 1:
                return self._of(_PAIRED).format(self._figure(), "COUNT(*)")
            case _:
                return self._figure()

    def _figure(self) -> str:
        value = self._of(_VALUES)
        made = (
            *("COUNT(*)", "COUNT(note)", f"SUM({value})", f"SUM({value})", f"AVG({value})"),
            *(f"AVG({value})", "COUNT(DISTINCT id)", f"COUNT_IF({self._of(_CONDITIONS[:9])})"),
            *(f"VAR_POP({self._of(_VALUES[:4])})", f"STDDEV({self._of(_VALUES[:4])})"),
        )
        figure = self._of(made)
        plain = figure.startswith(("SUM", "AVG", "COUNT(*)")) and self.pick(5) == 0
        return f"{figure} FILTER (WHERE {self._of(_CONDITIONS[:9])})" if plain else figure

    def _condition(self) -> str:
        parts = [self._of(_CONDITIONS) for _ in range(1 + self.pick(2))]
        return f" {self._of(('AND', 'OR'))} ".join(parts)

    def _of(self, options: Sequence[str]) -> str:
        return options[self.pick(len(options))]


def statements(seed: int) -> Iterator[str]:
    """The same for the same seed, without end."""
    return iter(Statements(Random(seed).randrange))
