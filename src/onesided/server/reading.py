"""The body of a request: read within limits of size, time and depth, as JSON without surprises."""

from __future__ import annotations

import asyncio
import json
import math
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request

from onesided.errors import RequestError
from onesided.server.config import ServerLimits
from onesided.server.problems import Problem

_DIGITS = 400
_EXACT = 2**53
_MOST_IGNORED = 8_000_000
"""Bytes of a request that is too large which are still taken, so that its sender hears of it."""


async def read_json(request: Request, limits: ServerLimits) -> Any:
    """The JSON of a request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(415, "Send JSON, with the header Content-Type: application/json.")
    try:
        async with asyncio.timeout(limits.send_seconds):
            body = await _bytes(request, limits.body_bytes)
    except TimeoutError:
        raise Problem(400, "The request did not arrive in time.") from None
    except ClientDisconnect:
        raise Problem(400, "The request did not arrive whole.") from None
    return parsed(body, limits)


async def read_form(request: Request, limits: ServerLimits) -> dict[str, list[str]]:
    """What a form of a page sends: texts by name, in the order of the page."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "Send this page's form.")
    try:
        async with asyncio.timeout(limits.send_seconds):
            body = await _bytes(request, limits.body_bytes)
    except TimeoutError:
        raise Problem(400, "The request did not arrive in time.") from None
    except ClientDisconnect:
        raise Problem(400, "The request did not arrive whole.") from None
    try:
        found = parse_qs(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=limits.list_items,
        )
    except ValueError:
        raise RequestError("The form cannot be read.") from None
    for name, values in found.items():
        for text in (name, *values):
            _check_text(text)
    return found


async def _bytes(request: Request, most: int) -> bytes:
    declared = request.headers.get("content-length", "0")
    too_large = not declared.isdecimal() or int(declared[:20]) > most
    if too_large and (not declared.isdecimal() or int(declared[:20]) > _MOST_IGNORED):
        raise _too_large(most)
    body, size = bytearray(), 0
    async for part in request.stream():
        size += len(part)
        too_large = too_large or size > most
        if size > _MOST_IGNORED:
            raise _too_large(most)
        if not too_large:
            body += part
    if too_large:
        raise _too_large(most)
    return bytes(body)


def _too_large(most: int) -> Problem:
    # What may still be on its way is not read: the connection ends with this answer.
    return Problem(413, f"A request has at most {most:,} bytes.", headers={"Connection": "close"})


def parsed(body: bytes, limits: ServerLimits) -> Any:
    """JSON with exact numbers, without names that stand twice, not too deep, and all of it text."""
    try:
        found = json.loads(
            body.decode("utf-8"),
            parse_float=_decimal,
            parse_int=_whole,
            parse_constant=_no_number,
            object_pairs_hook=_once,
        )
    except (ValueError, RecursionError):
        raise RequestError("The request is not JSON.") from None
    _check(found, limits.depth)
    return found


def _decimal(text: str) -> Decimal:
    found = Decimal(text)
    if len(text) > _DIGITS or (found and abs(found.adjusted()) > _DIGITS):
        raise RequestError("A number in the request is too long.")
    if math.isinf(float(found)):
        raise RequestError("A number in the request is too large.")
    return found


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise RequestError("A number in the request is too long.")
    return int(text)


def kept(value: Any) -> Any:
    """What was read, as it can be written and read again: numbers that stay exact as they are."""
    if isinstance(value, Decimal):
        if value == value.to_integral_value() and abs(value) < _EXACT:
            return int(value)
        near = float(value)
        return near if Decimal(repr(near)) == value else str(value)
    if isinstance(value, dict):
        return {name: kept(each) for name, each in value.items()}
    if isinstance(value, list):
        return [kept(each) for each in value]
    return value


def _no_number(text: str) -> None:
    raise RequestError(f"{text} is not JSON.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RequestError("A name stands twice in one object of the request.")
    return found


def _check(value: Any, depth: int) -> None:
    if depth < 0:
        raise RequestError("The request is nested too deeply.")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for name, each in value.items():
            _check_text(name)
            _check(each, depth - 1)
    elif isinstance(value, list):
        for each in value:
            _check(each, depth - 1)


def _check_text(text: str) -> None:
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise RequestError("A text in the request is no text: it holds NUL or half a character.")
