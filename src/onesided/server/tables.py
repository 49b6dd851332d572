"""Released rows in the form that a request accepts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from onesided.data.cells import CellRelease
from onesided.data.described import DescriptionRelease
from onesided.data.files import check_format, write_batches
from onesided.data.private import PrivateDirectory
from onesided.data.release import Release, TableRelease
from onesided.data.values import python_values
from onesided.errors import OutputError
from onesided.server.problems import Problem
from onesided.server.routing import Reply

ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
JSON = "application/json"
_NAMES = {ARROW: "rows.arrows", PARQUET: "rows.parquet", CSV: "rows.csv"}
MOST_JSON_CELLS = 1_000_000
DATA_TYPES = (ARROW, PARQUET, CSV, JSON)


def accepted(accept: str, known: Iterable[str] = DATA_TYPES) -> str:
    """The first of the `known` types that a request wants most; 406 where it wants none."""
    wanted = [_weighed(each) for each in accept.split(",") if each.strip()]
    best, found = 0.0, None
    for kind in known:
        for quality, pattern in wanted:
            group = kind.partition("/")[0]
            if pattern in (kind, f"{group}/*", "*/*") and quality > best:
                best, found = quality, kind
    if found is None and wanted:
        raise Problem(406, f"Rows come as {', '.join(known)}; name one of these with Accept.")
    return found or next(iter(known))


def _weighed(text: str) -> tuple[float, str]:
    kind, *parameters = (each.strip().lower() for each in text.split(";"))
    quality = 1.0
    for each in parameters:
        if each.startswith("q="):
            try:
                quality = float(each[2:])
            except ValueError:
                quality = 0.0
    return (quality if math.isfinite(quality) else 0.0), kind


def data_reply(release: Release, accept: str) -> Reply:
    """The rows of a release; of quantiles, histograms and descriptions the released cells."""
    rows = release.cells if isinstance(release, CellRelease | DescriptionRelease) else release
    if isinstance(release, TableRelease) and accepted(accept) == ARROW:
        table = rows if isinstance(rows, pa.Table) else release.table
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return Reply(bytes(memoryview(sink.getvalue())), media_type=ARROW)
    return rows_reply(pa.RecordBatchReader.from_stream(rows), accept)


def rows_reply(rows: pa.RecordBatchReader, accept: str) -> Reply:
    """Rows in the form that is accepted, from a file of their own as soon as they may be many."""
    kind = accepted(accept)
    if kind == JSON:
        return Reply({"rows": json_rows(_few(rows))})
    folder = PrivateDirectory()
    path = folder.path / _NAMES[kind]
    if kind == ARROW:
        with pa.ipc.new_stream(str(path), rows.schema) as writer:
            for batch in rows:
                writer.write_batch(batch)
    else:
        try:
            check_format(rows.schema, path)
        except OutputError as error:
            raise Problem(406, str(error)) from None
        write_batches(rows, rows.schema, path)
    return Reply(media_type=kind, file=str(path), done=folder.remove)


def _few(rows: pa.RecordBatchReader) -> pa.Table:
    """All rows, as long as they are few: as JSON they take a hundred times their room."""
    most = max(MOST_JSON_CELLS // max(len(rows.schema), 1), 1)
    batches, number = [], 0
    for batch in rows:
        batches.append(batch)
        number += batch.num_rows
        if number > most:
            raise Problem(
                406, f"JSON holds at most {most:,} rows of these; accept {', '.join(_NAMES)}."
            )
    return pa.Table.from_batches(batches, rows.schema)


def json_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON: what it has no words for is a text."""
    columns = [[_plain(each) for each in python_values(column)] for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, bytes):
        return value.hex()
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return str(value)
