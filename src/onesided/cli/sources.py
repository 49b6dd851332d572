"""The options that say which data, under which policy, from which budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from onesided.cli.inputs import refuse_needed
from onesided.cli.lookups import LOOKUP_OPTIONS, placed, take_lookups
from onesided.cli.map_options import MAP_OPTIONS, take_map
from onesided.cli.output import working
from onesided.cli.remote import check_here, opened_elsewhere, token_option
from onesided.cli.stop import NOTHING_CHARGED, Stop
from onesided.client.address import is_address
from onesided.engine.registry import addresses
from onesided.errors import RequestError
from onesided.lists import split_list
from onesided.signals import signals_held
from onesided.spelling import meant

Command = TypeVar("Command", bound=Callable[..., Any])

config_option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="The file that describes data sets by name; default: onesided.toml.",
)

_EPSILON = click.option("--epsilon", required=True, help="The privacy loss of this release.")
_PART = click.option("--part", metavar="COLUMN=VALUE", help="Only this part of --partition-by.")
_STRICTER = click.option(
    "--stricter-policy", help="SQL; a policy for this release, under which more is sensitive."
)
_OPTIONS = (
    click.argument("source", required=False),
    config_option,
    token_option,
    click.option("--table", metavar="NAME", help="Instead of SOURCE, a table at --connection."),
    click.option(
        "--connection",
        metavar="ADDRESS",
        help=f"{addresses()}.",
    ),
    click.option(
        "--unit",
        help="What names one record, such as device,day or device,date(ts); rows: each row is one.",
    ),
    click.option("--policy", help="SQL; a row is sensitive where it is true or NULL."),
    _EPSILON,
    click.option(
        "--ledger",
        help="File or postgresql:// address that keeps the account; default: none, the account "
        "ends with the command.",
    ),
    click.option(
        "--budget", help="The most that all releases may cost; default without a ledger: epsilon."
    ),
    click.option("--name", help="The account's name; default: that of the file or table."),
    click.option("--data-version", "version", help="Your name for this state of the data."),
    click.option(
        "--partition-by",
        help="Columns of the unit; releases on different values of one cost their maximum, not "
        "their sum.",
    ),
    *LOOKUP_OPTIONS,
    *MAP_OPTIONS,
    _PART,
    _STRICTER,
    click.option(
        "--csv",
        multiple=True,
        metavar="OPTION=VALUE",
        help='How CSV files are written: delimiter=;, encoding=cp1252, decimal=",", thousands=., '
        "header=true, types=day:date,zip:text, date_format=%d.%m.%Y, timestamp_format=…",
    ),
    click.option(
        "--time-zone",
        multiple=True,
        metavar="ZONE|COLUMN=ZONE",
        help="Where hours and days are taken: Europe/Berlin for columns with a time zone, or "
        "ts=Europe/Berlin for a column in UTC.",
    ),
    click.option("--memory-limit", help="The memory that the engine may use, such as 2GB."),
    click.option(
        "--statement-timeout",
        type=float,
        help="Seconds that PostgreSQL may take for one statement; default: no limit.",
    ),
)
where_option = click.option("--where", help="SQL; only rows for which it is true.")
_FRESH = click.option("--fresh", is_flag=True, help="Pay again rather than repeat a paid release.")
purpose_option = click.option(
    "--purpose",
    help="What the release is for, in at most 200 characters; public, and kept in the ledger.",
)
yes_option = click.option("--yes", is_flag=True, help="Mean it: an epsilon above 10.")
_BY = click.option(
    "--by",
    default="",
    help="Group keys with commas: room,hour(ts),bucket(age, 10); default: all in one group.",
)
domain_option = click.option(
    "--domain",
    multiple=True,
    metavar="KEY=VALUES",
    help="The possible values of a key: a,b,c or a file; * as the last one stands for all others.",
)


stands_for_option = click.option(
    "--stands-for",
    metavar="KEYS",
    help="Columns or keys, with commas, by which all units are counted too: each row gets a "
    "weight, so that the sample stands for everybody. The sample has 0.7 of ε then.",
)
noisy_option = click.option(
    "--noisy", is_flag=True, help="Mean it: counts whose noise is above 16 % of a mean group."
)


class _MaxGroups(click.ParamType[Any]):
    """A whole number, or the word for the one that promises the least error."""

    name = "INTEGER|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value if value == "auto" else click.INT.convert(value, param, ctx)


max_groups_option = click.option(
    "--max-groups",
    type=_MaxGroups(),
    help="The most groups in which one unit counts; a count takes auto, and finds it.",
)
_ACCOUNT = ("unit", "policy", "ledger", "name", "partition_by", "withhold")
_ASKED = ("where", "by", "max_groups", "fresh", "yes")
"""The options that a question takes as they are called, where its command has them."""


def with_options(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    """Adds `options`, which `--help` lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def account_options(command: Command) -> Command:
    """Adds what says which data, under which policy, from which budget."""
    return with_options(command, _OPTIONS)


def steward_options(command: Command) -> Command:
    """Adds what says which data and which policy, without any release of them."""
    release = (_EPSILON, _PART, _STRICTER)
    return with_options(command, tuple(each for each in _OPTIONS if each not in release))


def plan_options(command: Command) -> Command:
    """Adds what a plan needs that is made for an ε or for an error."""
    return with_options(command, tuple(each for each in _OPTIONS if each is not _EPSILON))


def source_options(command: Command) -> Command:
    """The same with a filter."""
    return account_options(where_option(command))


def statement_options(command: Command) -> Command:
    """Adds what a release needs that says itself which rows it is about."""
    return account_options(_FRESH(purpose_option(yes_option(command))))


def unpriced_options(command: Command) -> Command:
    """The same without ε."""
    return plan_options(_FRESH(purpose_option(yes_option(command))))


def release_options(command: Command) -> Command:
    """Adds what every release needs."""
    return source_options(_FRESH(purpose_option(yes_option(command))))


def group_options(command: Command) -> Command:
    """Adds what says which groups: keys, their possible values, and how many count for a unit."""
    return with_options(command, (_BY, domain_option, max_groups_option))


@contextmanager
def opened(
    source: str | None, *, outputs: Sequence[Path] = (), stewards: bool = False, **options: Any
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The data set, and what the options say that questions have in common, as their arguments.

    Whoever interrupts the block is told what was charged.

    - `outputs`: files that will be written; refused where one of them is needed here.
    - `stewards`: the command is for whoever holds the data, and none for a server's.
    """
    token_file = options.pop("token_file", None)
    # What says the possible values of keys may be the name of a file.
    domains = named_values(options.pop("domain", ()), "--domain")
    asked = _asked(domains, options)
    stop = Stop.of_this_command()
    with stop.telling(lambda: NOTHING_CHARGED), working("Opening"):
        check_here(source, token_file)
        dataset: Any
        if source is not None and is_address(source):
            refuse_needed(outputs, {}, (token_file, *domains.values()))
            dataset = opened_elsewhere(source, token_file, options, stewards=stewards)
        else:
            from onesided.session import open_dataset

            arguments, file = dataset_arguments(source, **options)
            refuse_needed(outputs, arguments, (file, *domains.values()))
            dataset = open_dataset(**arguments)
    try:
        with stop.telling(lambda: _standing(dataset)):
            yield dataset, asked
            stop.check()
            stop.finish()
    finally:
        with signals_held() as held:
            dataset.close()
            held.clear()  # what was done is done, and has been said


def _asked(domains: Mapping[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """Takes out of `options` what is asked of the data set; the others say which one."""
    asked = {name: options.pop(name) for name in _ASKED if name in options}
    if "by" in asked:
        asked["by"] = split_list(asked["by"]) if asked["by"] else ()
    if domains:
        from onesided.session.domains import read_domain

        asked["domain"] = {key: read_domain(text) for key, text in domains.items()}
    part, purpose = options.pop("part", None), options.pop("purpose", None)
    asked["part"] = None if part is None else named_values((part,), "--part")
    asked["policy"] = options.pop("stricter_policy", None)
    return asked if purpose is None else {**asked, "purpose": purpose}


def _standing(dataset: Any) -> str:
    """What an interrupted request leaves behind in the account."""
    from onesided.loss import show

    if not dataset.account_opened:
        return NOTHING_CHARGED
    try:
        balance = dataset.budget
    except Exception:  # an interruption may leave anything behind
        return "Interrupted; what was charged stays charged, and is free to ask for again."
    if balance.spent == 0:
        return NOTHING_CHARGED
    return (
        f"Interrupted; the account has spent ε = {show(balance.spent)} of {show(balance.budget)}, "
        "and what was charged is free to ask for again."
    )


def dataset_arguments(
    source: str | None, *, config: Path | None, epsilon: str | None = None, **options: Any
) -> tuple[dict[str, Any], Path | None]:
    """The arguments of `onesided.open`, and the file that describes the data set, if one does.

    The data are named by their name, path or table; without a ledger the budget is that of one
    release, where there is one.

    `options` are arguments of `onesided.open`. They come before what a description says, except
    for those that name the account: two ways to say these would be two accounts for the same data.
    """
    lookups, way = take_lookups(options), take_map(options)
    given = {name: value for name, value in options.items() if value is not None}
    given.update(_named_options(given.pop("csv", ()), given.pop("time_zone", ())))
    for name in ("partition_by", "withhold"):
        if name in given:
            given[name] = split_list(given[name])
    described = None if source is None else description(source, config)
    if described is not None:
        twice = [name for name in _ACCOUNT if name in given and name in described.arguments]
        if twice:
            raise RequestError(
                f"{described.file} says the {twice[0]} of {source} already; leave "
                f"--{twice[0].replace('_', '-')} out."
            )
        arguments = {**described.arguments, **given}
    elif source is None and "table" not in given:
        raise RequestError("Name the data: a file, or a table with --table and --connection.")
    elif "policy" not in given:
        raise RequestError(
            "Say with --policy which rows are sensitive, or describe the data in onesided.toml."
        )
    elif "unit" not in given:
        raise RequestError(
            "Say what one record is: --unit device,day for the columns that name one, or --unit "
            "rows where every row is a record of its own."
        )
    else:
        arguments = {"source": source, **given}
    if lookups:
        if "lookups" in arguments:
            raise RequestError(f"{source} has its lookups in a file already; leave --lookup out.")
        arguments["lookups"] = placed(lookups, in_tables="table" in arguments)
    if way is not None:
        if "map" in arguments:
            raise RequestError(f"{source} has its map in a file already; leave --map out.")
        arguments["map"] = way
    if epsilon is not None:
        from onesided.loss import privacy_loss

        privacy_loss(epsilon)  # or its mistakes would be called those of a budget
    if "ledger" not in arguments and epsilon is not None:
        arguments.setdefault("budget", epsilon)
    return arguments, None if described is None else described.file


def _named_options(csv: Sequence[str], zones: Sequence[str]) -> dict[str, Any]:
    """Options that are written as name=value."""
    said: dict[str, Any] = {"csv": named_values(tuple(csv), "--csv")} if csv else {}
    if zones:
        alone = len(zones) == 1 and "=" not in zones[0]
        said["time_zone"] = zones[0] if alone else named_values(tuple(zones), "--time-zone")
    return said


def description(name: str, config: Path | None) -> Any:
    """What the file of descriptions says about `name`; None where it says nothing."""
    from onesided.session.description import USUAL_FILE, descriptions

    file = config or Path(USUAL_FILE)
    if config is None and not file.exists():
        return None
    known = descriptions(file)
    if config is not None and name not in known:
        raise RequestError(
            f"{file} describes no data set {name!r}{meant(name, known)}; it has {', '.join(known)}."
        )
    return known.get(name)


def named_values(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """`name=value` options as a mapping."""
    pairs = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise RequestError(f"{option} takes NAME=VALUE, such as room=a,b,c.")
        pairs[name.strip()] = value
    return pairs
