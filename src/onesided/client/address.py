"""Where a data set is: `https://host/visits`; on this machine `http://127.0.0.1:8642/visits`."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, quote, unquote, urlsplit

from onesided.errors import RequestError

SCHEMES = ("https", "http")
API = "/api/v1"


@dataclass(frozen=True)
class DatasetAddress:
    """A server and a data set of it.

    - `base`: scheme, host and port, and the path below which the server is.
    """

    base: str
    dataset: str

    @classmethod
    def of(cls, text: str) -> DatasetAddress:
        """Read an address; refused where a token could be seen on its way."""
        try:
            parts = urlsplit(text.strip())
            port = parts.port
        except ValueError:
            raise RequestError(_how("The address cannot be read")) from None
        if parts.scheme.lower() not in SCHEMES or not parts.hostname:
            raise RequestError(_how("That is no address of a data set"))
        if parts.username is not None or parts.password is not None:
            raise RequestError(
                "An address is seen by others, so no token stands in it; say it by token=…, "
                "ONESIDED_TOKEN or a file."
            )
        if parts.query or parts.fragment:
            raise RequestError(_how("An address of a data set ends with its name"))
        if parts.scheme.lower() == "http" and not is_loopback(parts.hostname):
            raise RequestError(
                "Over http everybody on the way could read the token and the answers; use https."
            )
        path, _, dataset = parts.path.rstrip("/").rpartition("/")
        if not dataset or ".." in path:
            raise RequestError(_how("The address lacks the name of the data set"))
        return cls(_base(parts, port, path), unquote(dataset))

    @property
    def api(self) -> str:
        """The address of the data set in the interface of the server."""
        return f"{API}/datasets/{quote(self.dataset, safe='')}"

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(urlsplit(self.base).hostname or "")

    @property
    def is_encrypted(self) -> bool:
        """Whether there is a certificate to look at; over http, on this machine, there is none."""
        return self.base.startswith("https:")

    def __str__(self) -> str:
        return f"{self.base}/{self.dataset}"


def is_address(text: str | None) -> bool:
    """Whether a source is an address of a server."""
    return text is not None and text.partition("://")[0].lower() in SCHEMES and "://" in text


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very name."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _base(parts: SplitResult, port: int | None, path: str) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    where = host if port is None else f"{host}:{port}"
    return f"{parts.scheme.lower()}://{where}{path}"


def _how(what: str) -> str:
    return f"{what}; write it like https://host/visits."
