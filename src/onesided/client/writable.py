"""Whether a file could hold a sample, by the types of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from onesided.data.files import check_format
from onesided.language import Type

_ARROW: Mapping[Type, pa.DataType] = {
    Type.INTEGER: pa.int64(),
    Type.WIDE_INTEGER: pa.decimal128(38, 0),
    Type.DECIMAL: pa.decimal128(38, 9),
    Type.FLOAT: pa.float64(),
    Type.TEXT: pa.string(),
    Type.BOOLEAN: pa.bool_(),
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us"),
}


def check_columns(types: Mapping[str, Type], columns: Sequence[str] | None, path: Path) -> None:
    """Refuse a format that cannot hold the columns; of other types nothing is known here."""
    chosen = types if columns is None else [name for name in columns if name in types]
    known = {name: _ARROW[types[name]] for name in chosen if types[name] in _ARROW}
    check_format(pa.schema(list(known.items())), path)
