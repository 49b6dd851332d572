"""CSV files as they are read: unpacked, in UTF-8, below a private folder, a piece at a time."""

from __future__ import annotations

import codecs
import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from onesided.errors import SourceError

CSV_ENDINGS = frozenset({".csv", ".tsv", ".txt"})
_CHUNK = 1 << 20
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_RESOURCES = "__MACOSX"


def made_readable(path: Path, target: Path, called: str, encoding: str, *, one_end: bool) -> None:
    """Puts the text of a file at `target`, as a link where nothing has to be changed.

    - `one_end`: write every end of a line alike.
    """
    plain = encoding == "utf-8" and not one_end
    if plain and not is_packed(path):
        target.symlink_to(path)
        return
    try:
        with _opened(path, called) as source, target.open("wb") as file:
            for piece in _transcoded(source, encoding):
                file.write(piece)
    except UnicodeError:
        raise SourceError(
            f"{called} is not written in {encoding}: some bytes of it mean nothing there; the "
            "likely cause is the encoding."
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, gzip.BadGzipFile):
        raise SourceError(f"{called} is not a whole packed file; pack it again.") from None
    if one_end:
        _unify_ends(target)


def is_packed(path: Path) -> bool:
    """Whether the ending says that a file is to be unpacked."""
    return path.suffix.lower() in (".gz", ".zip")


def check_letters(path: Path, called: str) -> bool:
    """Refuse what is no text in UTF-8, with the likely cause; says whether ends of lines differ."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    both = alone = 0
    last = b""
    with path.open("rb") as file:
        for piece in _pieces(file):
            if not last:
                _refuse_wide(piece, called)
            if b"\0" in piece:
                raise SourceError(
                    f"{called} holds NUL bytes; the likely cause is the encoding (utf-16?), or a "
                    "damaged file."
                )
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                _refuse_letters(called)
            pairs = piece.count(b"\r\n") + (last == b"\r" and piece[:1] == b"\n")
            both, alone = both + pairs, alone + piece.count(b"\n") - pairs
            last = piece[-1:]
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        _refuse_letters(called)
    if not last:
        raise SourceError(f"{called} is empty; there is no header and no row in it.")
    return bool(both and alone)


def _refuse_letters(called: str) -> None:
    raise SourceError(
        f"{called} is not written in UTF-8; the likely cause is the encoding: say "
        'encoding="cp1252" for files of Windows, or "latin-1".'
    ) from None


def _refuse_wide(piece: bytes, called: str) -> None:
    if piece.startswith(_WIDE_MARKS):
        raise SourceError(
            f"{called} is written in UTF-16; the likely cause is the encoding: say "
            'encoding="utf-16".'
        )


@contextmanager
def _opened(path: Path, called: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked."""
    match path.suffix.lower():
        case ".gz":
            with gzip.open(path) as file:
                yield cast(IO[bytes], file)
        case ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(_member(archive, called)) as file:
                yield file
        case _:
            with path.open("rb") as file:
                yield file


def _member(archive: zipfile.ZipFile, called: str) -> zipfile.ZipInfo:
    """The one CSV file in an archive."""
    members = [
        each
        for each in archive.infolist()
        if not each.is_dir() and PurePosixPath(each.filename).parts[:1] != (_RESOURCES,)
    ]
    endings = {PurePosixPath(each.filename).suffix.lower() for each in members}
    if len(members) != 1 or not endings <= CSV_ENDINGS:
        raise SourceError(
            f"{called} must hold one CSV file and nothing else; unpack it and name the files."
        )
    if members[0].flag_bits & 1:
        raise SourceError(f"{called} is locked by a password; unpack it first.")
    return members[0]


def _transcoded(source: IO[bytes], encoding: str) -> Iterator[bytes]:
    if encoding == "utf-8":
        yield from _pieces(source)
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    for piece in _pieces(source):
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def _unify_ends(path: Path) -> None:
    """Every end of a line as one sign."""
    changed = path.with_suffix(".ends")
    with path.open("rb") as source, changed.open("wb") as file:
        held = b""
        for piece in _pieces(source):
            whole = held + piece
            held = b"\r" if whole.endswith(b"\r") else b""
            file.write(whole[: len(whole) - len(held)].replace(b"\r\n", b"\n"))
        file.write(held)
    changed.replace(path)


def _pieces(source: IO[bytes]) -> Iterator[bytes]:
    while piece := source.read(_CHUNK):
        yield piece
