"""`onesided run`: several questions from a file, charged all or none, and one report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from onesided.cli.growing import add_to_series, named_part, part_options, series_files
from onesided.cli.output import (
    as_json,
    overwrite_option,
    show_facts,
    show_json,
    show_line,
    show_table,
    working,
)
from onesided.cli.reports import check_output, json_of, show_rows, told, write_release
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import (
    named_values,
    opened,
    purpose_option,
    steward_options,
    yes_option,
)
from onesided.cli.stop import Stop
from onesided.client.address import is_address
from onesided.errors import OutputError, RequestError

REPORT = "answers.html"


@click.command(
    cls=CommandInSections,
    example="onesided run questions.toml visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --ledger visits.ledger --budget 2 --out answers\n\n"
    "questions.toml:\n"
    "  [[questions]]\n"
    '  name = "rooms"\n'
    '  ask = "count"\n'
    '  by = "room"\n'
    "  max_groups = 4\n"
    "  epsilon = 0.5",
)
@click.argument("questions", type=click.Path(path_type=Path))
@steward_options
@purpose_option
@yes_option
@part_options
@click.option("--public", multiple=True, metavar="NAME=FILE", help="A public table for queries.")
@click.option("--epsilon", help="Shared evenly by the questions that say none of their own.")
@click.option("--plan", is_flag=True, help="Say how far off the answers would be; free.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder; default: show the answers.")
@overwrite_option
@as_json
def run(
    questions: Path,
    source: str | None,
    epsilon: str | None,
    public: tuple[str, ...],
    purpose: str | None,
    yes: bool,
    part: str | None,
    series: Path | None,
    as_of: str | None,
    plan: bool,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer all questions in the file QUESTIONS about SOURCE, charged all or none.

    The folder of --out gets a file with its receipt for each answer, and answers.html with all of
    them. After a crash the same command goes on: nothing is charged twice.

    With --part day=yesterday, each day's part is charged once, however often the command is given.
    """
    from onesided.loss import show
    from onesided.session.question_files import read_questions
    from onesided.session.several import names_of, of_part, plain_total

    said = read_questions(questions)
    about_part = named_part(part, as_of)
    folder = series_files(series, about_part, said.questions)
    wishes = said.questions if about_part is None else of_part(said.questions, about_part)
    shared = said.epsilon if epsilon is None else epsilon
    names, total = names_of(said.questions), plain_total(said.questions, shared)
    files = [] if out is None or plan else _files(out, names, said.questions, overwrite=overwrite)
    asked = {"epsilon": shared, "yes": yes}
    about: dict[str, Any] = {
        "source": source or (None if options.get("table") else said.dataset),
        "outputs": files,
        "epsilon": show(total),
        "public": named_values(public, "--public") or None,
    }
    if plan and is_address(about["source"]):
        raise RequestError("At a server plan one question at a time, with onesided plan.")
    with opened(**about, **options) as (dataset, _):
        if plan:
            _plan(dataset, wishes, asked, as_json=as_json)
            return
        with working("Answering", dataset.progress):
            answers = dataset.run(
                said.questions, purpose=purpose or said.purpose, part=about_part, **asked
            )
            written = _written(answers, files, overwrite=overwrite) if files else []
            if folder is not None and about_part is not None:
                written += add_to_series(folder, about_part, answers)
        _report(answers, written, as_json=as_json)


def _files(
    out: Path, names: Sequence[str], questions: Sequence[Any], *, overwrite: bool
) -> list[Path]:
    """The file of each answer, and the report; refused now where one cannot be written."""
    from onesided.data.output import refuse_existing

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{out} is no folder and cannot be made; name another.") from None
    endings = ["parquet" if each.get("ask") == "sample" else "csv" for each in questions]
    files = [out / f"{name}.{ending}" for name, ending in zip(names, endings, strict=True)]
    for path in files:
        check_output(path, overwrite=overwrite)
    report = out / REPORT
    refuse_existing([report], overwrite=overwrite)
    return [*files, report]


def _plan(dataset: Any, questions: Sequence[Any], asked: dict[str, Any], *, as_json: bool) -> None:
    """What each question would cost, and how far off its answer would be."""
    from onesided.loss import show
    from onesided.session.several import asked_together, expected

    found = asked_together(dataset.plan, questions, **asked)
    rows = [(each.name, show(each.epsilon), expected(dataset.plan, each)) for each in found.parts]
    if as_json:
        keys = ("name", "epsilon", "expected")
        show_json({"questions": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    show_table(None, ("answer", "ε", "expected error"), rows)
    show_facts({"cost": f"ε = {show(found.epsilon)}, charged all or none"})


def _written(answers: Any, files: Sequence[Path], *, overwrite: bool) -> list[Path]:
    from onesided.data.output import new_files
    from onesided.report.answers import answers_page

    *targets, report = files
    written: list[Path] = []
    for release, target in zip(answers.values(), targets, strict=True):
        written += write_release(release, target, overwrite=overwrite)
    with new_files([report], overwrite=overwrite) as workspace:
        text = answers_page("Answers", answers)
        (workspace / report.name).write_text(text, encoding="utf-8")
    return [*written, report]


def _report(answers: Any, written: Sequence[Path], *, as_json: bool) -> None:
    """Where the answers are, or the answers themselves, and what they cost."""
    Stop.of_this_command().check()
    with told(written):
        if as_json:
            shown = {name: json_of(each, rows=not written) for name, each in answers.items()}
            show_json({"written": list(map(str, written)), "answers": shown})
            return
        for name, release in () if written else answers.items():
            show_line(f"{name}: {release.receipt.figure}")
            show_rows(release)
        account = answers.account
        facts = {"written": ", ".join(map(str, written))} if written else {}
        for name, release in answers.items():
            facts[name] = f"ε = {release.receipt['account']['cost']}; {release.receipt['noise']}"
        facts["account"] = f"spent {account['spent']} of {account['budget']} ({account['ledger']})"
        show_facts(facts)
