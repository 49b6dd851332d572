"""The version, on its own so that `--version` imports nothing else."""

from __future__ import annotations

__version__ = "0.1.0"
