"""Figures in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


Labels: TypeAlias = tuple[str, ...]


def gauge(name: str, what: str, labels: Sequence[str], values: Mapping[Labels, float]) -> str:
    """One figure, a line for each of its labels."""
    lines = [f"# HELP {name} {what}", f"# TYPE {name} gauge"]
    for key, value in values.items():
        said = ",".join(
            f'{label}="{_escaped(each)}"' for label, each in zip(labels, key, strict=True)
        )
        lines.append(f"{name}{{{said}}} {value:g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
