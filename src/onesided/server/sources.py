"""Files that stewards may choose, and data sets that are added while the server runs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from onesided.errors import RequestError
from onesided.language import Schema
from onesided.session.description import Description, descriptions
from onesided.session.engines import schema_of

MOST_FILES = 500
_DEEPEST = 3
_ENDINGS = (".parquet", ".csv", ".csv.gz", ".csv.zst")
_SIGNS = "*?["


def allowed_source(source: str, folders: Sequence[Path]) -> str:
    """A source below one of the folders that stewards may choose from."""
    fixed = source
    while any(sign in fixed for sign in _SIGNS):
        fixed = os.path.dirname(fixed)
    for folder in folders:
        real = os.path.realpath(folder / fixed)
        inside = os.path.realpath(folder)
        if ".." not in Path(source).parts and _is_below(real, inside):
            return os.path.join(inside, os.path.relpath(folder / source, folder))
    raise RequestError("The source must lie below a folder that [server] sources names.")


def files_in(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """The files below the folders that look like tables, by their names in them."""
    found: dict[str, int] = {}
    for folder in folders:
        for here, below, names in os.walk(folder):
            depth = len(Path(here).relative_to(folder).parts)
            hidden = {each for each in below if each.startswith(".") or each == "served"}
            below[:] = sorted(set(below) - hidden) if depth < _DEEPEST else []
            for name in sorted(names):
                if name.lower().endswith(_ENDINGS) and not name.startswith("."):
                    path = Path(here, name)
                    found.setdefault(str(path.relative_to(folder)), path.stat().st_size)
            if len(found) >= MOST_FILES:
                break
    return [{"source": name, "bytes": size} for name, size in list(found.items())[:MOST_FILES]]


def schema_below(source: str, folders: Sequence[Path]) -> Schema:
    """The columns and types of a source that a steward may choose."""
    path = allowed_source(source, folders)
    changed = os.stat(path).st_mtime_ns if os.path.isfile(path) else 0
    return _schema(path, changed)


@lru_cache(maxsize=16)
def _schema(path: str, changed: int) -> Schema:
    return schema_of(path)


def described(file: Path, name: str, table: Mapping[str, Any]) -> tuple[Description, Path]:
    """A data set as `file` would describe it, checked; and the draft that says so besides all else.

    Whoever has opened it puts the draft in the place of the file.
    """
    known = file.read_text(encoding="utf-8") if file.exists() else ""
    draft = file.with_name(f"{file.name}.draft")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)  # the file may hold the address of a ledger with its password
    if file.exists():
        shutil.copymode(file, draft)
    draft.write_text(f"{known.rstrip()}\n{_written(name, table)}".lstrip(), encoding="utf-8")
    try:
        return descriptions(draft)[name], draft
    except BaseException:
        draft.unlink()
        raise


def _written(name: str, table: Mapping[str, Any]) -> str:
    """A table of TOML."""
    domains = table.get("domains", {})
    lines = [f"\n[datasets.{_text(name)}]"]
    lines += [f"{key} = {_value(each)}" for key, each in table.items() if key != "domains"]
    if domains:
        lines.append(f"\n[datasets.{_text(name)}.domains]")
        lines += [f"{_text(key)} = {_value(each)}" for key, each in domains.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_text(key)} = {_value(each)}' for key, each in value.items())} }}"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(text: str) -> str:
    """A text of TOML, which has the marks of JSON; only DEL is spelt out besides."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
