"""Shadow memory for the mode that finds reads of uninitialised elements: a byte for each byte of a buffer.

Allocated buffers have shadow bytes, zero at first, and so have outputs, unless the caller gives those of certain
parameters. A store sets those of its element, and a load whose element has one that is not set stops the kernel. A
buffer that is seen through views, or whose pointer goes into a call, has none.
"""

from collections.abc import Mapping

from relax_core.analysis.tir_memory import memory_of, passed_buffers, written_buffers
from relax_core.ir.prim import lanes_of
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, PrimFunc
from relax_core.jit.lowering.checks import Site
from relax_core.jit.lowering.memory.storage import Storage
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES
from relax_core.jit.lowering.state import State


def bytes_beside(state: State, function: PrimFunc) -> Mapping[Buffer, Buffer]:
    """Return the shadow buffer of each buffer that has one; those that the caller gives come last."""
    stored = written_buffers(function)
    positions = range(len(function.params)) if state.outputs is None else state.outputs
    params = [function.buffer_of(function.params[at]) for at in sorted(positions)]
    chosen = [buffer for buffer in params if buffer is not None and (state.outputs is not None or buffer in stored)]
    hidden = {state.environment.memory.owner(view) for view in state.environment.memory.views} | passed_buffers(
        state.environment.memory, function
    )
    return {
        buffer: Buffer(f"{buffer.name}.written", buffer.shape, _word(buffer), span=buffer.span)
        for buffer in (*state.environment.memory.allocated, *chosen)
        if buffer not in hidden and lanes_of(buffer.dtype) == 1
    }


def followed_params(function: PrimFunc) -> frozenset[int]:
    """Return the positions of the parameters whose shadow bytes a caller can give."""
    memory = memory_of(function)
    hidden = {memory.owner(view) for view in memory.views} | passed_buffers(memory, function)
    buffers = ((at, function.buffer_of(param)) for at, param in enumerate(function.params))
    return frozenset(
        at
        for at, buffer in buffers
        if buffer is not None and buffer not in hidden and not buffer.strides and lanes_of(buffer.dtype) == 1
    )


def _word(buffer: Buffer) -> str:
    """Return the dtype of the shadow of one element: an integer of its size."""
    return f"uint{8 * SCALAR_TYPES[buffer.dtype].size_bytes}"


def declare_bytes(state: State, buffer: Buffer, pointer: str, layout: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    """Declare the shadow of `buffer` at `pointer`, with these extents and strides."""
    state.environment.written[buffer] = Storage(pointer, *layout, SCALAR_TYPES[_word(buffer)], 1)


def note_store(state: State, store: BufferStore, indices: tuple[str, ...]) -> None:
    """Emit the store that marks an element as written."""
    word, is_set = _all_set(state, store.buffer)
    state.code.do(f"store {word} {is_set}, ptr {_bytes(state, store.buffer, indices)}, align 1")


def require_written(state: State, load: BufferLoad, indices: tuple[str, ...]) -> None:
    """Emit the check that the element of a load was written."""
    word, is_set = _all_set(state, load.buffer)
    value = state.code.emit(f"load {word}, ptr {_bytes(state, load.buffer, indices)}, align 1")
    is_written = state.code.emit(f"icmp eq {word} {value}, {is_set}")
    state.require(is_written, Site("unwritten", load, ("",) * len(indices)), indices)


def _all_set(state: State, buffer: Buffer) -> tuple[str, int]:
    """Return the LLVM type of an element's shadow, and its value once the element is written."""
    scalar = state.environment.written[buffer].scalar
    return scalar.memory, int.from_bytes(b"\1" * scalar.size_bytes)


def _bytes(state: State, buffer: Buffer, indices: tuple[str, ...]) -> str:
    """Emit the address of an element's shadow."""
    storage = state.environment.written[buffer]
    offset = "0"
    for index, stride in zip(indices, storage.strides, strict=True):
        offset = state.code.emit(f"add i64 {offset}, {state.code.emit(f'mul i64 {index}, {stride}')}")
    return state.code.emit(f"getelementptr {storage.scalar.memory}, ptr {storage.pointer}, i64 {offset}")
