"""The types of calls: of operators, functions, prim funcs, packed functions and closures."""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from relax_core.check.carried_devices import on_device_of
from relax_core.check.packed import check_call_packed, check_dps_packed, check_pure_packed
from relax_core.check.prim.prims import (
    attribute_errors,
    computed_type,
    is_object_for_prim,
    mixing_hint,
    object_for_prim,
    with_schema,
)
from relax_core.check.rules import remedies
from relax_core.check.typing_context import TypingContext, contradicted, fields_of, show_callee
from relax_core.check.unify import UNKNOWN, Solution, contradiction, erase, is_unknown, solve
from relax_core.diagnostics import plural
from relax_core.ir.absent import NO_DATA, NO_VALUE
from relax_core.ir.expr import (
    OBJECT,
    VOID,
    Call,
    Expr,
    ExternFunc,
    FuncType,
    GlobalVar,
    ObjectType,
    Op,
    PrimType,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import PrimVar, dtype_of
from relax_core.ir.tir import PrimFunc
from relax_core.ops import find
from relax_core.ops.runtime.control import declared
from relax_core.ops.show import show_type
from relax_core.ops.signature import schema_text
from relax_core.ops.spec import Around, OpSpec, OpTypeError

Check: TypeAlias = Callable[[TypingContext, Call, tuple[Type, ...]], Type | None]


def type_of_call(context: TypingContext, call: Call, callee: Type, arg_types: tuple[Type, ...]) -> Type:
    """Return the type of a call whose callee and arguments are typed; problems are reported in `context`."""
    match call.op:
        case Op(name=name):
            return _once(context, call, name, arg_types, partial(_operator, context, call, name, arg_types))
        case ExternFunc(name=name, annotation=None):
            return _once(context, call, ("", name), arg_types, partial(check_call_packed, context, call, arg_types))
        case GlobalVar(name=name) as var if isinstance(prim_func := context.signature_of.get(name), PrimFunc):
            context.type_of[var] = FuncType(None, OBJECT, context.is_pure(prim_func))
            return _once(context, call, prim_func, arg_types, partial(_direct, context, call, prim_func, arg_types))
        case _:
            return _of_function(context, call, callee, arg_types)


def _once(
    context: TypingContext, call: Call, head: Hashable, arg_types: tuple[Type, ...], typed: Callable[[], Type]
) -> Type:
    """Return the type of a call that is alike, else what `typed` gives, which is kept if nothing is wrong with it."""
    key = context.alike.key(call, head, arg_types, context.signature_of)
    found = None if key is None else context.alike.type_of.get(key)
    if found is not None:
        return found
    mark = len(context.diagnostics)
    found = typed()
    if key is not None and len(context.diagnostics) == mark:
        context.alike.type_of[key] = found
    return found


def _of_function(context: TypingContext, call: Call, callee: Type, arg_types: tuple[Type, ...]) -> Type:
    match callee:
        case FuncType(params=None, ret=ret):
            return _declared(context, call) or ret
        case FuncType():
            return _function(context, call, callee, arg_types)
        case ObjectType():
            return _declared(context, call) or callee
        case _:
            return context.report(
                call, "TY023", f"a value of type {show_type(callee)} cannot be called",
                "only functions, closures and packed functions can",
            )  # fmt: skip


def _direct(context: TypingContext, call: Call, prim_func: PrimFunc, arg_types: tuple[Type, ...]) -> Type:
    """Compare the arguments of a direct call with the parameters; return what the prim func gives."""
    if len(arg_types) == len(prim_func.params):
        expected = [_declared_parameter(prim_func, *pair) for pair in zip(prim_func.params, arg_types, strict=True)]
        for k, words in solve(expected, arg_types, _names(arg_types), set[PrimVar]())[1]:
            what = f"argument {k + 1} of {show_callee(call.op)}"
            context.report(call, *_mismatch(what, expected[k], arg_types[k], words))
    return VOID if prim_func.ret_dtype in (None, "void") else PrimType(prim_func.ret_dtype)


def _declared_parameter(prim_func: PrimFunc, param: PrimVar, given: Type) -> Type:
    """Return the type that a parameter declares; a handle takes everything."""
    buffer = prim_func.buffer_of(param)
    if buffer is not None:
        return TensorType(buffer.shape, buffer.dtype)
    return given if param.dtype == "handle" else PrimType(param.dtype, param)


def _declared(context: TypingContext, call: Call) -> Type | None:
    found = declared(call)
    return None if found is None else context.resolve(found)


def _operator(context: TypingContext, call: Call, name: str, arg_types: tuple[Type, ...]) -> Type:
    spec = find(name)
    if name in (NO_VALUE, NO_DATA):
        # The rules of well-formedness tell of it; nothing follows from its type but what the text declares.
        return _declared(context, call) or UNKNOWN
    if name == "relax.device":
        # No operator but data: the device that `R.hint_on_device(x, R.device(1, 0))` names.
        return UNKNOWN
    if spec is None:
        return context.report(
            call, "TY030", f"there is no operator {name}", "the operator table lists all that are known"
        )
    if not _has_right_count(spec, len(arg_types)):
        hint = f"the schema: {schema_text(spec)}"
        return context.report(call, "TY002", f"{spec.short_name} takes {_count_of(spec)}, got {len(arg_types)}", hint)
    declared_type = _declared(context, call)
    if any(is_unknown(item) for item in arg_types):
        return declared_type or UNKNOWN
    check = _CHECKS.get(spec.name)
    found = None if check is None else check(context, call, arg_types)
    if found is not None:
        return found
    wrong = tuple(attribute_errors(spec, arg_types))
    for item in wrong:
        error = OpTypeError(item.code, item.message, item.hint)
        context.report(item.place(call), item.code, item.message, with_schema(spec, error))
    return declared_type or UNKNOWN if wrong else _inferred(context, call, spec, arg_types)


def _inferred(context: TypingContext, call: Call, spec: OpSpec, arg_types: tuple[Type, ...]) -> Type:
    """Return the type that the operator's rule gives; where it needs an attribute that is computed, what is certain."""
    try:
        return context.resolve(on_device_of(spec.infer(call, arg_types), arg_types))
    except OpTypeError as problem:
        error = problem
    if error.result is not None:
        context.report(call, error.code, error.message, with_schema(spec, error), "warning")
        return context.resolve(error.result)
    try:
        computed = computed_type(spec, call, arg_types)
    except OpTypeError as problem:
        computed, error = None, problem
    if computed is not None:
        return context.resolve(computed)
    hint = with_schema(spec, error)
    if isinstance(hint, Around):
        hint = remedies.around_operand(hint, call, arg_types)
    return context.report(call, error.code, error.message, hint)


def _has_right_count(spec: OpSpec, count: int) -> bool:
    least = sum(param.is_required for param in spec.params)
    return least <= count and (count <= len(spec.params) or any(param.is_variadic for param in spec.params))


def _count_of(spec: OpSpec) -> str:
    names = ", ".join(f"*{param.name}" if param.is_variadic else param.name for param in spec.params)
    return f"the arguments ({names})"


def _function(context: TypingContext, call: Call, callee: FuncType, arg_types: tuple[Type, ...]) -> Type:
    """Check the arguments of a call of a Relax function, and put their dimensions into its result type."""
    params = callee.params or ()
    name = show_callee(call.op)
    if len(params) != len(arg_types):
        return context.report(
            call,
            "TY024",
            f"{name} takes {plural(len(params), 'argument')}, got {len(arg_types)}",
            f"its type is {show_type(callee)}",
        )
    solution = _checked(context, call, call.args, params, arg_types, name)
    if solution is None:
        return UNKNOWN if is_unknown(callee.ret) else _result(context, callee, Solution())
    return _result(context, callee, solution)


def _result(context: TypingContext, callee: FuncType, solution: Solution) -> Type:
    if is_unknown(callee.ret):
        return callee.ret
    return erase(context.resolve(solution.apply(callee.ret)), context.symbols, context.type_of)


def _checked(
    context: TypingContext,
    call: Call,
    args: tuple[Expr, ...],
    params: tuple[Type, ...],
    arg_types: tuple[Type, ...],
    name: str,
) -> Solution | None:
    """Unify parameters with arguments; report contradictions and return `None` if there is one."""
    fixed = context.home_symbols_of.get(call.op, set[PrimVar]()) if isinstance(call.op, Var) else set[PrimVar]()
    solution, wrong = solve(params, arg_types, _names(arg_types), fixed)
    for k, words in wrong:
        # A variable's span is its definition; the mistake is in the call.
        place = call if isinstance(args[k], Var) or args[k].span is None else args[k]
        mismatch = _mismatch(f"argument {k + 1} of {name}", params[k], arg_types[k], words)
        # Dimensions that contradict each other only are found by TVM when the program runs.
        context.report(place, *mismatch, "error" if contradiction(arg_types[k], params[k]) else "warning")
    for k, (param, given) in enumerate(zip(params, arg_types, strict=True)):
        if isinstance(param, PrimType) and is_object_for_prim(given, param) and not is_unknown(given):
            context.report(call, "TY042", *object_for_prim(f"argument {k + 1} of {name}", param), "warning")
    return None if any(contradiction(arg_types[k], params[k]) for k, _ in wrong) else solution


def _names(arg_types: tuple[Type, ...]) -> Callable[[int], str]:
    return lambda k: f"argument {k + 1}, {show_type(arg_types[k])}"


def _mismatch(what: str, expected: Type, given: Type, words: str) -> tuple[str, str, str]:
    hint = mixing_hint(given, expected)
    match expected, given:
        case (PrimType(), TensorType(ndim=0)) | (TensorType(), PrimType()):
            return "TY003", f"{what} must be {show_type(expected)}, got {show_type(given)}", hint
        case _:
            reason = contradicted(given, expected, words)
            return "TY022", f"{what} must be {show_type(expected)}, got {show_type(given)}{reason}", hint


def check_call_tir(context: TypingContext, call: Call, arg_types: tuple[Type, ...]) -> Type | None:
    """Compare inputs and results of `call_tir` with the buffers of the prim func."""
    prim_func = _prim_func(context, call)
    if prim_func is None:
        return _declared(context, call) or UNKNOWN
    result = _declared(context, call)
    if result is None or not isinstance(arg_types[1], TupleType):
        return None
    name, input_count = show_callee(call.args[0]), len(arg_types[1].fields)
    scalars = _scalars(arg_types)
    given = (*arg_types[1].fields, *_outputs(call, result), *scalars)
    if not isinstance(call.args[1], Tuple):
        # WF012 says so; what a variable holds is no list of inputs.
        return result
    if len(given) != len(prim_func.params):
        parts = (
            plural(input_count, "input"),
            plural(len(given) - input_count - len(scalars), "result"),
            *([plural(len(scalars), "scalar")] if scalars else []),
        )
        words = f"{name} has {plural(len(prim_func.params), 'parameter')}, got {' and '.join(parts)}"
        context.report(call, "TY036", words, _hint_of_count(call.args[1], arg_types[1], prim_func))
        return result
    _compare_buffers(context, call, prim_func, given, input_count)
    return result


def _hint_of_count(given: Expr, inputs: TupleType, prim_func: PrimFunc) -> str:
    """Say how the parameters get their values, or that a tuple among the inputs has to be written as its fields."""
    fields = given.fields if isinstance(given, Tuple) else ()
    for expr, type_ in zip(fields, inputs.fields, strict=False):
        if isinstance(type_, TupleType) and isinstance(expr, Var):
            return f"{expr.name} is a tuple, which counts as one input; give its fields: {fields_of(expr.name, type_)}"
    buffers = (prim_func.buffer_of(param) for param in prim_func.params)
    names = (
        param.name if buffer is None else buffer.name for param, buffer in zip(prim_func.params, buffers, strict=True)
    )
    return f"inputs come first, then results, then tir_vars, for ({', '.join(names)})"


def _prim_func(context: TypingContext, call: Call) -> PrimFunc | None:
    match call.args[0]:
        case GlobalVar(name=name) as var:
            context.used_globals[name] = var
            signature = context.signature_of.get(name)
            if isinstance(signature, PrimFunc) or signature is None:
                return signature
        case _:
            pass
    context.report(
        call, "TY032", f"call_tir expects a prim func of the module, got {show_callee(call.args[0])}",
        "a Relax function is called directly: f(x)",
    )  # fmt: skip
    return None


def _outputs(call: Call, result: Type) -> tuple[Type, ...]:
    """Return the types of the results that are parameters of their own, nested tuples flattened."""
    leaves: list[Type] = []
    rest = [result]
    while rest:
        current = rest.pop()
        if isinstance(current, TupleType):
            rest.extend(reversed(current.fields))
        else:
            leaves.append(current)
    if isinstance(call.op, Op) and call.op.name == "relax.call_tir_inplace":
        indices = _indices(call.args[2])
        return tuple(leaf for leaf, index in zip(leaves, indices, strict=False) if index == -1)
    return tuple(leaves)


def _indices(expr: Expr) -> tuple[int, ...]:
    values = [getattr(item, "value", None) for item in getattr(expr, "fields", (expr,))]
    return tuple(constant_value(value) or 0 for value in values if value is not None)


def _scalars(arg_types: tuple[Type, ...]) -> tuple[Type, ...]:
    """Return the types of `tir_vars`, the last argument: a shape as it is written, or one that was computed."""
    match arg_types[2:]:
        case (*_, ShapeType(values=tuple() as values)):
            return tuple(PrimType(dtype_of(value), value) for value in values)
        case (*_, ShapeType(ndim=int() as rank)):
            return (PrimType("int64"),) * rank
        case _:
            return ()


def _compare_buffers(
    context: TypingContext, call: Call, prim_func: PrimFunc, given: tuple[Type, ...], input_count: int
) -> None:
    def role_of(k: int) -> str:
        return f"input {k + 1}" if k < input_count else f"result {k + 1 - input_count}"

    expected = [_parameter_type(prim_func, *pair) for pair in zip(prim_func.params, given, strict=True)]
    _, wrong = solve(expected, given, lambda k: f"{role_of(k)}, {show_type(given[k])}", set[PrimVar]())
    for k, words in wrong:
        buffer = prim_func.buffer_of(prim_func.params[k])
        role = role_of(k)
        place = f"the parameter {prim_func.params[k].name}" if buffer is None else f"the buffer {buffer.name}"
        wanted, found = show_type(expected[k]), show_type(given[k])
        reason = contradicted(given[k], expected[k], words)
        context.report(
            call,
            "TY029",
            f"{role} of {show_callee(call.args[0])} must be {wanted}, as {place}, got {found}{reason}",
            mixing_hint(given[k], expected[k]),
        )


def _parameter_type(prim_func: PrimFunc, param: PrimVar, given: Type) -> Type:
    """Return what a parameter takes: a tensor for a buffer, else a scalar; an integer may have another width."""
    declared_type = _declared_parameter(prim_func, param, given)
    match declared_type, given:
        case PrimType(dtype=dtype), PrimType(dtype=other) if dtype.startswith("int") and other.startswith("int"):
            return PrimType(other, param)
        case _:
            return declared_type


def check_make_closure(context: TypingContext, call: Call, arg_types: tuple[Type, ...]) -> Type | None:
    """Return the type of the function without the parameters that are captured, which are its last."""
    match arg_types:
        case (FuncType(params=tuple() as params, ret=ret, is_pure=is_pure), TupleType(fields=captured)):
            if len(captured) > len(params):
                return context.report(
                    call, "TY024", f"make_closure captures {len(captured)} values for {len(params)} parameters"
                )
            open_count = len(params) - len(captured)
            args = getattr(call.args[1], "fields", (call.args[1],) * len(captured))
            name = show_callee(call.args[0])
            solution = _checked(context, call, args, params[open_count:], captured, name)
            if solution is None:
                return UNKNOWN
            apply = solution.apply
            return FuncType(tuple(apply(item) for item in params[:open_count]), apply(ret), is_pure)
        case _:
            return None


def check_invoke_closure(context: TypingContext, call: Call, arg_types: tuple[Type, ...]) -> Type | None:
    """Check the arguments of a closure whose type is known; the result is what the call declares, if it does."""
    match arg_types:
        case (FuncType(params=tuple() as params) as callee, TupleType(fields=given)):
            if len(params) != len(given):
                words = f"the closure takes {plural(len(params), 'argument')}, got {len(given)}"
                return context.report(call, "TY024", words)
            args = getattr(call.args[1], "fields", (call.args[1],) * len(given))
            solution = _checked(context, call, args, params, given, show_callee(call.args[0]))
            if solution is None:
                return _declared(context, call) or UNKNOWN
            return _declared(context, call) or _result(context, callee, solution)
        case (FuncType() | ObjectType(), _):
            return None
        case _:
            return context.report(call, "TY023", f"a value of type {show_type(arg_types[0])} is not a closure")


_CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "relax.call_tir": check_call_tir,
        "relax.call_tir_inplace": check_call_tir,
        "relax.call_dps_packed": check_dps_packed,
        "relax.call_pure_packed": check_pure_packed,
        "relax.make_closure": check_make_closure,
        "relax.invoke_closure": check_invoke_closure,
        "relax.invoke_pure_closure": check_invoke_closure,
    }
)
