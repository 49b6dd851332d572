"""A folder about releases: data, chart, promise, receipt and metadata, as a page to hand on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from onesided.data.files import write_table
from onesided.errors import OutputError, RequestError
from onesided.report.publication import words
from onesided.report.publication.folder import INDEX, hashes, json_bytes, write_folder
from onesided.report.publication.metadata import croissant, data_package, schema_org
from onesided.report.publication.page import PublishedPage
from onesided.report.publication.released import PublishedRelease, found
from onesided.report.publication.signing import SigningKey

_STORED = {b"PAR1": ".stored.parquet", b"ARROW1": ".stored.arrow"}


def publish(
    releases: Sequence[str],
    out: Path,
    *,
    ledger: str | None = None,
    key: SigningKey | None = None,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write a folder about `releases`: files with a receipt beside them, or LEDGER#NUMBER.

    - `ledger`: files must be as this ledger has stored them.
    - `key`: signs the receipts and the folder.
    """
    shown = [found(each, ledger) for each in releases]
    if not shown:
        raise RequestError("Name at least one release.")
    names = [each.name for each in shown]
    if len(set(names)) != len(names):
        raise RequestError("Two releases would have files of the same name; rename one of them.")
    files: dict[str, bytes] = {}
    for each in shown:
        files |= _files(each, key)
    known = hashes(files)
    files["datapackage.json"] = json_bytes(data_package(shown, known))
    files["croissant.json"] = json_bytes(croissant(shown, known))
    files[INDEX] = _page(shown, files, known, key).encode()
    return write_folder(out, files, _facts(shown), key, overwrite=overwrite)


def _files(each: PublishedRelease, key: SigningKey | None) -> dict[str, bytes]:
    receipt: dict[str, Any] = dict(each.receipt.content)
    files = {}
    with TemporaryDirectory() as folder:
        for ending in (".parquet", ".csv"):
            path = Path(folder) / f"data{ending}"
            try:
                write_table(each.table, path)
            except OutputError:  # a column that this format cannot hold
                continue
            files[each.name + ending] = path.read_bytes()
    if each.payload is not None:
        for mark, ending in _STORED.items():
            if each.payload.startswith(mark):
                files[each.name + ending] = each.payload
    if each.chart is not None:
        files[f"{each.name}.svg"] = each.chart.encode()
    files[f"{each.name}.receipt.json"] = json_bytes(receipt if key is None else key.signed(receipt))
    return files


def _facts(shown: Sequence[PublishedRelease]) -> dict[str, Any]:
    return {
        "kind": "releases",
        "releases": [
            {
                "name": each.name,
                "entry": None if each.place is None else each.place.entry,
                "entry_hash": None if each.place is None else each.place.entry_hash,
                "payload_sha256": None if each.place is None else each.place.payload_sha256,
            }
            for each in shown
        ],
    }


def _page(
    shown: Sequence[PublishedRelease],
    files: dict[str, bytes],
    known: dict[str, str],
    key: SigningKey | None,
) -> str:
    several = len(shown) > 1
    page = PublishedPage(
        f"{len(shown)} releases of {words.datasets(each.receipt for each in shown)}"
        if several
        else words.title(shown[0].receipt)
    )
    page.describe(schema_org(shown, known))
    for each in shown:
        if several:
            page.heading(words.title(each.receipt))
        own = {name: len(files[name]) for name in files if name.startswith(f"{each.name}.")}
        _section(page, each, own)
    page.heading("Check this page")
    page.paragraph(
        "manifest.json has the SHA-256 of every file of this folder. Whoever has onesided can "
        "check all of it, without the ledger:"
    )
    page.code("onesided verify ." if key is None else f"onesided verify . --key {key.public}")
    if key is None:
        page.paragraph("This page is not signed.", soft=True)
    else:
        page.paragraph("Signed by the key", key.public, soft=True)
        page.paragraph("Get the key from the steward by another way than this page.", soft=True)
    page.files(dict.fromkeys(("manifest.json", "datapackage.json", "croissant.json")))
    return page.html()


def _section(page: PublishedPage, each: PublishedRelease, files: dict[str, int]) -> None:
    receipt = each.receipt
    if receipt.content.get("purpose"):
        page.paragraph("Purpose:", receipt["purpose"])
    page.at_a_glance(words.at_a_glance(receipt, len(each.table)))
    page.heading("The data", 3)
    page.files(files)
    if each.chart is not None:
        page.chart(each.chart)
    headings, rows = each.cells
    page.table(f"The first rows of {each.name}", headings, rows)
    page.paragraph(f"{len(rows):,} of {len(each.table):,} rows.", soft=True)
    page.heading("What is protected", 3)
    page.paragraph(words.protected(receipt))
    page.heading("What is promised, and what it cost", 3)
    page.paragraph(words.cost(receipt))
    page.paragraph(receipt.guarantee)
    page.heading("How to read it", 3)
    for sentence in words.reading(receipt):
        page.paragraph(sentence)
    page.heading("The columns", 3)
    page.texts(
        f"The columns of {each.name}",
        ("column", "type", "what it is"),
        ((c.name, str(c.type), c.text) for c in words.described(receipt, each.table)),
    )
    if each.place is None:
        page.paragraph("The data were not compared with a ledger.", soft=True)
    else:
        page.heading("In the ledger", 3)
        page.paragraph(f"Entry {each.place.entry} of the chain, with the hash")
        page.code(each.place.entry_hash)
        page.paragraph("The bytes that were released have the SHA-256")
        page.code(each.place.payload_sha256)
