"""Memory and devices in the definitional interpreter of Relay: storages, kernels that write, copies, checks.

All devices are simulated on the host. A tensor that was allocated or copied carries its device; a kernel whose operands
are on two devices stops the run. What has no device, such as a literal, may be anywhere.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from relax_core.analysis.device.devices import HOST, Device, as_device_copy, as_on_device
from relax_core.ir.expr import Call, Op, TensorType, Var
from relax_core.vm.builtin.storage import check_place, storage_bytes, tensor_in
from relax_core.vm.context import fail
from relax_core.vm.objects.placed import PlacedArray, placed
from relax_core.vm.objects.values import ShapeValue, StorageValue, Value

_ANYWHERE = ("on_device", "device_copy", "shape_of")


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy that a run made."""

    source: Device | None
    target: Device | None
    size_bytes: int


class Host(Protocol):
    """What memory operators need of the interpreter."""

    copies: list[Copied]

    def kernel(self, function: Value, args: tuple[Value, ...]) -> Value:
        """Call a function value."""
        ...

    def parameters(self, function: Value) -> tuple[Var, ...]:
        """Return the parameters of a function value."""
        ...

    def reserve(self, size_bytes: int, what: str, shape: tuple[int, ...] | None = None, dtype: str = "") -> None:
        """Refuse what is too large."""
        ...


def check_devices(name: str, args: tuple[Value, ...]) -> Device | None:
    """Return the device of an operator's operands, `None` if nothing says it; DV005 if they are on two."""
    if name in _ANYWHERE:
        return None
    known = [item for arg in args for item in _tensors(arg) if item.place is not None]
    other = next((item for item in known if item.place != known[0].place), None)
    if other is not None:
        message = f"`{name}` takes operands on one device, got one on {known[0].place} and one on {other.place}"
        fail("DV005", message, "PlanDevices puts a device_copy where devices meet")
    return known[0].place if known else None


def _tensors(value: Value) -> Iterator[PlacedArray]:
    if isinstance(value, PlacedArray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _tensors(item)


def _size(value: Value) -> int:
    return int(np.asarray(value)[()])


def _alloc_storage(host: Host, call: Call, args: tuple[Value, ...]) -> Value:
    size = storage_bytes(ShapeValue((_size(args[0]),)), "uint8")
    host.reserve(size, "a storage")
    note = as_on_device(Call(Op("on_device"), call.args, call.attrs))
    return StorageValue(size, None if note is None else note.device)


def _alloc_tensor(host: Host, call: Call, args: tuple[Value, ...]) -> Value:
    storage, offset = args[0], _size(args[1])
    shape = ShapeValue(int(item) for item in np.asarray(args[2]).ravel())
    kind = check_place(storage, offset, shape, str(dict(call.attrs).get("dtype", "float32")))
    assert isinstance(storage, StorageValue), "it was checked"
    if storage.memory is None:
        storage.memory = np.zeros(storage.size_bytes, np.uint8)
    return placed(tensor_in(storage.memory, offset, shape, kind), storage.device)


def _invoke(host: Host, call: Call, args: tuple[Value, ...]) -> Value:
    function, inputs, outputs = args
    assert isinstance(inputs, tuple), "the operator's type says so"
    assert isinstance(outputs, tuple), "the operator's type says so"
    check_devices("vm.invoke_tvm_op", (inputs, outputs))
    _write(host.kernel(function, inputs), outputs)
    return ()


def _shape_func(host: Host, call: Call, args: tuple[Value, ...]) -> Value:
    """Compute shapes by running the kernel on tensors of those shapes."""
    function, inputs, outputs = args
    assert isinstance(inputs, tuple), "the operator's type says so"
    assert isinstance(outputs, tuple), "the operator's type says so"
    flags = dict(call.attrs).get("is_input") or ()
    is_input = flags if isinstance(flags, tuple) else ()
    params = host.parameters(function)
    given: list[Value] = []
    for k, item in enumerate(inputs):
        type_ = params[k].annotation if k < len(params) else None
        dtype = (type_.dtype if isinstance(type_, TensorType) else None) or "float32"
        is_data = k < len(is_input) and bool(is_input[k])
        given.append(item if is_data else np.zeros(tuple(int(size) for size in np.asarray(item).ravel()), dtype))
    result = host.kernel(function, tuple(given))
    results = result if isinstance(result, tuple) else (result,)
    _write(tuple(np.array(np.shape(np.asarray(item)), "int64") for item in results), outputs)
    return ()


def _write(result: Value, outputs: tuple[Value, ...]) -> None:
    results = result if isinstance(result, tuple) else (result,)
    for target, item in zip(outputs, results, strict=True):
        assert isinstance(target, np.ndarray), "an output is a tensor"
        np.copyto(target, np.asarray(item))


def _shape_of(host: Host, call: Call, args: tuple[Value, ...]) -> Value:
    return placed(np.array(np.shape(np.asarray(args[0])), "int64"), HOST)


def _kill(host: Host, call: Call, args: tuple[Value, ...]) -> Value:
    return ()


def _copy(host: Host, call: Call, args: tuple[Value, ...]) -> Value:
    said = as_device_copy(call)
    assert said is not None, "the operator's name says so"
    for item in args[0] if isinstance(args[0], tuple) else args[:1]:
        if isinstance(item, np.ndarray):
            source = item.place if isinstance(item, PlacedArray) else None
            if source is not None and said.source is not None and source != said.source:
                fail("DV005", f"`device_copy` copies from {said.source}, but the value is on {source}")
            host.copies.append(Copied(source or said.source, said.target, item.nbytes))
    return placed(args[0], said.target)


MEMORY_OPERATORS: Mapping[str, Callable[[Host, Call, tuple[Value, ...]], Value]] = MappingProxyType(
    {
        "memory.alloc_storage": _alloc_storage,
        "memory.alloc_tensor": _alloc_tensor,
        "memory.kill": _kill,
        "vm.invoke_tvm_op": _invoke,
        "memory.invoke_tvm_op": _invoke,
        "vm.shape_func": _shape_func,
        "memory.shape_func": _shape_func,
        "vm.shape_of": _shape_of,
        "device_copy": _copy,
    }
)
"""What the operators of lowered Relay do."""
