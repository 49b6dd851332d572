"""The answers to several questions that were charged together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from onesided.data.release import Release
from onesided.loss import Loss, show
from onesided.visible import visible


class Answers(Mapping[str, Release]):
    """The releases of several questions, by their names and in their order."""

    def __init__(self, releases: Mapping[str, Release]) -> None:
        self._releases = dict(releases)

    def __getitem__(self, name: str) -> Release:
        return self._releases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._releases)

    def __len__(self) -> int:
        return len(self._releases)

    def __repr__(self) -> str:
        return f"<Answers: {', '.join(map(visible, self))}; ε = {show(self.loss.epsilon)} together>"

    def _repr_html_(self) -> str:
        from onesided import html

        return html.card("Answers", *(each._repr_html_() for each in self.values()))

    @property
    def loss(self) -> Loss:
        """What all of them cost together, as a plain sum."""
        return Loss.sequential(each.loss for each in self.values())

    @property
    def account(self) -> Mapping[str, Any]:
        """Where the account stood after the last of them."""
        last: Mapping[str, Any] = list(self.values())[-1].receipt["account"]
        return last
