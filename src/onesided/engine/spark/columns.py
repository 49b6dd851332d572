"""Columns as Spark has them: what they are for us, and how they are read.

Every value has a reading: what our types cannot hold is NULL. Only conditions on integers and truth
values still reach the files, which leave out by their statistics what cannot match. On floats they
must not: statistics leave NaN out, and tell the two zeros apart.
"""

from __future__ import annotations

import re

import pyarrow as pa

from onesided.engine.spark.flavour import SparkFlavour
from onesided.language import Field, Type

#: A time in milliseconds, of which Spark cannot read all: the number itself is read.
MILLISECONDS = "timestamp(milliseconds)"
_FLAVOUR = SparkFlavour()
_TYPES = {
    "tinyint": (Type.INTEGER, pa.int8()),
    "smallint": (Type.INTEGER, pa.int16()),
    "int": (Type.INTEGER, pa.int32()),
    "bigint": (Type.INTEGER, pa.int64()),
    "float": (Type.FLOAT, pa.float32()),
    "double": (Type.FLOAT, pa.float64()),
    "string": (Type.TEXT, pa.string()),
    "boolean": (Type.BOOLEAN, pa.bool_()),
    "date": (Type.DATE, pa.date32()),
    "timestamp": (Type.TIMESTAMP, pa.timestamp("us")),
    "timestamp_ntz": (Type.TIMESTAMP, pa.timestamp("us")),
    MILLISECONDS: (Type.TIMESTAMP, pa.timestamp("us")),
}
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_TEXT = re.compile(r"string\b.*|char\(\d+\)|varchar\(\d+\)")
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
# The whole days of which each moment has a number of microseconds in 64 bits.
_LAST_DAY = 106_751_991
_FIRST_MOMENT = -_LAST_DAY * 86_400_000_000
# Beyond so many digits Spark checks a number when it is read, and fails where it has more.
_UNCHECKED_DIGITS = 18
_NESTED_RISK = re.compile(r"timestamp|decimal|time\(")


def field_of(kind: str) -> Field:
    """The column for predicates."""
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is not None:
        return Field.decimal(int(decimal[1]), int(decimal[2]))
    if _TEXT.fullmatch(kind):
        return Field(Type.TEXT)
    # A file's times in milliseconds are read as what they count from: no zone is known of them.
    return Field(_TYPES[kind][0] if kind in _TYPES else Type.OTHER, zoned=kind == "timestamp")


def arrow_of(kind: str) -> pa.DataType:
    """The type in which the column leaves."""
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is not None:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if _TEXT.fullmatch(kind):
        return pa.string()
    return _TYPES[kind][1] if kind in _TYPES else pa.null()


def fails_on_a_value(kind: str) -> bool:
    """Whether reading the column from a file fails where a value does not fit its type."""
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is not None:
        return int(decimal[1]) > _UNCHECKED_DIGITS
    return field_of(kind).type is Type.OTHER and _NESTED_RISK.search(kind) is not None


def normalised(name: str, kind: str) -> str:
    """The column in the form that our types promise: texts by code point, times UTC."""
    column = _FLAVOUR.name(name)
    return f"{_read(column, kind)} AS {column}"


def _read(column: str, kind: str) -> str:
    field = field_of(kind)
    match field.type:
        case Type.TEXT:
            text = column
            if kind != "string":
                text = f"CAST({column} AS STRING) COLLATE UTF8_BINARY"
            return f"CASE WHEN is_valid_utf8({text}) THEN {text} END"
        case Type.FLOAT:
            return f"nanvl({column}, CAST('NaN' AS {kind}))"
        case Type.DECIMAL:
            least, most = (_largest(kind, sign) for sign in ("-", ""))
            return f"CASE WHEN {column} BETWEEN {least} AND {most} THEN {column} END"
        case Type.DATE:
            inside = f"unix_date({column}) BETWEEN -{_LAST_DAY} AND {_LAST_DAY}"
            return f"CASE WHEN {inside} THEN {column} END"
        case Type.TIMESTAMP:
            return _moment(column, kind)
        case Type.OTHER:
            return f"CASE WHEN {column} IS NOT NULL THEN TRUE END"
        case _:
            return column


def _largest(kind: str, sign: str) -> str:
    """The decimal of a type that is farthest from 0.

    It stands in a string, since a literal may be given fewer digits, and with its sign, since the
    minus of Spark rounds to 34 digits.
    """
    digits = field_of(kind).digits
    assert digits is not None
    number = f"{sign}{'9' * digits.whole or '0'}.{'9' * digits.fraction or '0'}"
    return f"CAST('{number}' AS {kind})"


def _moment(column: str, kind: str) -> str:
    match kind:
        case "timestamp_ntz":
            first = f"timestampadd(MICROSECOND, {_FIRST_MOMENT}, {_EPOCH})"
            return f"CASE WHEN {column} >= {first} THEN {column} END"
        case "timestamp":
            number, unit = f"unix_micros({column})", 1
        case _:
            number, unit = column, 1000
    moment = f"timestampadd(MICROSECOND, {number} * {unit}, {_EPOCH})"
    inside = f"{number} BETWEEN {_FIRST_MOMENT // unit} AND {(2**63 - 1) // unit}"
    return f"CASE WHEN {inside} THEN {moment} END"
