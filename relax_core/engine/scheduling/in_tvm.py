"""The process that times kernels with apache-tvm: it needs tvm and NumPy, and of this package what needs no more.

It reads a line of JSON from its input, and behind it arrays as .npy: those that are given, then what is expected in
those that change. It writes a line of JSON with the version of TVM, one for each kernel that TVM has built and run, and
one with all times; or, where an array is wanted, one with what a call of the kernel left in it.
"""

import base64
import io
import json
import resource
import sys
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import tvm as installed  # pyright: ignore[reportMissingTypeStubs]  # TVM has no types
from tvm.script import from_source  # pyright: ignore[reportMissingTypeStubs]  # TVM has no types

from relax_core.engine.process.sandbox import die_with_parent, filter_calls, leave_network
from relax_core.jit.turns import Array, Turns, apart, time_all

_tvm: Any = installed
_read: Any = from_source

# TVM's own errors are runtime errors.
_REFUSALS = (
    SyntaxError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    AssertionError,
    NotImplementedError,
)
_WORDS_LENGTH = 200


def main() -> None:
    """Read what is asked for, and answer it; nothing that was sent is read by TVM before this process is confined."""
    die_with_parent()
    content = io.BytesIO(sys.stdin.buffer.read())
    asked = json.loads(content.readline())
    _confine(asked["memory_bytes"], asked["cpu_seconds"])
    scalars: list[int | float | None] = asked["scalars"]
    arrays = [None if item is not None else np.load(content, allow_pickle=False) for item in scalars]
    written = iter(asked["changed"])
    expected = [np.load(content, allow_pickle=False) if next(written) else item for item in arrays if item is not None]
    given = [item if array is None else array for item, array in zip(scalars, arrays, strict=True)]
    _say({"version": str(_tvm.__version__)})
    target = _tvm.target.Target({"kind": "llvm", "mcpu": asked["processor"]})
    timed: list[Turns | None] = []
    if asked["returned"] >= 0:
        _say(_returned(asked, target, given))
        return
    for text in asked["texts"]:
        try:
            turns, results = _built(text, asked["name"], target, given)
        except _REFUSALS as error:
            timed.append(None)
            _say({"problem": _words(error)})
            continue
        timed.append(turns)
        difference, has_same_bits = apart(expected, results)
        _say({"difference": difference, "has_same_bits": has_same_bits})
    time_all([item for item in timed if item is not None], lambda: None)
    _say({"seconds": [0.0 if item is None else median(item.seconds) for item in timed]})


def _returned(asked: dict[str, Any], target: object, given: Sequence[Any]) -> dict[str, Any]:
    """Return an array after one call of a kernel, as .npy in base64."""
    content = io.BytesIO()
    place: int = asked["returned"]
    try:
        _, results = _built(asked["texts"][0], asked["name"], target, given)
        np.save(content, results[place], allow_pickle=False)
    except _REFUSALS as error:
        return {"problem": _words(error)}
    return {"array": base64.b64encode(content.getvalue()).decode()}


def _confine(memory_bytes: int, cpu_seconds: int) -> None:
    leave_network()
    for kind, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (least, least))
    filter_calls()


def _built(text: str, name: str, target: object, given: Sequence[Any]) -> tuple[Turns, list[Array]]:
    """Build a kernel and run it once; return how it is timed, and what its arrays hold then."""
    found = _read(text)
    functions = found.functions.values() if hasattr(found, "functions") else (found,)
    (function,) = functions
    module = _tvm.IRModule({name: function.with_attr("global_symbol", name)})
    call: Callable[..., object] = _tvm.compile(module, target=target)[name]
    tensors = [_tvm.runtime.tensor(item) if isinstance(item, np.ndarray) else item for item in given]

    def restore() -> None:
        for tensor, item in zip(tensors, given, strict=True):
            if isinstance(item, np.ndarray):
                tensor.copyfrom(item)

    call(*tensors)
    results = [tensor.numpy() for tensor, item in zip(tensors, given, strict=True) if isinstance(item, np.ndarray)]
    return Turns(lambda: call(*tensors), restore), results


def _words(error: BaseException) -> str:
    """Return the last line of what TVM says that is not empty."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'no more is said'}"[:_WORDS_LENGTH]


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
