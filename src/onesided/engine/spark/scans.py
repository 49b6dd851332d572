"""How the files of single rows are read: which rows by which task, and with what names.

Where Spark cuts files to be read follows the bytes of all rows, and must not show in the files that
a sample is written to. Where a task reads what public numbers of rows gave it, nothing has to be
moved for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from onesided.engine.spark.flavour import SparkFlavour
from onesided.engine.spark.session import Session
from onesided.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "osd_name"
ORDER = "osd_order"
#: Neighbouring files are read together up to this many rows.
LEAST_SCANNED = 2**19
#: Rows that are enough for one task, and the most that it reads. Both are larger where all tasks
#: that run at once have more to read.
ENOUGH_SCANNED = 2**20
MOST_SCANNED = 2**22
#: More readings of the same file, or more scans, cost more than the moving of rows that they save.
MOST_READINGS = 3
MOST_SCANS = 64
#: Where rows are moved, this many places make a file of a sample.
BLOCK_ROWS = 2**20
_FILE, _PLACE, _TAG, _FIRST = "osd_file", "osd_place", "osd_tag", "osd_first"
_FLAVOUR = SparkFlavour()


@dataclass(frozen=True)
class NamedRows:
    """Rows with their names and their order, and what becomes of them in a sample.

    - `frame`: read as Spark likes.
    - `scans`: the same rows, in order from task to task; None where they are better moved.
    - `are_sorted`: also the rows of a task come in their order, since it reads a single file.
    - `blocks`, `block_rows`: otherwise the number of blocks, and the places of each in the order of
      all rows.
    """

    frame: DataFrame
    scans: DataFrame | None
    are_sorted: bool
    blocks: int
    block_rows: int


class File(NamedTuple):
    """Its rows, and what they have in common: their tag, and the order of the first one."""

    address: str
    tag: str
    first: int
    rows: int


@dataclass(frozen=True)
class Scan:
    """What one task reads: whole files, or the rows of one from a place to another."""

    files: Sequence[File]
    places: tuple[int, int] | None = None

    @property
    def rows(self) -> int:
        if self.places is not None:
            return self.places[1] - self.places[0]
        return sum(each.rows for each in self.files)

    def cut(self, wanted: int) -> list[Scan]:
        """Scans of `wanted` rows, as far as one file may be cut."""
        pieces = min(-(-self.rows // wanted), MOST_READINGS)
        if pieces <= 1 or len(self.files) > 1:
            return [self]
        bounds = [self.rows * piece // pieces for piece in range(pieces + 1)]
        return [Scan(self.files, between) for between in pairwise(bounds)]


def named_rows(session: Session, frame: DataFrame, tags: Mapping[str, str]) -> NamedRows:
    """The rows of files in the order of `tags`, which gives the tag of each address."""
    from pyspark.sql.functions import col, count

    located = frame.select(
        "*", col("_metadata.file_path").alias(_FILE), col("_metadata.row_index").alias(_PLACE)
    )
    rows = located.groupBy(_FILE).agg(count("*")).collect()
    sizes = {str(row[0]): int(row[1]) for row in rows}
    if set(sizes) - set(tags):
        raise SourceError("The files' names cannot be distinguished; rename them in plain letters.")
    files = []
    total = 0
    for address, tag in tags.items():
        if address in sizes:
            files.append(File(address, f"{tag}:", total, sizes[address]))
            total += sizes[address]
    known = session.spark.createDataFrame(_facts(files))

    def named(scan: Scan) -> DataFrame:
        return _scanned(located, scan, known, everything=len(scan.files) == len(files)).selectExpr(
            *map(_FLAVOUR.name, frame.columns),
            f"{_TAG} || CAST({_PLACE} AS STRING) AS {NAME}",
            f"{_FIRST} + {_PLACE} AS {ORDER}",
        )

    scans = plan_scans(files, session.tasks())
    together = (
        reduce(lambda above, below: above.unionAll(below), map(named, scans)) if scans else None
    )
    return NamedRows(
        frame=named(Scan(files)),
        scans=together,
        are_sorted=all(len(scan.files) == 1 for scan in scans),
        blocks=max(1, -(-total // BLOCK_ROWS)),
        block_rows=BLOCK_ROWS,
    )


def plan_scans(files: Sequence[File], tasks: int | None) -> list[Scan]:
    """The scans, one for each task; none where rows are better moved.

    No task has much to read, or more than its share if so many `tasks` run at once. A file that is
    too large for one task is read by several, each of which keeps its own part.
    """
    total = sum(each.rows for each in files)
    share = 0 if tasks is None else -(-total // tasks)
    most = max(MOST_SCANNED, share)
    gathered = _gathered(files, total)
    for wanted in (max(ENOUGH_SCANNED, share), most):
        scans = [part for scan in gathered for part in scan.cut(wanted)]
        if len(scans) <= MOST_SCANS and all(scan.rows <= most for scan in scans):
            return scans
    return []


def _gathered(files: Sequence[File], total: int) -> list[Scan]:
    """Neighbouring files that are read together: scans are few, and not small where files are.

    Two neighbours have more than `enough` rows together, so that there are fewer than `MOST_SCANS`.
    """
    enough = max(LEAST_SCANNED, -(-2 * total // (MOST_SCANS - 2)))
    gathered: list[list[File]] = []
    rows = 0
    for each in files:
        if not gathered or rows + each.rows > enough:
            gathered.append([])
            rows = 0
        gathered[-1].append(each)
        rows += each.rows
    return [Scan(some) for some in gathered]


def _scanned(located: DataFrame, scan: Scan, known: DataFrame, *, everything: bool) -> DataFrame:
    """The rows of a scan, which has some files or `everything`, with what is `known` of them."""
    from pyspark.sql.functions import broadcast, col

    files = scan.files
    rows = located if everything else located.where(col(_FILE).isin([e.address for e in files]))
    if scan.places is not None:
        first, end = scan.places
        rows = rows.where(f"{_PLACE} >= {first} AND {_PLACE} < {end}")
    if len(files) != 1:
        return rows.join(broadcast(known), _FILE)
    return rows.selectExpr(
        "*", f"'{files[0].tag}' AS {_TAG}", f"CAST({files[0].first} AS BIGINT) AS {_FIRST}"
    )


def _facts(files: Sequence[File]) -> pa.Table:
    """A small table that all executors get."""
    return pa.table(
        {
            _FILE: pa.array([each.address for each in files], pa.string()),
            _TAG: pa.array([each.tag for each in files], pa.string()),
            _FIRST: pa.array([each.first for each in files], pa.int64()),
        }
    )
