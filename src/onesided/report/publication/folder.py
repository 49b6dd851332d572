"""The files of a published folder, the list of their hashes, and its signature."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onesided.data.output import new_files
from onesided.errors import OutputError
from onesided.report.publication.signing import SigningKey
from onesided.version import __version__
from onesided.visible import json_text

MANIFEST = "manifest.json"
INDEX = "index.html"
MANIFEST_FORMAT = 1


def sha256(content: bytes) -> str:
    """The hash of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """The hash of each file."""
    return {name: sha256(content) for name, content in files.items()}


def json_bytes(content: Any) -> bytes:
    """A JSON document as a file."""
    return (json_text(content) + "\n").encode()


def write_folder(
    out: Path,
    files: Mapping[str, bytes],
    facts: Mapping[str, Any],
    key: SigningKey | None,
    *,
    overwrite: bool,
) -> tuple[Path, ...]:
    """Write the files and the manifest, all of them or none.

    - `facts`: what the manifest says besides the hashes of the files.
    """
    manifest: dict[str, Any] = {
        "format": MANIFEST_FORMAT,
        "product": f"onesided {__version__}",
        **facts,
        "files": hashes(files),
    }
    if key is not None:
        manifest = key.signed(manifest)
    written = {**files, MANIFEST: json_bytes(manifest)}
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"The folder {out} cannot be made; name another one.") from None
    targets = [out / name for name in written]
    with new_files(targets, overwrite=overwrite) as workspace:
        for name, content in written.items():
            (workspace / name).write_bytes(content)
    return tuple(targets)
