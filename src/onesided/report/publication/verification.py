"""Whether a published folder, a receipt or a chain is what it says; no ledger is needed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.errors import RequestError
from onesided.report.publication.folder import MANIFEST, sha256
from onesided.report.publication.released import public_receipt
from onesided.report.publication.signing import SIGNATURE, canonical_bytes, signature_problem

_GENESIS = "0" * 64


def problems(path: Path, keys: Sequence[str] = (), chain: Path | None = None) -> list[str]:
    """Why `path` is not what it says, one reason each; empty where it is.

    - `path`: a published folder, a receipt, or the export of a ledger.
    - `keys`: one of these must have signed it.
    - `chain`: the export of the ledger that it must be of.
    """
    exported = None if chain is None else _document(chain)
    try:
        if exported is not None and (broken := chain_problems(exported)):
            return broken
        if path.is_dir():
            return _folder(path, keys, exported)
        content = _document(path)
        if "entries" in content and "head" in content:
            return chain_problems(content)
        return _receipt(path.name, content, keys, exported)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return ["it is not written as such a document is"]


def chain_problems(exported: Mapping[str, Any]) -> list[str]:
    """Where the entries of an export are no whole chain."""
    previous, number = _GENESIS, 0
    for entry in exported["entries"]:
        number += 1
        withheld = "withheld" in entry
        body = entry if withheld else json.loads(entry["text"])
        if body.get("number") != number:
            return [f"entry {number} of the chain is missing"]
        if body.get("previous") != previous:
            return [f"entry {number} does not follow the one before it"]
        if not withheld and hashlib.sha256(entry["text"].encode()).hexdigest() != entry["hash"]:
            return [f"entry {number} was changed"]
        if not withheld and any(entry.get(name) != body[name] for name in body):
            return [f"entry {number} is shown as something else than it says"]
        previous = entry["hash"]
    head = exported["head"]
    if (head["entries"], head["hash"]) != (number, previous):
        return [f"the chain ends at entry {number}, and its head is entry {head['entries']}"]
    return []


def _folder(path: Path, keys: Sequence[str], chain: Mapping[str, Any] | None) -> list[str]:
    manifest = _document(path / MANIFEST)
    wrong = []
    for name, known in manifest["files"].items():
        file = path / name
        if Path(name).name != name:
            wrong.append(f"{MANIFEST} names a file elsewhere")
        elif not file.is_file():
            wrong.append(f"{name} is missing")
        elif sha256(file.read_bytes()) != known:
            wrong.append(f"{name} was changed")
    wrong += [
        f"{file.name} does not belong to this folder"
        for file in sorted(path.iterdir())
        if file.name != MANIFEST and file.name not in manifest["files"]
    ]
    unsigned = {name: manifest[name] for name in manifest if name != SIGNATURE}
    reason = signature_problem(canonical_bytes(unsigned), manifest.get(SIGNATURE), keys)
    if reason is not None:
        wrong.append(f"{MANIFEST}: {reason}")
    if chain is not None and not wrong:
        wrong += _of_chain(path, manifest, chain)
    return wrong


def _of_chain(path: Path, manifest: Mapping[str, Any], chain: Mapping[str, Any]) -> list[str]:
    entries = {entry["hash"]: entry for entry in chain["entries"]}
    wrong = []
    if "head" in manifest and manifest["head"]["hash"] not in entries:
        wrong.append("the ledger has not the entry that the page ends with")
    for each in manifest.get("releases", []):
        entry = entries.get(each["entry_hash"])
        if entry is None:
            wrong.append(f"{each['name']} does not stand in this ledger")
            continue
        content = json.loads(entry["text"])["content"]
        receipt = _document(path / f"{each['name']}.receipt.json")
        shown = {name: receipt[name] for name in receipt if name != SIGNATURE}
        if public_receipt(content["receipt"]) != shown:
            wrong.append(f"the receipt of {each['name']} is not the one in the ledger")
        if content["payload_sha256"] != each["payload_sha256"]:
            wrong.append(f"{each['name']} has other bytes than the ledger")
        stored = [
            path / name for name in manifest["files"] if name.startswith(f"{each['name']}.stored")
        ]
        if any(sha256(file.read_bytes()) != content["payload_sha256"] for file in stored):
            wrong.append(f"{each['name']} has other bytes than the ledger")
    return wrong


def _receipt(
    name: str, content: Mapping[str, Any], keys: Sequence[str], chain: Mapping[str, Any] | None
) -> list[str]:
    if "guarantee" not in content:
        raise RequestError(f"{name} is no receipt, no export of a ledger and no published folder.")
    unsigned = {each: content[each] for each in content if each != SIGNATURE}
    reason = signature_problem(canonical_bytes(unsigned), content.get(SIGNATURE), keys)
    if reason is not None:
        return [f"{name}: {reason}"]
    if chain is None:
        return []
    known = [each["receipt"] for each in chain["receipts"]]
    if unsigned in known or unsigned in map(public_receipt, known):
        return []
    return [f"{name}: it does not stand in this ledger"]


def _document(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise RequestError(
            f"{path.name} cannot be read; name a published folder, a receipt or an export."
        ) from None
    if not isinstance(content, dict):
        raise RequestError(f"{path.name} is no receipt, no export of a ledger and no page.")
    return content
