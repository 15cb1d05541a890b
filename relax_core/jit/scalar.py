"""Scalar expressions of TIR to LLVM instructions."""

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from relax_core.ir.node import postorder
from relax_core.ir.prim import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    StringImm,
    Unary,
    binary,
    dtype_of,
)
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore
from relax_core.jit.arithmetic import compare, convert, float_binary, integer_binary, is_safe_binary
from relax_core.jit.checks import Site, unsupported
from relax_core.jit.code import phi
from relax_core.jit.intrinsic_calls import lower_intrinsic
from relax_core.jit.state import State
from relax_core.jit.types import ScalarType

Side = Callable[[], str]


def lower_expr(state: State, expr: PrimExpr) -> str:
    """Emit the computation of `expr` and return its register, or its literal if it is known."""
    scalar = state.scalar_of(expr)
    known = state.bounds.constant(expr) if scalar.is_integral else None
    if known is not None and scalar.low <= known <= scalar.high:
        return integer_literal(known, scalar)
    match expr:
        case Binary(op=op) if op in LOGICAL:
            return _logical(state, expr)
        case Binary():
            return _binary(state, expr)
        case PrimVar() if expr in state.registers:
            return state.registers[expr]
        case BufferLoad():
            return _load(state, expr)
        case FloatImm(value=value):
            return float_literal(value, scalar)
        case IntImm(value=value):
            return float_literal(value, scalar) if scalar.kind == "float" else integer_literal(value, scalar)
        case Cast(value=value):
            return convert(state, lower_expr(state, value), state.scalar_of(value), scalar)
        case Select():
            return _select(state, expr, scalar)
        case Unary():
            return _unary(state, expr, scalar)
        case Intrinsic(args=args):
            return lower_intrinsic(state, expr, lambda: tuple(lower_expr(state, arg) for arg in args))
        case PrimVar(name=name):
            raise unsupported(f"The variable `{name}`, which is not defined here,", expr, state.locate)
        case StringImm() | _:
            raise unsupported(f"`{type(expr).__name__}` in a scalar expression", expr, state.locate)


def integer_literal(value: int, scalar: ScalarType) -> str:
    """Print an integer as LLVM reads it; bits beyond the type are dropped."""
    if scalar.kind == "bool":
        return "true" if value else "false"
    value &= (1 << scalar.bits) - 1
    return str(value - (1 << scalar.bits) if value >> (scalar.bits - 1) else value)


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
    storage = state.storage.get(buffer)
    if storage is None:
        raise unsupported(
            f"The buffer `{buffer.name}`, which is neither a parameter nor allocated,", access, state.locate
        )
    if len(access.indices) != len(buffer.shape):
        what = f"An access of `{buffer.name}` with {len(access.indices)} indices, where it has {len(buffer.shape)},"
        raise unsupported(what, access, state.locate)
    indices = tuple(_checked_index(state, access, position) for position in range(len(access.indices)))
    offset = "0"
    for index, stride in zip(indices, storage.strides, strict=True):
        term = index if stride == "1" else state.code.emit(f"mul nuw nsw i64 {index}, {stride}")
        offset = term if offset == "0" else state.code.emit(f"add nuw nsw i64 {offset}, {term}")
    return state.code.emit(f"getelementptr inbounds {storage.scalar.memory}, ptr {storage.pointer}, i64 {offset}", "p")


def _checked_index(state: State, access: BufferLoad | BufferStore, position: int) -> str:
    index = access.indices[position]
    scalar = state.scalar_of(index)
    if scalar.kind not in ("int", "uint"):
        raise unsupported(f"An index of dtype {scalar.name}", index, state.locate)
    is_proven = state.bounds.is_in_range(access.buffer, position, index)
    register = state.widen(lower_expr(state, index), scalar)
    if not is_proven:
        state.checked.append(access)
        extent = state.storage[access.buffer].extents[position]
        condition = state.code.emit(f"icmp ult i64 {register}, {extent}", "in")
        state.require(condition, Site("range", access, ("", ""), position), (register, extent))
    return register


def _load(state: State, load: BufferLoad) -> str:
    pointer = element_pointer(state, load)
    scalar = state.storage[load.buffer].scalar
    value = state.code.emit(f"load {scalar.memory}, ptr {pointer}, align {scalar.size_bytes}", "v")
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
            if len(indices) != len(buffer.shape) or buffer not in state.storage:
                return False
            return all(state.bounds.is_in_range(buffer, at, index) for at, index in enumerate(indices))
        case Binary():
            return is_safe_binary(state, node)
        case Buffer() | PrimExpr() | _:
            return True
