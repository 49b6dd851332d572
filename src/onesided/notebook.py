"""Where this runs in a notebook: a mark that work goes on, and nothing that depends on the data.

A notebook is passed on with its outputs. So the mark shows neither a share nor a time, it is there
for every question however short, and it is gone in the end.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_GONE = {"text/plain": "", "text/html": ""}


def in_notebook() -> bool:
    """Whether a kernel runs this, as that of JupyterLab, and no terminal."""
    return _kernel() is not None


@contextmanager
def going_on(message: str) -> Iterator[None]:
    """Shows in a notebook that work goes on, for the time of the block; elsewhere nothing."""
    if _kernel() is None:
        yield
        return
    from IPython.display import display

    said = {"text/plain": f"{message} …", "text/html": f"<em>{message}&nbsp;…</em>"}
    mark = display(said, raw=True, display_id=True)
    try:
        yield
    finally:
        if mark is not None:
            mark.update(_GONE, raw=True)


def _kernel() -> Any:
    """The kernel of the notebook; None where IPython is not even loaded, or on a terminal."""
    found = sys.modules.get("IPython")
    shell = None if found is None else found.get_ipython()
    return getattr(shell, "kernel", None)
