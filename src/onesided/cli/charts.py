"""Charts that commands draw, in the format of their file's ending."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onesided.errors import OnesidedError, OutputError, ReleaseFailed

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

ENDINGS = (".svg", ".png", ".html", ".pdf")

chart_option = click.option(
    "--chart", type=click.Path(path_type=Path), help="Draw a chart: .svg, .png, .html or .pdf."
)


def check_chart(
    chart: Path | None, *, overwrite: bool, beside: Iterable[Path] = ()
) -> tuple[Path, ...]:
    """The file that is to be drawn; refused now where that is not possible.

    - `beside`: files that the command reads or writes besides.
    """
    if chart is None:
        return ()
    from onesided.charts import picture  # without its libraries this is refused
    from onesided.data.output import refuse_existing, refuse_inputs

    if chart.suffix.lower() not in picture.WAYS:
        raise OutputError(f"{chart.name} does not tell its format; use {', '.join(ENDINGS)}.")
    refuse_existing([chart], overwrite=overwrite)
    refuse_inputs([chart], beside)
    return (chart,)


def draw_chart(
    chart: Path | None, picture: Callable[[], Picture], *, overwrite: bool
) -> Sequence[Path]:
    """Draw what is asked for; the files that were written."""
    if chart is None:
        return ()
    drawn = picture()
    written(chart, drawn.write, overwrite=overwrite)
    return (chart,)


def draw_paid(
    chart: Path | None, picture: Callable[[], Picture], *, overwrite: bool
) -> Sequence[Path]:
    """The same after a charge, which stands even where this fails."""
    try:
        return draw_chart(chart, picture, overwrite=overwrite)
    except Exception as error:  # whatever fails now, it is said in one sentence
        why = str(error) if isinstance(error, OnesidedError) else f"{chart} could not be drawn."
        raise ReleaseFailed(
            f"{why} The charge stands, and with the same ledger asking again is free."
        ) from None


def written(target: Path, write: Callable[[Path], Any], *, overwrite: bool) -> None:
    """Write a file, whole or not at all."""
    from onesided.data.output import new_files

    with new_files([target], overwrite=overwrite) as workspace:
        write(workspace / target.name)


def put(path: Path, text: str) -> None:
    """Write a text."""
    path.write_text(text, encoding="utf-8")
