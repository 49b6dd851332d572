"""axe-core, which finds what people with a screen reader or a keyboard alone would miss."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_WANTED = Path(__file__).parent / "npm"
_KEPT = Path(__file__).parents[2] / ".venv" / "axe"
_SCRIPT = "node_modules/axe-core/axe.min.js"
_LOOK = """async () => {
  // From a file a page may not ask for its own styles again.
  const preload = location.protocol !== "file:";
  const found = await axe.run(document, { preload, resultTypes: ["violations"] });
  return found.violations.flatMap((each) =>
    each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 120)} ${node.failureSummary}`));
}"""


@cache
def axe_source() -> str:
    """The script, installed on first use; without npm tests are skipped, where they may be."""
    wanted = json.loads((_WANTED / "package.json").read_text())["dependencies"]["axe-core"]
    kept = _KEPT / wanted
    if not (kept / _SCRIPT).exists():
        _install(kept)
    return (kept / _SCRIPT).read_text(encoding="utf-8")


def _install(kept: Path) -> None:
    if shutil.which("npm") is None:
        if os.environ.get("ONESIDED_TEST_ALL"):
            pytest.fail("npm is missing; .ci/run installs it.")
        pytest.skip("Pages are looked at by axe-core, which npm installs; there is no npm here.")
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Two processes may come here at once: each makes its own, and the first one stays.
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        own = shutil.copytree(_WANTED, Path(folder, "own"))
        quiet = ("--no-fund", "--no-audit", "--loglevel=error", "--ignore-scripts")
        subprocess.run(["npm", "ci", *quiet], cwd=own, check=True, timeout=300)
        try:
            own.rename(kept)
        except OSError:
            assert (kept / _SCRIPT).exists()


def axe_faults(page: Any) -> list[str]:
    """What axe-core finds wrong with a page as it stands."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe_source())
    found: list[str] = page.evaluate(_LOOK)
    return found
