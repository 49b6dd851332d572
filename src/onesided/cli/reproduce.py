"""`onesided reproduce`."""

from __future__ import annotations

import os
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import click

from onesided.cli.output import (
    as_json,
    progress,
    show_json,
    show_line,
    show_table,
    step_by_step,
)
from onesided.cli.printing import note
from onesided.errors import Interrupted, RequestError
from onesided.visible import visible

NEEDED = ("altair", "scipy", "sklearn", "vl_convert")


@click.command()
@click.argument("figures", nargs=-1, metavar="[FIGURE]...")
@click.option("--all", "everything", is_flag=True, help="All figures, as without names.")
@click.option(
    "--quick", is_flag=True, help="Few runs and a small building: takes minutes, numbers are rough."
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    envvar="ONESIDED_DATA",
    help="The folder of published data; default: ONESIDED_DATA. What is not there is made.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A folder.")
@click.option("--seed", default=0, show_default=True, help="Of all measurements.")
@as_json
def reproduce(
    figures: tuple[str, ...],
    everything: bool,
    quick: bool,
    data: Path | None,
    out: Path,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the paper's evaluation again and write report.html and results.json.

    Figures: table1, table2, crossover, classification, ngrams, occupancy, regret, by-policy,
    by-dataset, pdp. An interrupted run goes on when the same command is given again.
    """
    if everything and figures:
        raise RequestError("Name some figures, or ask for all of them, but not both.")
    _check_extra()
    _point_at(data)
    from onesided.experiments.reproduce import reproduce as run
    from onesided.experiments.setting import FULL, QUICK

    size = QUICK if quick else FULL
    try:
        with progress("Measuring") as advance:
            done = run(
                figures,
                size=size,
                out=out,
                seed=seed,
                progress=advance,
                measured=step_by_step(),
            )
    except KeyboardInterrupt:
        raise Interrupted("Interrupted; the same command goes on where this one stopped.") from None
    if as_json:
        show_json(
            {
                "written": [str(path) for path in done.files],
                "verdicts": [
                    {
                        "figure": section.name,
                        "data": claim.data,
                        "paper": claim.paper,
                        "measured": claim.measured,
                        "criterion": claim.criterion,
                        "verdict": claim.verdict.value,
                    }
                    for section, claim in done.claims
                ],
            }
        )
        return
    counted = Counter((section.name, claim.verdict.value) for section, claim in done.claims)
    rows = [(figure, verdict, count) for (figure, verdict), count in counted.items()]
    show_table(None, ("figure", "verdict", "claims"), rows)
    for path in done.files:
        show_line(f"written {path}")


def _check_extra() -> None:
    """Say what to install before anything is imported or measured."""
    if not all(map(find_spec, NEEDED)):
        raise RequestError("A reproduction needs more packages: install onesided[experiments].")


def _point_at(data: Path | None) -> None:
    """Let this process and those it starts find the data; without a folder they make their own."""
    if data is not None and data.is_dir():
        os.environ["ONESIDED_DATA"] = str(data.resolve())
        return
    if data is not None:
        note(f"onesided: {visible(str(data))} is no folder; made data stand in for published.")
    os.environ.pop("ONESIDED_DATA", None)
