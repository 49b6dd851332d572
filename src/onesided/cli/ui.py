"""`onesided ui`: the console for one person on one machine."""

from __future__ import annotations

import json
import socket
import threading
import webbrowser
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import click

from onesided.cli.printing import note, say
from onesided.cli.sections import CommandInSections
from onesided.cli.server import loaded_serving
from onesided.cli.stop import Stop
from onesided.errors import OutputError, SourceError

_NAME = "console"
_LOGIN_MINUTES = 10
_READY_SECONDS = 30.0
_FILE, _LEDGER = "onesided.toml", "onesided.ledger"
_BEGUN = """\
# Written by `onesided ui`. Data sets that are added in the console stand below.
[server]
ledger = {ledger}
sources = [{sources}]
# Whoever measures how long an answer takes learns about the data. On your own machine that is you
# alone. Before others ask over a network, take this line out.
deadlines = "off"
"""


@click.command(
    cls=CommandInSections,
    example="onesided ui visits.parquet\nonesided ui onesided.toml --no-browser",
)
@click.argument("source", required=False, type=click.Path(path_type=Path))
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Where the console keeps its account and its settings; default: beside SOURCE.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default=True,
    help="0: any that is free.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def ui(source: Path | None, folder: Path | None, port: int, no_browser: bool) -> None:
    """Open the console: publish SOURCE and ask about it in a browser.

    SOURCE is a file of records, a folder of them, or an onesided.toml; default: this folder. Only
    this machine reaches the console. The address that is printed signs a browser in once.
    """
    stop = Stop.of_this_command()
    ends: list[str] = []
    with stop.telling(lambda: ends[-1] if ends else "The console has ended."):
        file = _described(source or Path("."), folder)
        config, serving = loaded_serving(file, host="127.0.0.1", port=port)
        with serving.bound(config) as sock:
            known = config.on_port(sock.getsockname()[1])
            address = f"{known.address}/login/{_login(known.ledger)}"
            say(address)
            note("The address signs a browser in once. Ctrl-C ends the console.")
            if not no_browser:
                at = ("127.0.0.1", known.port)
                threading.Thread(target=_open, args=(at, address), daemon=True).start()
            serving.serve(known, sock, said=ends.append)


def _described(source: Path, folder: Path | None) -> Path:
    """The file that describes what is served; begun where there is none yet."""
    if source.suffix == ".toml" and folder is None:
        return source
    if not source.exists():
        raise SourceError(f"There is no file {source}; name a file of records, or a folder.")
    below = source if source.is_dir() else source.parent
    usual = source / "onesided-ui" if source.is_dir() else source.with_suffix(".onesided")
    kept = folder or usual
    file = kept / _FILE
    if not file.exists():
        try:
            kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            begun = _BEGUN.format(
                ledger=json.dumps(_LEDGER),
                sources=json.dumps(str(below.resolve()), ensure_ascii=False),
            )
            file.write_text(begun, encoding="utf-8")
        except OSError:
            raise OutputError(f"{kept} cannot be written; name another --folder.") from None
    return file


def _login(ledger: str) -> str:
    """A token that signs one browser in, once and soon."""
    from onesided.ledger.desk import PersonRole, TokenPurpose, open_desk

    desk = open_desk(ledger)
    try:
        expires = desk.now() + timedelta(minutes=_LOGIN_MINUTES)
        return desk.add_token(
            _NAME, PersonRole.STEWARD, expires=expires, purpose=TokenPurpose.LOGIN
        )
    finally:
        desk.close()


def _open(at: tuple[str, int], address: str, opens: Any = webbrowser.open) -> None:
    """Open the browser as soon as somebody answers."""
    until = monotonic() + _READY_SECONDS
    while monotonic() < until:
        try:
            socket.create_connection(at, timeout=1).close()
        except OSError:
            sleep(0.1)
            continue
        opens(address)
        return
