"""`onesided serve FILE`: the server itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from onesided.cli.printing import say
from onesided.cli.sections import CommandInSections
from onesided.cli.stop import Stop
from onesided.errors import RequestError

_PACKAGES = ("starlette", "uvicorn", "anyio", "h11", "jinja2", "markupsafe")


@click.command(
    cls=CommandInSections,
    name="start",
    example="onesided serve token add --config onesided.toml --role steward --name sue\n"
    "onesided serve onesided.toml",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--host", help="The address to listen at; default: 127.0.0.1, this machine alone.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Default: 8642; 0: any that is free.")
@click.option("--behind-proxy", is_flag=True, help="A proxy before the server encrypts.")
@click.option("--tls-cert", type=click.Path(path_type=Path), help="The server's certificate.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its key.")
def start(file: Path, behind_proxy: bool, **options: Any) -> None:
    """Serve the data sets that FILE describes, until Ctrl-C or SIGTERM.

    Files are copied into a private folder at the first start, and that state is served until a
    steward opens a new one. Requests are logged on standard error, without answers or values.
    """
    stop = Stop.of_this_command()
    ends: list[str] = []
    with stop.telling(lambda: ends[-1] if ends else "The server has ended."):
        config, serving = loaded_serving(file, behind_proxy=behind_proxy or None, **options)
        with serving.bound(config) as sock:
            known = config.on_port(sock.getsockname()[1])
            many = len(known.datasets)
            say(f"serving {many} data set{'' if many == 1 else 's'} at {known.address}")
            serving.serve(known, sock, said=ends.append)


@contextmanager
def server_needed() -> Iterator[None]:
    """Where the block lacks what the server is made of, how to get it."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise RequestError(
            "The server needs more than the core: pip install 'onesided[server]'."
        ) from None


def loaded_serving(file: Path, **options: Any) -> Any:
    """What is to be served, and what serves it; refused where the extra is missing."""
    with server_needed():
        from onesided.server import serving
    from onesided.server.config import ServerConfig

    return ServerConfig.read(file, **options), serving
