"""Directories that nobody else can read, and that do not outlive their use.

Each holds a mark that its process keeps locked for as long as it lives. Where a process was killed
the lock is free, and the next one that makes such a directory beside it removes what was left.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from onesided.data.owner import Owner, is_locked_by_us
from onesided.errors import OutputError
from onesided.signals import signals_held

MARK = "owner"
PRIVATE = 0o700
_NAME = re.compile(r"\.?onesided-[0-9a-f]{16}")


class PrivateDirectory:
    """A directory of mode 0700, removed by `remove`, with its last reference, or at exit."""

    def __init__(self, parent: Path | None = None) -> None:
        """In `parent`, where it is hidden, or else where the system keeps temporary files."""
        try:
            folder = Path(tempfile.gettempdir()) if parent is None else parent
            _remove_abandoned_once(folder)
            with signals_held():
                self.path, mark = _made(folder, "onesided-" if parent is None else ".onesided-")
                self._remove = weakref.finalize(self, _removed, self.path, mark, os.getpid())
        except OSError:
            raise unwritable(parent) from None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the directory with everything in it; a second call does nothing."""
        self._remove()


def remove_abandoned(parent: Path) -> None:
    """Remove what killed processes left in `parent`, as far as it is certain to be ours."""
    if not hasattr(os, "geteuid"):
        return  # a system without owners of files cannot tell
    try:
        names = [each for each in os.listdir(parent) if _NAME.fullmatch(each)]
    except OSError:
        return
    for name in names:
        # What cannot be looked at or locked stays: another user's, or one that is in use.
        with suppress(OSError):
            _remove_if_abandoned(parent / name)


def unwritable(folder: Path | None) -> OutputError:
    """The refusal of a folder in which nothing can be made."""
    where = "the folder for temporary files (TMPDIR)" if folder is None else str(folder)
    return OutputError(
        f"Nothing can be written into {where}: name a folder that exists and is writable."
    )


@cache
def _remove_abandoned_once(parent: Path) -> None:
    """At the first directory that this process makes there."""
    remove_abandoned(parent)


def _made(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new directory and its mark, locked and open."""
    while True:
        path = parent / f"{prefix}{secrets.token_hex(8)}"
        os.mkdir(path, PRIVATE)
        try:
            mark = os.open(path / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            continue  # somebody took the empty directory for an abandoned one
        is_locked_by_us(mark, wait=True)
        os.write(mark, Owner.of_this_process().to_bytes())
        if _is_still(mark, path / MARK):
            return path, mark
        os.close(mark)


def _removed(path: Path, mark: int, process: int) -> None:
    """Remove a directory of this process."""
    if os.getpid() != process:
        return  # a fork has the object too, but not the directory
    with signals_held(), suppress(OSError):
        if not hasattr(os, "O_DIRECTORY"):  # nor does such a system remove a file that is open
            os.close(mark)
            shutil.rmtree(path, ignore_errors=True)
            return
        try:
            with _opened(path) as folder:
                _empty(path, folder)
        finally:
            os.close(mark)


def _remove_if_abandoned(path: Path) -> None:
    with _opened(path) as folder:
        found = os.fstat(folder)
        # A folder may hand its set-group bit to what is made in it.
        if found.st_uid != os.geteuid() or found.st_mode & 0o777 != PRIVATE:
            return
        try:
            mark = os.open(MARK, os.O_RDWR | os.O_NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            os.rmdir(path)  # killed before it was used; fails where there is anything in it
            return
        try:
            if not is_locked_by_us(mark) or not _is_still(mark, path / MARK):
                return
            owner = Owner.read(mark)
            if owner.is_dead() if owner else os.listdir(folder) == [MARK]:
                _empty(path, folder)
        finally:
            os.close(mark)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The folder itself: what is done within it does not follow what somebody puts in its place."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield folder
    finally:
        os.close(folder)


def _empty(path: Path, folder: int) -> None:
    """Remove everything; the mark goes last, so that what is left halfway can be found."""
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.name, dir_fd=folder)
        elif entry.name != MARK:
            os.unlink(entry.name, dir_fd=folder)
    os.unlink(MARK, dir_fd=folder)
    os.rmdir(path)


def _is_still(mark: int, path: Path) -> bool:
    """Whether the open file is the one at `path`."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(mark), os.lstat(path))
    return False
