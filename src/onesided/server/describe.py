"""The description of the API, from its routes: what is described is what is checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from onesided.server.fields import Schema
from onesided.server.problems import MEDIA_TYPE
from onesided.server.routing import JSON_TYPE, KEY_HEADER, KEY_PATTERN, ApiRoute
from onesided.version import __version__

_PARAMETER = re.compile(r"\{(\w+)\}")
_PROBLEM: Schema = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}


def openapi(routes: Sequence[ApiRoute]) -> dict[str, Any]:
    """OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for each in routes:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "onesided",
            "version": __version__,
            "description": "Ask data sets whose sensitive records nobody may see.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: ApiRoute) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": _who(route),
        "responses": {
            **{str(status): _answer(status, of) for status, of in route.answers.items()},
            **{str(status): _refusal(status) for status in route.statuses},
        },
    }
    names = _PARAMETER.findall(route.path)
    if names:
        said["parameters"] = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1, "maxLength": 200},
            }
            for name in names
        ]
    if route.keyed:
        pattern = f"^{KEY_PATTERN.pattern}$"
        key = {"name": KEY_HEADER, "in": "header", "schema": {"type": "string", "pattern": pattern}}
        said.setdefault("parameters", []).append(key)
    if route.roles:
        said["security"] = [{"token": []}]
    if route.body is not None:
        content = {JSON_TYPE: {"schema": route.body.schema}}
        said["requestBody"] = {"required": True, "content": content}
    return said


def _who(route: ApiRoute) -> str:
    if not route.roles:
        return "For everybody."
    return f"For the roles {', '.join(each.value for each in route.roles)}."


def _answer(status: int, of: Schema | tuple[str, ...]) -> dict[str, Any]:
    if isinstance(of, tuple):
        content: dict[str, Any] = {kind: {} for kind in of}
    else:
        content = {JSON_TYPE: {"schema": of}}
    return {"description": HTTPStatus(status).phrase, "content": content}


def _refusal(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
