"""How large a reproduction is, and on which data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

SHARES = (0.99, 0.9, 0.75, 0.5, 0.25, 0.1, 0.01)
EPSILONS = (1.0, 0.01)


class Trace(Enum):
    """Where trajectories come from; the value names files and labels."""

    BUILDING = "building"
    REPUBLICA = "republica"

    @property
    def title(self) -> str:
        return {
            Trace.BUILDING: "simulated building (stand-in)",
            Trace.REPUBLICA: "re:publica 2013 trace (stand-in)",
        }[self]


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is measured.

    - `runs`: repetitions of every randomised measurement, and folds of the classifier.
    - `scale`: size of the simulated building, 1 is the paper's.
    - `most_trajectories`: how many the classifier sees at most.
    """

    name: str
    runs: int
    scale: float
    most_trajectories: int


FULL = Size(name="full", runs=10, scale=1.0, most_trajectories=100_000)
QUICK = Size(name="quick", runs=2, scale=0.05, most_trajectories=6_000)


@dataclass(frozen=True, kw_only=True)
class ReproductionSetting:
    """One reproduction: its size, seed, folder, the traces that are there, and whose histograms.

    - `histograms`: names the source of every benchmark, such as "dpbench" for all of them.
    - `code`: names the code that measures, so that no result of other code is taken for its own.
    """

    size: Size
    seed: int
    out: Path
    traces: tuple[Trace, ...]
    histograms: str
    code: str

    @property
    def cache(self) -> Path:
        """Prepared trajectories."""
        return self.out / "cache" / self.code

    @property
    def results(self) -> Path:
        """Finished trials."""
        return self.out / "trials" / self.code
