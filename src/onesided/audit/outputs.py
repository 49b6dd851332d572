"""What an attacker sees of an output: a value that can be compared, and numbers to learn from.

A text is seen as well: as a number that is the same for equal texts, beside the numbers that an
output has. So words that depend on secrets are learnt from where no two outputs are alike.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import Measurement

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with bits all over: products with it depend on all lower bits."""


@dataclass(frozen=True)
class Raised:
    """An exception in the place of an output: its class and what it says."""

    kind: str
    text: str


def fingerprint(output: Any) -> Hashable:
    """Equal for equal outputs: arrays by value, tables and multisets in any order.

    Of a measurement all that is released counts: value, buckets, keys, parts and the bounds of its
    intervals, their kinds and their names.
    """
    if isinstance(output, Measurement):
        return (_form(output), *(fingerprint(each) for each in _released(output)))
    if isinstance(output, np.ndarray):
        # NaN is a value like any other here, but it does not equal itself.
        return (output.shape, *(None if each != each else each for each in output.flat))
    if isinstance(output, pa.Table):
        rows = Counter(tuple(map(repr, row.values())) for row in output.to_pylist())
        return tuple(sorted(rows.items()))
    if isinstance(output, Mapping):
        pairs = ((repr(key), fingerprint(value)) for key, value in output.items())
        return tuple(sorted(pairs, key=repr))
    if isinstance(output, Set):
        return tuple(sorted((fingerprint(each) for each in output), key=repr))
    if is_dataclass(output) and not isinstance(output, type):
        return (type(output).__qualname__, *map(fingerprint, _fields(output)))
    if isinstance(output, Sequence) and not isinstance(output, str | bytes):
        return tuple(fingerprint(each) for each in output)
    return output if isinstance(output, Hashable) else repr(output)


def is_raised(seen: Hashable) -> bool:
    """Whether this is the fingerprint of an exception."""
    return isinstance(seen, tuple) and seen[:1] == (Raised.__qualname__,)


def _fields(output: Any) -> list[Any]:
    return [getattr(output, each.name) for each in fields(output)]


def _released(measured: Measurement) -> list[NDArray[Any]]:
    """All arrays that are released."""
    first = (measured.value, measured.buckets, measured.keys)
    return [each for each in (*first, *measured.beside) if each is not None]


def _form(measured: Measurement) -> str:
    """What is released that is no number: names, types and shapes, and what intervals are of."""
    names = [name for name in ("buckets", "keys") if getattr(measured, name) is not None]
    kinds = [f"{each.dtype.str}{each.shape}" for each in _released(measured)]
    of = [f"{each.of.name} {each.confidence} {each.upper is None}" for each in measured.intervals]
    return "; ".join((*names, *sorted(measured.parts), *kinds, *of))


def _seen_from_bins(measured: Measurement) -> list[NDArray[Any]]:
    """The released numbers; what is said of a bucket is repeated for each of its bins.

    Which bucket is which changes with the partition, so a bucket's number says little; the size
    and the total of the bucket that a given bin is in say what there is to learn.
    """
    if measured.buckets is None:
        return _released(measured)
    buckets = measured.buckets.reshape(-1)
    sizes = np.bincount(buckets)
    spread = [each[buckets] if each.shape == sizes.shape else each for each in measured.beside]
    return [measured.value, buckets, sizes[buckets], *spread]


@dataclass(frozen=True)
class Observations:
    """Many outputs as numbers: `features` has a row for each, `tokens` one number for equal ones.

    Outputs of different length are filled up with NaN, which is a value like any other here.
    """

    features: NDArray[np.float64]
    tokens: NDArray[np.uint64]

    def __len__(self) -> int:
        return int(self.tokens.size)

    def __getitem__(self, rows: slice) -> Observations:
        return Observations(self.features[rows], self.tokens[rows])

    @classmethod
    def of(cls, outputs: Iterable[Any]) -> Observations:
        """From outputs of any kind; a two-dimensional array has an output in each row."""
        if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype != object:
            return cls(outputs.astype(np.float64), _row_tokens(outputs))
        listed = list(outputs)
        numbers = [_numbers(each) for each in listed]
        width = max((each.size for each in numbers), default=0)
        features = np.full((len(listed), width), np.nan)
        for row, each in zip(features, numbers, strict=True):
            row[: each.size] = each
        return cls(features, _tokens(_bytes(each) for each in listed))

    @classmethod
    def joined(cls, parts: Sequence[Observations]) -> Observations:
        """One after the other."""
        width = max((part.features.shape[1] for part in parts), default=0)
        padded = [
            np.pad(
                part.features, ((0, 0), (0, width - part.features.shape[1])), constant_values=np.nan
            )
            for part in parts
        ]
        return cls(np.concatenate(padded), np.concatenate([part.tokens for part in parts]))


def _tokens(texts: Iterable[bytes]) -> NDArray[np.uint64]:
    digests = (hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


def _row_tokens(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for each row, mixed from its bits column by column; equal rows have equal ones."""
    wide = rows.astype(np.float64 if rows.dtype.kind == "f" else np.int64).view(np.uint64)
    tokens = np.full(len(rows), rows.shape[1], dtype=np.uint64)
    for column in wide.T:
        tokens = (tokens ^ column) * MULTIPLIER
        tokens ^= tokens >> np.uint64(32)
    return tokens


def _bytes(output: Any) -> bytes:
    """Equal for equal outputs, as `fingerprint`, and fast for measurements."""
    if isinstance(output, Measurement):
        return b"|".join((_form(output).encode(), *(each.tobytes() for each in _released(output))))
    if isinstance(output, Sequence) and not isinstance(output, str | bytes):
        return b",".join(map(_bytes, output))
    return repr(fingerprint(output)).encode()


def _numbers(output: Any) -> NDArray[np.float64]:
    """The numbers in an output, in a fixed order; what is neither number nor text has a place.

    An exception has no numbers, so that it is unlike every output.
    """
    if isinstance(output, Raised):
        return np.zeros(0)
    if isinstance(output, Measurement):
        form = np.array([text_number(_form(output))])
        return np.concatenate([form, *(_numbers(each) for each in _seen_from_bins(output))])
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf":
        return output.reshape(-1).astype(np.float64)
    if isinstance(output, bool | int | float | Fraction | np.number | np.bool_):
        return np.array([float(output)])
    if isinstance(output, str):
        return np.array([text_number(output)])
    if isinstance(output, pa.Table):
        return np.array([float(output.num_rows)])
    if isinstance(output, Set | Mapping):
        return np.array([float(len(output))])
    if is_dataclass(output) and not isinstance(output, type):
        return _numbers(_fields(output))
    if isinstance(output, Sequence) and not isinstance(output, bytes):
        return np.concatenate([np.zeros(0), *map(_numbers, output)])
    return np.array([np.nan])


def text_number(text: str) -> float:
    """The same for equal texts; a double, and an integer that needs no rounding."""
    return float(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big"))
