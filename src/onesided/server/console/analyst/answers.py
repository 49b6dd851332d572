"""A question on its way, and its answer: a table, a chart, the promise, and files to take along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from onesided.data.display import ROWS, release_cells
from onesided.data.release import Release, TableRelease
from onesided.data.weighing.weighted import WeightedSample
from onesided.errors import OnesidedError
from onesided.server.api.jobs import (
    cancel_job,
    job_answer,
    show_answer,
    show_answer_data,
    show_job,
)
from onesided.server.api.publishing import publish_release
from onesided.server.api.releases import (
    known_answer,
    list_releases,
    show_known_answer_data,
    show_release,
    show_release_data,
    stored_release,
)
from onesided.server.console.analyst.asking import page_of_release
from onesided.server.console.analyst.weights import countable, weighed
from onesided.server.console.page import (
    ASKING,
    ConsolePage,
    MovedOn,
    PageCall,
    Seen,
    Shown,
    address,
    route_of,
)
from onesided.server.console.same import question_ways, reading_ways, weighing_ways
from onesided.server.console.wording import STATES, asked_in_words
from onesided.server.jobs.answers import WEIGH
from onesided.server.problems import Problem
from onesided.server.routing import STEWARD, Handler
from onesided.server.tables import ARROW, CSV, JSON, PARQUET

FILES: Mapping[str, str] = {
    "rows.csv": CSV,
    "rows.parquet": PARQUET,
    "rows.arrow": ARROW,
    "rows.json": JSON,
}
_NO_CHARTS = "Charts need more: a steward installs onesided[charts] on the server."


def show_question(call: PageCall) -> Seen:
    job = call.api(show_job)
    dataset = job["dataset"]
    several = job.get("release", {}).get("answers", {})
    if job["state"] == "done" and not several:
        if "figures" not in job["release"]:
            return MovedOn(page_of_release(dataset, job["release"]))
        call.api(show_answer)  # which says who may see it
        return _answer(call, job_answer(call.call()), dataset, address("questions", job["id"]), job)
    wait = int(job["retry_after"]) + 1 if job["state"] == "accepted" else None
    facts = {
        "job": job,
        "asked": asked_in_words(job["question"]),
        "state": STATES[job["state"]],
        "refresh": wait if job["state"] == "accepted" else None,
        "ways": question_ways(call.served, dataset, job["question"]),
        "own": job["who"] == call.who.name,
        "answers": {name: page_of_release(dataset, each) for name, each in several.items()},
    }
    return Shown("question.html", facts)


def take_publication(call: PageCall) -> Seen:
    name = f"{call.path['dataset']}-{call.path['number']}.zip"
    reply = call.reply(publish_release)
    return reply.with_headers({"Content-Disposition": f'attachment; filename="{name}"'})


def take_back(call: PageCall) -> Seen:
    job = call.api(cancel_job)
    return MovedOn(address("questions", job["id"]))


def show_stored(call: PageCall) -> Seen:
    return stored_page(call)


def stored_page(call: PageCall, refused: str = "") -> Seen:
    """The page of a stored release; `refused` says why its sample was not weighed."""
    name = call.path["dataset"]
    receipt = call.api(show_release)
    number = int(call.path["number"])
    entry = next(each for each in call.api(list_releases)["releases"] if each["number"] == number)
    rows_are_theirs = call.who.role in route_of(show_release_data).roles
    release = stored_release(call.call())[0] if rows_are_theirs else None
    return Shown(
        "release.html",
        {
            "dataset": name,
            "title": asked_in_words(entry["question"]),
            "entry": entry,
            "receipt": receipt,
            "cost": entry["cost"],
            "free": "free" in call.query,
            "base": address("data", name, "releases", number),
            "files": _files(call),
            "ways": reading_ways(call.served, name, number),
            "publishable": call.who.is_steward,
            "counts": countable(call, entry) if rows_are_theirs else [],
            "chosen": call.texts("counts"),
            "refused": refused,
            **_shown(release),
        },
        400 if refused else 200,
    )


def show_known(call: PageCall) -> Seen:
    name, question = call.path["dataset"], call.path["question"]
    release = known_answer(call.call())
    return _answer(call, release, name, address("data", name, "answers", question), None)


def _answer(
    call: PageCall, release: Release, dataset: str, base: str, job: Mapping[str, Any] | None
) -> Seen:
    """An answer that is computed from several releases."""
    receipt = dict(release.receipt.content)
    kept = call.served.questions.find(call.path.get("question", ""))
    asked = job["question"] if job else kept.said if kept else {}
    if kept and asked["kind"] == WEIGH:
        ways = weighing_ways(call.served, dataset, kept.charges)
    else:
        ways = question_ways(call.served, dataset, asked) if asked else {}
    return Shown(
        "release.html",
        {
            "dataset": dataset,
            "title": asked_in_words(asked),
            "entry": job,
            "receipt": receipt,
            "cost": job["cost"] if job else "0",
            "free": job is None,
            "base": base,
            "files": _files(call),
            "ways": ways,
            "publishable": False,
            "counts": [],
            "chosen": [],
            "refused": "",
            **_shown(release),
        },
    )


def _files(call: PageCall) -> list[str]:
    return list(FILES) if call.who.role in ASKING else []


def _shown(release: Release | None) -> dict[str, Any]:
    """The table and the chart of a release."""
    found = {"headings": [], "rows": [], "more": 0, "chart": "", "no_chart": "", "error": ""}
    found |= weighed(release)
    if release is None:
        return found
    headings, rows = release_cells(release)
    if isinstance(release, WeightedSample):
        rows = [[*row[:-1], replace(row[-1], text=f"{float(row[-1].text):.4g}")] for row in rows]
    chart, why = "", ""
    if isinstance(release, TableRelease | WeightedSample):
        chart, why = _chart(release)
    return {
        **found,
        "headings": headings,
        "rows": rows,
        "more": max(len(release) - ROWS, 0),
        "chart": Markup(chart),
        "no_chart": why,
        "error": release.accuracy.said if isinstance(release, TableRelease) else "",
    }


def _chart(release: TableRelease | WeightedSample) -> tuple[str, str]:
    """The chart as SVG, in the colours of the page around it; or why there is none."""
    if not len(release):
        return "", ""
    try:
        from onesided.charts.style import Theme

        return release.plot().svg(Theme.PAGE), ""
    except (ImportError, OnesidedError):
        return "", _NO_CHARTS


def _file_page(handler: Handler) -> Any:
    def take_file(call: PageCall) -> Seen:
        kind = FILES.get(call.path["file"])
        if kind is None:
            raise Problem(404, "There is no such file.")
        reply = call.reply(handler, accept=kind)
        name = f'attachment; filename="{call.path["file"]}"'
        return reply.with_headers({"Content-Disposition": name})

    return take_file


PAGES = (
    ConsolePage(path="/questions/{job}", handler=show_question),
    ConsolePage(path="/questions/{job}/back", handler=take_back, method="POST", roles=ASKING),
    ConsolePage(path="/questions/{job}/{file}", handler=_file_page(show_answer_data), roles=ASKING),
    ConsolePage(path="/data/{dataset}/releases/{number}", handler=show_stored),
    ConsolePage(
        path="/data/{dataset}/releases/{number}/publication.zip",
        handler=take_publication,
        roles=(STEWARD,),
    ),
    ConsolePage(
        path="/data/{dataset}/releases/{number}/{file}",
        handler=_file_page(show_release_data),
        roles=ASKING,
    ),
    ConsolePage(path="/data/{dataset}/answers/{question}", handler=show_known, roles=ASKING),
    ConsolePage(
        path="/data/{dataset}/answers/{question}/{file}",
        handler=_file_page(show_known_answer_data),
        roles=ASKING,
    ),
)
