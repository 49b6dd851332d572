"""The protocol that every mechanism meets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.errors import MechanismRefused
from onesided.loss import Loss, Number, positive
from onesided.randomness import MINIMUM_RATE, Randomness, system

MOST_DIVIDED = 1024
"""Into how many parts a mechanism cuts a share beyond its parameters: levels, attributes, looks."""


def of_one_class(chosen: type, *methods: str) -> bool:
    """Whether the class that defines one of these methods of `chosen` defines all of them."""
    owners = {next(each for each in chosen.__mro__ if name in vars(each)) for name in methods}
    return len(owners) == 1


class Kind(Enum):
    """What a mechanism may be used for."""

    SOUND = "sound"  # proven and exact: a session may release it
    IDEALISED = "idealised"  # as in the paper, on floating point: experiments only
    BROKEN = "broken"  # does not keep its promise: attacks and experiments only


@dataclass(frozen=True)
class PublicShape:
    """What is public about any histogram: all that terms and choices may see of it.

    - `shape`: the number of bins along each dimension; None for an open domain.
    - `k`: the most bins that one unit may touch.
    - `n`: the public number of units, where it is known.
    - `total_public`: n stands for the total of the histogram.
    - `by_policy`: the policy's text tells which bins hold sensitive units only.

    No release reads these, which an expected error supposes:

    - `nonsensitive_share`: the share of non-sensitive units.
    - `likely_bins`: of an open domain, how many keys occur.
    - `likely_touches`: in how many bins a unit is on average, at most k; without it, in k.
    """

    shape: tuple[int, ...] | None
    k: int = 1
    n: int | None = None
    total_public: bool = False
    by_policy: bool = False
    nonsensitive_share: float = 0.5
    likely_bins: int | None = None
    likely_touches: float | None = None

    @classmethod
    def of(cls, data: Histogram) -> PublicShape:
        """The public shape of `data`; nothing here depends on a count."""
        shape = None if data.open_domain else data.shape
        return cls(shape, data.k, data.n, data.total_public, data.only_sensitive is not None)

    @property
    def bins(self) -> int | None:
        """d, the number of bins; None for an open domain."""
        return None if self.shape is None else prod(self.shape)

    @property
    def total(self) -> int | None:
        """n where it stands for the total."""
        return self.n if self.total_public else None

    @property
    def supposed_bins(self) -> int | None:
        """d, or what is supposed of it; None where nothing is."""
        return self.likely_bins if self.shape is None else self.bins

    @property
    def density(self) -> float | None:
        """The mean count of a bin, n·t/d where a unit is in t of them; None where d or n is."""
        bins = self.supposed_bins
        if bins is None or self.n is None:
            return None
        touches = min(self.k, bins) if self.likely_touches is None else self.likely_touches
        return self.n * touches / bins


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A randomised function of a histogram with a stated loss.

    Subclasses are frozen dataclasses whose fields are keyword-only parameters, and have a proof of
    their loss in the Markdown page of the same stem beside their module.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind]
    summary: ClassVar[str]
    #: Whether the bins must be declared; otherwise keys may be found through the noise.
    needs_domain: ClassVar[bool] = True
    #: Whether it makes use of bins that, by the policy's text, hold sensitive units only.
    reads_policy: ClassVar[bool] = False
    #: Whether it treats every bin for itself and all of them alike.
    bin_by_bin: ClassVar[bool] = False
    #: The number of dimensions that it answers for; None for any.
    dimensions: ClassVar[int | None] = None
    #: What `expected_error` takes for granted about the data, to be read after "if".
    assumes: ClassVar[str] = "units are spread evenly over the groups"
    #: Why a session does not release it, for mechanisms that are not sound.
    refusal: ClassVar[str] = (
        "it follows the paper on floating point; use it in experiments, and a sound mechanism here."
    )

    @abstractmethod
    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """The pair (s, t) that a release calibrated to OSDP `epsilon` costs.

        The pair does not depend on k: noise grows with k so that the pair need not. `fixed_n` says
        whether the release may read the public number of units, and is carried over where it does.
        """

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The expected mean of |x̃ᵢ − xᵢ| over the bins, from what is `public` alone, before paying.

        x̃ is the released value and x the count of *all* units, so what a mechanism leaves out
        counts as error. The data are taken to be as `assumes` says. None where the number of bins
        is not known, so that there is nothing to take a mean over.
        """
        return None

    def check(self, public: PublicShape) -> None:
        """Refuse, before anything is paid, a histogram that it cannot answer for."""
        if self.needs_domain and public.shape is None:
            raise MechanismRefused(
                f"{self.name} needs a declared domain; declare the group keys, or use one-sided."
            )

    def check_rate(self, k: int, epsilon: Fraction) -> None:
        """Refuse, before anything is paid, noise that is wider than the samplers draw it.

        The noise of a step has a rate of ε/k times the step's share. The shares that are parameters
        are multiplied here, and no mechanism divides further by more than `MOST_DIVIDED`.
        """
        if epsilon * self.least_share / k < MINIMUM_RATE * MOST_DIVIDED:
            raise MechanismRefused(
                f"epsilon is too small for {self.name} where a unit can be in {k:,} groups; ask "
                "for a larger one, or for a smaller max_groups."
            )

    @property
    def least_share(self) -> Fraction:
        """What is left of ε where all shares that are parameters, or their rests, are taken.

        A share of all or nothing leaves one step alone, which nothing is taken from.
        """
        share = Fraction(1)
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mechanism):
                share *= value.least_share
            elif each.name.endswith("_share"):
                share *= min(value, 1 - value) or 1
        return share

    @abstractmethod
    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        """All that can be said of a release at OSDP `epsilon` before the data are read."""

    @abstractmethod
    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        """Run on `data` at OSDP `epsilon`; called by `release` after the checks.

        Nothing that `check` has let pass may raise here, for any counts.
        """

    def release(
        self, data: Histogram, *, epsilon: Number, rng: Randomness | None = None
    ) -> Measurement:
        """Run on `data`, calibrated to OSDP `epsilon`, with noise from `rng` or the system."""
        return self.measure(data, self._checked(data, epsilon), rng or system())

    def measure_many(
        self, data: Histogram, epsilon: Fraction, runs: int, rng: Randomness
    ) -> NDArray[Any] | None:
        """Many runs of `measure` at once: an array with a row for each, or None where it has none.

        From a row follows all that a run releases, and nothing else is in it. For a mechanism that
        is `bin_by_bin`, many runs are one run on a long histogram.
        """
        if not self.bin_by_bin or data.open_domain:
            return None
        found = self.measure(data.rearranged(np.tile(np.arange(data.bins), runs)), epsilon, rng)
        rows = [each.reshape(runs, data.bins) for each in (found.value, *found.beside)]
        return np.hstack(rows)

    def release_many(
        self, data: Histogram, *, epsilon: Number, runs: int, rng: Randomness
    ) -> NDArray[Any] | None:
        """Many runs of `release` at once, as `measure_many` gives them.

        None too where a subclass has a `measure` of its own, which the many runs would not show.
        """
        generic = type(self).measure_many is Mechanism.measure_many
        if not generic and not of_one_class(type(self), "measure", "measure_many"):
            return None
        return self.measure_many(data, self._checked(data, epsilon), runs, rng)

    def _checked(self, data: Histogram, epsilon: Number) -> Fraction:
        """The exact `epsilon`, once all that is public about the run was looked at."""
        exact = positive(epsilon)
        self.check(PublicShape.of(data))
        self.check_rate(data.k, exact)
        return exact


@dataclass(frozen=True)
class Probe(ABC):
    """The released answers of a first look: counts as a `Measurement` has them, and others.

    - `value`: a count for every declared bin, or for each listed key.
    - `keys`: of an open domain the places of the listed keys.
    """

    value: Counts
    keys: Counts | None

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The other answers as plain JSON."""


class Choice(ABC):
    """What an adaptive mechanism runs after its probe."""

    #: The choice in words, for the receipt.
    label: str

    @property
    @abstractmethod
    def terms(self) -> MeasurementTerms:
        """Those of this step alone: its loss comes to that of the probe, which is paid already.

        They follow from the stored probe and from public facts.
        """

    @abstractmethod
    def measure(
        self, data: Histogram, rng: Randomness, listed: Counts | None = None
    ) -> Measurement:
        """Run on `data`.

        - `listed`: of an open domain where the keys stand that the probe has listed, in their
          order; by default where the probe found them. A session that stored the probe knows keys
          and looks their places up anew: places among secret keys are not for storing.
        """


@dataclass(frozen=True, kw_only=True)
class AdaptiveMechanism(Mechanism):
    """A mechanism that looks first and then decides how to spend the rest.

    A session takes the steps one by one, so that each is charged before it runs and stored before
    the next: `probe_terms`, `probe`, `choose` (free: it sees the probe and public facts alone), the
    choice's `terms`, the choice's `measure`. Of every choice the two losses add up to the OSDP
    ε exactly; `loss` is a pair that covers every choice, for those who must charge beforehand.
    """

    @abstractmethod
    def probe_terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        """What can be said of the `probe` before the data are read."""

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        """Those of both steps, as far as they are known before the first one."""
        loss = self.loss(epsilon, fixed_n=public.total_public)
        noise = f"{self.probe_terms(public, epsilon).noise}; then that of what the probe suggests"
        return MeasurementTerms(loss, noise, whole=False)

    @abstractmethod
    def probe(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Probe:
        """The first look at `data`, itself a release."""

    @abstractmethod
    def stored_probe(
        self, answers: Mapping[str, Any], value: Counts, keys: Counts | None = None
    ) -> Probe:
        """A probe again from what was stored of it: `answers` as `Probe.to_json` gave them."""

    @abstractmethod
    def choose(
        self, probe: Probe, public: PublicShape, epsilon: Fraction, rng: Randomness
    ) -> Choice:
        """How to spend the rest; `rng` serves simulations on made-up data."""

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        """Both steps in one, for bare histograms."""
        probe = self.probe(data, epsilon, rng)
        choice = self.choose(probe, PublicShape.of(data), epsilon, rng)
        return choice.measure(data, rng)
