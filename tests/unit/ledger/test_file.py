"""A ledger in a file meets the world: permissions, full disks, deletion, damage, locks."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from onesided.errors import LedgerError
from onesided.ledger import sqlite
from onesided.randomness import seeded
from support.ledgers import Place, in_file, pay, terms

NOBODY = 65534
FLIPS = 60


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return in_file(tmp_path / "visits.ledger")


def _path(place: Place) -> Path:
    assert isinstance(place.where, Path)
    return place.where


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_read_any_of_its_files(place: Place) -> None:
    umask = os.umask(0)
    try:
        _, account, snapshot = place.opened()
        pay(account, snapshot)
    finally:
        os.umask(umask)
    files = sorted(_path(place).parent.iterdir())
    assert [file.name for file in files] == [f"visits.ledger{end}" for end in ("", "-shm", "-wal")]
    assert {_mode(file) for file in files} == {0o600}


def test_a_file_that_others_can_read_is_refused(place: Place) -> None:
    place.opened()[0].close()
    _path(place).chmod(0o640)
    with pytest.raises(LedgerError, match="chmod 600"):
        place.open()


def test_the_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="folder of the ledger"):
        in_file(tmp_path / "nowhere" / "visits.ledger").open()
    with pytest.raises(LedgerError, match="not a file"):
        in_file(tmp_path).open()


def test_names_that_look_like_options_are_names(tmp_path: Path) -> None:
    odd = in_file(tmp_path / "a?mode=memory&x=%41 ε.ledger")
    odd.opened()[0].close()
    assert odd.open(create=False).accounts()[0].terms == terms()


@pytest.mark.parametrize("moment", ["before the charge", "before the store"])
def test_a_deleted_file_releases_nothing(place: Place, moment: str) -> None:
    _, account, snapshot = place.opened()
    charge = pay(account, snapshot)
    _path(place).unlink()
    steps = {
        "before the charge": lambda: pay(account, snapshot, "second"),
        "before the store": lambda: account.store(charge, b"never shown", {}),
    }
    with pytest.raises(LedgerError, match="deleted or replaced"):
        steps[moment]()


def test_a_replaced_file_releases_nothing(place: Place, tmp_path: Path) -> None:
    ledger, account, snapshot = place.opened()
    ledger.close()
    old = tmp_path / "old copy"
    shutil.copy(_path(place), old)
    _, account, snapshot = place.opened()
    pay(account, snapshot)
    os.replace(old, _path(place))
    with pytest.raises(LedgerError, match="deleted or replaced"):
        pay(account, snapshot, "second")
    for end in ("-wal", "-shm"):
        _path(place).with_name(f"visits.ledger{end}").unlink(missing_ok=True)
    with pytest.raises(LedgerError, match="replaced by an older copy"):
        pay(account, snapshot, "second")


def test_a_deleted_log_releases_nothing(place: Place) -> None:
    _, account, snapshot = place.opened()
    pay(account, snapshot)
    _path(place).with_name("visits.ledger-wal").unlink()
    with pytest.raises(LedgerError, match="deleted or replaced"):
        pay(account, snapshot, "second")


def _filled(place: Place, charges: int = 30) -> dict[str, Any]:
    ledger, account, snapshot = place.opened()
    for number in range(charges):
        account.store(pay(account, snapshot, f"request {number}"), b"x" * 2000, {})
    exported = ledger.export()
    ledger.close()
    return exported


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(place: Place, share: float) -> None:
    _filled(place)
    os.truncate(_path(place), int(_path(place).stat().st_size * share))
    with pytest.raises(LedgerError, match=r"damaged|cut short"):
        place.open()


def test_what_is_no_ledger_is_refused(place: Place) -> None:
    _path(place).touch(mode=0o600)
    for size, words in ((1024, "no database"), (1000, "no ledger at all")):
        _path(place).write_bytes(b"a,b\n1,2\n" * size)
        with pytest.raises(LedgerError, match=words):
            place.open()
    _path(place).unlink()
    place.raw("CREATE TABLE other (a)")
    _path(place).chmod(0o600)
    with pytest.raises(LedgerError, match="not a ledger of onesided"):
        place.open()


def test_a_flipped_byte_is_found_or_harmless(place: Place) -> None:
    """Bytes of unused space mean nothing; every other flip must be noticed."""
    exported = _filled(place)
    sound = _path(place).read_bytes()
    noticed = 0
    for number, position in enumerate(seeded(3).below(len(sound), FLIPS)):
        flipped = bytearray(sound)
        flipped[position] ^= 1 << (number % 8)
        _path(place).write_bytes(flipped)
        try:
            ledger = place.open()
            if ledger.verify().ok:
                assert ledger.export() == exported
            else:
                noticed += 1
            ledger.close()
        except LedgerError:
            noticed += 1
        for end in ("-wal", "-shm"):
            _path(place).with_name(f"visits.ledger{end}").unlink(missing_ok=True)
    assert noticed > FLIPS / 3


def test_a_lock_that_lasts_is_reported(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "WAIT_SECONDS", 0.1)
    _, account, snapshot = place.opened()
    with closing(sqlite3.connect(_path(place), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked by another process"):
            pay(account, snapshot)
        other.execute("ROLLBACK")
    assert not pay(account, snapshot).reused


def test_a_full_database_takes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.opened()[0].close()
    pages = _path(place).stat().st_size // 4096 + 4
    connect = sqlite3.connect

    def limited(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(sqlite3, "connect", limited)
    _, account, snapshot = place.opened()
    charge = pay(account, snapshot)
    with pytest.raises(LedgerError, match="disk is full"):
        account.store(charge, b"x" * 100_000, {})
    monkeypatch.undo()
    _still_good(place, charges=1)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 400 kB, where the system lets us mount one."""
    folder = Path(tempfile.mkdtemp(prefix="small-"))
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        folder.rmdir()
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)
    folder.rmdir()


def test_a_full_disk_takes_nothing(small_disk: Path) -> None:
    place = in_file(small_disk / "visits.ledger")
    ledger, account, snapshot = place.opened()
    paid = []

    def spend_all() -> None:
        for number in range(100):
            paid.append(pay(account, snapshot, f"request {number}"))
            account.store(paid[-1], b"x" * 20_000, {})

    with pytest.raises(LedgerError, match=r"disk is full|check the disk"):
        spend_all()
    ledger.close()
    _still_good(place, charges=len(paid))


def _still_good(place: Place, charges: int) -> None:
    ledger = place.open(create=False)
    assert ledger.verify().ok
    assert ledger.accounts()[0].balance().spent == charges
    ledger.close()


@pytest.fixture
def private_folder() -> Iterator[Path]:
    """A folder of the user who will try to write: root is stopped by no permission."""
    folder = Path(tempfile.mkdtemp(prefix="private-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize("folder_mode", [0o500, 0o700], ids=["folder too", "file only"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_read_only_ledger_can_be_checked_but_not_charged(
    private_folder: Path, folder_mode: int
) -> None:
    place = in_file(private_folder / "visits.ledger")
    ledger, account, snapshot = place.opened()
    pay(account, snapshot)
    ledger.close()
    _path(place).chmod(0o400)
    private_folder.chmod(folder_mode)
    if os.geteuid() == 0:
        os.chown(_path(place), NOBODY, NOBODY)
        os.chown(private_folder, NOBODY, NOBODY)
    child = os.fork()
    if child == 0:
        os._exit(_read_only_customer(place))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _read_only_customer(place: Place) -> int:
    """0 if everything is as it should be, else the number of the step that was not."""
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    step = 1
    try:
        ledger, account, snapshot = place.opened()
        step = 2
        assert ledger.verify().ok
        assert account.balance().spent == 1
        step = 3
        pay(account, snapshot, "second")
    except LedgerError as error:
        return 0 if step == 3 and "is read-only; nothing was released" in str(error) else step
    except BaseException:
        return step + 10
    return 20


def test_every_commit_waits_for_the_disk(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remembered(*arguments: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    ledger, _, _ = place.opened()
    settings = [
        opened[-1].execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous")
    ]
    assert settings == ["wal", 2]
    ledger.close()
