"""The report of a reproduction as one page."""

from __future__ import annotations

from collections import Counter

from onesided.report.claims import Claim, ClaimVerdict, Reproduction, Section
from onesided.report.page import Link, Page

MEASURED = "measured"
CLAIM_COLUMNS = ("data", "the paper says", MEASURED, "verdict", "why, where it differs")
MARKS = {
    ClaimVerdict.HOLDS: "✓",
    ClaimVerdict.PARTLY: "◐",
    ClaimVerdict.FAILS: "✗",
    ClaimVerdict.OPEN: "?",
}


def as_html(report: Reproduction) -> str:
    """A page that stands alone: first all verdicts, then each figure with its charts."""
    page = Page(report.title)
    for paragraph in report.introduction:
        page.paragraph(paragraph)
    for warning in report.warnings:
        page.note(warning)
    page.heading("All verdicts")
    page.paragraph(_counted(report))
    page.table(
        ("figure", "the paper says", "verdict"),
        [
            (Link(section.title, section.name), statement, verdicts)
            for section in report.sections
            for statement, verdicts in _summary(section)
        ],
    )
    for section in report.sections:
        _add(page, section)
    return page.html()


def _counted(report: Reproduction) -> str:
    count = Counter(claim.verdict for section in report.sections for claim in section.claims)
    parts = ", ".join(f"{count[verdict]} × {_shown(verdict)}" for verdict in ClaimVerdict)
    return (
        f"{count.total()} rows: {parts}. A verdict is computed from the numbers by the criterion "
        "that its row states; “in part” means that some of the checks pass."
    )


def _summary(section: Section) -> list[tuple[str, str]]:
    """Each statement once, with its verdict on each of the data it was held against."""
    lines: dict[str, list[str]] = {}
    for claim in section.claims:
        lines.setdefault(claim.paper, []).append(f"{_shown(claim.verdict)}: {claim.data}")
    return [(statement, "\n".join(verdicts)) for statement, verdicts in lines.items()]


def _shown(verdict: ClaimVerdict) -> str:
    return f"{MARKS[verdict]} {verdict.value}"


def _add(page: Page, section: Section) -> None:
    page.heading(section.title, anchor=section.name)
    page.paragraph(section.setting)
    page.table(CLAIM_COLUMNS, map(_cells, section.claims), wide=MEASURED)
    for note in section.notes:
        page.note(note)
    for plot in section.plots:
        page.figure(plot.svg, plot.caption)
    for table in section.tables:
        page.paragraph(table.title)
        page.table(table.columns, table.rows)


def _cells(claim: Claim) -> tuple[str, ...]:
    return (
        claim.data,
        claim.paper,
        claim.measured,
        f"{_shown(claim.verdict)}\n(holds if {claim.criterion})",
        claim.remark,
    )
