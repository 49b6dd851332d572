"""Policies in which types meet, in families that share columns and literals, and hostile rows."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from onesided.language import Field, Schema, Type

SCHEMA = Schema.of(
    {
        "i": Type.INTEGER,
        "j": Type.INTEGER,
        "w": Type.WIDE_INTEGER,
        "f": Type.FLOAT,
        "g": Type.FLOAT,
        "p": Field.decimal(5, 2),
        "q": Field.decimal(38, 0),
        "d": Type.DATE,
        "e": Type.DATE,
        "ts": Type.TIMESTAMP,
        "t": Type.TEXT,
        "b": Type.BOOLEAN,
    }
)
ARROW = {
    "i": pa.int64(),
    "j": pa.int32(),
    "w": pa.decimal128(38, 0),
    "f": pa.float64(),
    "g": pa.float32(),
    "p": pa.decimal128(5, 2),
    "q": pa.decimal128(38, 0),
    "d": pa.date32(),
    "e": pa.date32(),
    "ts": pa.timestamp("us"),
    "t": pa.string(),
    "b": pa.bool_(),
}
EDGE = 2**53
INTEGERS = [0, 1, -1, 3, EDGE - 1, EDGE, EDGE + 1, EDGE + 2, -EDGE - 1, 2**62, 2**62 + 257]
ENDS = [2**63 - 1, 2**63 - 512, 2**63 - 513, -(2**63), -(2**63) + 1]
WIDE = [2**63, 2**63 + 1, 2**64 - 1, 10**37, -(10**37), 10**38 - 1]
FLOATS = [0.0, -0.0, 0.1, 0.5, 1.0, float(EDGE), float(EDGE) + 2, 2.0**63, 2.0**64, 1e300, 5e-324]
FLOATS += [float("nan"), float("inf"), float("-inf"), -1e300, -(2.0**63)]
DECIMALS = [Decimal(text) for text in ("0.00", "0.01", "0.50", "1.00", "999.99", "-999.99")]
DATES = [
    date(1969, 12, 31),
    date(1970, 1, 1),
    date(2020, 2, 29),
    date(2020, 3, 1),
    date(9999, 12, 31),
]
DATES += [date(1, 1, 1)]
MOMENTS = [datetime(1970, 1, 1), datetime(2020, 2, 29, 12), datetime(2020, 3, 1), datetime.min]
MOMENTS += [datetime(2020, 2, 29, 23, 59, 59, 999999), datetime.max]
CELLS: dict[str, Sequence[Any]] = {
    "i": INTEGERS + ENDS,
    "j": [0, 1, -1, 2, 3, 2**31 - 1, -(2**31)],
    "w": INTEGERS + ENDS + WIDE,
    "f": FLOATS,
    "g": [np.float32(cell).item() for cell in FLOATS if not 1e39 < abs(cell) < float("inf")],
    "p": DECIMALS,
    "q": [Decimal(cell) for cell in INTEGERS + ENDS + WIDE],
    "d": DATES,
    "e": DATES,
    "ts": MOMENTS,
    "t": ["", "a", "a\x01", "b", "B", "é", "😀"],
    "b": [True, False],
}
LITERALS = [str(number) for number in (*INTEGERS, *ENDS, *WIDE, 2**70)]
LITERALS += ["0.1", "0.5", "9007199254740993.5", "0.005", "1.000000000000000055", "1180591620717.5"]
MOMENT_LITERALS = [f"DATE '{day}'" for day in DATES] + [f"TIMESTAMP '{each}'" for each in MOMENTS]
#: Days that DuckDB has and Python has not; only the engine can say what they do.
FAR = ["300000-01-01", "infinity", "-infinity", "20000-01-01", "4000-01-01 (BC)"]
FAR_MOMENTS = ["infinity", "-infinity", "294247-01-10 04:00:54.775806", "20000-01-01 12:00:00"]
FAR_MOMENTS += ["290309-12-22 (BC) 00:00:00"]
NUMBERS = ("i", "i", "f", "f", "j", "g", "w", "p", "q")
MOMENT_COLUMNS = ("d", "ts", "e")


class Maker:
    """Texts of predicates; most bind, since alternatives are of few kinds."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.columns: tuple[str, ...] = ()
        self.literals: list[str] = []

    def family(self) -> None:
        """A few columns and literals, so that policies have them in common."""
        numbers = self.dice.random() < 0.75
        self.columns = tuple(self.dice.sample(NUMBERS if numbers else MOMENT_COLUMNS, 2))
        self.literals = self.dice.sample(LITERALS if numbers else MOMENT_LITERALS, 3)
        self.numbers = numbers

    def policy(self) -> str:
        depth = self.dice.choice((0, 1, 1, 2))
        return self.condition(depth)

    def relative(self, text: str) -> str:
        """A policy that says nearly the same: wider, narrower, or written in another way."""
        match self.dice.randrange(6):
            case 0:
                return f"({text}) OR ({self.atom()})"
            case 1:
                return f"({text}) AND ({self.atom()})"
            case 2:
                return text.replace(
                    self.dice.choice(self.literals), self.dice.choice(self.literals)
                )
            case 3:
                signs = {" < ": " <= ", " > ": " >= ", " = ": " >= ", " <> ": " < "}
                sign = self.dice.choice(list(signs))
                return text.replace(sign, signs[sign])
            case 4:
                written = r"CASE WHEN \1 IS NOT NULL THEN \1 ELSE \2 END"
                return re.sub(r"coalesce\((\w+), ([^()]+)\)", written, text)
            case _:
                return text.replace(*self.dice.sample(self.columns, 2))

    def condition(self, depth: int) -> str:
        if depth == 0:
            return self.atom()
        parts = [self.condition(depth - 1) for _ in range(2)]
        shape = self.dice.choice(
            ("{} AND {}", "{} OR {}", "NOT ({})", "({}) IS TRUE", "({}) IS FALSE")
        )
        return shape.format(*(f"({part})" for part in parts))

    def atom(self) -> str:
        value, literals = self.value(1), self.literals
        match self.dice.randrange(7):
            case 0:
                return f"{value} IS NULL"
            case 1:
                return f"{value} IN ({', '.join(self.dice.sample(literals, 2))})"
            case 2:
                return f"{value} BETWEEN {self.dice.choice(literals)} AND {self.value(1)}"
            case 3:
                return f"{value} IS DISTINCT FROM {self.dice.choice(literals)}"
            case _:
                sign = self.dice.choice(("=", "<>", "<", "<=", ">", ">="))
                return f"{value} {sign} {self.dice.choice((*literals, self.value(0)))}"

    def value(self, depth: int) -> str:
        column, other = self.dice.choice(self.columns), self.dice.choice(self.columns)
        if depth == 0 or self.dice.random() < 0.4:
            return column
        last = self.dice.choice((other, self.dice.choice(self.literals)))
        match self.dice.randrange(8 if self.numbers else 4):
            case 0 | 1:
                return f"coalesce({column}, {last})"
            case 2:
                test = self.dice.choice((f"{other} IS NULL", f"{column} > {self.literals[0]}", "b"))
                return f"CASE WHEN {test} THEN {column} ELSE {last} END"
            case 3 if self.numbers:
                return f"CASE {other} WHEN {self.literals[1]} THEN {column} ELSE {last} END"
            case 3:
                return f"date({column})"
            case 4:
                return f"({column} {self.dice.choice('+-*')} {self.literals[0]})"
            case 5:
                return f"bucket({column}, {self.dice.choice((1, 10, 2**62))})"
            case 6:
                return f"coalesce({column}, {self.value(depth - 1)}, {other})"
            case _:
                return f"coalesce(-{column}, {last})"


def rows(dice: random.Random, count: int) -> pa.Table:
    """Hostile cells, NULL among them."""
    return pa.table(
        {
            name: pa.array(
                [None if dice.random() < 0.15 else dice.choice(CELLS[name]) for _ in range(count)],
                kind,
            )
            for name, kind in ARROW.items()
        }
    )
