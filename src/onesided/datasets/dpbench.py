"""The histograms of DPBench: read from the data folder, or made where they are absent.

A made histogram has the scale (number of records) and the sparsity (share of empty bins) of the
published one and nothing else of it; `source` says which of the two it is.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.datasets.folder import data_folder
from onesided.errors import RequestError, SourceError
from onesided.randomness import seeded
from onesided.spelling import meant

if TYPE_CHECKING:
    from numpy.random import Generator


class Origin(Enum):
    """Where a histogram comes from; the value is the label to show."""

    DPBENCH = "dpbench"
    MADE = "made"


@dataclass(frozen=True, kw_only=True)
class PublishedShape:
    """What is known of a published histogram.

    `filled` is the number of bins that are not empty; `decay` shapes a made stand-in: the count
    of the r-th largest bin falls like r^−decay.
    """

    name: str
    shape: tuple[int, ...]
    scale: int
    filled: int
    decay: float

    @property
    def sparsity(self) -> float:
        """Share of empty bins."""
        return 1 - self.filled / int(np.prod(self.shape))


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A histogram with its name and its origin."""

    name: str
    counts: NDArray[np.int64]
    source: Origin


ONE_DIMENSIONAL = (
    PublishedShape(name="adult", shape=(4096,), scale=17_665, filled=82, decay=2.5),
    PublishedShape(name="hepth", shape=(4096,), scale=347_414, filled=3_229, decay=0.5),
    PublishedShape(name="income", shape=(4096,), scale=20_787_122, filled=2_254, decay=1.2),
    PublishedShape(name="nettrace", shape=(4096,), scale=25_714, filled=139, decay=1.4),
    PublishedShape(name="medcost", shape=(4096,), scale=9_415, filled=1_032, decay=0.9),
    PublishedShape(name="patent", shape=(4096,), scale=27_948_226, filled=3_842, decay=0.3),
    PublishedShape(name="searchlogs", shape=(4096,), scale=335_889, filled=2_006, decay=0.8),
)
TWO_DIMENSIONAL = (
    PublishedShape(name="adult", shape=(256, 256), scale=32_561, filled=104, decay=2.0),
    PublishedShape(name="gowalla", shape=(256, 256), scale=6_442_863, filled=3_500, decay=1.0),
    PublishedShape(
        name="beijing-cabs-start", shape=(256, 256), scale=4_268_780, filled=10_565, decay=0.7
    ),
)


def load_1d(name: str) -> Benchmark:
    """One of the seven histograms of the paper's Table 2, 4,096 bins."""
    return _load(_known(name, ONE_DIMENSIONAL), Path("dpbench") / "1d" / f"{name}.npy")


def load_2d(name: str) -> Benchmark:
    """One of three histograms over a grid of 256 × 256."""
    return _load(_known(name, TWO_DIMENSIONAL), Path("dpbench") / "2d" / f"{name}.npz")


def make(shape: PublishedShape) -> Benchmark:
    """A stand-in with the scale and sparsity of `shape`; the same one every time."""
    generator = seeded(shape.scale).generator()
    places = _places(shape, generator)
    weight = np.arange(1, shape.filled + 1) ** -shape.decay
    # One record keeps each chosen bin from being empty; the others fall by weight.
    records = generator.multinomial(shape.scale - shape.filled, weight / weight.sum())
    counts = np.zeros(int(np.prod(shape.shape)), dtype=np.int64)
    counts[places] = 1 + records
    return Benchmark(name=shape.name, counts=counts.reshape(shape.shape), source=Origin.MADE)


def _places(shape: PublishedShape, generator: Generator) -> NDArray[np.int64]:
    """Bins to fill, in the order of their counts: large counts lie close together, as in life."""
    bins = int(np.prod(shape.shape))
    centre = generator.integers(0, bins)
    grid = np.stack(np.unravel_index(np.arange(bins), shape.shape))
    heart = np.array(np.unravel_index(centre, shape.shape))
    distance = np.abs(grid - heart[:, None]).max(axis=0) / max(shape.shape)
    return np.argsort(distance + generator.exponential(0.5, bins), kind="stable")[: shape.filled]


def _known(name: str, shapes: tuple[PublishedShape, ...]) -> PublishedShape:
    for shape in shapes:
        if shape.name == name:
            return shape
    names = [shape.name for shape in shapes]
    raise RequestError(
        f"There is no benchmark of that name{meant(name, names)}: choose one of {', '.join(names)}."
    )


def _load(shape: PublishedShape, place: Path) -> Benchmark:
    folder = data_folder()
    if folder is None or not (folder / place).is_file():
        return make(shape)
    counts = _read(folder / place)
    if not _matches(counts, shape):
        raise SourceError(f"{folder / place} is damaged: fetch it again.")
    return Benchmark(name=shape.name, counts=counts.astype(np.int64), source=Origin.DPBENCH)


def _read(path: Path) -> Floats:
    """The array of a .npy file, or the array `counts` of a .npz file."""
    try:
        # Opened here, because numpy leaves the file open when an archive is damaged.
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return np.asarray(loaded if path.suffix == ".npy" else loaded["counts"])
    except (OSError, ValueError, EOFError, LookupError, zipfile.BadZipFile, zlib.error):
        raise SourceError(f"{path} is damaged: fetch it again.") from None


def _matches(counts: Floats, shape: PublishedShape) -> bool:
    """Whether these are whole counts from 0 of the published shape, scale and sparsity."""
    return bool(
        counts.shape == shape.shape
        and counts.dtype.kind in "iuf"
        and np.isfinite(counts).all()
        and (counts >= 0).all()
        and (counts == np.floor(counts)).all()
        and int(counts.sum()) == shape.scale
        and np.count_nonzero(counts) == shape.filled
    )
