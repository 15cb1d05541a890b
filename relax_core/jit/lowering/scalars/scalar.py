"""Scalar expressions of TIR to LLVM instructions."""

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from relax_core.ir.integer.interval import wrap
from relax_core.ir.node import postorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    PrimVar,
    Select,
    Unary,
    binary,
    dtype_of,
    lanes_of,
)
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore
from relax_core.jit.lowering.checks import Site, unsupported
from relax_core.jit.lowering.code import phi
from relax_core.jit.lowering.memory.storage import LaneElement, Storage
from relax_core.jit.lowering.memory.written import require_written
from relax_core.jit.lowering.scalars.arithmetic import (
    compare,
    convert,
    float_binary,
    integer_binary,
    is_safe_binary,
    may_lose_count,
    narrowed_count,
)
from relax_core.jit.lowering.scalars.intrinsic_calls import lower_intrinsic, named_function
from relax_core.jit.lowering.scalars.intrinsics import CALLS, arity_of
from relax_core.jit.lowering.scalars.lanes import VECTOR_INTRINSICS
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.state import State

Side = Callable[[], str]


def lower_expr(state: State, expr: PrimExpr) -> str:
    """Emit the computation of `expr` and return its register, or its literal if it is known."""
    if isinstance(expr, Intrinsic) and arity_of(expr.name) is None:
        return _lower_call(state, expr)
    scalar = state.scalar_of(expr)
    known = state.bounds.constant(expr) if scalar.is_integral else None
    # `A[i] * 0` is 0, but its load may be out of range, and what it calls is to be called.
    if known is not None and scalar.low <= known <= scalar.high and is_safe(state, expr):
        return integer_literal(known, scalar)
    match expr:
        case Binary(op=op) if op in LOGICAL:
            return _logical(state, expr)
        case Binary():
            return _binary(state, expr)
        case PrimVar() if expr in state.environment.registers:
            return state.environment.registers[expr]
        case BufferLoad():
            return _load(state, expr)
        case FloatImm() | IntImm():
            return number_literal(expr, scalar)
        case Cast():
            return _cast(state, expr, scalar)
        case Select():
            return _select(state, expr, scalar)
        case Unary():
            return _unary(state, expr, scalar)
        case LetExpr():
            return _let(state, expr)
        case Intrinsic(args=args):
            return lower_intrinsic(state, expr, lambda: tuple(lower_expr(state, arg) for arg in args))
        case _:
            what = f"`{type(expr).__name__}` in a scalar expression"
            if isinstance(expr, PrimVar):
                what = f"The variable `{expr.name}`, which is not defined here,"
            raise unsupported(what, expr, state.locate)


def _cast(state: State, expr: Cast, scalar: ScalarType) -> str:
    if may_lose_count(state, expr):
        return narrowed_count(state, expr, lower_expr(state, expr.value))
    return convert(state, lower_expr(state, expr.value), state.scalar_of(expr.value), scalar)


def _let(state: State, expr: LetExpr) -> str:
    var, value = expr.var, expr.value
    statement = state.provenance.statement_of.get(var)
    before = state.code.set_location(statement) if statement is not None else ""
    register = convert(state, lower_expr(state, value), state.scalar_of(value), state.scalar_of(var))
    if statement is not None:
        state.code.restore_location(before)
    state.bind(var, value, register)
    result = lower_expr(state, expr.body)
    state.forget()
    return result


def _lower_call(state: State, expr: Intrinsic) -> str:
    """Emit what is no intrinsic of a fixed list of scalars: a lane of a vector, a function by its name, a call."""
    if expr.name in VECTOR_INTRINSICS and lanes_of(expr.dtype) == 1:
        lane = state.lanes.lane(expr, 0)
        if lane is None:
            raise unsupported(f"`{show_prim(expr)}`", expr, state.locate)
        return lower_expr(state, lane)
    if expr.name in CALLS:
        return state.lower_call(expr)
    return lower_expr(state, named_function(state, expr))


def number_literal(number: FloatImm | IntImm, scalar: ScalarType) -> str:
    """Print a number as LLVM reads one of this type."""
    if isinstance(number, FloatImm) or scalar.kind == "float":
        return float_literal(number.value, scalar)
    return integer_literal(number.value, scalar)


def integer_literal(value: int, scalar: ScalarType) -> str:
    """Print an integer as LLVM reads it; bits beyond the type are dropped."""
    if scalar.kind == "bool":
        return "true" if value else "false"
    return str(wrap(value, f"int{scalar.bits}"))


def float_literal(value: float, scalar: ScalarType) -> str:
    """Print a number, rounded to the type, in hexadecimal as LLVM reads it."""
    match scalar.bits:
        case 16:
            return f"0xH{struct.pack('>e', _fitting(value, 65520.0)).hex().upper()}"
        case 32:
            rounded: float = struct.unpack("f", struct.pack("f", _fitting(value, 3.4028235677973366e38)))[0]
            return f"0x{struct.pack('>d', rounded).hex().upper()}"
        case _:
            return f"0x{struct.pack('>d', value).hex().upper()}"


def element_pointer(state: State, access: BufferLoad | BufferStore) -> str:
    """Emit the checks of an access that are not proven, and the address of its element."""
    buffer = access.buffer
    storage = state.environment.storage.get(buffer)
    if storage is None or lanes_of(buffer.dtype) > 1:
        raise unsupported(
            f"The buffer `{buffer.name}`, which is neither a parameter nor allocated,", access, state.locate
        )
    if len(access.indices) != len(buffer.shape):
        what = f"An access of `{buffer.name}` with {len(access.indices)} indices, where it has {len(buffer.shape)},"
        raise unsupported(what, access, state.locate)
    if buffer in state.environment.held:
        return state.environment.held[buffer].slot
    key, constants = _place_of(state, access)
    known = state.position.lane_elements.get(key) if state.position.lane_elements is not None else None
    if known is not None and _is_adjacent(state, access, storage, known):
        steps = zip(constants, known.constants, storage.strides, strict=True)
        distance = sum((here - there) * int(stride) for here, there, stride in steps)
        return state.code.emit(f"getelementptr inbounds {storage.scalar.memory}, ptr {known.pointer}, i64 {distance}")
    indices = checked_indices(state, access)
    offset = "0"
    for index, stride in zip(indices, storage.strides, strict=True):
        term = index if stride == "1" else state.code.emit(f"mul nuw nsw i64 {index}, {stride}")
        offset = term if offset == "0" else state.code.emit(f"add nuw nsw i64 {offset}, {term}")
    element = f"getelementptr inbounds {storage.scalar.memory}, ptr {storage.pointer}, i64 {offset}"
    pointer = state.code.emit(element, "p")
    if state.position.lane_elements is not None:
        state.position.lane_elements[key] = LaneElement(pointer, state.code.block, constants)
    return pointer


def _place_of(state: State, access: BufferLoad | BufferStore) -> tuple[object, tuple[int, ...]]:
    """Return what the elements at a constant distance have in common, and the constants of the indices."""
    if state.position.lane_elements is None:
        return None, ()
    polynomials = [state.bounds.poly(index) for index in access.indices]
    common = tuple(frozenset(item for item in p.items() if item[0]) for p in polynomials)
    return (access.buffer, common), tuple(p.get((), 0) for p in polynomials)


def _is_adjacent(state: State, access: BufferLoad | BufferStore, storage: Storage, known: LaneElement) -> bool:
    """Tell whether an element is in range and at a known distance from one whose address is computed here."""
    return (
        known.block == state.code.block
        and not any("%" in stride for stride in storage.strides)
        and all(state.bounds.is_in_range(access.buffer, at, index) for at, index in enumerate(access.indices))
    )


def checked_index(state: State, access: BufferLoad | BufferStore, position: int) -> str:
    """Emit an index of an access as a 64-bit integer, and the check that it is in range where that is not proven."""
    index = access.indices[position]
    scalar = state.scalar_of(index)
    if scalar.kind not in ("int", "uint"):
        raise unsupported(f"An index of dtype {scalar.name}", index, state.locate)
    is_proven = not state.options.is_checked or state.is_in_range(access, position)
    register = state.widen(lower_expr(state, index), scalar)
    if not is_proven:
        state.emitted.checked.append(access)
        extent = state.environment.storage[access.buffer].extents[position]
        condition = state.code.emit(f"icmp ult i64 {register}, {extent}", "in")
        state.require(condition, Site("range", access, ("", ""), position), (register, extent))
    return register


def checked_indices(state: State, access: BufferLoad | BufferStore) -> tuple[str, ...]:
    """Emit the indices of an access with their checks."""
    return tuple(checked_index(state, access, position) for position in range(len(access.indices)))


def _load(state: State, load: BufferLoad) -> str:
    pointer = element_pointer(state, load)
    if load.buffer in state.environment.written:
        require_written(state, load, checked_indices(state, load))
    scalar = state.environment.storage[load.buffer].scalar
    alignment = state.environment.storage[load.buffer].alignment
    value = state.code.emit(f"load {scalar.memory}, ptr {pointer}, align {alignment}", "v")
    if scalar.is_narrowed:
        wide = state.code.emit(f"shl i32 {state.code.emit(f'zext i16 {value} to i32')}, 16")
        return state.code.emit(f"bitcast i32 {wide} to float")
    return state.code.emit(f"icmp ne i8 {value}, 0") if scalar.kind == "bool" else value


def _fitting(value: float, limit: float) -> float:
    """Return `value`, or infinity if it is beyond what rounds to the greatest finite number."""
    if value != value or abs(value) < limit:
        return value
    return float("inf") if value > 0 else float("-inf")


def _binary(state: State, expr: Binary) -> str:
    if dtype_of(expr.a) != dtype_of(expr.b):
        unified = binary(expr.op, expr.a, expr.b)
        unified = replace(unified, span=expr.span)
        return convert(state, lower_expr(state, unified), state.scalar_of(unified), state.scalar_of(expr))
    operand = state.scalar_of(expr.a)
    a, b = lower_expr(state, expr.a), lower_expr(state, expr.b)
    if expr.op in COMPARISONS:
        return compare(state, expr.op, a, b, operand)
    if operand.kind == "float":
        return float_binary(state, expr, a, b)
    return integer_binary(state, expr, a, b)


def _unary(state: State, expr: Unary, scalar: ScalarType) -> str:
    a = lower_expr(state, expr.a)
    match expr.op:
        case "-":
            return state.code.emit(
                f"fneg {scalar.register} {a}" if scalar.kind == "float" else f"sub {scalar.register} 0, {a}"
            )
        case "not":
            as_bool = convert(state, a, state.scalar_of(expr.a), state.scalar_of(IntImm(0, "bool")))
            return state.code.emit(f"xor i1 {as_bool}, true")
        case "~":
            ones = "true" if scalar.kind == "bool" else "-1"
            return state.code.emit(f"xor {scalar.register} {a}, {ones}")
        case _:
            assert_never(expr.op)


def _logical(state: State, expr: Binary) -> str:
    boolean = state.scalar_of(IntImm(0, "bool"))

    def side(part: PrimExpr) -> str:
        return convert(state, lower_expr(state, part), state.scalar_of(part), boolean)

    if expr.op == "and":
        return _either(state, expr.a, boolean, (expr.b, lambda: side(expr.b)), (None, lambda: "false"))
    return _either(state, expr.a, boolean, (None, lambda: "true"), (expr.b, lambda: side(expr.b)))


def _select(state: State, expr: Select, scalar: ScalarType) -> str:
    """Lower both kinds alike: a side is evaluated only where it is chosen, unless that cannot fail."""
    sides = ((part, lambda part=part: lower_expr(state, part)) for part in (expr.true_value, expr.false_value))
    return _either(state, expr.condition, scalar, next(sides), next(sides))


def _either(
    state: State,
    condition: PrimExpr,
    scalar: ScalarType,
    if_true: tuple[PrimExpr | None, Side],
    if_false: tuple[PrimExpr | None, Side],
) -> str:
    code, bounds = state.code, state.bounds
    boolean = state.scalar_of(IntImm(0, "bool"))
    test = convert(state, lower_expr(state, condition), state.scalar_of(condition), boolean)
    if all(part is None or is_safe(state, part) for part, _ in (if_true, if_false)):
        a, b = if_true[1](), if_false[1]()
        return code.emit(f"select i1 {test}, {scalar.register} {a}, {scalar.register} {b}")
    labels = code.label("true"), code.label("false")
    join = code.label("join")
    code.branch(test, *labels)
    incoming: list[tuple[str, str]] = []
    for label, (_, side), truth in zip(labels, (if_true, if_false), (True, False), strict=True):
        code.start(label)
        mark = bounds.mark()
        bounds.assume(condition, truth=truth)
        value = side()
        bounds.leave(mark)
        incoming.append((value, code.block))
        code.jump(join)
    code.start(join)
    return code.emit(phi(scalar.register, *incoming))


def is_safe(state: State, expr: PrimExpr) -> bool:
    """Tell whether evaluating `expr` here surely stops nowhere and costs little."""
    return all(_is_safe_node(state, item) for item in postorder(expr))


def _is_safe_node(state: State, node: object) -> bool:
    match node:
        case BufferLoad(buffer=buffer, indices=indices):
            if (
                len(indices) != len(buffer.shape)
                or buffer not in state.environment.storage
                or buffer in state.environment.written
            ):
                return False
            return all(
                state.position.assumed.get((buffer, at, index), False) or state.bounds.is_in_range(buffer, at, index)
                for at, index in enumerate(indices)
            )
        case Binary():
            return is_safe_binary(state, node)
        case Cast():
            return not may_lose_count(state, node)
        case Intrinsic(name=name):
            return name not in CALLS
        case Buffer() | PrimExpr() | _:
            return True
