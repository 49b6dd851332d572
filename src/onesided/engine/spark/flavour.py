"""Spark's SQL."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from onesided.engine.flavour import DIGEST_DIGITS, Cut, Flavour
from onesided.engine.spark.writer import SparkWriter
from onesided.errors import SourceError

#: The part of a sample that a row belongs to.
PART = "osd_part"
_EPOCH_PARTS = (
    "unix_date(CAST({0} AS DATE)) * 86400000000L + hour({0}) * 3600000000L "
    "+ minute({0}) * 60000000L + CAST(extract(SECOND FROM {0}) * 1000000 AS BIGINT)"
)


class SparkFlavour(Flavour):
    """Spark, whichever way its settings for ANSI mode and time zone stand."""

    writer = SparkWriter()

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

    def cut(self, pairs: str, rule: Cut) -> str:
        """As in the base class; a unit's groups are chosen before they meet their unit.

        Fewer pairs meet their units then, and where that takes a sort by the key it is there
        already. Instead of `pairs` its parts osd_p and osd_u are read.
        """
        chosen, keys = self.nearest("osd_p", rule), ", ".join(rule.keys)
        return f"osd_m AS (SELECT * FROM ({chosen}) osd_c JOIN {self.met_units} USING ({keys}))"


class CountingSparkFlavour(SparkFlavour):
    """Spark where units are few: their keys go to every executor.

    Pairs of a unit and a group are then not moved once more to meet their units.
    """

    # Inside the definition of osd_u the hint would be lost: it counts where tables are joined.
    met_units = "(SELECT /*+ BROADCAST */ * FROM osd_u) osd_u"


@dataclass(frozen=True)
class PartedSparkFlavour(SparkFlavour):
    """Spark where each row of a sample has the number of its part, the column `PART`.

    Kept units are put in the order of their keys and cut into `parts`; a row belongs to the part of
    its unit. What cuts are the kept units alone.
    """

    parts: int

    @abstractmethod
    def numbered(self, keys: list[str], units: str) -> str:
        """The columns `keys` of `units` with their part, and how rows are to meet them."""

    def semi_join(self, keys: list[str], units: str, where: str) -> str:
        renamed = [f"osd_k{index}" for index in range(len(keys))]
        both = list(zip(keys, renamed, strict=True))
        listed = ", ".join(f"{key} AS {name}" for key, name in both)
        numbered = self.numbered(renamed, f"(SELECT {listed} FROM ({units}) osd_n) osd_l")
        same = " AND ".join(f"osd_t.{key} = osd_u.{name}" for key, name in both)
        return f"JOIN ({numbered}) osd_u ON {same} WHERE {where}"


@dataclass(frozen=True)
class FewUnitsSparkFlavour(PartedSparkFlavour):
    """Spark where units are few: the keys of the kept ones go to every executor.

    No row is moved then to find out whether it is kept. Every `units_a_part` of the kept units make
    one of `parts`; the last one takes the rest.
    """

    units_a_part: int

    def numbered(self, keys: list[str], units: str) -> str:
        place = f"row_number() OVER (ORDER BY {', '.join(keys)}) - 1"
        part = f"least(({place}) DIV {self.units_a_part}, {self.parts - 1})"
        return f"SELECT /*+ BROADCAST */ *, CAST({part} AS INT) AS {PART} FROM {units}"


class ManyUnitsSparkFlavour(PartedSparkFlavour):
    """Spark where units are many: rows meet the keys of kept ones by a shuffle.

    A task has the keys of some units in memory, and rows are not sorted to find them. The keys are
    cut into ranges before, so that kept rows know where they go: a sort of the rows would go
    through all of them twice, once to find its bounds.
    """

    def numbered(self, keys: list[str], units: str) -> str:
        ranges = f"SELECT /*+ REPARTITION_BY_RANGE({self.parts}, {', '.join(keys)}) */ *"
        return (
            f"SELECT /*+ SHUFFLE_HASH */ *, spark_partition_id() AS {PART} "
            f"FROM ({ranges} FROM {units}) osd_s"
        )
