"""Calls of packed functions from kernels, which call back their host: `trampoline.py` is what they call.

A kernel puts the arguments into 64-bit words: a number its bits, floats as doubles; an array its address, its extents
and its strides in elements.
"""

from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, StringImm, dtype_of
from relax_core.ir.tir import Buffer, BufferRef
from relax_core.jit.lowering.calls.host_calls import FAILED, Argument, PackedCall
from relax_core.jit.lowering.checks import unsupported
from relax_core.jit.lowering.memory.storage import Storage
from relax_core.jit.lowering.memory.views import declare_view, pointer_of
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.state import State

DOUBLE, INTEGER = SCALAR_TYPES["float64"], SCALAR_TYPES["int64"]


def call_packed(state: State, expr: Intrinsic) -> str:
    """Emit a call of a packed function; return the register of its result, 0 if it has none."""
    match expr.args:
        case (StringImm(value=name), *args):
            pass
        case _:
            raise unsupported(f"`T.{expr.name}` without a name", expr, state.locate)
    passed: list[Argument] = []
    words: list[str] = []
    for arg in args:
        argument, values = _pass(state, expr, arg)
        passed.append(argument)
        words += values
    result = SCALAR_TYPES.get(expr.dtype)
    number = len(state.emitted.packed_calls)
    state.emitted.packed_calls.append(PackedCall(name, tuple(passed), result))
    return _emit(state, number, words, result)


def _emit(state: State, number: int, words: list[str], result: ScalarType | None) -> str:
    code = state.code
    slots, answer = f"%{code.label('words')}", f"%{code.label('answer')}"
    code.entry.append(f"{slots} = alloca [{max(len(words), 1)} x i64], align 8")
    code.entry.append(f"{answer} = alloca i64, align 8")
    for position, word in enumerate(words):
        place = code.emit(f"getelementptr i64, ptr {slots}, i64 {position}")
        code.do(f"store i64 {word}, ptr {place}, align 8")
    status = code.emit(f"call i32 %host(i64 {number}, ptr {slots}, ptr {answer})")
    failed, go_on = code.label("failed"), code.label("ok")
    code.branch(code.emit(f"icmp eq i32 {status}, 0"), go_on, failed, expects_true=True)
    code.cold(failed, [f"ret i32 {FAILED}"])
    code.start(go_on)
    if result is None:
        return "0"
    word = code.emit(f"load i64, ptr {answer}, align 8")
    if result.kind == "float":
        return convert(state, code.emit(f"bitcast i64 {word} to double"), DOUBLE, result)
    return convert(state, word, INTEGER, result)


def _pass(state: State, call: Intrinsic, arg: PrimExpr) -> tuple[Argument, list[str]]:
    code = state.code
    match arg:
        case StringImm(value=text):
            return Argument("text", INTEGER, text), []
        case BufferRef(buffer=buffer, is_pointer=False) if (storage := state.storage_of(buffer)) is not None:
            return _pass_array(state, storage)
        case Intrinsic(name="tvm_stack_make_array"):
            storage = _array(state, arg)
            if storage is None:
                what = f"The array `{show_prim(arg)}`"
                raise unsupported(
                    what, arg, state.locate, "Make it of a pointer, a shape and its rank, without strides."
                )
            return _pass_array(state, storage)
        case _ if dtype_of(arg) not in SCALAR_TYPES:
            what = f"The argument `{show_prim(arg)}` of `T.{call.name}`"
            raise unsupported(what, arg, state.locate, "Pass a buffer, a number or a text.")
        case _:
            scalar = state.scalar_of(arg)
            value = lower_expr(state, arg)
            if scalar.kind != "float":
                wide = convert(state, value, scalar, INTEGER) if scalar.kind == "bool" else state.widen(value, scalar)
                return Argument("number", scalar), [wide]
            double = convert(state, value, scalar, DOUBLE)
            return Argument("number", scalar), [code.emit(f"bitcast double {double} to i64")]


def _pass_array(state: State, storage: Storage) -> tuple[Argument, list[str]]:
    address = state.code.emit(f"ptrtoint ptr {storage.pointer} to i64")
    return Argument("array", storage.scalar, rank=len(storage.extents)), [address, *storage.extents, *storage.strides]


def _array(state: State, array: Intrinsic) -> Storage | None:
    """Return the memory that an array made by TVM's lowering describes; `None` where it has strides, or no shape."""
    match array.args:
        case data, Intrinsic(name="tvm_stack_make_shape", args=dims), IntImm(value=0), IntImm(value=rank), zero, offset:
            if rank != len(dims):
                return None
            view = Buffer("array", dims, dtype_of(zero), elem_offset=offset)
            declare_view(state, view, pointer_of(state, data), array)
            return state.storage_of(view)
        case _:
            return None
