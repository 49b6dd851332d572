"""Requests and answers. The token goes to one server and nowhere else.

Redirections are not followed. What is lost on its way is sent again, a question under the same key:
the server answers it as it answered the first, and it is paid once.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from onesided.client.address import DatasetAddress
from onesided.client.problems import ReplyLost, ServerUnreachable, error_of
from onesided.errors import RequestError
from onesided.version import __version__

try:
    import httpx
except ImportError:
    raise RequestError("A server is asked with the extra onesided[client]; install it.") from None

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before each further attempt."""
LONGEST_PAUSE = 30.0
"""A server that asks for more patience is not asked again."""
LARGEST_JSON = 64 * 1024 * 1024
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_BUSY = (429, 503)
_GONE = "The server cannot be reached, or stopped answering; ask again later."
Content = TypeVar("Content")


@dataclass(frozen=True)
class ServerReply:
    """The status and the JSON of an answer."""

    status: int
    content: Any


class Wire:
    """A server and the token for it. Any thread may use it."""

    def __init__(
        self,
        address: DatasetAddress,
        token: str,
        *,
        timeout: float = 60.0,
        certificates: str | Path | None = None,
    ) -> None:
        self._base = address.base
        self._headers = {
            "Authorization": f"Bearer {token}",
            "User-Agent": f"onesided/{__version__}",
        }
        self._client = httpx.Client(
            follow_redirects=False,
            timeout=httpx.Timeout(timeout, connect=min(timeout, 10.0)),
            # A proxy would be shown what goes to this machine without any cipher.
            trust_env=not address.is_local,
            verify=_trusted(certificates) if address.is_encrypted else False,
        )

    def get(self, path: str) -> Any:
        """The JSON of a resource."""
        return self._answered("GET", path, _json).content

    def post(self, path: str, body: Mapping[str, Any], *, key: str = "") -> ServerReply:
        """The answer to a request; `key` names one that changes something, to be sent again."""
        return self._answered("POST", path, _json, body=body, key=key)

    def bytes_of(self, path: str, accept: str) -> bytes:
        """The content of a resource."""
        return self._answered("GET", path, lambda answer: answer.read(), accept=accept)

    def save(self, path: str, accept: str, file: Path) -> None:
        """The content of a resource as a file."""
        self._answered("GET", path, lambda answer: _copied(answer, file), accept=accept)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _answered(
        self,
        method: str,
        path: str,
        read: Callable[[httpx.Response], Content],
        *,
        accept: str = "application/json",
        body: Mapping[str, Any] | None = None,
        key: str = "",
    ) -> Content:
        """What `read` takes from the answer, which is asked for again where it was lost."""
        request = self._request(method, path, accept, body, key)
        arrived = False
        for pause in (*PAUSES, None):
            try:
                with closing(self._client.send(request, stream=True)) as answer:
                    wanted = _patience(answer, pause)
                    if wanted is None:
                        _check(answer)
                        return read(answer)
            except httpx.HTTPError as error:
                if "CERTIFICATE_VERIFY_FAILED" in str(error):
                    raise ServerUnreachable(
                        "The server's certificate is not trusted here; name a file of those that "
                        "are by certificates=… or SSL_CERT_FILE."
                    ) from None
                arrived = arrived or not isinstance(error, _NOT_SENT)
                if pause is None:
                    raise (ReplyLost if arrived else ServerUnreachable)(_GONE) from None
                wanted = pause
            time.sleep(wanted)
        raise AssertionError("the last attempt returns or raises")

    def _request(
        self, method: str, path: str, accept: str, body: Mapping[str, Any] | None, key: str
    ) -> httpx.Request:
        headers = {**self._headers, "Accept": accept}
        if key:
            headers["Idempotency-Key"] = key
        try:
            return self._client.build_request(method, self._base + path, json=body, headers=headers)
        except (httpx.InvalidURL, UnicodeError):
            raise RequestError("The address of the server cannot be read.") from None
        except ValueError:
            raise RequestError("A question holds finite numbers alone; NaN is none.") from None


def _check(answer: httpx.Response) -> None:
    """Raise what the server refused."""
    if answer.is_redirect:
        raise ServerUnreachable(
            "The server redirects to another address, and the token is not sent there; use that "
            "address yourself if you trust it."
        )
    if not answer.is_success:
        raise error_of(answer.status_code, _limited(answer))


def _json(answer: httpx.Response) -> ServerReply:
    content = _limited(answer)
    try:
        return ServerReply(answer.status_code, json.loads(content) if content else None)
    except ValueError:
        raise ServerUnreachable("The answer is no JSON; is a onesided server there?") from None


def _patience(answer: httpx.Response, pause: float | None) -> float | None:
    """How long to wait before a busy server is asked again; None where it is not."""
    if pause is None or answer.status_code not in _BUSY:
        return None
    try:
        wanted = max(pause, float(answer.headers.get("Retry-After", "")))
    except ValueError:
        wanted = pause
    return wanted if wanted <= LONGEST_PAUSE else None


def _limited(answer: httpx.Response) -> bytes:
    """The body, which is refused where it is larger than any answer of a server."""
    size = 0
    pieces: list[bytes] = []
    for piece in answer.iter_bytes():
        size += len(piece)
        if size > LARGEST_JSON:
            raise ServerUnreachable("The server's answer is larger than it may be.")
        pieces.append(piece)
    return b"".join(pieces)


def _copied(answer: httpx.Response, file: Path) -> None:
    with file.open("wb") as target:
        for piece in answer.iter_bytes():
            target.write(piece)


def _trusted(certificates: str | Path | None) -> ssl.SSLContext | bool:
    """The authorities of the system, or those of a file."""
    if certificates is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(certificates))
    except (OSError, ssl.SSLError):
        raise RequestError(f"{certificates} cannot be read as a file of certificates.") from None
