"""SQLAlchemy finds the dialects that pyproject.toml names, however the package was installed."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

from sqlalchemy.dialects import registry

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def register_dialects() -> dict[str, str]:
    """Register what an installation would; the names and where they are."""
    content = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    found: dict[str, str] = content["project"]["entry-points"]["sqlalchemy.dialects"]
    for name, home in found.items():
        module, _, attribute = home.partition(":")
        assert hasattr(import_module(module), attribute)
        registry.register(name, module, attribute)
    return found
