"""A frozen data set: charged now and run later; a run is kept out of the ledger until then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onesided.errors import SourceError
from onesided.ledger import ChargeState, open_ledger
from onesided.session.frozen import FrozenDataset, copied_sources
from onesided.session.held import publish_all
from support.visits import POLICY, UNIT, write_visits


def arguments(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "source": str(write_visits(folder)),
        "unit": UNIT,
        "policy": POLICY,
        "budget": 5,
        "ledger": str(folder / "v.ledger"),
        "name": "visits",
        **changes,
    }


def test_a_run_writes_nothing_before_it_is_published(tmp_path: Path) -> None:
    given = arguments(tmp_path)
    ledger = open_ledger(given["ledger"])
    with FrozenDataset.open(given, opens=True) as data:
        asked = data.asked("count", "0.5", {"by": "room", "max_groups": 4}, yes=False)
        kernel = data.kernel("ann")
        orders = data.orders(asked, who="ann", purpose="", fresh=False)
        charges = kernel.account.charge(orders, kernel.snapshot)
        before = ledger.head()
        runs, _ = data.run_held(asked, charges)
        assert ledger.head() == before
        (stored,) = publish_all(runs)
        (record,) = data.budget.charges
        assert record.state is ChargeState.STORED
        assert record.charge.who == "ann"
        again = data.count("room", epsilon="0.5", max_groups=4)
        assert again.receipt.content == stored.receipt
        assert stored.receipt["account"]["left"] == "4.5"
    assert ledger.verify().ok
    ledger.close()


def test_copies_have_the_state_of_what_was_copied(tmp_path: Path) -> None:
    given = arguments(tmp_path)
    with FrozenDataset.open(given, opens=True) as data:
        number = data.kernel().snapshot.number
    copied = copied_sources(given, tmp_path / "copies")
    with FrozenDataset.open(copied, opens=False) as data:
        assert data.kernel().snapshot.number == number
        Path(given["source"]).unlink()
        assert data.unchanged


def test_a_changed_state_is_opened_where_it_is_said(tmp_path: Path) -> None:
    given = arguments(tmp_path)
    with FrozenDataset.open(given, opens=False) as data:
        data.count(epsilon=1)
    changed = {**given, "source": str(write_visits(tmp_path, seed=2))}
    with pytest.raises(SourceError, match="a steward opens their new state"):
        FrozenDataset.open(changed, opens=False)
    with FrozenDataset.open(changed, opens=True) as data:
        assert data.kernel().snapshot.number == 2


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    source = write_visits(tmp_path)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "visits.parquet").symlink_to(source)
    linked = {**arguments(tmp_path), "source": str(tmp_path / "links")}
    with pytest.raises(SourceError, match="leads out"):
        copied_sources(linked, tmp_path / "copies")
