"""Files appear whole or not at all, and never replace another one unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from onesided.errors import OutputError


@contextmanager
def new_files(targets: Sequence[Path], *, overwrite: bool = False) -> Iterator[Path]:
    """A private workspace in the folder of `targets`, which all lie in one folder.

    Write each target there under its own name (and whatever else is needed on the way, such as
    spilled data). When the block ends well the targets are moved into place by renaming; however
    it ends, the workspace is removed. It is readable by its owner alone (mode 0700).
    """
    folder = targets[0].parent
    _refuse_existing(targets, overwrite)
    try:
        workspace = tempfile.TemporaryDirectory(dir=folder, prefix=".onesided-")
    except OSError:
        raise OutputError(
            f"Nothing can be written into {folder}: name a folder that exists and is writable."
        ) from None
    with workspace as name:
        yield Path(name)
        _refuse_existing(targets, overwrite)
        for target in targets:
            os.replace(Path(name) / target.name, target)


def _refuse_existing(targets: Sequence[Path], overwrite: bool) -> None:
    for target in targets:
        if target.is_dir() or (target.exists() and not overwrite):
            raise OutputError(f"{target} exists already: name another file, or ask to overwrite.")
