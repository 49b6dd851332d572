"""Columns of every Arrow type, with cells at the ends of what their bits can say, and beyond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

MOST, LEAST = 2**63 - 1, -(2**63)
BROKEN = b"\xff\xfe no text"


@dataclass(frozen=True)
class Hostile:
    """A column with cells that do not fit its type, or only just.

    - `cells`: arrays of three cells, of which the second one is hostile.
    - `files`: Parquet can hold the type.
    - `comparison`: what predicates may ask of the column.
    """

    name: str
    cells: Callable[[], Sequence[pa.Array]]
    files: bool = True
    comparison: str = ""

    def columns(self) -> list[tuple[pa.Array, list[pa.Array]]]:
        """For each type: an array of plain cells, and arrays with one hostile cell each."""
        found: dict[pa.DataType, tuple[pa.Array, list[pa.Array]]] = {}
        for array in self.cells():
            plain = pa.concat_arrays([array.slice(0, 1), array.slice(2, 1)])
            found.setdefault(array.type, (plain, []))[1].append(array.slice(1, 1))
        return list(found.values())


def _numbers(kind: pa.DataType, *hostile: int) -> Callable[[], list[pa.Array]]:
    store = pa.int64() if kind.bit_width == 64 else pa.int32()
    return lambda: [pa.array([7, each, 8], store).view(kind) for each in hostile]


def _texts(kind: pa.DataType, store: pa.DataType) -> Callable[[], list[pa.Array]]:
    broken = (BROKEN, b"\xed\xa0\x80", b"\xc0\x80", b"a\xf4\x90\x80\x80", b"zzzz" * 30 + b"\x80")
    return lambda: [pa.array([b"a", each, b"b"], store).view(kind) for each in broken]


def _decimals(kind: Any, *hostile: int) -> Callable[[], list[pa.Array]]:
    def made(each: int) -> pa.Array:
        cells = b"".join(number.to_bytes(16, "little", signed=True) for number in (1, each, 2))
        return pa.Array.from_buffers(kind, 3, [None, pa.py_buffer(cells)])

    return lambda: [made(each) for each in hostile]


def _text(value: bytes = BROKEN) -> pa.Array:
    return pa.array([b"a", value, b"b"]).view(pa.string())


def _dictionary() -> list[pa.Array]:
    return [pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), _text())]


def _inside() -> list[pa.Array]:
    offsets, numbers = pa.array([0, 1, 2, 3], pa.int32()), pa.array([1, 2, 3])
    return [
        pa.ListArray.from_arrays(offsets, _text()),
        pa.StructArray.from_arrays([_text(), numbers], ["text", "number"]),
        pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays([_text()], ["text"])),
        *(
            pa.ListArray.from_arrays(offsets, pa.array([1, end, 2]).view(pa.timestamp("ms")))
            for end in (MOST, MOST - 1)
        ),
        pa.ListArray.from_arrays(offsets, _dictionary()[0]),
        pa.ListArray.from_arrays(
            offsets, pa.array([1, LEAST, 2]).view(pa.timestamp("ms", "Europe/Berlin"))
        ),
    ]


def _maps() -> list[pa.Array]:
    offsets = pa.array([0, 1, 3, 4], pa.int32())
    once, twice = pa.array(["a", "b", "c", "d"]), pa.array(["a", "b", "b", "d"])
    broken = pa.array([b"a", BROKEN, b"c", b"d"]).view(pa.string())
    numbers = pa.array([1, 2, 3, 4])
    return [
        pa.MapArray.from_arrays(offsets, keys, values)
        for keys, values in ((twice, numbers), (broken, numbers), (once, broken))
    ]


_MOMENT = "x > TIMESTAMP '1969-01-01 00:00:00' AND hour(x) >= 0 AND date(x) <> DATE '2100-01-01'"
_ENDS = (MOST, LEAST, -MOST, MOST - 1, LEAST + 1, 9223372036854775, -9223372022400001)

HOSTILE = (
    Hostile("text", _texts(pa.string(), pa.binary()), comparison="x LIKE 'a%' OR lower(x) = 'b'"),
    Hostile("large-text", _texts(pa.large_string(), pa.large_binary()), comparison="x <> 'q'"),
    Hostile("text-view", _texts(pa.string_view(), pa.binary_view()), comparison="x <> 'q'"),
    Hostile("dictionary", _dictionary, comparison="x <> 'q'"),
    *(
        Hostile(
            f"moment-{unit}-{zone}",
            _numbers(pa.timestamp(unit, zone), *_ENDS),
            files=unit != "s",
            comparison=_MOMENT,
        )
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "America/New_York")
    ),
    Hostile(
        "date",
        _numbers(pa.date32(), 2**31 - 1, -(2**31), -(2**31) + 1),
        comparison="x <> DATE '2100-01-01' AND x < TIMESTAMP '2100-01-01 00:00:00'",
    ),
    Hostile(
        "date64",
        lambda: [pa.array([0, day * 86_400_000, 0]).view(pa.date64()) for day in (2**31, -(2**33))],
    ),
    Hostile("time-s", _numbers(pa.time32("s"), -1, 86_400, 2**31 - 1)),
    Hostile("time-ms", _numbers(pa.time32("ms"), -1, 86_400_000, 2**31 - 1)),
    Hostile("time-us", _numbers(pa.time64("us"), -1, 86_400_000_000, MOST, LEAST)),
    Hostile("time-ns", _numbers(pa.time64("ns"), -1, 86_400_000_000_000, MOST, LEAST)),
    *(
        Hostile(f"duration-{unit}", _numbers(pa.duration(unit), MOST, LEAST, -MOST, MOST // 1000))
        for unit in ("s", "ms", "us", "ns")
    ),
    Hostile(
        "interval",
        lambda: [
            pa.array(
                [(1, 2, 3), (2**31 - 1, -(2**31), MOST), (4, 5, 6)], pa.month_day_nano_interval()
            )
        ],
        files=False,
    ),
    Hostile(
        "float",
        lambda: [
            pa.array([7, bits, 8]).view(pa.float64())
            for bits in (
                0x7FF8DEADBEEF0001,
                0x7FF0000000000000,
                -0x8000000000000000,
                0x7FF4000000000000,
            )
        ],
        comparison="x > 5.0 OR x = 0.0 OR x < -1.0",
    ),
    Hostile(
        "half",
        lambda: [
            pa.array([7, bits, 8], pa.uint16()).view(pa.float16())
            for bits in (0x7E01, 0x7C00, 0xFFFF)
        ],
        comparison="x > 5.0 OR x = 0.0",
    ),
    Hostile(
        "decimal",
        _decimals(pa.decimal128(5, 2), 10**17, -(10**17), 10**5),
        comparison="x > 1.123456 OR x = 3",
    ),
    Hostile(
        "wide-decimal",
        _decimals(pa.decimal128(38, 2), 2**127 - 1, -(2**127)),
        comparison="x > 1.5 OR x = 3",
    ),
    Hostile(
        "decimal-256",
        lambda: [
            pa.array([1, None, 2], pa.decimal256(38, 2)),
            pa.array([1, 10**70, 2], pa.decimal256(76, 0)),
        ],
        files=False,
    ),
    Hostile("wide", lambda: [pa.array([1, 2**64 - 1, 2], pa.uint64())], comparison="x > 5"),
    Hostile(
        "bytes",
        lambda: [
            pa.array([b"a", BROKEN, b"b"], kind)
            for kind in (pa.binary(), pa.large_binary(), pa.binary_view())
        ],
    ),
    Hostile("fixed-bytes", lambda: [pa.array([b"abc", b"\xff\xfe\xfd", b"abd"], pa.binary(3))]),
    Hostile(
        "uuid",
        lambda: [
            pa.ExtensionArray.from_storage(
                pa.uuid(), pa.array([b"a" * 16, b"\xff" * 16, b"b" * 16], pa.binary(16))
            )
        ],
        comparison="x <> 'q'",
    ),
    Hostile(
        "json",
        lambda: [
            pa.ExtensionArray.from_storage(pa.json_(), each)
            for each in (
                pa.array(["{}", "{bad", "[]"]),
                pa.array([b"{}", b'"\xff"', b"[]"]).view(pa.string()),
            )
        ],
        comparison="x <> 'q'",
    ),
    Hostile(
        "flag",
        lambda: [pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, -5, 1], pa.int8()))],
    ),
    Hostile(
        "runs",
        lambda: [pa.RunEndEncodedArray.from_arrays([1, 2, 3], ["a", None, "b"])],
        files=False,
        comparison="x <> 'q'",
    ),
    Hostile("nothing", lambda: [pa.nulls(3)]),
    Hostile("inside", _inside),
    Hostile("maps", _maps),
)
