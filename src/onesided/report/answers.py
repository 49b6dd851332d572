"""One page with the answers to several questions, for those who get them."""

from __future__ import annotations

from onesided.data.answers import Answers
from onesided.data.release import TableRelease
from onesided.data.values import python_rows
from onesided.errors import InputError
from onesided.loss import show
from onesided.report.page import Page

ROWS_SHOWN = 40
MOST_DRAWN = 500


def answers_page(title: str, answers: Answers) -> str:
    """The page: what each answer is, its first rows, a chart where there is one, and its promise.

    It shows nothing but what was released.
    """
    page = Page(title)
    page.table(
        ("answer", "what it is", "cost"),
        [
            (name, each.receipt.figure, f"ε = {each.receipt['account']['cost']}")
            for name, each in answers.items()
        ],
    )
    for name, release in answers.items():
        page.heading(name)
        page.paragraph(release.receipt.figure)
        if isinstance(release, TableRelease):
            _draw(page, release)
        rows = release.table.slice(0, ROWS_SHOWN)
        page.table(rows.column_names, list(python_rows(rows)))
        if len(release.table) > ROWS_SHOWN:
            page.paragraph(f"{len(release.table) - ROWS_SHOWN:,} more rows are in its file.")
        page.paragraph(release.receipt.promise)
        page.paragraph(f"Noise: {release.receipt['noise']}.")
    page.heading("All together")
    page.paragraph(
        f"Added up, these answers cost ε = {show(answers.loss.epsilon)}. The account has spent "
        f"{answers.account['spent']} of {answers.account['budget']}."
    )
    return page.html()


def _draw(page: Page, release: TableRelease) -> None:
    if not 0 < len(release.table) <= MOST_DRAWN:
        return
    try:
        drawing = release.plot().svg()
    except InputError:  # what has no chart, or no library to draw it, is a table alone
        return
    page.figure(drawing, f"{release.receipt.figure}, as it was released.")
