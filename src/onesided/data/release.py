"""What leaves the house: a table and the receipt that says what was promised for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from onesided.data.beside import figure_beside
from onesided.data.computed import interval_of
from onesided.data.expectation import Accuracy, accuracy
from onesided.data.files import FileFormat, check_format, read_batches, write_batches
from onesided.data.held import SampleSize, held_in
from onesided.data.output import new_files, refuse_existing
from onesided.data.private import PrivateDirectory
from onesided.data.receipt import Receipt, ReleaseKind
from onesided.data.shown import ShownAnswer
from onesided.data.units import Unit
from onesided.data.values import python_values
from onesided.errors import OutputError, ReleaseFailed, RequestError
from onesided.loss import Loss
from onesided.visible import visible

if TYPE_CHECKING:
    from onesided.charts.picture import Picture
    from onesided.data.weighing.weighted import WeightedSample

SAMPLE_FILE = "sample.parquet"
__all__ = [
    "SAMPLE_FILE",
    "PlacedRelease",
    "QueryRelease",
    "Receipt",
    "Release",
    "ReleaseKind",
    "SampleRelease",
    "TableRelease",
    "failed_after_all",
    "output_files",
    "payload_of",
    "table_of",
]
_NOT_FOR_PANDAS = (OverflowError, ValueError, pa.ArrowException)


class Release(ABC):
    """A released table with its receipt. Anything computed from it is free."""

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt

    @property
    def kind(self) -> ReleaseKind:
        """What was released."""
        return ReleaseKind(self.receipt["kind"])

    @property
    def loss(self) -> Loss:
        """The pair (s, t) that this release cost; see `Loss`."""
        return self.receipt.loss

    @property
    def guarantee(self) -> str:
        """The promise in one sentence."""
        return self.receipt.guarantee

    @property
    def error(self) -> Mapping[str, Any]:
        """What is known about the error of the released figures."""
        known: Mapping[str, Any] = self.receipt["error"]
        return known

    @property
    def table(self) -> pa.Table:
        """The released rows."""
        return pa.Table.from_batches(self._batches(), self._schema())

    def to_arrow(self) -> pa.Table:
        """The released rows as an Arrow table."""
        return self.table

    def to_polars(self) -> Any:
        """The released rows as a Polars data frame."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The released rows for all that speak Arrow: Polars, DuckDB, pandas and others."""
        reader = pa.RecordBatchReader.from_batches(self._schema(), self._held_batches())
        return reader.__arrow_c_stream__(requested_schema)

    @abstractmethod
    def __len__(self) -> int:
        """How many rows were released."""

    def __bool__(self) -> bool:
        """A release is one, even of no rows."""
        return True

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The released rows as dictionaries."""
        names = self._schema().names
        for batch in self._held_batches():
            columns = map(python_values, batch.columns)
            for row in zip(*columns, strict=True):
                yield dict(zip(names, row, strict=True))

    def __repr__(self) -> str:
        return f"<Release: {visible(self.receipt.figure)}; {self._size()}; {self.receipt.price}>"

    def __str__(self) -> str:
        from onesided.data.display import release_text

        return release_text(self)

    def _repr_html_(self) -> str:
        from onesided.data.display import release_html

        return release_html(self)

    def to_pandas(self) -> Any:
        """The released rows as a pandas DataFrame.

        A date that neither pandas nor Python can hold is its ISO text.
        """
        table = self.table
        try:
            return table.to_pandas()
        except _NOT_FOR_PANDAS:
            import pandas

            columns = map(_series, table.columns)
            return pandas.DataFrame(dict(zip(table.column_names, columns, strict=True)))

    def write(
        self, path: str | Path, *, overwrite: bool = False, receipt: bool = False
    ) -> tuple[Path, ...]:
        """Write the rows as Parquet, CSV or Arrow, by the file's ending; whole or not at all.

        With `receipt`, also the receipt beside it, as `<name>.receipt.json`. The files written.
        """
        targets = output_files(path, overwrite=overwrite, receipt=receipt)
        check_format(self._schema(), targets[0])
        try:
            with new_files(targets, overwrite=overwrite) as workspace:
                write_batches(self._batches(), self._schema(), workspace / targets[0].name)
                for target in targets[1:]:
                    text = self.receipt.to_json() + "\n"
                    (workspace / target.name).write_text(text, encoding="utf-8")
        except OutputError as error:
            raise failed_after_all(error) from None
        except (OSError, pa.ArrowException):
            raise ReleaseFailed(
                f"{targets[0]} could not be written, and the charge stands; check the disk and "
                "repeat the request, which is paid once."
            ) from None
        return targets

    def plot(self) -> Picture:
        """A chart of what was released (needs the extra `charts`)."""
        raise RequestError("The rows of this release are not here; read them, and draw them there.")

    def _held_batches(self) -> Iterator[pa.RecordBatch]:
        """The batches, for as long as somebody reads them: the release lives until then."""
        yield from self._batches()

    def _size(self) -> str:
        """How many rows there are, in words."""
        return f"{len(self):,} {'row' if len(self) == 1 else 'rows'}"

    @abstractmethod
    def _batches(self) -> Iterator[pa.RecordBatch]: ...

    @abstractmethod
    def _schema(self) -> pa.Schema: ...


class SampleRelease(Release):
    """True rows of the kept units; they stay on disk, as there may be more than memory holds."""

    def __init__(self, receipt: Receipt, directory: PrivateDirectory, unit: Unit) -> None:
        """`directory` holds the rows in the file `SAMPLE_FILE`, and lives as long as this does."""
        super().__init__(receipt)
        self._directory = directory
        self._unit = unit

    @property
    def held(self) -> SampleSize:
        """How many units and rows were released."""
        return held_in(self._directory.path / SAMPLE_FILE, self._unit)

    @property
    def said(self) -> dict[str, str]:
        """What there is to say of its rows, by what it is about."""
        return {"released": str(self.held)}

    def head(self, rows: int) -> pa.Table:
        """The first rows."""
        batches, missing = [], rows
        for batch in self._batches():
            batches.append(batch.slice(0, missing))
            missing -= len(batches[-1])
            if missing <= 0:
                break
        return pa.Table.from_batches(batches, self._schema())

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows."""
        return pa.parquet.read_table(self._directory.path / SAMPLE_FILE, columns=list(names))

    @property
    def unit(self) -> Unit:
        """What one record is."""
        return self._unit

    def weighted(self, counts: Sequence[Any], *, noisy: bool = False) -> WeightedSample:
        """The rows with a column `weight`, so that they stand for everybody; free.

        - `counts`: counts of all units on the same data, policy and part, by columns of the sample.
        - `noisy`: such counts are meant whose noise is above 16 % of a mean cell.
        """
        from onesided.data.weighing.weighted import weighted

        return weighted(self, counts, noisy=noisy)

    def under(self, receipt: Receipt) -> SampleRelease:
        """The same rows under another receipt."""
        return SampleRelease(receipt, self._directory, self._unit)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, part by part; there may be more than memory holds."""
        return self._held_batches()

    def plot(self, counts: TableRelease | None = None) -> Picture:
        """Its make-up by one column, beside that of `counts`, which were released by this column.

        Without them it is that of the sample alone, by the first column of few values.
        """
        from onesided.data.makeup import sample_picture

        return sample_picture(self, counts)

    def __len__(self) -> int:
        return int(pa.parquet.read_metadata(self._directory.path / SAMPLE_FILE).num_rows)

    def _size(self) -> str:
        return str(self.held)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return read_batches(self._directory.path / SAMPLE_FILE)

    def _schema(self) -> pa.Schema:
        return pa.parquet.read_schema(self._directory.path / SAMPLE_FILE)


class PlacedRelease(Release):
    """True rows of the kept units that the engine left at `place`, a table or a folder."""

    def __init__(self, receipt: Receipt, place: str, held: SampleSize) -> None:
        super().__init__(receipt)
        self.place = place
        self.held = held

    def __len__(self) -> int:
        return self.held.rows

    def weighted(self, counts: Sequence[Any], *, noisy: bool = False) -> WeightedSample:
        """Refused: weights need the rows."""
        raise RequestError(f"The rows of this release are in {self.place}; weigh them from a file.")

    def _size(self) -> str:
        return f"{self.held} in {visible(self.place)}"

    def _batches(self) -> Iterator[pa.RecordBatch]:
        raise RequestError(f"The rows of this release are in {self.place}; read them there.")

    def _schema(self) -> pa.Schema:
        raise RequestError(f"The rows of this release are in {self.place}; read them there.")


class TableRelease(Release):
    """Counts, sums or means by group, in memory."""

    def __init__(self, receipt: Receipt, payload: bytes) -> None:
        super().__init__(receipt)
        self._table = table_of(payload)

    @property
    def table(self) -> pa.Table:
        return self._table

    def __len__(self) -> int:
        return len(self._table)

    def shown(self, first: int | None = None) -> ShownAnswer:
        """The keys, the figures and their intervals as people read them; of the first rows."""
        return ShownAnswer.of(self._table, self.receipt.content, first=first)

    @property
    def accuracy(self) -> Accuracy:
        """The error that was expected before paying, and how far the released intervals reach."""
        return accuracy(self.error, self._table)

    def plot(self) -> Picture:
        from onesided.data.drawing import MOST_ROWS, table_picture

        title = self.receipt.figure
        if len(self) > MOST_ROWS:
            title += f" (the first {MOST_ROWS:,} of {len(self):,} groups)"
        return table_picture(self.shown(MOST_ROWS), title)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return iter(self._table.to_batches())

    def _schema(self) -> pa.Schema:
        return self._table.schema


class QueryRelease(TableRelease):
    """The answer to a SELECT; `figures` are the releases that it was computed from, by name.

    Each of them has a receipt of its own, and the bounds of its values as further columns.
    `sources` says from which key or figure each column comes.
    """

    def __init__(
        self,
        receipt: Receipt,
        payload: bytes,
        figures: Mapping[str, TableRelease],
        sources: Mapping[str, str],
    ) -> None:
        super().__init__(receipt, payload)
        self.figures = figures
        self.sources = sources

    def interval(self, column: str) -> pa.Table | None:
        """The bounds of a ratio or difference of figures, by group; None where it has none."""
        return interval_of(column, self.receipt.content.get("computed", {}), self.figures)

    def shown(self, first: int | None = None) -> ShownAnswer:
        answer = self._table if first is None else self._table.slice(0, first)
        found = {}
        for column, source in self.sources.items():
            if source in self.figures:
                own = self.figures[source]
                found[column] = figure_beside(
                    column, answer, self.sources, own.table, own.receipt.content
                )
        return ShownAnswer.of(answer, self.receipt.content, found)


def output_files(
    path: str | Path, *, overwrite: bool = False, receipt: bool = False
) -> tuple[Path, ...]:
    """The files that writing a release to `path` makes; refused now where one exists already."""
    target = Path(path)
    FileFormat.of(target)
    targets = (target, target.with_suffix(".receipt.json")) if receipt else (target,)
    refuse_existing(targets, overwrite=overwrite)
    return targets


def failed_after_all(error: OutputError) -> ReleaseFailed:
    """An output that was free before the charge, and no longer is."""
    return ReleaseFailed(
        f"{error} The charge stands, and with the same ledger asking again is free."
    )


def _series(column: pa.ChunkedArray) -> Any:
    """The column for pandas, in its own type where that is possible."""
    try:
        return column.to_pandas()
    except _NOT_FOR_PANDAS:
        import pandas

        return pandas.Series(python_values(column), dtype=object)


def table_of(payload: bytes) -> pa.Table:
    """The table that `payload_of` wrote."""
    return pa.ipc.open_file(pa.BufferReader(payload)).read_all()


def payload_of(table: pa.Table) -> bytes:
    """A table as the bytes that a ledger stores and a `TableRelease` shows."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(memoryview(sink.getvalue()))
