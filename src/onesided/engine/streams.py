"""Tables that are given as a stream: run once, a batch at a time, into the private folder.

From there they are mapped into memory, not loaded.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.engine.sources import arrow_table, frame_fingerprint
from onesided.errors import SourceError

_BATCH_ROWS = 65_536
_IN_MEMORY = ("pandas", "pyarrow.lib.Table", "pyarrow.lib.RecordBatch", "polars")


@dataclass(frozen=True)
class HeldTable:
    """A table in memory, or one that lies in the private folder and never changes.

    - `state`: what names the content of the latter.
    """

    rows: pa.Table
    state: str | None = None

    @classmethod
    def of(cls, source: Any, folder: Path) -> HeldTable:
        """What the steward gave: a table, a lazy one, or a stream."""
        path = folder / "stream.arrow"
        if _is_lazy(source):
            _sink(source, path)
        elif _is_stream(source):
            _write(source, path)
        else:
            return cls(arrow_table(source))
        rows = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        rows = rows.replace_schema_metadata(None)
        return cls(rows, _fingerprint(rows))

    def fingerprint(self) -> str:
        """Names the content."""
        return frame_fingerprint(self.rows) if self.state is None else self.state


def _is_lazy(source: Any) -> bool:
    return _kind(source).startswith("polars") and hasattr(source, "sink_ipc")


def _is_stream(source: Any) -> bool:
    return hasattr(source, "__arrow_c_stream__") and not _kind(source).startswith(_IN_MEMORY)


def _kind(source: Any) -> str:
    return f"{type(source).__module__}.{type(source).__qualname__}"


def _sink(lazy: Any, path: Path) -> None:
    """A lazy table of Polars, whose own engine streams it; its errors can quote cells."""
    import polars as pl

    try:
        lazy.sink_ipc(path, compat_level=pl.CompatLevel.oldest(), maintain_order=True)
    except Exception:
        raise SourceError(
            "The LazyFrame cannot be run; collect it, and open the frame that it gives."
        ) from None


def _write(source: Any, path: Path) -> None:
    reader = pa.RecordBatchReader.from_stream(source)
    fields = [_decoded(field) for field in reader.schema]
    schema = pa.schema(fields)
    with pa.ipc.new_file(path, schema) as writer:
        for batch in reader:
            columns = [
                column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
                for column in batch.columns
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _decoded(field: pa.Field) -> pa.Field:
    """Batches may differ in their dictionaries, which a file cannot hold."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(field.name, kind)


class _Digest:
    """A file that keeps nothing but the hash of what is written into it."""

    closed = False

    def __init__(self) -> None:
        self.hash = hashlib.sha256(b"onesided stream")

    def write(self, content: Any) -> int:
        view = memoryview(content)
        self.hash.update(view)
        return view.nbytes

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self.closed = True


def _fingerprint(rows: pa.Table) -> str:
    """The schema and all rows, in batches of one size however they came."""
    digest = _Digest()
    digest.hash.update(str(rows.schema).encode())
    with pa.ipc.new_stream(pa.PythonFile(digest, "w"), rows.schema) as writer:
        for start in range(0, len(rows), _BATCH_ROWS):
            writer.write_table(rows.slice(start, _BATCH_ROWS).combine_chunks())
    return digest.hash.hexdigest()
