"""A folder about a ledger: what was released when and to what end, as a page for an auditor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.errors import CheckFailed
from onesided.ledger import LedgerDamaged, open_ledger
from onesided.report.publication.folder import INDEX, json_bytes, write_folder
from onesided.report.publication.page import PublishedPage
from onesided.report.publication.signing import SigningKey
from onesided.session import statements

ACCOUNTS = "accounts.json"
_TO_THE_MINUTE = len("2024-02-29T23:59")
_ACCOUNT = ("dataset", "unit", "policy", "budget", "spent", "left", "spent_as_plain_sum")
_CHARGE = (
    "entry",
    "time",
    "state",
    "purpose",
    "policy",
    "part",
    "snapshot",
    "pair",
    "cost",
    "spent",
)
_QUESTION = ("kind", "by", "where", "column", "columns", "epsilon", "mechanism", "max_groups")


def report(
    ledger: str, out: Path, *, key: SigningKey | None = None, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a folder about all accounts of `ledger`; one that does not verify has none."""
    try:
        book = open_ledger(ledger, create=False)
        try:
            answer = book.verify()
            found = [_published(each.to_json()) for each in statements(book)]
        finally:
            book.close()
    except LedgerDamaged as error:
        raise CheckFailed(str(error)) from None
    if not answer.ok:
        raise CheckFailed(f"The ledger does not verify: {answer.problem}")
    head = {"entries": answer.head.entries, "hash": answer.head.hash}
    files = {
        ACCOUNTS: json_bytes({"format": 1, "head": head, "accounts": found}),
        INDEX: _page(found, head, key).encode(),
    }
    return write_folder(out, files, {"kind": "account", "head": head}, key, overwrite=overwrite)


def _published(account: Mapping[str, Any]) -> dict[str, Any]:
    """The listed fields of an account: nobody who asked, no path, no address."""
    return {
        **{name: account[name] for name in _ACCOUNT},
        "promise": account["guarantee"],
        "outlook": account["outlook"],
        "releases": [
            {
                **{name: charge[name] for name in _CHARGE},
                "question": {
                    name: charge["request"][name] for name in _QUESTION if name in charge["request"]
                },
            }
            for charge in account["charges"]
        ],
        "raised": [
            {"time": each["time"], "budget": each["budget"], "why": each["why"]}
            for each in account["raised_budgets"]
        ],
    }


def _page(
    accounts: Sequence[Mapping[str, Any]], head: Mapping[str, Any], key: SigningKey | None
) -> str:
    page = PublishedPage("What was released, and what it cost")
    page.paragraph(
        "Every release of these data sets is charged to a ledger, a chain of entries in which "
        "each names the hash of the one before. The whole chain was checked when this page was "
        "made: all hashes, all sums, and every released byte."
    )
    page.paragraph(f"{head['entries']:,} entries, the last one with the hash")
    page.code(str(head["hash"]))
    page.paragraph(
        "Note this hash elsewhere. A later report of the same ledger must still have this entry.",
        soft=True,
    )
    for each in accounts:
        _account(page, each)
    page.heading("Check this page")
    page.code("onesided verify ." if key is None else f"onesided verify . --key {key.public}")
    page.paragraph(
        "With an export of the ledger, --chain EXPORT checks the chain itself, and that it has the "
        "entry above."
    )
    page.files(dict.fromkeys((ACCOUNTS, "manifest.json")))
    return page.html()


def _account(page: PublishedPage, account: Mapping[str, Any]) -> None:
    page.heading(account["dataset"])
    unit = ", ".join(account["unit"]) or "row"
    page.paragraph(
        f"A record is one ({unit}). It is sensitive where {account['policy']['sql']} is true or "
        "unknown."
    )
    page.at_a_glance(
        {
            "budget": f"ε = {account['budget']}",
            "spent": f"ε = {account['spent']}",
            "left": f"ε = {account['left']}",
            "releases": str(len(account["releases"])),
        }
    )
    page.paragraph(account["promise"])
    page.paragraph(account["outlook"], soft=True)
    page.texts(
        f"Releases of {account['dataset']}",
        ("when", "what", "to what end", "ε", "cost", "spent then", "state"),
        (
            (
                each["time"][:_TO_THE_MINUTE].replace("T", " "),
                _asked(each),
                each["purpose"],
                str(each["question"].get("epsilon", "")),
                str(each["cost"]),
                str(each["spent"]),
                each["state"],
            )
            for each in account["releases"]
        ),
    )
    if account["raised"]:
        page.texts(
            f"Raised budgets of {account['dataset']}",
            ("when", "to", "why"),
            (
                (each["time"][:_TO_THE_MINUTE].replace("T", " "), str(each["budget"]), each["why"])
                for each in account["raised"]
            ),
        )


def _asked(release: Mapping[str, Any]) -> str:
    question = release["question"]
    words = [str(question.get("kind", "release"))]
    if question.get("by"):
        words.append("by " + ", ".join(map(str, question["by"])))
    if question.get("where"):
        words.append(f"where {question['where']}")
    return " ".join(words)
