"""What a command says about a release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from onesided.cli.bars import draws_bars, show_answer
from onesided.cli.charts import check_chart, draw_paid
from onesided.cli.output import MOST_ROWS, show_facts, show_json, show_line, show_table
from onesided.cli.printing import NotPrinted
from onesided.cli.stop import Stop
from onesided.errors import OutputError, ReleaseFailed


def check_output(
    out: Path | None, *, overwrite: bool, chart: Path | None = None
) -> tuple[Path, ...]:
    """The files that are to be written; refused now where that is not possible."""
    from onesided.data.release import output_files

    files = () if out is None else output_files(out, overwrite=overwrite, receipt=True)
    return (*files, *check_chart(chart, overwrite=overwrite, beside=files))


def write_release(release: Any, out: Path, *, overwrite: bool) -> tuple[Path, ...]:
    """Write a release with its receipt; all that can still be refused comes after the charge."""
    from onesided.data.release import failed_after_all

    Stop.of_this_command().check()
    try:
        written: tuple[Path, ...] = release.write(out, overwrite=overwrite, receipt=True)
    except OutputError as error:
        raise failed_after_all(error) from None
    return written


def show_release(
    release: Any,
    out: Path | None,
    *,
    overwrite: bool,
    as_json: bool,
    chart: Path | None = None,
) -> None:
    """Write a released table with its receipt to `out`, or show it where there is none."""
    written = () if out is None else write_release(release, out, overwrite=overwrite)
    written = (*written, *draw_paid(chart, release.plot, overwrite=overwrite))
    report(release, written, as_json, rows=out is None)


def report(
    release: Any, written: Sequence[str | Path], as_json: bool, *, rows: bool = False
) -> None:
    """Where a release was written, what it promises and what it cost; with `rows` itself too."""
    Stop.of_this_command().check()
    with told(written):
        if as_json:
            show_json({"written": list(map(str, written)), **json_of(release, rows=rows)})
            return
        if rows:
            show_rows(release)
        receipt = release.receipt
        facts = {"written": ", ".join(map(str, written))} if written else {}
        show_facts(
            {
                **facts,
                "figure": release.receipt.figure,
                **_held(release),
                **_accuracy(release),
                "mechanism": receipt["mechanism"],
                "promise": receipt.promise,
                "cost": _cost(receipt),
            }
        )


def _cost(receipt: Any) -> str:
    account = receipt["account"]
    if not account["charges"]:
        return str(receipt.price)
    return (
        f"ε = {account['cost']}; spent {account['spent']} of {account['budget']}, "
        f"left {account['left']} ({account['ledger']})"
    )


def _held(release: Any) -> dict[str, str]:
    """How much a sample holds, and whom it stands for; all of it was released."""
    from onesided.data.release import PlacedRelease, SampleRelease

    if isinstance(release, SampleRelease):
        return release.said
    return {"released": str(release.held)} if isinstance(release, PlacedRelease) else {}


def _accuracy(release: Any) -> dict[str, str]:
    """How far off it was expected to be, how far intervals reach, and how a bound was found."""
    from onesided.data.release import TableRelease

    facts = {}
    if isinstance(release, TableRelease) and release.accuracy.said:
        facts["error"] = release.accuracy.said
    bound = release.error.get("bound")
    if bound is not None:
        facts["bound"] = (
            f"max_groups = {bound['max_groups']}, from {bound['chosen_from']}; "
            f"ε = {bound['epsilon']} of the cost"
        )
    return facts


@contextmanager
def told(written: Sequence[str | Path]) -> Iterator[None]:
    """What cannot be printed after a charge is said in one sentence."""
    try:
        yield
    except NotPrinted:
        what = "What was written is whole, but the report" if written else "The release"
        raise ReleaseFailed(
            f"{what} could not be printed; the charge stands, and with the same ledger asking "
            "again is free."
        ) from None


def json_of(release: Any, *, rows: bool) -> dict[str, Any]:
    """A release as plain JSON, with its rows or without."""
    from onesided.data.values import python_rows

    content: dict[str, Any] = {"receipt": dict(release.receipt.content)}
    if rows:
        names = release.table.column_names
        content["rows"] = [
            dict(zip(names, map(_in_json, row), strict=True)) for row in python_rows(release.table)
        ]
    return content


def _in_json(value: Any) -> Any:
    """JSON has no words for numbers that are not finite."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def show_rows(release: Any) -> None:
    """The first rows of a release, and how many there are more.

    On a terminal each number has its interval and a bar beside it; elsewhere there are all columns.
    """
    from onesided.data.described import DescriptionRelease
    from onesided.data.release import TableRelease
    from onesided.data.values import python_rows

    if not isinstance(release, TableRelease):
        rows = release.table.slice(0, MOST_ROWS)
        show_table(None, rows.column_names, python_rows(rows))
    elif draws_bars():
        show_answer(release.shown(MOST_ROWS))
    else:
        table = release.table.slice(0, MOST_ROWS)
        answer = release.shown(MOST_ROWS)
        if isinstance(release, DescriptionRelease):
            table = table.select([*(key.name for key in answer.keys), *answer.headings[1:]])
        numbers = set(table.column_names) - {key.name for key in answer.keys}
        show_table(None, table.column_names, answer.texts(table), numbers=numbers)
    if len(release) > MOST_ROWS:
        show_line(f"… {len(release) - MOST_ROWS:,} more rows; --out writes all of them.")
