"""The name of the code that measures."""

from __future__ import annotations

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
NO_PART = (
    *("charts", "experiments/figures", "report"),  # draw and judge results
    *("audit", "cli", "demo.py", "ledger", "session"),  # not used by any measurement
)

DIGITS = 12


def measuring_code(package: Path = PACKAGE) -> str:
    """A digest of all source files of the package but those that have no part in measuring."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if not any(name.is_relative_to(part) for part in NO_PART):
            content = path.read_bytes()
            digest.update(f"{name.as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:DIGITS]
