"""Bins about which the policy's text alone decides."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from onesided.language.tree import Column
from onesided.policy import Policy
from onesided.session.grouping import Grouping
from onesided.session.scope import AnyPolicy


def only_sensitive(policy: AnyPolicy, groups: Grouping) -> NDArray[np.bool_] | None:
    """Whether each bin can hold sensitive units only; None where the policy reads other columns.

    A unit is in a bin because of one of its rows. Where the policy reads nothing but columns that
    are group keys, the bin's labels are what it reads of that row; if it calls them sensitive, so
    is every unit in the bin. A catch-all bin stands for many values and is never called so.
    """
    if not isinstance(policy, Policy) or groups.bins is None:
        return None
    plain = {
        key.expression.name: place
        for place, key in enumerate(groups.keys)
        if isinstance(key.expression, Column)
    }
    read = [plain.get(column) for column in policy.columns]
    if any(place is None for place in read):
        return None
    labels = [domain.labels for domain in groups.domains.values() if domain is not None]
    axes = sorted({place for place in read if place is not None})
    shape = tuple(len(each) if place in axes else 1 for place, each in enumerate(labels))
    names = {place: name for name, place in plain.items()}
    decided = [
        None not in values
        and policy.is_sensitive({names[place]: v for place, v in zip(axes, values, strict=True)})
        for values in product(*(labels[place] for place in axes))
    ]
    mask = np.array(decided, dtype=np.bool_).reshape(shape)
    return np.broadcast_to(mask, tuple(map(len, labels)) or (1,)).copy()
