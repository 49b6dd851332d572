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
    refuse_existing(targets, overwrite=overwrite)
    try:
        workspace = tempfile.TemporaryDirectory(dir=folder, prefix=".onesided-")
    except OSError:
        raise _unwritable(folder) from None
    with workspace as name:
        yield Path(name)
        refuse_existing(targets, overwrite=overwrite)
        for target in targets:
            os.replace(Path(name) / target.name, target)


def refuse_existing(targets: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse targets that exist already, unless told to replace them, and unusable folders."""
    for target in targets:
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise _unwritable(target.parent)
        if target.is_dir() or (target.exists() and not overwrite):
            raise OutputError(f"{target} exists already: name another file, or ask to overwrite.")


def _unwritable(folder: Path) -> OutputError:
    return OutputError(
        f"Nothing can be written into {folder}: name a folder that exists and is writable."
    )
