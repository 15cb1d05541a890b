"""Which elements were written: a byte beside every element of what starts without values, for the debug mode.

Outputs and allocated buffers have such bytes, zero at first. A store sets that of its element, and a load whose element
has none stops the kernel. A buffer that is seen through views, or whose pointer goes into a call, has none.
"""

from collections.abc import Mapping

from relax_core.analysis.tir_memory import passed_buffers, written_buffers
from relax_core.ir.prim import lanes_of
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, PrimFunc
from relax_core.jit.lowering.checks import Site
from relax_core.jit.lowering.state import State, Storage
from relax_core.jit.lowering.types import SCALAR_TYPES


def bytes_beside(state: State, function: PrimFunc) -> Mapping[Buffer, Buffer]:
    """Return the buffer of bytes of every buffer that has one."""
    stored = written_buffers(function)
    positions = range(len(function.params)) if state.outputs is None else state.outputs
    params = [function.buffer_of(function.params[at]) for at in sorted(positions)]
    outputs = [buffer for buffer in params if buffer is not None and buffer in stored]
    hidden = {state.memory.owner(view) for view in state.memory.views} | passed_buffers(state.memory, function)
    return {
        buffer: Buffer(f"{buffer.name}.written", buffer.shape, "uint8", span=buffer.span)
        for buffer in (*outputs, *state.memory.allocated)
        if buffer not in hidden and lanes_of(buffer.dtype) == 1
    }


def declare_bytes(state: State, buffer: Buffer, pointer: str, layout: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    """Let the bytes of `buffer` be at `pointer`, with these extents and strides."""
    state.written[buffer] = Storage(pointer, *layout, SCALAR_TYPES["uint8"], 1)


def note_store(state: State, store: BufferStore, indices: tuple[str, ...]) -> None:
    """Emit that the element of a store is written."""
    state.code.do(f"store i8 1, ptr {_byte(state, store.buffer, indices)}, align 1")


def require_written(state: State, load: BufferLoad, indices: tuple[str, ...]) -> None:
    """Emit the check that the element of a load was written."""
    value = state.code.emit(f"load i8, ptr {_byte(state, load.buffer, indices)}, align 1")
    is_written = state.code.emit(f"icmp ne i8 {value}, 0")
    state.require(is_written, Site("unwritten", load, ("",) * len(indices)), indices)


def _byte(state: State, buffer: Buffer, indices: tuple[str, ...]) -> str:
    """Emit the address of an element's byte."""
    storage = state.written[buffer]
    offset = "0"
    for index, stride in zip(indices, storage.strides, strict=True):
        offset = state.code.emit(f"add i64 {offset}, {state.code.emit(f'mul i64 {index}, {stride}')}")
    return state.code.emit(f"getelementptr i8, ptr {storage.pointer}, i64 {offset}")
