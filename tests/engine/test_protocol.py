"""Messages survive the wire, and each request knows its reply."""

from typing import Any, get_args

import msgspec
import pytest

from relax_core.engine import protocol
from relax_core.engine.debug import requests
from relax_core.engine.debug.requests import (
    BisectOf,
    BisectRecordedOf,
    KernelCall,
    Parcel,
    StopPlace,
)
from relax_core.engine.protocol import (
    AnyRequest,
    Cancel,
    Envelope,
    Failure,
    Open,
    Program,
)
from relax_core.engine.request import reply_type
from relax_core.present.models import Problem
from relax_core.present.running.run_models import Breakpoint

REQUESTS = get_args(AnyRequest)
PROGRAM = Program("text\n\u202e", "m.py", "M", "LambdaLift", "main", 3, (("n", 4),), "reported")
VALUES = {
    "program": PROGRAM, "text": "x", "node": "0/main/1", "stage": 1, "number": 1, "time": 2, "depth": 0, "register": 1,
    "other": PROGRAM, "other_stage": 0, "archive": b"npz", "trace": b"PK", "options": PROGRAM,
    "bisect": BisectOf(PROGRAM), "recorded": BisectRecordedOf(b"PK", PROGRAM), "first": 1, "content": b"PK",
    "parcel": Parcel("build.log", b"PK"), "left": 0, "right": 1, "position": 0,
    "kernel": KernelCall(PROGRAM, "matmul", 3), "clock": 7, "buffer": "A",
    "properties": ("shape of y",), "name": "add", "names": ("FuseOps",),
    "breakpoints": (Breakpoint(8, condition="i > 3"),), "places": (StopPlace(function="main", register=2),),
    "files": (requests.InputFile("x.png", b"PNG", "x"),),
    "expression": "x[0]", "step": "over", "expressions": ("x",), "times": (3,),
    "quantity": "bytes",
}  # fmt: skip


def _made(kind: type[msgspec.Struct]) -> msgspec.Struct:
    needed = [field.name for field in msgspec.structs.fields(kind) if field.required]
    return kind(**{name: VALUES[name] for name in needed})


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_a_request_survives_the_wire(kind: type[msgspec.Struct]) -> None:
    envelope = Envelope(7, _made(kind))  # pyright: ignore[reportArgumentType]  # any of the union
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(envelope), type=Envelope) == envelope


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_a_request_names_its_reply(kind: type[msgspec.Struct]) -> None:
    assert issubclass(reply_type(_made(kind)), msgspec.Struct)  # pyright: ignore[reportArgumentType]  # any request


def test_cancel_survives_the_wire() -> None:
    envelope = Envelope(8, Cancel(7))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(envelope), type=Envelope) == envelope


def test_what_is_no_request_is_refused() -> None:
    wrong = {"id": 1, "version": 1, "body": {"type": "Erase", "program": "x"}}
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode(wrong), type=Envelope)


def test_every_request_of_the_module_is_in_the_union() -> None:
    defined: set[type[protocol.Request[Any]]] = {
        item
        for item in (*vars(protocol).values(), *vars(requests).values())
        if isinstance(item, type) and issubclass(item, protocol.Request) and item is not protocol.Request
    }
    assert defined == set(REQUESTS)


def test_a_program_is_a_key() -> None:
    assert {Open(PROGRAM), Open(Program(**msgspec.structs.asdict(PROGRAM)))} == {Open(PROGRAM)}


def test_a_failure_is_told_by_its_first_diagnostic_or_by_what_ended_it() -> None:
    first, second = Problem("error", "TY012", "matmul", line=3), Problem("error", "TY001", "a type")
    assert Failure("diagnosed", "Not run", "2 problems", (first, second)).problem == first
    assert Failure("limit", "Stopped", "It took too long.").problem == Problem("error", "", "It took too long.")
    assert Failure("limit", "Out of memory").problem == Problem("error", "", "Out of memory")
