"""`onesided simulate` and `onesided trajectories`."""

from __future__ import annotations

from pathlib import Path

import click

from onesided.cli.inputs import refuse_needed
from onesided.cli.output import as_json, overwrite_option, progress, show_facts, show_json, working
from onesided.cli.sources import named_values
from onesided.errors import RequestError


@click.command()
@click.option("--scale", default=0.01, show_default=True, help="The size; 1 is a full building.")
@click.option("--seed", default=0, show_default=True, help="Of all that is simulated.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A folder.")
@overwrite_option
@as_json
def simulate(scale: float, seed: int, out: Path, overwrite: bool, as_json: bool) -> None:
    """Make the Wi-Fi trace of a building: visits, access points and devices as Parquet."""
    from onesided.datasets.building import Building

    with progress("Simulating days") as advance:
        building = Building.simulate(scale=scale, seed=seed)
        building.write(out, overwrite=overwrite, progress=advance)
    (show_json if as_json else show_facts)({"written": str(out)})


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--table", metavar="NAME", help="Instead of FILE, a table at --connection.")
@click.option("--connection", metavar="ADDRESS", help="postgresql://…")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A Parquet file.")
@click.option("--device", default="device", show_default=True, help="The column of the device.")
@click.option("--ap", default="ap", show_default=True, help="The column of the access point.")
@click.option("--time", default="ts", show_default=True, help="The column of the time.")
@click.option(
    "--keep",
    multiple=True,
    metavar="NAME=COLUMN",
    help="A further column to keep, under this name.",
)
@click.option(
    "--slot", default=10, show_default=True, help="The minutes of a slot, which must divide a day."
)
@click.option(
    "--timezone", help="The time zone in which a day begins, for times with a zone; default: UTC."
)
@click.option("--memory-limit", help="The memory that the engine may use, such as 2GB.")
@overwrite_option
@as_json
def trajectories(
    file: Path | None,
    table: str | None,
    connection: str | None,
    out: Path,
    device: str,
    ap: str,
    time: str,
    keep: tuple[str, ...],
    slot: int,
    timezone: str | None,
    memory_limit: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Turn the Wi-Fi associations in FILE into daily trajectories.

    Each slot of a trajectory has the access point that saw the device most often in it.
    """
    from onesided.datasets.wifi import trajectories as make

    if file is not None and (table is not None or connection is not None):
        raise RequestError("Name either a file or a table, and one of them only.")
    refuse_needed([out], {"source": file}, ())
    with working("Making trajectories"):
        make(
            file,
            out,
            table=table,
            connection=connection,
            device=device,
            ap=ap,
            time=time,
            keep=named_values(keep, "--keep"),
            slot_minutes=slot,
            timezone=timezone,
            overwrite=overwrite,
            memory_limit=memory_limit,
        )
    (show_json if as_json else show_facts)({"written": str(out)})
