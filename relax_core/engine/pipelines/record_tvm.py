"""Record what apache-tvm's passes and virtual machine do: RelaxScope's recorder, one file that needs tvm and numpy.

    import record_tvm
    with record_tvm.record("trace"):            # every pass: module, nesting, time, constants
        executable = relax.build(module, target)
    vm = relax.VirtualMachine(executable, tvm.cpu())
    record_tvm.run(vm, "main", args)            # inputs, outputs, and each call of the machine
    record_tvm.pack("trace")                    # trace.rxt, one file to send

Runs with apache-tvm 0.25 to 0.27. The folder is written as the passes run, so that a pass that raises and a process
that dies leave all that was before. `record(..., light=True, keep=("FuseOps",))` keeps names, nesting, time and hashes
only, and the texts of the passes that are named. A `with PassContext(...)` of one's own inside hides its passes: give
it `instruments=[recorder]`, where `with record_tvm.record("trace") as recorder`. In compiled mode
(`exec_mode="compiled"`) the machine tells nothing of its calls.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyright: reportMissingParameterType=false, reportUntypedFunctionDecorator=false, reportUntypedClassDecorator=false
# pyright: reportAttributeAccessIssue=false, reportUnknownLambdaType=false, reportOptionalMemberAccess=false

import contextlib
import contextvars
import hashlib
import io
import json
import math
import os
import platform
import re
import sys
import time
import zipfile
from collections.abc import Collection, Generator, Sequence
from importlib import metadata
from typing import Any

import numpy as np
import tvm
import tvm_ffi
from tvm import relax
from tvm.ir.instrument import pass_instrument

__all__ = ["Recorder", "pack", "record", "run"]

VERSION = 1
_CONSTANT = re.compile(r'metadata\["(?:ir\.GenericConst|relax\.expr\.Constant)"\]\[(\d+)\]')
_FUNCTION = re.compile(r"^ +def (\w+)\(", re.MULTILINE)
_LATEST: contextvars.ContextVar[str] = contextvars.ContextVar("latest trace")
_STATES_KEPT = 12
_STATES_COMPARED = 3
_BITS = re.compile(r"\d+")
_FRAME = re.compile(r'File "|\d+: |Traceback|Stack trace')


@contextlib.contextmanager
def record(folder: str, *, light: bool = False, keep: Collection[str] = ()) -> "Generator[Recorder]":
    """Record every pass that runs inside, under the pass context that is current, into a folder.

    A recording that is there is replaced. With `light`, texts are kept of the passes named in `keep` alone.
    """
    recorder = Recorder(folder, light=light, keep=keep)
    current = tvm.transform.PassContext.current()
    context = tvm.transform.PassContext(
        opt_level=current.opt_level,
        required_pass=list(current.required_pass),
        disabled_pass=list(current.disabled_pass),
        config=dict(current.config),
        instruments=[*(current.instruments or ()), recorder],
    )
    try:
        with context:
            yield recorder
    except Exception as error:
        recorder.stopped(error)
        raise
    finally:
        recorder.close()


def run(vm: Any, entry: str, args: Sequence[Any], *, folder: str = "", budget_bytes: int = 256 << 20) -> Any:
    """Call a function of a virtual machine and record its arguments, its result and each call that it makes.

    `args` are NumPy arrays, tensors, shapes and numbers. Arrays are copied as they are; of those beyond `budget_bytes`
    only the types are kept. `folder` is the trace that this belongs to, by default the one that was recorded last.
    """
    trace = _Trace(folder or _LATEST.get("trace"))
    calls = _Calls(trace, budget_bytes)
    held = [tvm.runtime.tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    number = trace.next_run()
    calls.run = number
    trace.write({"event": "run", "run": number, "entry": entry, "inputs": [calls.value(arg) for arg in held]})
    vm.set_instrument(calls.observe)
    try:
        result = vm[entry](*held)
    except BaseException as error:
        trace.write({"event": "result", "run": number, "error": _words(error)})
        raise
    finally:
        # There is no way to take an instrument off a machine.
        calls.is_recording = False
        trace.close()
    done = _Trace(trace.folder)
    calls.trace = done
    done.write({"event": "result", "run": number, "result": calls.value(result)})
    done.close()
    return result


def pack(folder: str, path: str = "") -> str:
    """Write a trace as one file and return its path: by default the folder's name with `.rxt`."""
    path = path or f"{folder.rstrip('/')}.rxt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("trace.json", "events.jsonl"):
            archive.write(os.path.join(folder, name), name)
        for kind in ("texts", "arrays"):
            for name in sorted(os.listdir(os.path.join(folder, kind))):
                archive.write(os.path.join(folder, kind, name), f"{kind}/{name}")
    return path


class _Trace:
    """The folder: lines that are on disk when `write` returns, texts and arrays under hashes of their contents."""

    def __init__(self, folder: str, *, is_new: bool = False) -> None:
        self.folder = folder
        for name in ("texts", "arrays"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        if not os.path.exists(os.path.join(folder, "trace.json")):
            header = {"format": "relaxscope-trace", "version": VERSION, "producer": "record_tvm", "facts": _facts()}
            with open(os.path.join(folder, "trace.json"), "w", encoding="utf-8") as file:
                json.dump(header, file)
        self._kept = {os.path.splitext(name)[0] for kind in ("texts", "arrays")
                      for name in os.listdir(os.path.join(folder, kind))}  # fmt: skip
        path = os.path.join(folder, "events.jsonl")
        if is_new and os.path.exists(path):
            os.remove(path)
        self._events = open(path, "a", encoding="utf-8")  # noqa: SIM115  # until close

    def write(self, event: dict[str, Any]) -> None:
        """Write one event; the kernel has it then, whatever becomes of this process."""
        self._events.write(json.dumps(event, separators=(",", ":")) + "\n")
        self._events.flush()

    def text(self, text: str) -> str:
        """Keep a text and return its name."""
        content = text.encode("utf-8", "replace")
        digest = hashlib.sha256(content).hexdigest()[:32]
        self._keep("texts", f"{digest}.py", digest, content)
        return digest

    def array(self, array: "np.ndarray[Any, Any]", dtype: str) -> dict[str, Any]:
        """Keep an array and return what an event says of it; `dtype` is TVM's name, which NumPy may not have."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        head = f"{dtype} {','.join(map(str, array.shape))} ".encode()
        digest = hashlib.sha256(head + array.tobytes()).hexdigest()[:32]
        if digest not in self._kept:
            stored = array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" else array
            buffer = io.BytesIO()
            np.save(buffer, stored, allow_pickle=False)
            self._keep("arrays", f"{digest}.npy", digest, buffer.getvalue())
        return {"kind": "array", "array": digest, "shape": list(array.shape), "dtype": dtype}

    def _keep(self, kind: str, name: str, digest: str, content: bytes) -> None:
        if digest not in self._kept:
            self._kept.add(digest)
            with open(os.path.join(self.folder, kind, name), "wb") as file:
                file.write(content)

    def next_run(self) -> int:
        """Return the number of the next run in this folder."""
        with open(os.path.join(self.folder, "events.jsonl"), encoding="utf-8") as file:
            return sum('"event":"run"' in line for line in file)

    def close(self) -> None:
        """Close the file of events."""
        self._events.close()


def _facts() -> dict[str, str]:
    found = {"tvm": str(tvm.__version__), "python": platform.python_version(), "numpy": np.__version__}
    found["platform"] = f"{sys.platform} {platform.machine()}"
    with contextlib.suppress(metadata.PackageNotFoundError):
        found["apache-tvm-ffi"] = metadata.version("apache-tvm-ffi")
    return found


class _State:
    """A module as it was at some time: its functions, which do not change, and what was written of it."""

    def __init__(self, module: Any) -> None:
        self.functions: dict[str, Any] = {var.name_hint: function for var, function in module.functions.items()}
        self.attrs = module.attrs
        self.text = ""
        self.constants: list[dict[str, Any]] = []
        self.hash = ""

    def is_identical(self, other: "_State") -> bool:
        """Tell whether two modules hold the same function objects, which costs next to nothing to see."""
        return self.functions.keys() == other.functions.keys() and all(
            function.same_as(other.functions[name]) for name, function in self.functions.items()
        )

    def is_like(self, other: "_State") -> bool:
        """Tell whether two modules are equal: most functions are the same objects, and need not be looked at."""
        if self.functions.keys() != other.functions.keys():
            return False
        pairs = [(function, other.functions[name]) for name, function in self.functions.items()]
        return all(a.same_as(b) or tvm_ffi.structural_equal(a, b) for a, b in pairs) and (
            self.attrs is other.attrs or tvm_ffi.structural_equal(self.attrs, other.attrs)
        )


@pass_instrument
class Recorder:
    """The instrument; `record` attaches it, or give it to a `PassContext` of your own."""

    def __init__(self, folder: str, light: bool = False, keep: Collection[str] = ()) -> None:  # noqa: FBT001, FBT002
        self.trace = _Trace(folder, is_new=True)
        self.light, self.keep = light, frozenset(keep)
        self._open: list[tuple[int, str, Any, float]] = []
        self._states: list[_State] = []
        self._count, self._own_seconds, self._has_target = 0, 0.0, False
        self._has_raised = False
        _LATEST.set(folder)

    def enter_pass_ctx(self) -> None:
        """Write down the context."""
        context = tvm.transform.PassContext.current()
        facts = {"opt_level": str(context.opt_level), "config": str(dict(context.config))}
        for name in ("required_pass", "disabled_pass"):
            facts[name] = ", ".join(map(str, getattr(context, name)))
        self._guarded(lambda: self.trace.write({"event": "enter", "facts": facts}))

    def exit_pass_ctx(self) -> None:
        """Write down what did not return: TVM calls no other hook for a pass that raised."""
        error = sys.exc_info()[1]
        self._has_raised = self._has_raised or bool(self._open)
        while self._open:
            words = f"it raised {_words(error)}" if error is not None else "it raised an exception"
            key = self._open.pop()[0]
            self._guarded(lambda key=key, words=words: self.trace.write({"event": "raised", "id": key, "words": words}))
        self._guarded(lambda: self.trace.write({"event": "exit"}))

    def run_before_pass(self, module: Any, info: Any) -> None:
        """Write down that a pass begins, and what it is given, if that is not what the pass before left."""
        start = time.perf_counter()
        name, key, depth = str(info.name), self._count, len(self._open)
        self._count += 1
        self._guarded(lambda: self._given(module, name, depth))
        self._guarded(lambda: self.trace.write({"event": "before", "id": key, "pass": name, "depth": depth}))
        end = time.perf_counter()
        self._own_seconds += end - start
        self._open.append((key, name, self._own_seconds, end))

    def run_after_pass(self, module: Any, info: Any) -> None:
        """Write down what a pass returned and how long it took, the time of this recorder left out."""
        start = time.perf_counter()
        name = str(info.name)
        while self._open and self._open[-1][1] != name:
            lost = self._open.pop()[0]
            self._guarded(lambda lost=lost: self.trace.write({"event": "raised", "id": lost}))
        if self._open:
            key, _, own, began = self._open.pop()
            seconds = max(start - began - (self._own_seconds - own), 0.0)
            self._guarded(lambda: self._returned(module, name, key, seconds))
        self._own_seconds += time.perf_counter() - start

    def stopped(self, error: Exception) -> None:
        """Write down an exception that no pass raised, such as one of the code generator behind them."""
        if self._has_raised:
            return
        key, words = self._count, f"it raised {_words(error)}"
        event = {"event": "before", "id": key, "pass": "(behind the passes)", "depth": 0}
        self._guarded(lambda: self.trace.write(event))
        self._guarded(lambda: self.trace.write({"event": "raised", "id": key, "words": words}))

    def close(self) -> None:
        """Close the trace."""
        self.trace.close()

    def _guarded(self, write: Any) -> None:
        """Carry out a part of a hook: an exception in it would end the user's build, so it becomes a note."""
        try:
            write()
        except Exception as error:
            with contextlib.suppress(Exception):
                self.trace.write({"event": "note", "words": f"the recorder failed: {_words(error)}"})

    def _given(self, module: Any, name: str, depth: int) -> None:
        if not self._has_target:
            target = tvm.target.Target.current(allow_none=True)
            if target is not None:
                self._has_target = True
                self.trace.write({"event": "enter", "facts": {"target": str(target)}})
        state = _State(module)
        if self._known(state) is not None:
            return
        title = f"(before {name})" if self._states else "(input)"
        self._print(state, module, is_kept=not self.light or not self._states)
        self._remember(state)
        self.trace.write({"event": "module", "name": title, "depth": depth, **_described(state)})

    def _returned(self, module: Any, name: str, key: int, seconds: float) -> None:
        state = _State(module)
        known = self._known(state)
        is_kept = not self.light or name in self.keep
        if known is None or (is_kept and not known.text):
            self._print(state, module, is_kept=is_kept)
        else:
            state.text, state.constants, state.hash = known.text, known.constants, known.hash
        self._remember(state)
        self.trace.write({"event": "after", "id": key, "seconds": round(seconds, 7), **_described(state)})

    def _known(self, state: _State) -> "_State | None":
        # The latest state first: nearly all passes are given it.
        latest, older = self._states[-_STATES_COMPARED:], self._states[:-_STATES_COMPARED]
        found = next((item for item in reversed(latest) if item.is_like(state)), None)
        return found or next((item for item in reversed(older) if item.is_identical(state)), None)

    def _remember(self, state: _State) -> None:
        self._states = [*self._states[-_STATES_KEPT:], state]

    def _print(self, state: _State, module: Any, *, is_kept: bool) -> None:
        state.hash = self._hash(state)
        if is_kept:
            text = module.script() + "\n"
            state.text = self.trace.text(text)
            state.constants = [self._constant(item) for item in constants_of(module, text)]

    def _hash(self, state: _State) -> str:
        """Return a hash of names and functions; one for each change is enough, since changes have been compared."""
        if not self.light:
            return ""
        return f"state-{self._count}"

    def _constant(self, tensor: Any) -> dict[str, Any]:
        return self.trace.array(tensor.numpy(), str(tensor.dtype))


def _described(state: _State) -> dict[str, Any]:
    return {"text": state.text, "constants": state.constants, "hash": state.hash}


def constants_of(module: Any, text: str) -> list[Any]:
    """Return the tensors that a text names `metadata[...][0]`, `[1]`, ..., in that order.

    TVM numbers objects by their first appearance in the text, whose functions stand in another order than the module's.
    Its own `show_meta=True` ends the process in 0.27.
    """
    if _CONSTANT.search(text) is None:
        return []
    functions = {var.name_hint: function for var, function in module.functions.items()}
    found: list[tuple[Any, Any]] = []

    def visit(node: Any) -> None:
        tensor = getattr(node, "data", None) if type(node).__name__ == "Constant" else getattr(node, "value", None)
        if type(node).__name__ not in ("Constant", "GenericConst") or not hasattr(tensor, "numpy"):
            return
        if len(tensor.shape) and not any(node.same_as(item) for item, _ in found):
            found.append((node, tensor))

    for name in _FUNCTION.findall(text):
        if isinstance(functions.get(name), relax.Function):
            relax.analysis.post_order_visit(functions[name], visit)
    return [tensor for _, tensor in found]


class _Calls:
    """Writes down what the machine's instrument tells: each call before and after it."""

    def __init__(self, trace: _Trace, budget_bytes: int) -> None:
        self.trace = trace
        self.run, self.is_recording = 0, True
        self._left, self._count = budget_bytes, 0
        self._open: list[int] = []

    def observe(self, _function: Any, name: str, before: bool, result: Any, *args: Any) -> int:  # noqa: FBT001
        """Answer the machine: 0, it shall go on. An exception would end the user's run."""
        if self.is_recording:
            try:
                self._observed(str(name), args) if before else self._returned(result, args)
            except Exception as error:
                self.trace.write({"event": "note", "words": f"the recorder failed: {_words(error)}"})
        return 0

    def _observed(self, name: str, args: Sequence[Any]) -> None:
        number = self._count
        self._count += 1
        self._open.append(number)
        values = [self.value(arg) for arg in args]
        self.trace.write({"event": "call", "run": self.run, "number": number, "name": name, "args": values})

    def _returned(self, result: Any, args: Sequence[Any]) -> None:
        number = self._open.pop()
        tensors = [arg for arg in args if _is_tensor(arg)]
        # A kernel returns nothing, and writes its last tensor. It is copied at once: memory is used again.
        value = self.value(tensors[-1] if result is None and tensors else result)
        self.trace.write({"event": "return", "run": self.run, "number": number, "result": value})

    def value(self, value: Any) -> dict[str, Any]:
        """Return a value of the machine as an event holds it."""
        if _is_tensor(value):
            return self._tensor(value)
        kind = type(value).__name__
        if kind in ("Shape", "ShapeTuple"):
            return {"kind": "shape", "sizes": [int(item) for item in value]}
        if kind in ("tuple", "list", "Array"):
            return {"kind": "tuple", "fields": [self.value(item) for item in value]}
        if value is None or isinstance(value, bool | str) or (isinstance(value, int) and abs(value) < 1 << 63):
            return {"kind": "scalar", "value": value}
        if isinstance(value, float):
            # JSON has no NaN and no infinity.
            is_finite = math.isfinite(value)
            return {"kind": "scalar", "value": value} if is_finite else {"kind": "scalar", "special": str(value)}
        return {"kind": "omitted", "what": kind}

    def _tensor(self, tensor: Any) -> dict[str, Any]:
        shape, dtype = [int(size) for size in tensor.shape], str(tensor.dtype)
        bits = _BITS.search(dtype)
        size_bytes = math.prod(shape) * (int(bits[0]) + 7) // 8 if bits is not None else math.prod(shape)
        if size_bytes > self._left:
            return {"kind": "omitted", "what": "beyond the budget", "shape": shape, "dtype": dtype}
        array = tensor.numpy()
        self._left -= array.nbytes
        return self.trace.array(array, dtype)


def _is_tensor(value: Any) -> bool:
    return type(value).__name__ in ("Tensor", "NDArray") and hasattr(value, "numpy")


def _words(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The message stands behind the frames of C++, if these are printed at all.
    count = next((at for at, line in enumerate(reversed(lines)) if _FRAME.match(line)), len(lines))
    message = lines[len(lines) - count :] if count else lines[-1:]
    return f"{type(error).__name__}: {' '.join(message)}"[:300]
