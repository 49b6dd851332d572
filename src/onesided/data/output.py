"""Files appear whole or not at all, and never replace another one unasked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from onesided.data.private import PrivateDirectory, unwritable
from onesided.errors import OutputError
from onesided.signals import signals_held


@contextmanager
def new_files(targets: Sequence[Path], *, overwrite: bool = False) -> Iterator[Path]:
    """A private workspace in the folder of `targets`, which all lie in one folder.

    Write each target there under its own name (and what else is needed on the way, such as
    spilled data). When the block ends well the targets are moved into place, all of them or none;
    however it ends, the workspace is removed. It is readable by its owner alone (mode 0700).
    """
    refuse_existing(targets, overwrite=overwrite)
    with PrivateDirectory(targets[0].parent) as workspace:
        yield workspace
        refuse_existing(targets, overwrite=overwrite)
        with signals_held():
            _place(workspace, targets, overwrite=overwrite)


def refuse_existing(targets: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse targets that exist already, except where they may be replaced, and unusable places."""
    for target in targets:
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise unwritable(target.parent)
        try:
            os.lstat(target)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            raise OutputError(
                "The name of the output is too long or not allowed in its folder; choose another."
            ) from None
        if target.is_dir() or not overwrite:
            raise _exists(target)


def refuse_inputs(targets: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse targets that the same command reads or keeps, by any name."""
    read = list(inputs)
    for target in targets:
        if any(_same(target, each) for each in read):
            raise OutputError(
                f"{target} is needed by this command itself; name another file for the output."
            )


def _place(workspace: Path, targets: Sequence[Path], *, overwrite: bool) -> None:
    if overwrite:
        for target in targets:
            os.replace(workspace / target.name, target)
        return
    placed: list[Path] = []
    try:
        for target in targets:
            _link(workspace / target.name, target)
            placed.append(target)
    except BaseException:
        for target in placed:
            target.unlink()
        raise


def _link(source: Path, target: Path) -> None:
    """Move a file where none is; linking never replaces, so that of two writers one is told."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:  # some file systems know no links
        if os.path.lexists(target):
            raise _exists(target) from None
        os.replace(source, target)


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other) or os.path.samefile(one, other)
    except (OSError, ValueError):  # one of them is not there
        return False


def _exists(target: Path) -> OutputError:
    return OutputError(f"{target} exists already: name another file, or ask to overwrite.")
