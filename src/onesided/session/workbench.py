"""What a release works with once it may: the engine, the noise, the account and the receipt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.engine.base import Coins, CountQuery, Engine, GroupCounts, Total
from onesided.language import BoundPredicate
from onesided.ledger import Charge
from onesided.mechanisms.base import PublicFacts
from onesided.randomness import Randomness
from onesided.session.domains import histogram
from onesided.session.grouping import Grouping
from onesided.session.kernel import Kernel
from onesided.session.receipts import Circumstances, Outcome, receipt
from onesided.session.requests import Request
from onesided.session.scope import Scope, policy_text


@dataclass(frozen=True)
class Workbench:
    """One request's tools. `policy` is called after the charge: only then may it be evaluated."""

    engine: Engine
    rng: Randomness
    kernel: Kernel
    scope: Scope
    units: int
    policy: Callable[[], BoundPredicate]
    circumstances: Circumstances

    def counted(
        self,
        groups: Grouping,
        *,
        coins: Coins | None = None,
        total: Total | None = None,
        only_sensitive: NDArray[np.bool_] | None = None,
    ) -> tuple[GroupCounts, Histogram]:
        """The groups and their histogram; to be called after the charge only."""
        query = CountQuery(
            self.policy(),
            groups.keys,
            groups.where,
            max_groups=None if coins is not None else groups.max_groups,
            coins=coins,
            total=total,
            lookups=groups.lookups,
        )
        counts = self.engine.count(query)
        public = groups.every_unit_once and coins is None and total is None
        k = 1 if coins is not None else groups.k or 1
        n = self.units if public else None
        return counts, histogram(counts, groups.domains, k, n, only_sensitive)

    def facts(self, groups: Grouping) -> PublicFacts:
        """What may be known before paying."""
        return groups.facts(self.units)

    def receipt(self, request: Request, outcome: Outcome, charges: list[Charge]) -> dict[str, Any]:
        """The receipt of a release that these charges paid for."""
        return receipt(
            request, policy_text(self.scope.policy), outcome, charges, self.circumstances
        )
