"""Where the engines' SQL differs: hashing, texts of keys, and joins.

A unit's coin must be the same on every engine, so its text is built from pieces that are spelt
alike everywhere. The text is injective: every piece but the last ends in a separator that it does
not contain, or starts with its own length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from onesided.errors import SourceError
from onesided.language import Type, Writer
from onesided.language.floats import NAMELESS

#: Seven hexadecimal digits: the rank of a group fits beside them in a 64-bit integer.
DIGEST_DIGITS = 7
#: The types of group keys that are spelt alike on every engine, where each unit is cut to some of
#: its groups. Floats that lie very close may be spelt alike, which does no harm there.
NAMED_TYPES = frozenset(
    {
        *(Type.INTEGER, Type.WIDE_INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP),
        Type.FLOAT,
    }
)


@dataclass(frozen=True)
class Cut:
    """At most `most` groups of each unit.

    A unit keeps the groups whose digests have the least exclusive or with its own digest, equal
    ones in the order of their keys. The rule looks at the unit alone; what it prefers differs from
    unit to unit, so that no group is always left out.

    - `keys`, `unit_digest`: the columns of the unit's key, and the digest of its text.
    - `groups`: names and types of the group columns.
    - `counting`: no amounts are needed, for engines that have a faster way then.
    """

    keys: list[str]
    unit_digest: str
    groups: list[tuple[str, Type]]
    most: int
    counting: bool

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.groups]


class Flavour(ABC):
    """The SQL of one engine; `writer` writes its predicates and keys."""

    writer: ClassVar[Writer]
    #: The units of a histogram, osd_u, where pairs meet them; an engine may say here how.
    met_units = "osd_u"
    #: What makes an engine keep rows that several parts of one statement read.
    once_read = ""

    def name(self, column: str) -> str:
        """A quoted identifier."""
        return '"' + column.replace('"', '""') + '"'

    @abstractmethod
    def sha256(self, text: str) -> str:
        """The 64 lower-case hexadecimal digits of SHA-256 of a text in UTF-8."""

    @abstractmethod
    def digest(self, text: str) -> str:
        """The number in the first 7 hexadecimal digits of MD5 of a text: spreads, hides nothing."""

    @abstractmethod
    def exclusive_or(self, left: str, right: str) -> str:
        """The bitwise exclusive or of two integers."""

    @abstractmethod
    def days(self, expression: str) -> str:
        """A date as the number of days since 1970-01-01."""

    @abstractmethod
    def microseconds(self, expression: str) -> str:
        """A timestamp as the number of microseconds since 1970-01-01 00:00."""

    @abstractmethod
    def text(self, expression: str) -> str:
        """An integer as decimal text."""

    @abstractmethod
    def byte_length(self, expression: str) -> str:
        """The number of bytes of a text in UTF-8."""

    @abstractmethod
    def whole_steps(self, expression: str, grid: Fraction) -> str:
        """⌊expression/grid⌋ as an integer, NULL where that is no number within 64 bits."""

    def scaled(self, number: str, grid: Fraction, double: str) -> str:
        """x/grid in binary floating point, the same bits on every engine; `double` is the type."""
        up, down = (f"CAST('{part}' AS {double})" for part in (grid.denominator, grid.numerator))
        return f"({number} * {up} / {down})"

    def sum_of(self, steps: str) -> str:
        """The sum of 64-bit integers, which needs more bits."""
        return f"sum({steps})"

    def count_where(self, condition: str, *, scan: bool) -> str:
        """How many rows the condition is true for; `scan` says that nothing is joined."""
        return f"count(*) FILTER (WHERE {condition})"

    @abstractmethod
    def semi_join(self, keys: list[str], units: str, where: str) -> str:
        """Keeps the rows of osd_t whose key is among `units` and that satisfy `where`."""

    def cut(self, pairs: str, rule: Cut) -> str:
        """osd_m: what a `rule` keeps of `pairs`, a FROM item, with the sensitivity of units."""
        return f"osd_m AS ({self.nearest(pairs, rule)})"

    def nearest(self, pairs: str, rule: Cut) -> str:
        """The pairs of each unit that a `rule` keeps."""
        distance = self.exclusive_or(rule.unit_digest, self.digest(self.group_text(rule.groups)))
        order = ", ".join([distance, *(f"{name} NULLS FIRST" for name in rule.names)])
        ranked = (
            f"SELECT *, row_number() OVER (PARTITION BY {', '.join(rule.keys)} ORDER BY {order}) "
            f"AS osd_rank FROM {pairs}"
        )
        return f"SELECT * FROM ({ranked}) osd_q WHERE osd_rank <= {rule.most}"

    def key_text(self, parts: list[tuple[str, Type]]) -> str:
        """One text for several key columns, given as (expression, type) pairs; injective."""
        *first, last = parts
        pieces = [self._delimited(expression, kind) for expression, kind in first]
        return " || ".join([*pieces, self._piece(*last)])

    def _delimited(self, expression: str, kind: Type) -> str:
        piece = self._piece(expression, kind)
        if kind is Type.TEXT:
            return f"{self.text(self.byte_length(expression))} || ':' || {piece}"
        return f"{piece} || '|'"

    def _piece(self, expression: str, kind: Type) -> str:
        match kind:
            case Type.INTEGER | Type.WIDE_INTEGER:
                return self.text(expression)
            case Type.TEXT:
                return expression
            case Type.BOOLEAN:
                return f"CASE WHEN {expression} THEN 't' WHEN NOT {expression} THEN 'f' END"
            case Type.DATE:
                return self.text(self.days(expression))
            case Type.TIMESTAMP:
                return self.text(self.microseconds(expression))
            case _:
                raise SourceError(
                    f"A unit key cannot be of type {kind.value}; "
                    "use integers, texts, booleans, dates or timestamps."
                )

    def group_text(self, parts: list[tuple[str, Type]]) -> str:
        """A text for the key of a group, which may hold NULL; of types in `NAMED_TYPES`."""
        pieces = [f"coalesce(({self._named(*part)}), '{NAMELESS}')" for part in parts]
        return " || '|' || ".join(pieces)

    def _named(self, expression: str, kind: Type) -> str:
        if kind is Type.FLOAT:
            return self.writer.float_name(expression)
        return self._piece(expression, kind)
