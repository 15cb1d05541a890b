"""Emit the addresses and values of a nest at any point of its iteration space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.ir.integer.affine import Affine
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import LetExpr, PrimExpr, PrimVar, dtype_of
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Block, BufferLoad, BufferStore
from relax_core.jit.lowering.memory.storage import Storage
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.loop_nest import Axis, Nest

Point = Mapping[PrimVar, str]


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of a nest whose loads are replaced by variables; `uses_axes` if it also reads loop variables.

    It is a part of `statement`, by default of the nest's update.
    """

    expr: PrimExpr
    loads: Mapping[PrimVar, BufferLoad]
    uses_axes: bool
    statement: BufferStore | None = None


def initial_value(init: BufferStore) -> Value:
    """Return the initial value of a reduction."""
    return replace(value_of(init.value), statement=init)


def value_of(expr: PrimExpr) -> Value:
    """Replace every load of an expression by a variable."""
    loads = {item: PrimVar("loaded", dtype_of(item)) for item in postorder(expr) if isinstance(item, BufferLoad)}

    def loaded(item: Node) -> Node | None:
        """Rule: load -> variable."""
        return loads.get(item) if isinstance(item, BufferLoad) else None

    # A load is a leaf: its address comes from its access.
    bare = rewrite(expr, loaded, log=RewriteLog()) if not isinstance(expr, BufferLoad) else loads[expr]
    known = {*loads.values(), *(item.var for item in postorder(expr) if isinstance(item, LetExpr))}
    uses_axes = any(isinstance(item, PrimVar) and item not in known for item in postorder(bare))
    return Value(bare, {var: load for load, var in loads.items()}, uses_axes)


def offset_at(state: State, offset: Affine, places: Point) -> str:
    """Emit the offset of an element; a variable that is not in `places` is defined around the nest."""
    total = str(offset.constant) if offset.constant else "0"
    for var, factor in offset.coefficients.items():
        register = places.get(var)
        if register is None:
            register = state.widen(state.environment.registers[var], state.scalar_of(var))
        if register == "0":
            continue
        term = register if factor == 1 else state.code.emit(f"mul nsw i64 {register}, {factor}")
        total = term if total == "0" else state.code.emit(f"add nsw i64 {total}, {term}")
    return total


def element_at(state: State, storage: Storage, offset: str) -> str:
    """Emit the address of an element."""
    return state.code.emit(f"getelementptr inbounds {storage.scalar.memory}, ptr {storage.pointer}, i64 {offset}", "p")


def read(state: State, storage: Storage, pointer: str) -> str:
    """Emit the load of an element into a register."""
    scalar = storage.scalar
    value = state.code.emit(f"load {scalar.memory}, ptr {pointer}, align {storage.alignment}", "v")
    if scalar.is_narrowed:
        wide = state.code.emit(f"shl i32 {state.code.emit(f'zext i16 {value} to i32')}, 16")
        return state.code.emit(f"bitcast i32 {wide} to float")
    return state.code.emit(f"icmp ne i8 {value}, 0") if scalar.kind == "bool" else value


def emit_value(state: State, nest: Nest, value: Value, places: Point) -> str:
    """Emit `value` at the point `places` of the iteration space."""
    before = state.code.set_location(value.statement or nest.update)
    for var, load in value.loads.items():
        access = nest.accesses[load]
        pointer = element_at(state, access.storage, offset_at(state, access.offset, places))
        if state.scalar_of(var).is_integral:
            state.bounds.bind_scalar(var)
        state.environment.registers[var] = read(state, access.storage, pointer)
    mark = state.bounds.mark()
    count = _enter(state, nest, places) if value.uses_axes else 0
    register = lower_expr(state, value.expr)
    state.forget(count)
    state.bounds.leave(mark)
    state.code.restore_location(before)
    return register


def parts_of(state: State, number: str, axes: Sequence[Axis]) -> dict[PrimVar, str]:
    """Delinearise: emit the point of iteration `number` of the coalesced axes, the last of which varies fastest."""
    places: dict[PrimVar, str] = {}
    for axis in reversed(axes[1:]):
        places[axis.var] = "0" if axis.extent == 1 else state.code.emit(f"urem i64 {number}, {axis.extent}")
        number = number if axis.extent == 1 else state.code.emit(f"udiv i64 {number}, {axis.extent}")
    return {axes[0].var: number, **places} if axes else places


def _enter(state: State, nest: Nest, places: Point) -> int:
    """Define the variables of the nest; return how many."""
    for axis in nest.axes:
        scalar = state.scalar_of(axis.var)
        register = places[axis.var]
        if scalar.bits != 64 and register.startswith("%"):
            register = state.code.emit(f"trunc i64 {register} to {scalar.register}")
        state.bounds.enter_loop(axis.loop)
        state.define(axis.var, register)
    return len(nest.axes) + (0 if nest.block is None else enter_block(state, nest.block))


def enter_block(state: State, block: Block) -> int:
    """Define the variables of a block; return how many."""
    for item in block.iter_vars:
        value = convert(
            state, lower_expr(state, item.binding), state.scalar_of(item.binding), state.scalar_of(item.var)
        )
        state.bind(item.var, item.binding, value)
    return len(block.iter_vars)
