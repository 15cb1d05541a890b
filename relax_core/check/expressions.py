"""The types of expressions and bindings.

Each expression that has parts is typed by a generator that yields a part and is sent its type, so that neither
long nor deep programs recurse.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import TypeAlias

from relax_core.check.calls import type_of_call
from relax_core.check.kept.unchanged import is_unchanged, same_object, unchanged_type
from relax_core.check.prim.prims import is_object_for_prim, mixing_hint, object_for_prim
from relax_core.check.size import bounded
from relax_core.check.typing_context import TypingContext, constant_type, contradicted, declared_signature
from relax_core.check.unify import UNKNOWN, Solution, bind_symbols, contradiction, erase, is_unknown, join
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    FuncType,
    GlobalVar,
    If,
    MatchCast,
    Null,
    ObjectType,
    Op,
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimVar, dtype_of
from relax_core.ir.tir import PrimFunc
from relax_core.ops.runtime.control import is_condition
from relax_core.ops.show import show_type

Steps: TypeAlias = Generator[Expr, Type, Type]

# Each level of nested recursive functions doubles the work.
_MAX_RETYPING = 3
_OPAQUE = FuncType(None, OBJECT, is_pure=False)


class ForeignExprError(AssertionError):
    """Typing met an expression that Relax does not have: whoever hands it a module has to look at its dialect."""


def type_of(context: TypingContext, root: Expr) -> Type:
    """Type `root` and all its parts into `context.type_of`; returns the type of `root`."""
    type_ = _leaf(context, root)
    stack: list[tuple[Expr, Steps]] = [] if type_ is not None else [(root, _steps(context, root))]
    sent: Type | None = None
    while stack:
        current, steps = stack[-1]
        try:
            part = next(steps) if sent is None else steps.send(sent)
        except StopIteration as done:
            stack.pop()
            sent = done.value
            context.type_of[current] = done.value
            type_ = done.value
            continue
        sent = _leaf(context, part)
        if sent is None and isinstance(part, Call):
            sent = unchanged_type(context, part) or _flat_call(context, part)
            if sent is not None:
                context.type_of[part] = sent
        if sent is None:
            stack.append((part, _steps(context, part)))
    assert type_ is not None, "every expression has a type"
    return type_


def _flat_call(context: TypingContext, call: Call) -> Type | None:
    """Type a call whose arguments have no parts but the fields of tuples; `None` for any other."""
    callee = _leaf(context, call.op)
    if callee is None:
        return None
    arg_types: list[Type] = []
    for arg in call.args:
        type_ = _flat_tuple(context, arg) if isinstance(arg, Tuple) else _leaf(context, arg)
        if type_ is None:
            return None
        arg_types.append(type_)
    return type_of_call(context, call, callee, tuple(arg_types))


def _flat_tuple(context: TypingContext, expr: Tuple) -> Type | None:
    fields: list[Type] = []
    for item in expr.fields:
        type_ = _leaf(context, item)
        if type_ is None:
            return None
        fields.append(type_)
    type_ = context.type_of[expr] = bounded(TupleType(tuple(fields)))
    return type_


def _leaf(context: TypingContext, expr: Expr) -> Type | None:
    """Return the type of an expression without parts, and note it; `None` for one with parts."""
    type_: Type
    match expr:
        case Var():
            return _variable(context, expr)
        case Op():
            return _OPAQUE
        case PrimValue(value=value):
            type_ = PrimType(dtype_of(value), value)
        case ShapeExpr(values=values):
            type_ = ShapeType(values)
        case Constant(data=data):
            type_ = constant_type(data.shape, str(data.dtype))
        case GlobalVar():
            type_ = _global(context, expr)
        case ExternFunc(annotation=annotation):
            type_ = _OPAQUE if annotation is None else context.resolve(annotation)
        case DataTypeImm() | Null():
            type_ = OBJECT
        case _:
            return None
    context.type_of[expr] = type_
    return type_


def _variable(context: TypingContext, var: Var) -> Type:
    found = context.type_of.get(var)
    if found is None:
        # Undefined here: the well-formedness rules say so.
        found = UNKNOWN if var.annotation is None else context.resolve(var.annotation)
        context.type_of[var] = found
    return found


def _global(context: TypingContext, var: GlobalVar) -> Type:
    signature = context.signature_of.get(var.name)
    context.used_globals[var.name] = var
    return UNKNOWN if signature is None else _OPAQUE if isinstance(signature, PrimFunc) else signature


def _steps(context: TypingContext, expr: Expr) -> Steps:
    match expr:
        case Call():
            return _call(context, expr)
        case Tuple():
            return _tuple(expr)
        case TupleGetItem():
            return _field(context, expr)
        case SeqExpr():
            return _sequence(context, expr)
        case If():
            return _conditional(context, expr)
        case Function():
            return _function(context, expr)
        case _:
            raise ForeignExprError(f"{type(expr).__name__} is not an expression of Relax")


def _call(context: TypingContext, call: Call) -> Steps:
    callee = yield call.op
    arg_types: list[Type] = []
    for arg in call.args:
        arg_types.append((yield arg))
    return type_of_call(context, call, callee, tuple(arg_types))


def _tuple(expr: Tuple) -> Steps:
    fields: list[Type] = []
    for item in expr.fields:
        fields.append((yield item))
    return bounded(TupleType(tuple(fields)))


def _field(context: TypingContext, expr: TupleGetItem) -> Steps:
    match (yield expr.tuple_value):
        case TupleType(fields=fields) as tuple_type:
            if 0 <= expr.index < len(fields):
                return fields[expr.index]
            return context.report(
                expr, "TY025", f"index {expr.index} is outside the {len(fields)} fields of {show_type(tuple_type)}"
            )
        case ObjectType() as type_:
            return type_
        case other:
            return context.report(expr, "TY025", f"a value of type {show_type(other)} has no fields")


def _conditional(context: TypingContext, expr: If) -> Steps:
    condition = yield expr.condition
    if not is_unknown(condition) and not isinstance(condition, ObjectType) and not is_condition(condition):
        context.report(
            expr if isinstance(expr.condition, Var) or expr.condition.span is None else expr.condition,
            "TY026",
            f"the condition must be a bool scalar, got {show_type(condition)}",
            "compare: R.prim_value(n != 0)" if isinstance(condition, PrimType)
            else 'compare, or convert with R.astype(value, "bool")',
            # TVM looks at it when the program runs.
            "warning",
        )  # fmt: skip
    outer = dict(context.symbols)
    yes = yield expr.true_branch
    context.symbols = dict(outer)
    no = yield expr.false_branch
    context.symbols = outer
    yes, no = (erase(branch, outer, context.type_of) for branch in (yes, no))
    joined = join(yes, no)
    if joined is None:
        return context.report(
            expr, "TY035", f"the branches have nothing in common: {show_type(yes)} and {show_type(no)}",
            mixing_hint(yes, no) or "a scalar on the host and an object cannot share a variable",
        )  # fmt: skip
    return joined


def _sequence(context: TypingContext, expr: SeqExpr) -> Steps:
    bindings = [binding for block in expr.blocks for binding in block.bindings]
    for binding in bindings:
        match binding:
            case VarBinding(var=var, value=Function() as function):
                _predeclare(context, var, function)
            case _:
                pass
    for binding in bindings:
        if is_unchanged(context, binding):
            continue
        value = yield binding.value
        _bind(context, binding, value)
    return (yield expr.body)


def _predeclare(context: TypingContext, var: Var, function: Function) -> None:
    """Give a local function's variable its type, for itself and for earlier functions of the list."""
    ret = UNKNOWN if function.ret_type is None else context.resolve(function.ret_type)
    context.type_of[var] = declared_signature(function, ret)
    context.home_symbols_of[var] = set(context.symbols)


def _bind(context: TypingContext, binding: Binding, value: Type) -> None:
    context.bindings.add(binding)
    match binding:
        case MatchCast(var=var, type=target):
            context.type_of[var] = _cast(context, binding, value, target)
        case VarBinding(var=var, value=Function() as function) if var.annotation is None:
            context.type_of[var] = value
            if function.ret_type is None and isinstance(value, FuncType) and not is_unknown(value.ret):
                _retype_recursive(context, var, function, value)
        case VarBinding(var=var):
            context.type_of[var] = same_object(context, var, _annotated(context, binding, var, value))
        case _:
            raise AssertionError("a binding of Relax binds a variable")


def _retype_recursive(context: TypingContext, var: Var, function: Function, first: FuncType) -> None:
    """Type the body of a local function that calls itself once more, with the result type that the first pass found."""
    if context.retyping_depth >= _MAX_RETYPING or not any(part is var for part in preorder(function.body)):
        return
    context.retyping_depth += 1
    mark = len(context.diagnostics)
    second = type_of(context, function)
    if isinstance(second, FuncType) and contradiction(second.ret, first.ret) is not None:
        del context.diagnostics[mark:]
        context.type_of[var] = replace(first, ret=OBJECT)
        second = type_of(context, function)
    context.type_of[var] = second
    context.retyping_depth -= 1
    seen: set[tuple[object, str, str]] = set()
    kept = [
        item
        for item in context.diagnostics
        if (key := (item.span, item.code, item.message)) not in seen and not seen.add(key)
    ]
    context.diagnostics[:] = kept


def _annotated(context: TypingContext, binding: VarBinding, var: Var, value: Type) -> Type:
    """Return the type of a variable: its annotation, which must not contradict the value.

    `R.Shape` and `R.Callable` without particulars take those of the value, as the 2022 dialect needs.
    """
    if var.annotation is None:
        return value
    expected = context.resolve(var.annotation)
    context.bind_symbols_of(expected)
    words = contradiction(value, expected)
    if words:
        place = var if var.span is not None else binding
        hint = mixing_hint(value, expected) or "change the annotation, or convert the value with R.match_cast"
        context.report(
            place,
            "TY020",
            f"{var.name} is declared {show_type(expected)}, its value is {show_type(value)}"
            f"{contradicted(value, expected, words)}",
            hint,
        )
    match expected, value:
        case ShapeType(values=None), ShapeType():
            return value
        case FuncType(params=None), FuncType():
            return value
        case PrimType() as prim, ObjectType() if not is_unknown(value):
            place = var if var.span is not None else binding
            context.report(place, "TY042", *object_for_prim(f"the value of {var.name}", prim), "warning")
            return expected
        case _:
            return expected


def _cast(context: TypingContext, binding: MatchCast, value: Type, target: Type) -> Type:
    """Return the type that a cast gives, after binding the symbols that it introduces."""
    resolved = context.resolve(target)
    known = set(context.symbols)
    context.bind_symbols_of(resolved)
    solution = Solution()
    bind_symbols(resolved, value, "the value", solution, known)
    words = contradiction(value, solution.apply(resolved))
    if words:
        why = solution.explain(resolved)
        context.report(
            binding,
            "TY027",
            f"a value of type {show_type(value)} can never be {show_type(resolved)}: {words}"
            f"{f' ({why})' if why else ''}",
            mixing_hint(value, resolved),
        )
    return resolved


def _function(context: TypingContext, function: Function) -> Steps:
    outer = dict(context.symbols)
    params = tuple(context.declare(param) for param in function.params)
    inside = dict(context.symbols)
    body = yield function.body
    ret = result_type(context, function, body, inside)
    context.symbols = outer
    return bounded(FuncType(params, ret, function.is_pure))


def result_type(context: TypingContext, function: Function, body: Type, symbols: dict[PrimVar, None]) -> Type:
    """Return the type of a function's result: what it declares, which its body must not contradict, or its body's."""
    if function.ret_type is None:
        return body if is_unknown(body) else erase(body, symbols, set(function.params))
    declared = context.resolve(function.ret_type)
    words = contradiction(body, declared)
    if words:
        value = function.body.body if isinstance(function.body, SeqExpr) else function.body
        place = value if value.span is not None and not isinstance(value, Var) else function
        context.report(
            place,
            "TY021",
            f"the function returns {show_type(body)}, but declares {show_type(declared)}"
            f"{contradicted(body, declared, words)}",
            mixing_hint(body, declared) or "change the declared type or the value",
            # TVM takes what is declared, and never compares it.
            "warning",
        )  # fmt: skip
    elif isinstance(declared, PrimType) and is_object_for_prim(body, declared) and not is_unknown(body):
        context.report(function, "TY042", *object_for_prim("the result", declared), "warning")
    return declared
