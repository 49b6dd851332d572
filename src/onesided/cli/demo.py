"""`onesided demo`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from onesided.cli.output import as_json, show_facts, show_json, show_table
from onesided.cli.printing import note


@click.command()
@click.option(
    "--out", default="demo", show_default=True, type=click.Path(path_type=Path), help="A folder."
)
@click.option("--scale", default=0.02, show_default=True, help="The size; 1 is a full building.")
@click.option(
    "--seed",
    default=7,
    show_default=True,
    help="Of the simulated people; noise is always drawn anew.",
)
@as_json
def demo(out: Path, scale: float, seed: int, as_json: bool) -> None:
    """Simulate a building, publish a true sample and a histogram, and write a page about it."""
    from onesided.demo import NO_CHARTS, run_demo

    def step(message: str) -> None:
        if not as_json:
            note(f"{message} …")

    tour = run_demo(out, scale=scale, seed=seed, step=step)
    if not tour.has_charts:
        note(NO_CHARTS)
    files = [str(path) for path in tour.files]
    if as_json:
        show_json({"errors": dict(tour.errors), "written": files})
        return
    show_table(None, ("access point × hour histogram", "mean absolute error"), tour.errors.items())
    show_facts({"promise": tour.counts.receipt.promise, "written": ", ".join(files)})
    note(f"The same building in a browser:\n{_in_console(out, scale, seed)}")


def _in_console(out: Path, scale: float, seed: int) -> str:
    """The commands that open the building in the console, with the install they need."""
    building = shlex.quote(str(out / "building"))
    return (
        "  pip install 'onesided[server,charts]'\n"
        f"  onesided simulate --scale {scale:g} --seed {seed} --out {building}\n"
        f"  onesided ui {building}"
    )
