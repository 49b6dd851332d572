"""Commands start without pandas, which PyArrow would load at its first array.

Loading pandas takes longer than many a question, and no command has a frame of pandas in its hands.
PyArrow looks for it once; it looks while there is none to be seen, directly after it was loaded.
Asked for a frame by name (`to_pandas`), it loads pandas all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

_ARROW, _FRAMES = "pyarrow", "pandas"


def start_without_pandas() -> None:
    """From now on, PyArrow has its first look without pandas; for processes of our own alone."""
    if _ARROW not in sys.modules and _FRAMES not in sys.modules and find_spec(_FRAMES):
        sys.meta_path.insert(0, _ArrowFinder())


class _ArrowFinder(MetaPathFinder):
    """Waits for PyArrow, and steps aside when it comes."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _ARROW:
            return None
        sys.meta_path.remove(self)
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.loader is not None:
            found.loader = _FirstLook(found.loader)
        return found


class _FirstLook(Loader, MetaPathFinder):
    """Loads PyArrow and lets it make an array while pandas cannot be found."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        sys.meta_path.insert(0, self)
        try:
            module.array([])
        finally:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _FRAMES:
            raise ModuleNotFoundError(name=_FRAMES)
        return None
