"""Statements on vectors: every lane on its own, all values before the first store."""

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.node import Node, postorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import Intrinsic, PrimExpr, PrimVar, dtype_of, lanes_of
from relax_core.ir.tir import BufferStore
from relax_core.jit.lowering.checks import unsupported
from relax_core.jit.lowering.memory.written import note_store
from relax_core.jit.lowering.scalars.arithmetic import convert, rounded
from relax_core.jit.lowering.scalars.intrinsics import CALLS
from relax_core.jit.lowering.scalars.lanes import scalars_of
from relax_core.jit.lowering.scalars.scalar import checked_indices, element_pointer, lower_expr
from relax_core.jit.lowering.state import State

# A vector statement with more scalar operations, all lanes together, is not written out.
SIZE_LIMIT = 100_000


def lower_store(state: State, store: BufferStore) -> None:
    """Emit a store of a scalar or of a vector."""
    comment_store(state, store)
    width = state.lanes.width(store)
    if width == 1:
        pointer = element_pointer(state, store)
        store_value(state, store, pointer, lower_expr(state, store.value))
        return
    state.emitted.vector_count += 1
    state.position.lane_elements = {}
    _store_lanes(state, store, width)
    state.position.lane_elements = None


def comment_store(state: State, store: BufferStore) -> None:
    """Say in the text what the code that follows stores."""
    target = f"{store.buffer.name}[{', '.join(show_prim(index) for index in store.indices)}]"
    state.code.comment(f"{target} = {show_prim(store.value)}")


def _store_lanes(state: State, store: BufferStore, width: int) -> None:
    values = lanes_of_value(state, store.value, width)
    accesses = [state.lanes.access(store, number) for number in range(width)]
    known = [item for item in accesses if item is not None]
    if len(known) != width:
        raise unsupported(f"The vector store to `{store.buffer.name}`", store, state.locate)
    pointers = [element_pointer(state, item) for item in known]
    registers = [lower_expr(state, value) for value in values]
    for item, pointer, value, register in zip(known, pointers, values, registers, strict=True):
        store_value(state, item, pointer, register, value)


def lanes_of_value(state: State, value: PrimExpr, width: int) -> tuple[PrimExpr, ...]:
    """Take a vector apart; a scalar is in every one of `width` lanes."""
    _check_pure(state, value, width)
    lanes = state.lanes.of(value)
    if lanes is None or len(lanes) not in (1, width):
        raise unsupported(f"The vector `{show_prim(value)}`", value, state.locate)
    return lanes * width if len(lanes) == 1 else lanes


def bind_vector(state: State, var: PrimVar, value: PrimExpr) -> int:
    """Emit `var = value` for each lane; return how many variables that defines."""
    scalars = scalars_of(var)
    values = lanes_of_value(state, value, len(scalars))
    for scalar, item in zip(scalars, values, strict=True):
        kind = state.scalar_of(scalar)
        state.bind(scalar, item, convert(state, lower_expr(state, item), state.scalar_of(item), kind))
    state.environment.vectors[var] = scalars
    return len(scalars)


def _check_pure(state: State, value: PrimExpr, width: int) -> None:
    """Refuse a call that every lane would repeat, and what is too large to be written out."""
    nodes = [*postorder(value)]
    call = next((item for item in nodes if isinstance(item, Intrinsic) and item.name in CALLS), None)
    if call is not None and lanes_of(dtype_of(value)) > 1:
        hint = "Bind its result to a variable first."
        raise unsupported(f"A call inside the vector `{show_prim(value)}`", call, state.locate, hint)
    if len(nodes) * width > SIZE_LIMIT:
        where: Node = value
        message = f"A vector of {width} lanes is too large to be written out"
        raise CompileError((Diagnostic("JT016", message, state.locate(where), "Write a loop."),))


def store_value(state: State, store: BufferStore, pointer: str, value: str, of: PrimExpr | None = None) -> None:
    """Emit the store of a register; `of` is the expression that it holds, if that is not the value of `store`."""
    if store.buffer in state.environment.written:
        note_store(state, store, checked_indices(state, store))
    storage = state.environment.storage[store.buffer]
    scalar = storage.scalar
    value = convert(state, value, state.scalar_of(store.value if of is None else of), scalar)
    if scalar.kind == "bool":
        value = state.code.emit(f"zext i1 {value} to i8")
    if scalar.is_narrowed:
        bits = state.code.emit(f"bitcast float {rounded(state, value)} to i32")
        value = state.code.emit(f"trunc i32 {state.code.emit(f'lshr i32 {bits}, 16')} to i16")
    state.code.do(f"store {scalar.memory} {value}, ptr {pointer}, align {storage.alignment}")
