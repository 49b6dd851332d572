"""Where the executors write a sample: a new folder, here or in some other file system."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from onesided.data.private import PrivateDirectory
from onesided.engine.base import Placed
from onesided.engine.spark.failures import opening
from onesided.engine.spark.files import exists, is_local, literal_path
from onesided.engine.spark.flavour import SparkFlavour
from onesided.errors import OutputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SECONDS_TO_STOP = 1.0
_ROWS = "rows"
_FLAVOUR = SparkFlavour()


def check_place(spark: SparkSession, place: str) -> None:
    """Refuse a folder that exists already, or that nothing can be written next to."""
    if is_local(place) and not os.access(_path(place).parent, os.W_OK | os.X_OK):
        raise OutputError(f"Nothing can be written to {place}; name a writable folder.")
    with opening():
        taken = os.path.lexists(_path(place)) if is_local(place) else exists(spark, place)
    if taken:
        raise OutputError(f"{place} exists already; name another folder.")


def write_folder(frame: DataFrame, place: str) -> None:
    """The rows as Parquet files, which are sorted by name.

    In a local file system the folder appears whole; elsewhere it is whole once Spark's own mark,
    the file _SUCCESS, is there.
    """
    if not is_local(place):
        frame.write.mode("errorifexists").parquet(place)
        return
    target = _path(place)
    with _workspace(target.parent) as workspace:
        written = workspace / _ROWS
        frame.write.parquet(written.as_uri())
        for crumb in (*written.glob(".*.crc"), *written.glob("_*")):
            crumb.unlink()
        os.rename(written, target)


def placed(spark: SparkSession, place: str, floats: Set[str]) -> Placed:
    """What lies there: the number of rows, and two sums over their digests.

    A digest is taken of a text that no other row has; `floats` have none that lasts, but bits.
    """
    if is_local(place):
        place = f"file://{_path(place)}"
    frame = spark.read.parquet(literal_path(place))
    texts = []
    for column in frame.columns:
        name = _FLAVOUR.name(column)
        cell = f"CAST({f'xxhash64({name})' if column in floats else name} AS STRING)"
        present = f"CAST(octet_length({cell}) AS STRING) || ':' || {cell}"
        texts.append(f"CASE WHEN {name} IS NULL THEN '~' ELSE {present} END")
    digits = frame.selectExpr(f"{_FLAVOUR.sha256(' || '.join(texts))} AS osd_digits")
    halves = (
        f"CAST(sum(CAST(CAST(conv(substr(osd_digits, {first}, 15), 16, 10) AS BIGINT) "
        "AS DECIMAL(19, 0))) AS STRING)"
        for first in (1, 16)
    )
    rows, *sums = digits.selectExpr("count(*)", *halves).collect()[0]
    return Placed(int(rows), hashlib.sha256(repr((rows, sums)).encode()).hexdigest())


def _path(place: str) -> Path:
    return Path(place.removeprefix("file://")).absolute()


@contextmanager
def _workspace(parent: Path) -> Iterator[Path]:
    """A private folder in `parent` for the time of one job.

    Tasks of a job that is interrupted or fails end a little later than their caller, and make the
    folders anew that they write to: what is removed is looked after until it stays away.
    """
    try:
        directory = PrivateDirectory(parent)
    except OutputError:  # the charge stands by now, so that it is a failure of the disk
        raise OSError from None
    with directory as folder:
        try:
            yield folder
        except BaseException:
            until = time.monotonic() + _SECONDS_TO_STOP
            while time.monotonic() < until:
                shutil.rmtree(folder / _ROWS, ignore_errors=True)
                time.sleep(_SECONDS_TO_STOP / 20)
            raise
