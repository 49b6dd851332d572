"""The report of a reproduction as one page."""

from __future__ import annotations

from onesided.report.claims import Claim, Reproduction, Section
from onesided.report.page import Page

CLAIM_COLUMNS = ("data", "the paper says", "measured", "verdict", "why, where it differs")


def as_html(report: Reproduction) -> str:
    """A page that stands alone: first all verdicts, then each figure with its charts."""
    page = Page(report.title)
    for paragraph in report.introduction:
        page.paragraph(paragraph)
    for warning in report.warnings:
        page.note(warning)
    page.heading("All verdicts")
    page.table(
        ("figure", "data", "the paper says", "verdict"),
        [
            (section.title, claim.data, claim.paper, claim.verdict.value)
            for section in report.sections
            for claim in section.claims
        ],
    )
    for section in report.sections:
        _add(page, section)
    return page.html()


def _add(page: Page, section: Section) -> None:
    page.heading(section.title)
    page.paragraph(section.setting)
    page.table(CLAIM_COLUMNS, map(_cells, section.claims))
    for note in section.notes:
        page.note(note)
    for plot in section.plots:
        page.figure(plot.svg, plot.caption)
    for table in section.tables:
        page.paragraph(table.title)
        page.table(table.columns, table.rows)


def _cells(claim: Claim) -> tuple[str, ...]:
    return (claim.data, claim.paper, claim.measured, claim.verdict.value, claim.remark)
