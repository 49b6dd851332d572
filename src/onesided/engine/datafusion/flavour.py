"""DataFusion's SQL."""

from __future__ import annotations

from fractions import Fraction

from onesided.engine.datafusion.writer import LAST_DAY, DataFusionWriter
from onesided.engine.flavour import DIGEST_DIGITS, Cut, Flavour
from onesided.language.types import INT64_MAX

_DIGITS = "0123456789abcdef"


class DataFusionFlavour(Flavour):
    """DataFusion, whose parser reads the operators of PostgreSQL."""

    writer = DataFusionWriter()

    def sha256(self, text: str) -> str:
        return f"encode(sha256({text}), 'hex')"

    def digest(self, text: str) -> str:
        # No function reads hexadecimal digits; the text is hashed once all the same.
        digits = (
            f"(strpos('{_DIGITS}', substr(md5({text}), {place + 1}, 1)) - 1) "
            f"* {16 ** (DIGEST_DIGITS - 1 - place)}"
            for place in range(DIGEST_DIGITS)
        )
        return f"CAST({' + '.join(digits)} AS BIGINT)"

    def exclusive_or(self, left: str, right: str) -> str:
        return f"({left} # {right})"

    def days(self, expression: str) -> str:
        return _finite(f"CAST({expression} AS INT)", LAST_DAY)

    def microseconds(self, expression: str) -> str:
        return _finite(f"CAST({expression} AS BIGINT)", INT64_MAX)

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS VARCHAR)"

    def byte_length(self, expression: str) -> str:
        return f"octet_length({expression})"

    def whole_steps(self, expression: str, grid: Fraction) -> str:
        scaled = self.scaled(f"CAST({expression} AS DOUBLE)", grid, "DOUBLE")
        return f"TRY_CAST(floor({scaled}) AS BIGINT)"

    def sum_of(self, steps: str) -> str:
        # A sum of 64-bit integers wraps; that of decimals has room for 10^19 rows.
        return f"sum(CAST({steps} AS DECIMAL(19, 0)))"

    def semi_join(self, keys: list[str], units: str, where: str) -> str:
        same = " AND ".join(f"osd_t.{key} = osd_u.{key}" for key in keys)
        return f"LEFT SEMI JOIN ({units}) osd_u ON {same} WHERE {where}"

    def cut(self, pairs: str, rule: Cut) -> str:
        # Columns that a join has in common have no unambiguous name but in the list of all.
        chosen, keys = self.nearest("osd_p", rule), ", ".join(rule.keys)
        return f"osd_m AS (SELECT * FROM ({chosen}) osd_c JOIN osd_u USING ({keys}))"


def _finite(number: str, last: int) -> str:
    """NULL for what stands before or after all others, which is no number of days or moments."""
    return f"nullif(nullif({number}, {last}), -{last})"
