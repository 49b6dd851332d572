"""PostgreSQL's SQL."""

from __future__ import annotations

from fractions import Fraction

from onesided.engine.flavour import DIGEST_DIGITS, Flavour
from onesided.engine.postgres.writer import PostgresWriter

_BITS = 4 * DIGEST_DIGITS
# Within these bounds a product or a quotient with a grid neither overflows nor underflows, both of
# which are errors here; beyond them ⌊x/grid⌋ has no 64 bits, or is 0 or −1.
_LARGE = "1e280"
_SMALL = "1e-280"


class PostgresFlavour(Flavour):
    """PostgreSQL in a database of encoding UTF8, so that C compares by code point."""

    writer = PostgresWriter()

    def sha256(self, text: str) -> str:
        return f"(encode(sha256(convert_to({text}, 'UTF8')), 'hex') COLLATE \"C\")"

    def digest(self, text: str) -> str:
        return (
            f"CAST(CAST('x' || substr(md5({text}), 1, {DIGEST_DIGITS}) AS bit({_BITS})) AS INTEGER)"
        )

    def exclusive_or(self, left: str, right: str) -> str:
        return f"({left} # {right})"

    def days(self, expression: str) -> str:
        return f"({expression} - DATE '1970-01-01')"

    def microseconds(self, expression: str) -> str:
        return f"trunc(extract(epoch FROM {expression}) * 1000000)"

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS TEXT)"

    def byte_length(self, expression: str) -> str:
        return f"octet_length({expression})"

    def whole_steps(self, expression: str, grid: Fraction) -> str:
        number = f"CAST({expression} AS DOUBLE PRECISION)"
        scaled = f"floor({self.scaled(number, grid, 'DOUBLE PRECISION')})"
        fitting = f"{scaled} >= -9223372036854775808 AND {scaled} < 9223372036854775808"
        return (
            f"CASE WHEN NOT abs({number}) < {_LARGE} THEN NULL "
            f"WHEN abs({number}) < {_SMALL} THEN CASE WHEN {number} < 0 THEN -1 ELSE 0 END "
            f"WHEN {fitting} THEN CAST({scaled} AS BIGINT) END"
        )

    def semi_join(self, keys: list[str], units: str, where: str) -> str:
        # Materialized, or several processes that share the rows would each find all units alone.
        listed = ", ".join(keys)
        kept = f"WITH osd_u AS MATERIALIZED ({units}) SELECT {listed} FROM osd_u"
        return f"WHERE ({listed}) IN ({kept}) AND {where}"
