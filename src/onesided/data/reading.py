"""A release that was written to a file, with the receipt beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from onesided.data.files import FileFormat, write_batches
from onesided.data.private import PrivateDirectory
from onesided.data.receipt import ReleaseKind
from onesided.data.release import (
    SAMPLE_FILE,
    Receipt,
    Release,
    SampleRelease,
    TableRelease,
    payload_of,
)
from onesided.data.units import ROWS, Unit
from onesided.errors import InputError, RequestError

_TABLES = (ReleaseKind.COUNT, ReleaseKind.SUM, ReleaseKind.MEAN)
_DECIMAL = re.compile(r"decimal128\((\d+), (-?\d+)\)")
_ZONED = re.compile(r"timestamp\[(s|ms|us|ns), tz=(.+)\]")
_ENDING = ".receipt.json"


def read_release(path: str | Path) -> Release:
    """The sample, or the counts, sums or means, that `write` left at `path` with its receipt."""
    file = Path(path)
    receipt = read_receipt(file)
    try:
        kind, unit = ReleaseKind(receipt["kind"]), unit_of(receipt)
        columns = [each["name"] for each in receipt["columns"]]
    except (KeyError, TypeError, ValueError):
        raise RequestError(f"{_beside(file)} is no receipt of a release.") from None
    if kind is not ReleaseKind.SAMPLE and kind not in _TABLES:
        raise RequestError(f"{file} holds {kind.value}; a sample or a count can be read again.")
    schema, batches = rows_of(file, receipt)
    if schema.names != columns:
        raise RequestError(f"The columns of {file} are not those of its receipt.")
    try:
        if kind in _TABLES:
            return TableRelease(receipt, payload_of(pa.Table.from_batches(batches, schema)))
        directory = PrivateDirectory()
        write_batches(batches, schema, directory.path / SAMPLE_FILE)
        return SampleRelease(receipt, directory, unit)
    except (OSError, pa.ArrowException):
        raise _unreadable(file) from None


def read_receipt(path: Path) -> Receipt:
    """The receipt that lies beside a release."""
    try:
        content = json.loads(_beside(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RequestError(
            f"{_beside(path)} is missing; a release is read with the receipt beside it."
        ) from None
    except (OSError, ValueError):
        raise RequestError(f"{_beside(path)} cannot be read as a receipt.") from None
    if not isinstance(content, Mapping):
        raise RequestError(f"{_beside(path)} is no receipt of a release.")
    return Receipt(content)


def unit_of(receipt: Receipt) -> Unit:
    """The unit that a receipt names."""
    return Unit.of(ROWS if receipt["unit"] == "row" else receipt["unit"])


def rows_of(file: Path, receipt: Receipt) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The rows of a release in a file, with the types that its receipt names."""
    kind = FileFormat.of(file)
    try:
        if kind is FileFormat.PARQUET:
            read = pa.parquet.ParquetFile(file)
            return read.schema_arrow.remove_metadata(), read.iter_batches()
        if kind is FileFormat.ARROW:
            table = pa.ipc.open_file(pa.memory_map(str(file))).read_all()
        else:
            types = {each["name"]: _type(each["type"]) for each in receipt["columns"]}
            table = pa.csv.read_csv(
                file,
                convert_options=pa.csv.ConvertOptions(
                    column_types=types,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
    except (OSError, ValueError, pa.ArrowException):
        raise _unreadable(file) from None
    return table.schema.remove_metadata(), iter(table.to_batches())


def _type(text: str) -> pa.DataType:
    """The type that a receipt names; of an enumeration that of its texts."""
    if (found := _DECIMAL.fullmatch(text)) is not None:
        return pa.decimal128(int(found[1]), int(found[2]))
    if (found := _ZONED.fullmatch(text)) is not None:
        return pa.timestamp(found[1], found[2])
    return pa.string() if text.startswith("dictionary<") else pa.type_for_alias(text)


def _beside(path: Path) -> Path:
    return path.with_suffix(_ENDING)


def _unreadable(file: Path) -> InputError:
    return RequestError(f"{file} cannot be read; write the release as Parquet or Arrow.")
