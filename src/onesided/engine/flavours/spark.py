"""Spark's SQL."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from onesided.engine.flavours.base import DIGEST_DIGITS, Flavour
from onesided.errors import SourceError
from onesided.language import Dialect

#: The part of a sample that a row belongs to.
PART = "osd_part"
_EPOCH_PARTS = (
    "unix_date(CAST({0} AS DATE)) * 86400000000L + hour({0}) * 3600000000L "
    "+ minute({0}) * 60000000L + CAST(extract(SECOND FROM {0}) * 1000000 AS BIGINT)"
)


class SparkFlavour(Flavour):
    """Spark, whichever way its settings for ANSI mode and time zone stand."""

    dialect = Dialect.SPARK

    def name(self, column: str) -> str:
        if "${" in column:
            raise SourceError(
                f"Spark would read a variable in the column name {column}; rename the column."
            )
        return "`" + column.replace("`", "``") + "`"

    def sha256(self, text: str) -> str:
        return f"sha2(CAST({text} AS BINARY), 256)"

    def digest(self, text: str) -> str:
        digits = f"substr(md5(CAST({text} AS BINARY)), 1, {DIGEST_DIGITS})"
        return f"CAST(conv({digits}, 16, 10) AS BIGINT)"

    def exclusive_or(self, left: str, right: str) -> str:
        return f"({left} ^ {right})"

    def days(self, expression: str) -> str:
        return f"unix_date({expression})"

    def microseconds(self, expression: str) -> str:
        # unix_micros reads a time without zone in the session's zone, which may skip hours.
        return f"({_EPOCH_PARTS.format(expression)})"

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS STRING)"

    def byte_length(self, expression: str) -> str:
        return f"octet_length({expression})"

    def whole_steps(self, expression: str, grid: Fraction) -> str:
        scaled = self.scaled(f"CAST({expression} AS DOUBLE)", grid, "DOUBLE")
        fitting = f"{scaled} >= CAST('-9223372036854775808' AS DOUBLE)"
        below = f"{scaled} < CAST('9223372036854775808' AS DOUBLE)"
        return f"CASE WHEN {fitting} AND {below} THEN floor({scaled}) END"

    def sum_of(self, steps: str) -> str:
        # A sum of 64-bit integers wraps or fails here; that of decimals has room for 10^19 rows.
        return f"sum(CAST({steps} AS DECIMAL(19, 0)))"

    def semi_join(self, keys: list[str], units: str, where: str) -> str:
        same = " AND ".join(f"osd_t.{key} = osd_u.{key}" for key in keys)
        return f"LEFT SEMI JOIN ({units}) osd_u ON {same} WHERE {where}"


@dataclass(frozen=True)
class FewUnitsSparkFlavour(SparkFlavour):
    """Spark where units are few: the keys of the kept ones go to every executor.

    No row is moved then to find out whether it is kept. Kept units are numbered in the order of
    their keys, and every `units_a_part` of them make one of `parts`, the column `PART`; the last
    one takes the rest.
    """

    units_a_part: int
    parts: int

    def semi_join(self, keys: list[str], units: str, where: str) -> str:
        renamed = [f"osd_k{index}" for index in range(len(keys))]
        listed = ", ".join(f"{key} AS {name}" for key, name in zip(keys, renamed, strict=True))
        place = f"row_number() OVER (ORDER BY {', '.join(keys)}) - 1"
        numbered = (
            f"SELECT /*+ BROADCAST */ {listed}, CAST(least(({place}) DIV {self.units_a_part}, "
            f"{self.parts - 1}) AS INT) AS {PART} FROM ({units}) osd_n"
        )
        same = " AND ".join(
            f"osd_t.{key} = osd_u.{name}" for key, name in zip(keys, renamed, strict=True)
        )
        return f"JOIN ({numbered}) osd_u ON {same} WHERE {where}"
