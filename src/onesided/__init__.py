"""onesided: one-sided differential privacy, for data in which only some records are sensitive.

The way through, from the outside in:

    open                a table, its unit, its policy and its budget → Dataset
    load                the same by name, from a description in onesided.toml
    connect             a data set at a server, which is asked in the same way
    Dataset             sample, count, …: charged first, stored before shown → Release
    Policy              which records are sensitive; relaxes, minimum_relaxation
    Loss                what a release costs; how losses compose
    mechanism           any mechanism by name, to run on a bare Histogram
    seeded              repeatable randomness for tests and experiments

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onesided.version import __version__

if TYPE_CHECKING:
    from onesided.client.connecting import connect
    from onesided.data import Axis, Histogram, Measurement
    from onesided.data.release import Receipt, Release
    from onesided.errors import BudgetError, InputError, OnesidedError, ReleaseFailed
    from onesided.loss import Loss
    from onesided.mechanisms.registry import mechanism, mechanism_names
    from onesided.policy import Policy, minimum_relaxation
    from onesided.randomness import seeded
    from onesided.session import OTHER, Dataset
    from onesided.session import load_dataset as load
    from onesided.session import open_dataset as open

_HOMES = {
    "Axis": "onesided.data",
    "BudgetError": "onesided.errors",
    "Dataset": "onesided.session",
    "Histogram": "onesided.data",
    "InputError": "onesided.errors",
    "LookupTable": "onesided.session",
    "Map": "onesided.session",
    "Loss": "onesided.loss",
    "Measurement": "onesided.data",
    "OTHER": "onesided.session",
    "OnesidedError": "onesided.errors",
    "Policy": "onesided.policy",
    "Receipt": "onesided.data.release",
    "Release": "onesided.data.release",
    "ReleaseFailed": "onesided.errors",
    "connect": "onesided.client.connecting",
    "load": "onesided.session",
    "mechanism": "onesided.mechanisms.registry",
    "mechanism_names": "onesided.mechanisms.registry",
    "minimum_relaxation": "onesided.policy",
    "open": "onesided.session",
    "seeded": "onesided.randomness",
}
_INNER_NAMES = {"load": "load_dataset", "open": "open_dataset"}

__all__ = [
    "OTHER",
    "Axis",
    "BudgetError",
    "Dataset",
    "Histogram",
    "InputError",
    "LookupTable",
    "Loss",
    "Map",
    "Measurement",
    "OnesidedError",
    "Policy",
    "Receipt",
    "Release",
    "ReleaseFailed",
    "__version__",
    "connect",
    "load",
    "mechanism",
    "mechanism_names",
    "minimum_relaxation",
    "open",
    "seeded",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'onesided' has no attribute {name!r}")
    return getattr(import_module(home), _INNER_NAMES.get(name, name))


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext onesided` gives a notebook `%%onesided`."""
    from onesided.magic import load

    load(ipython)


def __dir__() -> list[str]:
    return sorted(__all__)
