"""`%load_ext onesided` in a notebook: `%%onesided visits --epsilon 0.2` above a SELECT.

`visits` is a variable that holds a data set, the name of one in onesided.toml, or the address of
one at a server. With `--plan` the SELECT is planned, which is free.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from typing import Any, NoReturn

from onesided.client.address import is_address
from onesided.data.askable import Askable
from onesided.errors import RequestError
from onesided.lists import split_list
from onesided.session import Dataset, load_dataset


def load(ipython: Any) -> None:
    """Register the magic."""
    opened: dict[str, Askable] = {}

    def onesided(line: str, cell: str) -> Any:
        """Answer the SELECT in the cell: `%%onesided DATASET --epsilon E`.

        - DATASET: a variable that holds a data set, a name in onesided.toml, or an address.
        - `--plan`: say what it would cost and how exact it would be; free. Also with `--error E`.
        - `--chart`: draw the answer.  `--into NAME`: keep it in a variable.
        - `--max-groups K`, `--max-rows M`, `--max-values V`, `--bound COLUMN=B`,
          `--grid COLUMN=STEP`, `--nonnegative COLUMNS`, `--mechanism M`,
          `--purpose WORDS`: as in `Dataset.sql`.
        """
        said = _arguments(line)
        dataset = _dataset(said.dataset, ipython.user_ns, opened)
        asked = _asked(said)
        answer = dataset.plan.sql(cell, **asked) if said.plan else dataset.sql(cell, **asked)
        if said.into:
            ipython.user_ns[said.into] = answer
            return None
        return answer.plot() if said.chart else answer

    ipython.register_magic_function(onesided, magic_kind="cell")


class _Parser(ArgumentParser):
    """Refuses with one sentence, where argparse would end the process."""

    def error(self, message: str) -> NoReturn:
        raise RequestError(f"%%onesided: {message}; see %%onesided? for its options.")


def _arguments(line: str) -> Namespace:
    parser = _Parser(prog="%%onesided", add_help=False, allow_abbrev=False)
    parser.add_argument("dataset")
    parser.add_argument("--epsilon")
    parser.add_argument("--error")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--chart", action="store_true")
    parser.add_argument("--into")
    parser.add_argument("--mechanism")
    parser.add_argument("--max-groups", type=int)
    parser.add_argument("--max-rows", type=int)
    parser.add_argument("--max-values", type=int)
    parser.add_argument("--bound", action="append", default=[])
    parser.add_argument("--grid", action="append", default=[])
    parser.add_argument("--nonnegative")
    parser.add_argument("--purpose")
    try:
        return parser.parse_args(shlex.split(line))
    except ValueError:
        raise RequestError("%%onesided: a quote is not closed.") from None


def _dataset(name: str, variables: dict[str, Any], opened: dict[str, Askable]) -> Any:
    """The variable of this name, or the described data set, which stays open."""
    found = variables.get(name)
    if _is_dataset(found):
        return found
    if name in variables:
        raise RequestError(f"{name} is no data set; open one with onesided.open.")
    if name not in opened and is_address(name):
        from onesided.client.connecting import connect

        opened[name] = connect(name)
    elif name not in opened:
        opened[name] = load_dataset(name)
    return opened[name]


def _is_dataset(found: Any) -> bool:
    """Whether it is one, here or at a server; the client is not loaded to find out."""
    elsewhere = sys.modules.get("onesided.client.dataset")
    remote = elsewhere is not None and isinstance(found, elsewhere.RemoteDataset)
    return isinstance(found, Dataset) or remote


def _asked(said: Namespace) -> dict[str, Any]:
    """The arguments of `Dataset.sql`, or of its plan, that were said."""
    if said.plan and said.purpose:
        raise RequestError("A plan has no purpose; leave --purpose out.")
    if not said.plan and said.error:
        raise RequestError("--error is for --plan; say --epsilon.")
    if not said.plan and not said.epsilon:
        raise RequestError("Say with --epsilon what the answer may cost, or --plan.")
    numbers = ("max_groups", "max_rows", "max_values")
    plain = ("epsilon", "error", "mechanism", *numbers, "purpose")
    asked = {name: getattr(said, name) for name in plain if getattr(said, name) is not None}
    for name, argument in (("bound", "bounds"), ("grid", "grid")):
        if getattr(said, name):
            asked[argument] = dict(map(_pair, getattr(said, name)))
    if said.nonnegative:
        asked["nonnegative"] = split_list(said.nonnegative)
    return asked


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark:
        raise RequestError(f"Write COLUMN=NUMBER and not {text}.")
    return name, value
