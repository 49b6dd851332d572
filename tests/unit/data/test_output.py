"""Files appear whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from onesided.data.output import new_files
from onesided.errors import OutputError


def test_files_are_moved_into_place_from_a_private_folder(tmp_path: Path) -> None:
    targets = [tmp_path / "a", tmp_path / "b"]
    with new_files(targets) as workspace:
        assert stat.S_IMODE(workspace.stat().st_mode) == 0o700
        for name in ("a", "b", "spilled"):
            (workspace / name).write_text(name)
        assert not targets[0].exists()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "a", "b": "b"}


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_files([tmp_path / "a"]) as workspace:
        _ = (workspace / "a").write_text("half") / 0
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("old")
    with pytest.raises(OutputError, match="exists already"), new_files([target]):
        pass
    with new_files([target], overwrite=True) as workspace:
        (workspace / "a").write_text("new")
    assert target.read_text() == "new"


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "a"
    with pytest.raises(OutputError, match="exists already"), new_files([target]):
        target.write_text("theirs")
    assert target.read_text() == "theirs"


def test_a_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with (
        pytest.raises(OutputError, match="exists already"),
        new_files([tmp_path / "a"], overwrite=True),
    ):
        pass


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="folder that exists"), new_files([tmp_path / "x" / "a"]):
        pass
