"""Where the engines' SQL differs: hashing, texts of keys, and joins; a file an engine."""

from __future__ import annotations

from onesided.engine.flavours.base import NAMED_TYPES, Cut, Flavour
from onesided.engine.flavours.duckdb import DuckDBFlavour, ThriftyDuckDBFlavour
from onesided.engine.flavours.postgres import PostgresFlavour
from onesided.engine.flavours.spark import (
    PART,
    CountingSparkFlavour,
    FewUnitsSparkFlavour,
    ManyUnitsSparkFlavour,
    PartedSparkFlavour,
    SparkFlavour,
)

__all__ = [
    "NAMED_TYPES",
    "PART",
    "CountingSparkFlavour",
    "Cut",
    "DuckDBFlavour",
    "FewUnitsSparkFlavour",
    "Flavour",
    "ManyUnitsSparkFlavour",
    "PartedSparkFlavour",
    "PostgresFlavour",
    "SparkFlavour",
    "ThriftyDuckDBFlavour",
]
