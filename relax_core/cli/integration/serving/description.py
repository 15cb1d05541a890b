"""The OpenAPI description of the requests, made from their types."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from relax_core.cli.integration.serving.arguments import CommandRequest
from relax_core.cli.integration.serving.exchange import Outcome, Unanswered
from relax_core.engine.protocol import RELEASE

_ABOUT: Final = (
    "The commands of the command line as requests, with the limits that they have there. Files are sent as text, or in "
    "base64, under the names by which the members of a request mean them; no other file is read."
)
_SCHEMAS: Final = "#/components/schemas/"


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request was not carried out (RFC 9457)."""

    title: str
    status: int
    """That of HTTP."""
    detail: str
    exit_status: int | None = None
    """That of the command line: 2 for bad usage, 3 for a limit that was reached."""
    results: list[dict[str, Any]] | None = None
    """What was printed before."""
    stopped: tuple[Unanswered, ...] = ()


_PROBLEMS: Final = (
    ("400", "The request is not as described here, or the command refuses it: bad usage."),
    ("403", "It comes from a page of another site."),
    ("408", "Its body did not come in time."),
    ("413", "It is too large."),
    ("415", "It is not JSON."),
    ("421", "It is meant for a host of another name."),
    ("422", "The program reached a limit of time, memory or output."),
    ("500", "A mistake in RelaxScope, or a process that was ended from outside."),
    ("503", "Too many requests wait; ask again later."),
)


def description(requests: Iterable[CommandRequest]) -> dict[str, Any]:
    """Return the description of the requests, in OpenAPI 3.1."""
    known = tuple(requests)
    schemas, parts = msgspec.json.schema_components(
        [Outcome, Refusal, *(item.type for item in known)], ref_template=_SCHEMAS + "{name}"
    )
    outcome, refused = schemas[:2]
    problems = {
        code: {"description": words, "content": {"application/problem+json": {"schema": refused}}}
        for code, words in _PROBLEMS
    }
    paths = {
        f"/{item.name}": {
            "post": {
                "operationId": item.name,
                "summary": item.summary,
                "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
                "responses": {
                    "200": {
                        "description": "The command was carried out: status 0, 1 or 4.",
                        "content": {"application/json": {"schema": outcome}},
                    },
                    **problems,
                },
            }
        }
        for item, schema in zip(known, schemas[2:], strict=True)
    }
    for item in known:
        _add_groups(parts[item.type.__name__], item.groups)
    return {
        "openapi": "3.1.0",
        "info": {"title": "RelaxScope", "version": RELEASE, "summary": "Compiler programs", "description": _ABOUT},
        "paths": paths | _own_paths(),
        "components": {"schemas": parts},
    }


def _own_paths() -> dict[str, Any]:
    def path(name: str, summary: str) -> dict[str, Any]:
        content = {"application/json": {"schema": {"type": "object"}}}
        answers = {"200": {"description": "It is here.", "content": content}}
        return {"get": {"operationId": name, "summary": summary, "responses": answers}}

    return {"/openapi.json": path("openapi", "This description."), "/health": path("health", "Say that it is there.")}


def _add_groups(schema: dict[str, Any], groups: Iterable[tuple[str, ...]]) -> None:
    """Say of members that exclude each other that at most one is there; a flag that is false counts as not there."""
    properties = schema["properties"]

    def there(name: str) -> dict[str, Any]:
        is_flag = properties[name].get("type") == "boolean"
        return {"required": [name]} | ({"properties": {name: {"const": True}}} if is_flag else {})

    pairs = [
        {"not": {"allOf": [there(one), there(other)]}}
        for group in groups
        for number, one in enumerate(group)
        for other in group[number + 1 :]
    ]
    if pairs:
        schema["allOf"] = pairs
