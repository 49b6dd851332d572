"""Raw Wi-Fi associations to daily trajectories, in DuckDB, with bounded memory.

A day is cut into slots of `slot_minutes`; a device is, in each slot in which it was seen, at the
access point that saw it most often (repeated rows count once; the smallest name wins a tie).

This is the steward's preparation, before any release: a policy on trajectories sees what is left
of the trace, and a short visit that did not win its slot is gone from it. A promise for every
association needs a policy on the raw rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onesided.data.output import new_files
from onesided.engine.duckdb.connection import (
    Connection,
    EngineError,
    OutOfMemory,
    connect,
    literal_path,
    opening,
    quoted,
)
from onesided.engine.duckdb.flavour import DuckDBFlavour
from onesided.engine.duckdb.parquet_format import parquet_columns
from onesided.engine.names import check_names
from onesided.engine.postgres.entry import is_postgres
from onesided.engine.sources import Files, Format
from onesided.errors import OutputError, RequestError, SourceError

MINUTES_A_DAY = 24 * 60
ROW_GROUP_ROWS = 122_880
_name = DuckDBFlavour().name
OUTPUT_COLUMNS = ("device", "day", "slot", "ts", "ap")


@dataclass(frozen=True, kw_only=True)
class TraceColumns:
    """Where a trace keeps its three facts, and which further columns come along.

    `keep` maps a name in the output to a column of the source. A kept column must be the same
    in all rows of one device, slot and access point (a room, or the owner's consent).
    """

    device: str = "device"
    ap: str = "ap"
    time: str = "ts"
    keep: Mapping[str, str] = field(default_factory=dict)

    def sources(self) -> tuple[str, ...]:
        return (self.device, self.ap, self.time, *self.keep.values())


def write_trajectories(
    source: str | Path | None,
    out: Path,
    *,
    columns: TraceColumns,
    table: str | None = None,
    connection: str | None = None,
    slot_minutes: int = 10,
    timezone: str | None = None,
    overwrite: bool = False,
    memory_limit: str | None = None,
) -> None:
    """Write device, day, slot, ts (start of the slot), ap and the kept columns to `out`.

    `source` is a path, a folder or a glob of Parquet or CSV files, or None for the `table` of
    PostgreSQL at `connection`; `out` ends in .parquet or .csv.
    One row a device and slot, sorted by device, day and slot. Times that carry a zone are read
    as local time in `timezone` (UTC if not given) before days are cut.
    """
    if slot_minutes < 1 or MINUTES_A_DAY % slot_minutes:
        raise RequestError(
            "A slot must be a number of minutes that divides a day, such as 10 or 15."
        )
    taken = set(columns.keep) & set(OUTPUT_COLUMNS)
    if taken:
        raise RequestError(
            f"A kept column cannot be called {sorted(taken)[0]}: that name is in the output."
        )
    file_format = _output_format(out)
    with (
        new_files([out], overwrite=overwrite) as workspace,
        connect(workspace / "spill", memory_limit) as database,
        opening(),
    ):
        if source is None:
            source = _copied(table, connection, columns, workspace)
        trace = _Trace(database, source, columns, table or str(source))
        trace.load(slot_minutes, timezone)
        trace.save(workspace / out.name, file_format)


def _copied(
    table: str | None, connection: str | None, columns: TraceColumns, workspace: Path
) -> Path:
    """The columns of a table in PostgreSQL as a private file."""
    if table is None or connection is None or not is_postgres(connection):
        raise RequestError(
            "Name a file of associations, or a table in PostgreSQL and its connection."
        )
    from onesided.engine.postgres.table import copy_table

    copy = workspace / "table.parquet"
    copy_table(connection, table, columns.sources(), copy)
    return copy


def _output_format(out: Path) -> str:
    if out.suffix == ".parquet":
        return f"FORMAT parquet, ROW_GROUP_SIZE {ROW_GROUP_ROWS}"
    if out.suffix == ".csv":
        return "FORMAT csv, HEADER"
    raise OutputError(f"{out.name} must end in .parquet or .csv: name another file.")


@dataclass(frozen=True)
class _Trace:
    """One source on one connection: load it into slots, then save the winners."""

    connection: Connection
    source: str | Path
    columns: TraceColumns
    called: str

    def load(self, slot_minutes: int, timezone: str | None) -> None:
        """Fill the table `seen`: one row a device, slot and access point."""
        scan = self._scan()
        types = self._schema(scan)
        local_time = self._local_time(types[self.columns.time], timezone)
        try:
            self.connection.execute(self._seen_sql(scan, local_time, slot_minutes))
        except OutOfMemory:
            raise RequestError(
                "The trace needs more memory than allowed: raise the memory limit."
            ) from None
        except EngineError:
            raise self._unreadable() from None
        self._check_values()

    def save(self, path: Path, file_format: str) -> None:
        """Write the access point that won each slot."""
        kept = "".join(f", {_name(name)}" for name in self.columns.keep)
        try:
            self.connection.execute(
                f"""COPY (
                    SELECT device, day, slot,
                           CAST(day AS TIMESTAMP) + to_minutes(start_minute) AS ts, ap{kept}
                    FROM seen
                    QUALIFY row_number() OVER (
                        PARTITION BY device, day, slot ORDER BY sightings DESC, ap) = 1
                    ORDER BY device, day, slot
                ) TO {quoted(str(path))} ({file_format})"""
            )
        except (EngineError, OSError):
            raise OutputError(
                "The trajectories could not be written: check the free space of the folder."
            ) from None

    def _scan(self) -> str:
        files = Files.find(str(self.source))
        paths = ", ".join(map(literal_path, files.paths))
        try:
            self._check_names(files)
        except EngineError:
            raise self._unreadable() from None
        if files.format is Format.PARQUET:
            return f"read_parquet([{paths}], hive_partitioning = false)"
        # All rows decide the types: a stray value far down must not fail half-way.
        return f"read_csv([{paths}], header = true, sample_size = -1)"

    def _check_names(self, files: Files) -> None:
        """Refuse names that DuckDB would take for one another and rename."""
        if files.format is Format.PARQUET:
            parquet_columns(self.connection, {each: each.name for each in files.paths})
            return
        for path in files.paths:
            reader = f"read_csv({literal_path(path)}, header = false, all_varchar = true)"
            rows = self.connection.sql(f"SELECT * FROM {reader} LIMIT 1").fetchall()
            check_names([cell for row in rows for cell in row if cell is not None], path.name)

    def _schema(self, scan: str) -> dict[str, str]:
        """Type of each column by name; every column that is asked for must exist."""
        try:
            rows = self.connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
        except EngineError:
            raise self._unreadable() from None
        types = {str(row[0]): str(row[1]) for row in rows}
        for column in self.columns.sources():
            if column not in types:
                raise SourceError(
                    f"{self.called} has no column {column}: name one of {', '.join(types)}."
                )
        return types

    def _local_time(self, type_name: str, timezone: str | None) -> str:
        """SQL for the wall-clock time of a row."""
        column = _name(self.columns.time)
        if type_name == "TIMESTAMP WITH TIME ZONE":
            zone = quoted(timezone or "UTC")
            try:
                self.connection.execute(f"SELECT timezone({zone}, TIMESTAMPTZ '2000-01-01 00:00Z')")
            except EngineError:
                raise RequestError(
                    "The time zone is unknown: name one such as Europe/Berlin."
                ) from None
            return f"timezone({zone}, {column})"
        if not type_name.startswith("TIMESTAMP"):
            raise SourceError(
                f"The column {self.columns.time} holds no times: name another, or write its "
                "times like 2016-01-31 09:30:00."
            )
        if timezone is not None:
            raise RequestError(
                f"The times in {self.columns.time} carry no zone: leave the time zone out."
            )
        return f"CAST({column} AS TIMESTAMP)"

    def _seen_sql(self, scan: str, local_time: str, slot_minutes: int) -> str:
        """Count the sightings; a kept column is marked `mixed` where it is not constant."""
        kept_in = "".join(
            f", {_name(column)} AS {_name(name)}" for name, column in self.columns.keep.items()
        )
        kept_out = "".join(f", min({_name(name)}) AS {_name(name)}" for name in self.columns.keep)
        mixed = " OR ".join(
            ["false"]
            + [
                f"min({name}) IS DISTINCT FROM max({name}) OR count({name}) NOT IN (0, count(*))"
                for name in map(_name, self.columns.keep)
            ]
        )
        return f"""CREATE TEMP TABLE seen AS
            WITH associations AS (
                SELECT DISTINCT {_name(self.columns.device)} AS device,
                       CAST({_name(self.columns.ap)} AS VARCHAR) AS ap,
                       {local_time} AS moment{kept_in}
                FROM {scan}
            ), slots AS (
                SELECT *, CAST(moment AS DATE) AS day,
                       CAST((hour(moment) * 60 + minute(moment)) // {slot_minutes} AS INTEGER)
                           AS slot
                FROM associations
            )
            SELECT device, day, slot, slot * {slot_minutes} AS start_minute, ap,
                   count(*) AS sightings, {mixed} AS mixed{kept_out}
            FROM slots
            GROUP BY device, day, slot, ap"""

    def _check_values(self) -> None:
        """The steward is told what is missing; guessing could hide a sensitive visit."""
        row = self.connection.execute(
            """SELECT count(*), count(device) < count(*), count(ap) < count(*),
                      count(day) < count(*), coalesce(bool_or(mixed), false)
               FROM seen"""
        ).fetchone()
        rows, no_device, no_ap, no_time, mixed = row if row is not None else (0,) * 5
        if not rows:
            raise SourceError(f"{self.called} holds no rows: name another file.")
        missing = {
            self.columns.device: no_device,
            self.columns.ap: no_ap,
            self.columns.time: no_time,
        }
        for column, is_missing in missing.items():
            if is_missing:
                raise SourceError(
                    f"The column {column} is empty in some rows: fill or remove them first."
                )
        if mixed:
            raise SourceError(
                "A kept column changes within one device, slot and access point "
                f"({', '.join(self.columns.keep.values())}): leave it out."
            )

    def _unreadable(self) -> SourceError:
        # The engine's own words echo cell values and stay here.
        return SourceError(f"{self.called} cannot be read: check that the file is whole.")
