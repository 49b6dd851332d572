"""Where the published data sets lie: the folder named by the environment variable ONESIDED_DATA."""

from __future__ import annotations

import os
from pathlib import Path

from onesided.errors import SourceError

VARIABLE = "ONESIDED_DATA"


def data_folder() -> Path | None:
    """The folder, or None where no folder is named; a name that leads nowhere is a mistake."""
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    folder = Path(name)
    if not folder.is_dir():
        raise SourceError(f"{VARIABLE} names no folder: correct it, or unset it to use made data.")
    return folder
