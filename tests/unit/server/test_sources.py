"""What a server writes into the file that describes its data sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from onesided.errors import SourceError
from onesided.server.sources import described

TABLE = {"source": "more.parquet", "unit": ["device"], "policy": "NOT consent", "budget": "2"}


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_description_stays_as_secret_as_it_was(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "onesided.toml"
    file.write_text('[datasets.visits]\nsource = "v.parquet"\nunit = "rows"\npolicy = "TRUE"\n')
    file.chmod(mode)
    found, draft = described(file, "more", TABLE)
    assert draft.stat().st_mode & 0o777 == mode
    assert (found.name, found.arguments["policy"]) == ("more", "NOT consent")
    assert draft.read_text().startswith(file.read_text().rstrip())


def test_a_new_description_is_private_and_a_wrong_one_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "onesided.toml"
    _, draft = described(file, "more", TABLE)
    assert draft.stat().st_mode & 0o777 == 0o600
    draft.unlink()
    with pytest.raises(SourceError):
        described(file, "more", {**TABLE, "budget": "-1"})
    assert list(tmp_path.iterdir()) == []
