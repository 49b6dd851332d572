"""What was asked for, in one canonical form: the same request has the same fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.data.release import ReleaseKind
from onesided.loss import show


@dataclass(frozen=True)
class Request:
    """A request as it is charged, stored and written into receipts.

    `details` holds everything that the answer depends on besides the data: where, columns, by,
    domains, bounds, mechanism and its parameters, as canonical texts.
    """

    kind: ReleaseKind
    policy_id: str
    epsilon: Fraction
    details: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON without floats, for the ledger and the receipt."""
        return {"kind": self.kind.value, "epsilon": show(self.epsilon), **self.details}

    @property
    def fingerprint(self) -> str:
        """Names the request; equal requests under equal policies have equal fingerprints."""
        content = {"policy": self.policy_id, **self.to_json()}
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()
