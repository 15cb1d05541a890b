"""An editor for the tests of the debug adapter: what both sides send is held against the protocol's own schema."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from jsonschema import Draft4Validator

from tests.code_rules import REPOSITORY

Json: TypeAlias = Any
SCHEMA = "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"
SECONDS = 120.0
_LOOSER = {"InvalidatedEvent": "Event", "RestartRequest": "Request"}
"""The event is of a later version of the protocol; a configuration fits both of two kinds of which it must fit one."""


@cache
def _validator(definition: str) -> Draft4Validator:
    """Return what checks messages of one kind; debugpy carries the schema of the protocol as it was published."""
    spec = find_spec("debugpy")
    assert spec is not None
    assert spec.origin is not None
    schema = json.loads((Path(spec.origin).parent / SCHEMA).read_text(encoding="utf-8"))
    assert definition in schema["definitions"], definition
    return Draft4Validator({"$ref": f"#/definitions/{definition}", "definitions": schema["definitions"]})


def check(message: Json) -> None:
    """See that a message is one of the protocol."""
    match message:
        case {"type": "event", "event": name}:
            definition = f"{name[0].upper()}{name[1:]}Event"
        case {"type": "response", "success": False}:
            definition = "ErrorResponse"
        case {"command": name, "type": kind}:
            definition = f"{name[0].upper()}{name[1:]}{kind.capitalize()}"
        case _:
            raise AssertionError(message)
    _validator(_LOOSER.get(definition, definition)).validate(message)  # pyright: ignore[reportUnknownMemberType]  # so typed there


class Refused(Exception):
    """An answer without success; `code` is the number of the error."""

    def __init__(self, response: Json) -> None:
        error = response["body"]["error"]
        super().__init__(error["format"])
        self.message: str = response["message"]
        self.code: int = error["id"]
        self.is_shown: bool = error["showUser"]


class Editor:
    """A session with `python -m relax_core dap`; leaving it without `disconnect` closes the stream."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            (sys.executable, "-m", "relax_core", "dap"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
        )
        self._sent = 0
        self._messages: queue.Queue[Json] = queue.Queue()
        self.events: list[Json] = []
        """Those that have come and that nobody has waited for."""
        self.answered: set[str] = set()
        """Requests that were answered with success."""
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "Editor":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(SECONDS) == 0

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            size = int(header.removeprefix(b"Content-Length: "))
            assert stream.readline() == b"\r\n"
            self._messages.put(json.loads(stream.read(size)))

    def send(self, command: str, **arguments: Json) -> int:
        """Send a request and return its number."""
        self._sent += 1
        message = {"seq": self._sent, "type": "request", "command": command, "arguments": arguments}
        check(message)
        content = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        self.process.stdin.flush()
        return self._sent

    def answer(self, number: int) -> Json:
        """Wait for the answer to a request, and return its body."""
        found = self._next(lambda message: message["type"] == "response" and message["request_seq"] == number)
        if not found["success"]:
            raise Refused(found)
        self.answered.add(found["command"])
        return found.get("body")

    def ask(self, command: str, **arguments: Json) -> Json:
        """Send a request and return the body of the answer."""
        return self.answer(self.send(command, **arguments))

    def event(self, name: str) -> Json:
        """Return the body of the first event of a name that was not waited for."""
        return self._next(lambda message: message["type"] == "event" and message["event"] == name).get("body")

    def _next(self, is_wanted: Callable[[Json], bool]) -> Json:
        for message in self.events:
            if is_wanted(message):
                self.events.remove(message)
                return message
        while True:
            message = self._messages.get(timeout=SECONDS)
            check(message)
            if is_wanted(message):
                return message
            self.events.append(message)

    # What every session does.

    def launch(self, program: Path | str, **options: Json) -> None:
        """Launch a program; the breakpoints are set next."""
        capabilities = self.ask(
            "initialize",
            adapterID="relaxscope",
            supportsProgressReporting=True,
            supportsVariablePaging=True,
            supportsInvalidatedEvent=True,
        )
        assert capabilities["supportsStepBack"]
        self.ask("launch", program=str(program), **options)
        self.event("initialized")

    def start(self, program: Path | str, *lines: int | Json, **options: Json) -> Json:
        """Launch a program with breakpoints, and return the first stop."""
        self.launch(program, **options)
        self.set_lines(program, *lines)
        self.ask("configurationDone")
        return self.event("stopped")

    def set_lines(self, program: Path | str, *lines: int | Json) -> list[Json]:
        """Set breakpoints at lines, each a number or what the protocol knows of one."""
        wanted = [{"line": line} if isinstance(line, int) else line for line in lines]
        return self.ask("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)["breakpoints"]

    def go(self, command: str, **arguments: Json) -> Json:
        """Move the program, and return where it stops."""
        self.ask(command, threadId=1, **arguments)
        return self.event("stopped")

    def frames(self) -> list[tuple[str, int]]:
        """Return the functions of the stack with their lines, the one that runs first."""
        return [(item["name"], item["line"]) for item in self.ask("stackTrace", threadId=1)["stackFrames"]]

    def scope(self, name: str, frame: int = 0) -> dict[str, Json]:
        """Return the variables of a scope of the frame that runs, or of another one, by name."""
        found = self.ask("scopes", frameId=self.ask("stackTrace", threadId=1)["stackFrames"][frame]["id"])["scopes"]
        return self.parts(next(item for item in found if item["name"] == name))

    def parts(self, container: Json, **page: int) -> dict[str, Json]:
        """Return the variables that a scope or a value opens into, by name."""
        found = self.ask("variables", variablesReference=container["variablesReference"], **page)["variables"]
        return {item["name"]: item for item in found}

    def value(self, expression: str, **more: Json) -> str:
        """Evaluate an expression in the frame that runs."""
        return self.ask("evaluate", expression=expression, **more)["result"]
