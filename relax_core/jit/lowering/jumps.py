"""Statements that leave a loop or the whole prim func: `break`, `continue`, `return`."""

from relax_core.ir.node import postorder
from relax_core.ir.prim import Intrinsic, PrimExpr
from relax_core.ir.tir import Evaluate, PrimFunc
from relax_core.jit.lowering.checks import unsupported
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.state import State

# The status that a compiled function returns: it ran to its end, it stopped at a site, it returned a value.
ENDED, STOPPED, RETURNED = 0, 1, 2


def lower_jump(state: State, stmt: Evaluate) -> None:
    """Emit `break`, `continue` or `return value`, and a block for the unreachable statements behind it."""
    match stmt.value:
        case Intrinsic(name="ret", args=(value,)):
            _return(state, value)
        case Intrinsic(name="break_loop") if state.position.loops:
            state.code.jump(state.position.loops[-1].leave)
        case Intrinsic(name="continue_loop") if state.position.loops:
            state.code.jump(state.position.loops[-1].following)
        case Intrinsic(name="ret"):
            raise unsupported("`return` without a value", stmt, state.locate, "Write return T.int32(0).")
        case Intrinsic(name=name):
            raise unsupported(f"`{name.removesuffix('_loop')}` outside of a loop", stmt, state.locate)
        case _:
            raise AssertionError(type(stmt.value).__name__)
    state.code.start(state.code.label("unreached"))


def result_type(state: State, function: PrimFunc) -> ScalarType | None:
    """Return the type of what `function` returns: the declared one, else that of its first `return`."""
    returns = [item for item in postorder(function.body) if isinstance(item, Intrinsic) and item.name == "ret"]
    values = [item.args[0] for item in returns if len(item.args) == 1]
    if not values:
        return None
    declared = SCALAR_TYPES.get(function.ret_dtype or "")
    return declared or state.scalar_of(values[0])


def _return(state: State, value: PrimExpr) -> None:
    """Emit a return: the bits of the value go into the word of the error record that else holds a site's number."""
    if state.position.inlined:
        _return_here(state, value)
        return
    code, scalar = state.code, state.result
    assert scalar is not None, "a prim func with a return has a type of its result"
    register = convert(state, lower_expr(state, value), state.scalar_of(value), scalar)
    if scalar.kind == "float":
        register = code.emit(f"bitcast {scalar.register} {register} to i{scalar.bits}")
    if scalar.bits != 64:
        how = "sext" if scalar.kind == "int" else "zext"
        register = code.emit(f"{how} {_integer(scalar)} {register} to i64")
    code.do(f"store i64 {register}, ptr %site")
    code.do(f"ret i32 {RETURNED}")


def _return_here(state: State, value: PrimExpr) -> None:
    """Emit a return from a prim func that is inlined: store the value, and branch behind the call."""
    call = state.position.inlined[-1]
    if call.result is not None:
        register = convert(state, lower_expr(state, value), state.scalar_of(value), call.result)
        state.code.do(f"store {call.result.register} {register}, ptr {call.slot}")
    state.code.jump(call.leave)


def _integer(scalar: ScalarType) -> str:
    return f"i{scalar.bits}" if scalar.kind == "float" else scalar.register
