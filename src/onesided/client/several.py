"""Several questions to a data set that is elsewhere, sent as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.client.dataset import RemoteDataset
from onesided.client.jobs import understood
from onesided.data.answers import Answers
from onesided.data.release import Release
from onesided.errors import RequestError

_NOT_SAID_ALONE = ("fresh", "into", "purpose", "yes")


@dataclass(frozen=True)
class NotedQuestion:
    """A question as it would be sent, and what its release is shown as."""

    kind: str
    fields: Mapping[str, Any]
    shown: Callable[[Mapping[str, Any]], Release]


class NotedDataset(RemoteDataset):
    """Notes questions in place of sending them."""

    def __init__(self, dataset: RemoteDataset) -> None:
        self._answers = dataset._answers

    def _ask(self, kind: str, asked: Mapping[str, Any], *rest: Any) -> Any:
        return NotedQuestion(kind, asked, rest[-1])


@dataclass(frozen=True)
class SeveralQuestions:
    """What `run` sends, and what it shows of the answers."""

    noted: Sequence[NotedQuestion]
    sent: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, dataset: RemoteDataset, wishes: Sequence[Mapping[str, Any]]) -> SeveralQuestions:
        """From questions as `run` takes them; the server checks what they say."""
        if isinstance(wishes, Mapping | str) or not wishes:
            raise RequestError('Questions are a list, such as [{"ask": "count", "by": "room"}].')
        book = NotedDataset(dataset)
        noted = [_noted(book, wish) for wish in wishes]
        sent = [
            {"kind": each.kind, **each.fields, **_own(wish)}
            for each, wish in zip(noted, wishes, strict=True)
        ]
        return cls(noted, sent)

    def answers(self, described: Mapping[str, Any]) -> Answers:
        """The releases by their names, in the order in which they were asked for."""
        with understood():
            named = list(zip(described["answers"].items(), self.noted, strict=True))
        return Answers({name: each.shown(said) for (name, said), each in named})


def _noted(book: NotedDataset, wish: Any) -> NotedQuestion:
    kind = wish.get("ask") if isinstance(wish, Mapping) else None
    method = _KINDS.get(kind) if isinstance(kind, str) else None
    if method is None:
        raise RequestError(
            f"Nothing is called {kind!r}; a question asks one of {', '.join(_KINDS)}."
        )
    wrong = next((name for name in _NOT_SAID_ALONE if name in wish), None)
    if wrong is not None:
        raise RequestError(f"{wrong} cannot be said for one of several questions.")
    given = {name: each for name, each in wish.items() if name not in ("ask", "name", "epsilon")}
    found: NotedQuestion = method(book, **given, epsilon=wish.get("epsilon", 1))
    return found


def _own(wish: Mapping[str, Any]) -> dict[str, Any]:
    """What a question among several says of itself."""
    said = {name: wish[name] for name in ("name", "epsilon") if name in wish}
    return {name: each if isinstance(each, str) else str(each) for name, each in said.items()}


_KINDS: Mapping[str, Callable[..., Any]] = {
    "count": RemoteDataset.count,
    "ngrams": RemoteDataset.ngrams,
    "touches": RemoteDataset.touches,
    "sum": RemoteDataset.sum,
    "mean": RemoteDataset.mean,
    "quantile": RemoteDataset.quantile,
    "histogram": RemoteDataset.histogram,
    "describe": RemoteDataset.describe,
    "distinct": RemoteDataset.distinct,
    "sample": RemoteDataset.sample,
    "sql": RemoteDataset.sql,
}
