"""Benchmark histograms: published where the folder has them, made and labelled where not."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from onesided.datasets.dpbench import (
    ONE_DIMENSIONAL,
    TWO_DIMENSIONAL,
    Origin,
    PublishedShape,
    load_1d,
    load_2d,
    make,
)
from onesided.errors import RequestError, SourceError

# Table 2 of the paper: share of empty bins and number of records.
PRINTED = {
    "adult": (0.98, 17_665),
    "hepth": (0.21, 347_414),
    "income": (0.45, 20_787_122),
    "nettrace": (0.97, 25_714),
    "medcost": (0.75, 9_415),
    "patent": (0.06, 27_948_226),
    "searchlogs": (0.51, 335_889),
}
ALL = ONE_DIMENSIONAL + TWO_DIMENSIONAL
EITHER = pytest.mark.parametrize(
    "shape", ALL, ids=lambda shape: f"{shape.name}-{len(shape.shape)}d"
)

needs_data = pytest.mark.skipif(
    not os.environ.get("ONESIDED_DATA"), reason="ONESIDED_DATA names no data folder"
)


@EITHER
def test_a_made_histogram_has_the_printed_scale_and_sparsity(shape: PublishedShape) -> None:
    made = make(shape)
    assert made.source is Origin.MADE
    assert made.counts.shape == shape.shape
    assert made.counts.sum() == shape.scale
    assert np.mean(made.counts == 0) == pytest.approx(shape.sparsity)
    assert (made.counts >= 0).all()
    assert np.array_equal(made.counts, make(shape).counts)


def test_the_table_of_the_paper_is_met() -> None:
    known = {shape.name: shape for shape in ONE_DIMENSIONAL}
    assert known.keys() == PRINTED.keys()
    for name, (sparsity, scale) in PRINTED.items():
        assert known[name].scale == scale
        assert known[name].sparsity == pytest.approx(sparsity, abs=0.005)


def test_without_a_folder_a_labelled_stand_in_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONESIDED_DATA", raising=False)
    assert load_1d("adult").source is Origin.MADE
    assert load_2d("gowalla").source is Origin.MADE


def test_a_folder_without_the_file_gives_the_stand_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ONESIDED_DATA", str(tmp_path))
    assert load_1d("adult").source is Origin.MADE


def test_a_folder_that_is_not_there_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ONESIDED_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SourceError, match="ONESIDED_DATA"):
        load_1d("adult")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(RequestError, match="adult, hepth"):
        load_1d("nobody")


@needs_data
@pytest.mark.parametrize("name", PRINTED)
def test_published_histograms_are_read(name: str) -> None:
    benchmark = load_1d(name)
    assert benchmark.source is Origin.DPBENCH
    assert benchmark.counts.dtype == np.int64
    assert benchmark.counts.sum() == PRINTED[name][1]


@needs_data
@pytest.mark.parametrize("name", [shape.name for shape in TWO_DIMENSIONAL])
def test_published_grids_are_read(name: str) -> None:
    benchmark = load_2d(name)
    assert benchmark.source is Origin.DPBENCH
    assert benchmark.counts.shape == (256, 256)


def _place(folder: Path, monkeypatch: pytest.MonkeyPatch, dimensions: str, file: str) -> Path:
    monkeypatch.setenv("ONESIDED_DATA", str(folder))
    place = folder / "dpbench" / dimensions
    place.mkdir(parents=True)
    return place / file


def test_a_good_file_is_taken_whatever_its_number_type(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counts = make(ONE_DIMENSIONAL[0]).counts
    np.save(_place(tmp_path, monkeypatch, "1d", "adult.npy"), counts.astype(np.float64))
    benchmark = load_1d("adult")
    assert benchmark.source is Origin.DPBENCH
    assert np.array_equal(benchmark.counts, counts)


@pytest.mark.parametrize("damage", ["text", "cut", "negative", "fraction", "shape", "scale", "nan"])
def test_a_damaged_file_gives_one_clear_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: str
) -> None:
    path = _place(tmp_path, monkeypatch, "1d", "adult.npy")
    counts = make(ONE_DIMENSIONAL[0]).counts.astype(np.float64)
    first, second = np.flatnonzero(counts > 10)[:2]
    changes = {"negative": -2 * counts[first], "fraction": 0.5, "scale": 1.0, "nan": np.nan}
    counts[first] += changes.get(damage, 0.0)
    if damage in ("negative", "fraction"):
        counts[second] -= changes[damage]
    np.save(path, counts[:-1] if damage == "shape" else counts)
    if damage == "text":
        path.write_text("<html>not found</html>")
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(SourceError, match="damaged: fetch it again"):
        load_1d("adult")


@pytest.mark.parametrize("content", ["no archive", "no counts", "cut"])
def test_a_damaged_archive_gives_one_clear_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    path = _place(tmp_path, monkeypatch, "2d", "gowalla.npz")
    np.savez_compressed(path, other=np.arange(1000))
    if content == "no archive":
        path.write_text("nothing")
    if content == "cut":
        path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SourceError, match="damaged: fetch it again"):
        load_2d("gowalla")
