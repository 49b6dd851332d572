"""Wi-Fi traces as daily trajectories: any file of associations, and the re:publica 2013 trace."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from onesided.data.private import PrivateDirectory
from onesided.datasets.folder import VARIABLE, data_folder
from onesided.datasets.trajectories import TraceColumns, write_trajectories
from onesided.errors import SourceError

REPUBLICA_ARCHIVE = Path("republica13") / "republica13-wlan-data.csv.zip"
REPUBLICA_MEMBER = "republica13-wlan-data.csv"
REPUBLICA_ZONE = "Europe/Berlin"
REPUBLICA_COLUMNS = TraceColumns(
    device="fortlaufende Gerätenummer", ap="Accesspoint", time="Zeit", keep={"room": "Raum"}
)


def trajectories(
    source: str | Path | None,
    out: Path,
    *,
    table: str | None = None,
    connection: str | None = None,
    device: str = "device",
    ap: str = "ap",
    time: str = "ts",
    keep: Sequence[str] | Mapping[str, str] = (),
    slot_minutes: int = 10,
    timezone: str | None = None,
    overwrite: bool = False,
    memory_limit: str | None = None,
) -> None:
    """Write the daily trajectories of the associations in `source` to `out`.

    `source` is a path or glob of Parquet or CSV files, or None for the `table` of PostgreSQL at
    `connection`; `device`, `ap` and `time` name its columns;
    `keep` names further columns to carry along, or maps new names to them. The rule of the slots
    is in `datasets.trajectories`.
    """
    kept = dict(keep) if isinstance(keep, Mapping) else {name: name for name in keep}
    write_trajectories(
        source,
        out,
        columns=TraceColumns(device=device, ap=ap, time=time, keep=kept),
        table=table,
        connection=connection,
        slot_minutes=slot_minutes,
        timezone=timezone,
        overwrite=overwrite,
        memory_limit=memory_limit,
    )


def republica_archive() -> Path | None:
    """The re:publica trace in the data folder, or None where it is absent."""
    folder = data_folder()
    if folder is None or not (folder / REPUBLICA_ARCHIVE).is_file():
        return None
    return folder / REPUBLICA_ARCHIVE


def republica_trajectories(out: Path, *, slot_minutes: int = 10, overwrite: bool = False) -> None:
    """Write the trajectories of re:publica 2013, with the column room; days are Berlin days."""
    archive = republica_archive()
    if archive is None:
        raise SourceError(
            f"The re:publica trace is not there: point {VARIABLE} at a folder that has "
            f"{REPUBLICA_ARCHIVE.as_posix()}, or use the simulated building."
        )
    with PrivateDirectory() as private:
        trace = private / REPUBLICA_MEMBER
        _unpack(archive, trace)
        write_trajectories(
            trace,
            out,
            columns=REPUBLICA_COLUMNS,
            slot_minutes=slot_minutes,
            timezone=REPUBLICA_ZONE,
            overwrite=overwrite,
        )


def _unpack(archive: Path, target: Path) -> None:
    """Copy the one file we know by name: nothing else in an archive decides where it lands."""
    try:
        with (
            zipfile.ZipFile(archive) as packed,
            packed.open(REPUBLICA_MEMBER) as member,
            target.open("wb") as unpacked,
        ):
            shutil.copyfileobj(member, unpacked)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error):
        raise SourceError(f"{archive} is damaged: fetch it again.") from None
