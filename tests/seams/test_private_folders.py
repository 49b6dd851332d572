"""Private folders of killed processes are removed by the next start, and no others."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from onesided.data.owner import Owner, is_locked_by_us
from onesided.data.private import MARK, PrivateDirectory, remove_abandoned

HOLD = """
import sys, time
from pathlib import Path
from onesided.data.private import PrivateDirectory
folder = PrivateDirectory(Path(sys.argv[1]))
(folder.path / "rows").write_text("all of them")
(folder.path / "deeper").mkdir()
(folder.path / "deeper" / "more").write_text("rows")
print(folder.path, flush=True)
time.sleep(600)
"""


def held(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process with a private folder in `parent`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(parent)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def abandoned(parent: Path) -> Path:
    """What a killed process leaves."""
    process, folder = held(parent)
    process.kill()
    process.communicate()
    assert (folder / "deeper" / "more").exists()
    return folder


def test_a_folder_is_for_its_owner_alone_and_marked() -> None:
    with PrivateDirectory() as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE((path / MARK).stat().st_mode) == 0o600
    assert not path.exists()


def test_only_the_folder_of_a_dead_process_is_removed(tmp_path: Path) -> None:
    process, living = held(tmp_path)
    try:
        dead = abandoned(tmp_path)
        remove_abandoned(tmp_path)
        assert not dead.exists()
        assert (living / "rows").exists()
    finally:
        process.kill()
        process.communicate()
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_first_folder_of_a_process_removes_what_was_left_beside_it(tmp_path: Path) -> None:
    dead = abandoned(tmp_path)
    process, _ = held(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not dead.exists()


def test_what_is_not_certainly_ours_stays(tmp_path: Path) -> None:
    name = "onesided-0123456789abcde"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (elsewhere / MARK).write_bytes(dead_owner().to_bytes())
    (elsewhere / "rows").write_text("x")
    (tmp_path / f"{name}0").symlink_to(elsewhere)
    (tmp_path / f"{name}1").write_text("a file")
    unmarked = tmp_path / f"{name}2"
    unmarked.mkdir(mode=0o700)
    (unmarked / "rows").write_text("x")
    readable = marked(tmp_path / f"{name}3", dead_owner())
    readable.chmod(0o755)
    foreign = marked(tmp_path / f"{name}4", None, content=b'{"word": "something else"}')
    linked = tmp_path / f"{name}5"
    linked.mkdir(mode=0o700)
    (linked / "rows").write_text("x")
    (linked / MARK).symlink_to(elsewhere / MARK)
    other_name = marked(tmp_path / "onesided-abcdefgh", dead_owner())
    remote = Owner(1, "1", "another machine", "another start")
    far = marked(tmp_path / f"{name}6", remote)
    living = marked(tmp_path / f"{name}7", Owner.of_this_process())
    before = sorted(tmp_path.rglob("*"))
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    for each in (unmarked, readable, foreign, linked, other_name, far, living):
        assert (each / "rows").exists()


def test_another_users_folder_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = marked(tmp_path / "onesided-0123456789abcdef", dead_owner())
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    remove_abandoned(tmp_path)
    assert (folder / "rows").exists()


def test_where_nothing_can_be_locked_everything_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    folder = marked(tmp_path / "onesided-0123456789abcdef", dead_owner())
    with PrivateDirectory(tmp_path) as path:
        remove_abandoned(tmp_path)
        assert (path / MARK).exists()
    assert (folder / "rows").exists()


def test_a_folder_that_is_being_made_is_not_taken_away(tmp_path: Path) -> None:
    """Starts and ends of many, while another one looks for what is left all the time."""
    made: list[Path] = []
    ended = threading.Event()

    def sweep() -> None:
        while not ended.is_set():
            remove_abandoned(tmp_path)

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        until = time.monotonic() + 2
        while time.monotonic() < until:
            with PrivateDirectory(tmp_path) as path:
                (path / "rows").write_text("x")
                assert (path / MARK).exists()
                made.append(path)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert len(made) > 10
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b"", b"{"])
def test_what_was_killed_while_it_was_made_is_removed(
    content: bytes | None, tmp_path: Path
) -> None:
    folder = tmp_path / "onesided-0123456789abcdef"
    folder.mkdir(mode=0o700)
    if content is not None:
        (folder / MARK).write_bytes(content)
    remove_abandoned(tmp_path)
    assert not folder.exists()


def test_a_fork_does_not_remove_the_folder_of_its_parent(tmp_path: Path) -> None:
    folder = PrivateDirectory(tmp_path)
    child = os.fork()
    if child == 0:
        folder.remove()
        os._exit(0)
    os.waitpid(child, 0)
    assert (folder.path / MARK).exists()
    folder.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    with PrivateDirectory(tmp_path) as path, (path / MARK).open("r+b") as mark:
        assert not is_locked_by_us(mark.fileno())


def dead_owner() -> Owner:
    """A process of this machine that is no more."""
    ours = Owner.of_this_process()
    return Owner(ours.process, "0", ours.host, ours.boot)


def marked(folder: Path, owner: Owner | None, content: bytes = b"") -> Path:
    folder.mkdir(mode=0o700)
    (folder / "rows").write_text("x")
    (folder / MARK).write_bytes(content if owner is None else owner.to_bytes())
    return folder
