"""Tables of a map for PostgreSQL: arrays in the statement, which are read fast and copy nothing."""

from __future__ import annotations

import pyarrow as pa

from onesided.engine.postgres.writer import PostgresWriter

_WRITER = PostgresWriter()


def written_table(table: pa.Table) -> str:
    """A FROM item with the rows of a table of texts and integers."""
    rows = [row for row in table.to_pylist() if not any(map(_holds_nul, row.values()))]
    arrays = []
    for field in table.schema:
        text = pa.types.is_string(field.type)
        kind = "text" if text else "int" if pa.types.is_int32(field.type) else "bigint"
        items = (row[field.name] for row in rows)
        listed = ",".join(_quoted(each) if text else str(each) for each in items)
        arrays.append(f"CAST({_WRITER.string('{' + listed + '}')} AS {kind}[])")
    columns = ", ".join(table.column_names)
    return f"(SELECT * FROM unnest({', '.join(arrays)}) osd_a({columns}))"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _holds_nul(value: object) -> bool:
    """Such a text stands in no table of PostgreSQL."""
    return isinstance(value, str) and "\0" in value
