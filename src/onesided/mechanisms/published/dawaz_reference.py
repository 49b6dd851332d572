"""`dawaz-reference`: DAWAz as the paper ran it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from onesided.mechanisms.base import Kind
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm
from onesided.mechanisms.published.dawa_reference import DawaReference
from onesided.mechanisms.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class DawazReference(Recipe):
    """DAWAz as the paper ran it: the recipe over `dawa-reference`, and as broken as that."""

    name: ClassVar[str] = "dawaz-reference"
    kind: ClassVar[Kind] = Kind.BROKEN
    summary: ClassVar[str] = "the recipe over dawa-reference (DAWAz as published); not private"

    inner: BucketAlgorithm = field(default_factory=DawaReference)
