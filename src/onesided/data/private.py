"""Directories that nobody else can read, and that do not outlive their use."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class PrivateDirectory:
    """A directory of mode 0700, removed by `remove`, with its last reference, or at exit."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="onesided-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the directory with everything in it; a second call does nothing."""
        self._remove()
