"""The server's answers: which requests there are, who may ask, and what a failure is in HTTP."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from relax_core.cli.integration.serving.arguments import BadRequestError, CommandRequest
from relax_core.cli.integration.serving.description import Refusal, description
from relax_core.cli.integration.serving.processes import BusyError, EndedError, Processes
from relax_core.cli.terminal import BAD_USAGE, LIMIT
from relax_core.engine.limits import REQUEST_BYTES

BODY_BYTES: Final = REQUEST_BYTES
_DRAINED_BYTES: Final = 4 * BODY_BYTES
_BODY_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = "1"
_LOCAL: Final = ("127.0.0.1", "localhost", "::1")
_PROBLEM: Final = "application/problem+json"
_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_JSON_TYPE: Final = re.compile(r"application/json\s*(;.*)?", re.IGNORECASE)
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::\d+)?")


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets by what is meant for this server: a page of another site that comes here by a name of its own is not."""

    app: ASGIApp
    hosts: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        refusal = self._refusal([(name, value.decode("latin-1")) for name, value in scope["headers"]])
        await (self.app if refusal is None else refusal)(scope, receive, sent)

    def _refusal(self, headers: Sequence[tuple[bytes, str]]) -> Response | None:
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or _name_of(hosts[0]) not in self.hosts:
            told = f"This server does not answer to the name {hosts[0][:100]}." if hosts else "There is no Host."
            return problem(HTTPStatus.MISDIRECTED_REQUEST, told)
        origins = [value for name, value in headers if name == b"origin"]
        sites = [value for name, value in headers if name == b"sec-fetch-site"]
        if any(origin != f"http://{hosts[0]}" for origin in origins) or any(site == "cross-site" for site in sites):
            return problem(HTTPStatus.FORBIDDEN, "Pages of other sites may not ask.")
        return None


def _name_of(host: str) -> str:
    found = _HOST.fullmatch(host)
    return "" if found is None else found[1].strip("[]").lower()


def problem(status: HTTPStatus, detail: str, headers: dict[str, str] | None = None, **more: Any) -> Response:
    """Return a problem as RFC 9457 has it."""
    told = Refusal(status.phrase, status.value, detail, **more)
    return Response(msgspec.json.encode(told), status.value, headers, _PROBLEM)


def application(requests: Iterable[CommandRequest], processes: Processes, hosts: Iterable[str] = ()) -> ASGIApp:
    """Return what answers the requests; `hosts` are names of this machine besides those that it has for itself."""
    known = tuple(requests)
    described = Response(msgspec.json.encode(description(known)), media_type="application/json")

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        await processes.start()
        try:
            yield
        finally:
            processes.close()

    async def describe(_request: Request) -> Response:
        return described

    async def healthy(_request: Request) -> Response:
        return Response(b'{"status":"ok"}', media_type="application/json")

    routes = [
        Route("/openapi.json", describe, methods=["GET"]),
        Route("/health", healthy, methods=["GET"]),
        *(Route(f"/{item.name}", _Endpoint(item, processes).answer, methods=["POST"]) for item in known),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refused, Exception: _mistake})
    return Guard(app, frozenset((*_LOCAL, *(host.lower() for host in hosts))))


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    told = "There is no such address; GET /openapi.json describes those there are." if status == 404 else error.detail
    return problem(status, told, dict(error.headers or {}))


async def _mistake(_request: Request, error: Exception) -> Response:
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, f"This is a mistake in RelaxScope: {type(error).__name__}.")


@dataclass(frozen=True, slots=True)
class _Endpoint:
    request: CommandRequest
    processes: Processes

    async def answer(self, request: Request) -> Response:
        """Carry out the command that is asked for, as long as the client waits for it."""
        if _JSON_TYPE.fullmatch(request.headers.get("content-type", "")) is None:
            return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body has to be application/json.")
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await _body(request)
        except TimeoutError:
            return problem(HTTPStatus.REQUEST_TIMEOUT, f"The body did not come within {_BODY_SECONDS:g} s.")
        except ClientDisconnect:
            return Response(status_code=HTTPStatus.BAD_REQUEST)
        if body is None:
            told = f"A request has at most {BODY_BYTES:,} B."
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told, {"connection": "close"})
        try:
            arguments, files = self.request.arguments(body)
        except BadRequestError as error:
            return problem(HTTPStatus.BAD_REQUEST, str(error), exit_status=BAD_USAGE)
        return await self._carried_out(request, arguments, files)

    async def _carried_out(self, request: Request, arguments: tuple[str, ...], files: dict[str, Any]) -> Response:
        command = asyncio.create_task(self.processes.carry_out(arguments, files))
        leaving = asyncio.create_task(_left(request))
        try:
            await asyncio.wait((command, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not command.done():
                return Response(status_code=HTTPStatus.BAD_REQUEST)
            found = command.result()
        except BusyError:
            told = "All processes are at work, and others wait already."
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, told, {"retry-after": _RETRY_SECONDS})
        except EndedError:
            return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The process of the command ended before its answer.")
        finally:
            for task in (command, leaving):
                task.cancel()
            await asyncio.gather(command, leaving, return_exceptions=True)
        if found.status in (BAD_USAGE, LIMIT):
            status = HTTPStatus.BAD_REQUEST if found.status == BAD_USAGE else HTTPStatus.UNPROCESSABLE_ENTITY
            more: dict[str, Any] = {"results": found.results, "stopped": found.stopped}
            return problem(
                status,
                found.messages.strip().removeprefix("error: ") or found.meaning,
                exit_status=found.status,
                **more,
            )
        return Response(msgspec.json.encode(found), media_type="application/json")


async def _body(request: Request) -> bytes | None:
    """Read the body; `None` if it is too large, of which nothing is kept.

    The rest of one that is not far too large is read all the same, so that its sender comes to read the answer.
    """
    parts, size = bytearray(), 0
    if int(request.headers.get("content-length") or 0) > _DRAINED_BYTES:
        return None
    async for part in request.stream():
        size += len(part)
        if size > _DRAINED_BYTES:
            return None
        if size <= BODY_BYTES:
            parts += part
        else:
            parts.clear()
    return bytes(parts) if size <= BODY_BYTES else None


async def _left(request: Request) -> None:
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
