"""The types of values that a predicate can speak about, and the schema of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from onesided.errors import PolicyError
from onesided.spelling import meant

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
MAX_DIGITS = 38
_COLUMNS_IN_A_MESSAGE = 20
_LETTERS = 200


class Type(Enum):
    """What a value is, whichever engine holds it.

    INTEGER is a signed number of at most 64 bits. WIDE_INTEGER is a wider one (HUGEINT, UBIGINT):
    it can be compared, but takes no part in arithmetic. FLOAT is binary floating point of 32 or 64
    bits. TIMESTAMP has microseconds and no zone; a column with a zone is read in UTC. OTHER is a
    column of any other type: a predicate can only ask whether it is NULL.
    """

    INTEGER = "integer"
    WIDE_INTEGER = "wide integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OTHER = "other"


NUMERIC = frozenset({Type.INTEGER, Type.WIDE_INTEGER, Type.DECIMAL, Type.FLOAT})
EXACT_NUMERIC = NUMERIC - {Type.FLOAT}
TEMPORAL = frozenset({Type.DATE, Type.TIMESTAMP})


@dataclass(frozen=True)
class Digits:
    """How many digits a decimal has before (`whole`) and after (`fraction`) the point."""

    whole: int
    fraction: int

    def widened(self, other: Digits) -> Digits:
        """The least that holds every value of both."""
        return Digits(max(self.whole, other.whole), max(self.fraction, other.fraction))

    @property
    def total(self) -> int:
        return self.whole + self.fraction


# One more than the 19 digits of 2^63: Spark widens BIGINT to DECIMAL(20, 0).
INTEGER_DIGITS = Digits(20, 0)
WIDE_INTEGER_DIGITS = Digits(39, 0)


@dataclass(frozen=True)
class Field:
    """A column: its type, whether it may hold NULL, and its digits where it is DECIMAL(p, s).

    - `zoned`: its type in the source has a time zone.
    - `zone`: the zone in which its hours and days are taken, with the edition of the database.
    """

    type: Type
    nullable: bool = True
    digits: Digits | None = None
    zoned: bool = field(default=False, compare=False)
    zone: str | None = None

    @classmethod
    def decimal(cls, precision: int, scale: int, *, nullable: bool = True) -> Field:
        """The column of SQL type DECIMAL(precision, scale)."""
        return cls(Type.DECIMAL, nullable, Digits(precision - scale, scale))


@dataclass(frozen=True)
class Schema(Mapping[str, Field]):
    """The columns of a table, in order."""

    fields: tuple[tuple[str, Field], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.fields]
        if len(set(names)) != len(names):
            raise PolicyError("Two columns have the same name; rename one of them.")

    @classmethod
    def of(cls, columns: Mapping[str, Field | Type]) -> Schema:
        """`Schema.of({"age": Type.INTEGER, "room": Field(Type.TEXT, nullable=False)})`."""
        return cls(
            tuple(
                (name, field if isinstance(field, Field) else Field(field))
                for name, field in columns.items()
            )
        )

    def __getitem__(self, name: str) -> Field:
        for known, found in self.fields:
            if known == name:
                return found
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def resolve(self, name: str) -> str:
        """The column that `name` means: the one spelt so, else the only one spelt so up to case."""
        if name in self:
            return name
        alike = [known for known in self if known.lower() == name.lower()]
        if len(alike) == 1:
            return alike[0]
        if alike:
            raise PolicyError(
                f"The column name {name} could mean {' or '.join(alike)}; "
                "spell it with the same capitals as in the data."
            )
        column = name.rpartition(".")[2]
        if column != name and column in self:
            raise PolicyError(
                f"There is no lookup table with the column {name[:_LETTERS]}; write a column of "
                f"the data without a table name, as {column}."
            )
        shown = ", ".join(list(self)[:_COLUMNS_IN_A_MESSAGE])
        more = ", …" if len(self) > _COLUMNS_IN_A_MESSAGE else ""
        raise PolicyError(
            f"There is no column {name[:_LETTERS]} in the data{meant(name, self)}; "
            f"there are: {shown}{more}."
        )
