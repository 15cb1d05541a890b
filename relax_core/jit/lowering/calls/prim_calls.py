"""Calls between prim funcs of one module, which are inlined."""

from collections.abc import Iterator, Mapping

from relax_core.ir.node import postorder
from relax_core.ir.prim import Intrinsic, PrimExpr, StringImm
from relax_core.ir.tir import PrimFunc, Stmt
from relax_core.jit.lowering.checks import unsupported
from relax_core.jit.lowering.jumps import result_type
from relax_core.jit.lowering.memory.storage import Inlined
from relax_core.jit.lowering.memory.views import declare_view, pointer_of
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.intrinsic_calls import unknown_intrinsic
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.state import State


def called_functions(function: PrimFunc, functions: Mapping[str, PrimFunc]) -> tuple[PrimFunc, ...]:
    """Return the prim funcs that `function` calls, directly or not, without itself."""
    found: dict[PrimFunc, None] = {}
    stack = [function]
    while stack:
        for name in _called_names(stack.pop().body):
            callee = functions.get(name)
            if callee is not None and callee is not function and callee not in found:
                found[callee] = None
                stack.append(callee)
    return tuple(found)


def _called_names(body: Stmt) -> Iterator[str]:
    for item in postorder(body):
        match item:
            case Intrinsic(name="global", args=(StringImm(value=name), *_)):
                yield name
            case _:
                pass


def call_prim_func(state: State, expr: Intrinsic) -> str:
    """Inline a call of a prim func; return the register of its result, 0 if it has none."""
    match expr.args:
        case (StringImm(value=name), *args) if name in state.functions:
            callee = state.functions[name]
        case _:
            raise unknown_intrinsic(state, expr)
    if callee is state.function or any(callee is item.function for item in state.position.inlined):
        hint = "Write a loop."
        raise unsupported(f"The prim func `{name}`, which calls itself,", expr, state.locate, hint)
    if len(args) != len(callee.params):
        what = f"A call of `{name}` with {len(args)} arguments, where it takes {len(callee.params)},"
        raise unsupported(what, expr, state.locate)
    code = state.code
    bound = _pass(state, callee, tuple(args))
    result = result_type(state, callee)
    slot = f"%{code.label('result')}"
    if result is not None:
        code.entry.append(f"{slot} = alloca {result.register}, align 8")
        code.do(f"store {result.register} zeroinitializer, ptr {slot}")
    leave = code.label("returned")
    loops, state.position.loops = state.position.loops, []
    was_charged, state.position.is_charged = state.position.is_charged, False
    state.position.inlined.append(Inlined(callee, slot, leave, result))
    state.lower_stmt(callee.body)
    state.position.inlined.pop()
    state.position.loops, state.position.is_charged = loops, was_charged
    code.goto(leave)
    state.forget(bound)
    if result is None:
        return "0"
    value = code.emit(f"load {result.register}, ptr {slot}")
    return convert(state, value, result, state.scalar_of(expr)) if expr.dtype not in ("void", "handle") else value


def _pass(state: State, callee: PrimFunc, args: tuple[PrimExpr, ...]) -> int:
    """Emit the arguments, scalars first, as they may be dimensions; return how many variables that defines."""
    bound = 0
    for param, arg in zip(callee.params, args, strict=True):
        if param.dtype != "handle":
            scalar = state.scalar_of(param)
            state.bind(param, arg, convert(state, lower_expr(state, arg), state.scalar_of(arg), scalar))
            bound += 1
    for param, arg in zip(callee.params, args, strict=True):
        if param.dtype == "handle":
            state.environment.pointers[param] = pointer_of(state, arg)
            buffer = callee.buffer_of(param)
            if buffer is not None:
                declare_view(state, buffer, state.environment.pointers[param], arg)
    return bound
