"""`onesided weigh`: weights for a sample that was released, from counts that were released."""

from __future__ import annotations

from pathlib import Path

import click

from onesided.cli.charts import chart_option, check_chart, draw_chart
from onesided.cli.output import as_json, overwrite_option, show_facts, show_json, show_table
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import noisy_option
from onesided.errors import RequestError

_FILE = click.Path(path_type=Path)


@click.command(
    cls=CommandInSections,
    example="onesided weigh sample.parquet by-age.csv by-region.csv \\\n"
    "  --out weighted.parquet --chart weights.svg",
)
@click.argument("sample", type=_FILE)
@click.argument("counts", type=_FILE, nargs=-1)
@click.option("--out", type=_FILE, help="A .parquet, .csv or .arrow file.")
@noisy_option
@chart_option
@overwrite_option
@as_json
def weigh(
    sample: Path,
    counts: tuple[Path, ...],
    out: Path | None,
    noisy: bool,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Weight the rows of SAMPLE so that they stand for all units, by released COUNTS of them.

    The files are those of `onesided sample` and `onesided count`, each with its receipt beside it.
    Nothing but what was released is read, so that this is free.
    """
    from onesided.data.output import refuse_inputs
    from onesided.data.reading import read_release
    from onesided.data.release import SampleRelease, output_files

    if not counts:
        raise RequestError("Name the counts after the sample, at least one.")
    files = () if out is None else output_files(out, overwrite=overwrite, receipt=True)
    needed = [*sorted({*counts}), sample]
    refuse_inputs(files, [*needed, *(each.with_suffix(".receipt.json") for each in needed)])
    check_chart(chart, overwrite=overwrite, beside=[*files, *needed])
    drawn = read_release(sample)
    if not isinstance(drawn, SampleRelease):
        raise RequestError(f"{sample} is no sample; name it before the counts.")
    found = drawn.weighted([read_release(each) for each in counts], noisy=noisy)
    written = () if out is None else found.write(out, overwrite=overwrite, receipt=True)
    written = (*written, *draw_chart(chart, found.plot, overwrite=overwrite))
    names = list(map(str, written))
    if as_json:
        tables = {each.counted.name: each.to_json() for each in found.compared}
        show_json({"written": names, "weights": found.receipt["weights"], "margins": tables})
        return
    for each in found.compared:
        show_table(
            each.counted.name,
            ("group", "counted", "in the sample", "without weights", "with weights"),
            each.texts(),
            numbers={"counted", "in the sample", "without weights", "with weights"},
        )
    facts = {"written": ", ".join(names)} if written else {}
    show_facts({**facts, **found.said})
