"""Released rows in the form that a request accepts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from onesided.data.cells import CellRelease
from onesided.data.files import check_format, write_batches
from onesided.data.private import PrivateDirectory
from onesided.data.release import Release
from onesided.data.values import python_values
from onesided.errors import OutputError
from onesided.server.problems import Problem
from onesided.server.routing import Reply

ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
JSON = "application/json"
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
    """The rows of a release."""
    kind = accepted(accept)
    table = release.cells if isinstance(release, CellRelease) else release.table
    if kind == JSON:
        return Reply({"rows": json_rows(table)})
    if kind == ARROW:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return Reply(bytes(memoryview(sink.getvalue())), media_type=kind)
    folder = PrivateDirectory()
    path = folder.path / ("rows.parquet" if kind == PARQUET else "rows.csv")
    try:
        check_format(table.schema, path)
    except OutputError as error:
        raise Problem(406, str(error)) from None
    write_batches(table.to_batches(), table.schema, path)
    return Reply(path.read_bytes(), media_type=kind)


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
