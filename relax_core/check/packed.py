"""Check calls of packed functions by their schemas: how many arguments, of which types, with which values."""

from collections.abc import Sequence
from dataclasses import dataclass

from relax_core.check.typing_context import TypingContext
from relax_core.check.unify import UNKNOWN, contradiction, is_unknown
from relax_core.diagnostics import plural
from relax_core.ir.expr import OBJECT, Call, Expr, ExternFunc, TensorType, Tuple, TupleType, Type, Var
from relax_core.ops.packed.accept import facts_of, mixing_hint, refused
from relax_core.ops.packed.registry import DECLARED
from relax_core.ops.packed.schema import REQUIRED, SchemaParam
from relax_core.ops.packed.spec import PackedSpec, broken
from relax_core.ops.runtime.control import declared
from relax_core.ops.show import show_type


def check_call_packed(context: TypingContext, call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Return the type of a direct call: what it declares, else what the schema tells, else an object."""
    result = None if call.type_args == () else declared(call)
    stated = None if result is None else context.resolve(result)
    found = _checked(context, call, _Arguments(call.op, call.args, arg_types), stated)
    return stated or found or OBJECT


def check_pure_packed(context: TypingContext, call: Call, arg_types: tuple[Type, ...]) -> Type | None:
    """Return the type of `call_pure_packed`; `None` leaves it to the operator's own rule."""
    result = declared(call)
    stated = None if result is None else context.resolve(result)
    found = _checked(context, call, _Arguments(call.args[0], call.args[1:], arg_types[1:]), stated)
    return stated or found


def check_dps_packed(context: TypingContext, call: Call, arg_types: tuple[Type, ...]) -> Type | None:
    """Check the inputs of `call_dps_packed`; `None` leaves its type to the operator's own rule, the declared one."""
    result = declared(call)
    stated = None if result is None else context.resolve(result)
    match call.args[1], arg_types[1]:
        case Tuple(fields=fields), TupleType(fields=types):
            given = _Arguments(call.args[0], fields, types, is_dps=True)
        case Expr() as value, TupleType(fields=types):
            given = _Arguments(call.args[0], (value,) * len(types), types, is_dps=True)
        case _:
            return None
    _checked(context, call, given, stated)
    return None


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The callee, and its arguments with their types."""

    callee: Expr
    args: Sequence[Expr]
    types: Sequence[Type]
    is_dps: bool = False


def _checked(context: TypingContext, call: Call, given: _Arguments, stated: Type | None) -> Type | None:
    """Report what is wrong with a call, and return the type that the schema tells; `None` without a schema."""
    spec = DECLARED.find(given.callee.name) if isinstance(given.callee, ExternFunc) else None
    if spec is None or any(is_unknown(item) for item in given.types):
        return None
    params = spec.inputs if given.is_dps else spec.params
    hint = f"its schema: {spec.schema}"
    lacking = [param.name for param in params[len(given.args) :] if param.default is REQUIRED]
    if lacking or len(given.args) > len(params):
        takes = f"takes {plural(len(params), 'argument')}, got {len(given.args)}"
        words = f"lacks {', '.join(lacking)}" if lacking else takes
        return context.report(call, "TY070", f"{spec.name} {words}", hint)
    if not _are_accepted(context, call, given, (spec, params)):
        return UNKNOWN
    facts = facts_of(params, given.args, given.types)
    for limit in spec.limits:
        if words := broken(limit, facts):
            index = spec.index(limit.param)
            place = _place(call, given.args, index if index is not None else -1)
            return context.report(place, "TY072", f"{spec.name}: {words}", hint)
    found = None if spec.infer is None else spec.infer(facts)
    found = _plain_result(spec) if found is None else found
    if stated is not None and found is not None and (given.is_dps or not spec.writes):
        _compare(context, call, (stated, found), given)
    return found


def _are_accepted(
    context: TypingContext, call: Call, given: _Arguments, of: tuple[PackedSpec, tuple[SchemaParam, ...]]
) -> bool:
    """Report every argument whose type does not fit."""
    spec, params = of
    are_accepted = True
    for index, (arg, type_) in enumerate(zip(given.args, given.types, strict=True)):
        param = params[index]
        words = refused(param.type, arg, type_)
        if words:
            are_accepted = False
            message = f"{param.name} of {spec.name} must be {param.type}, got {show_type(type_)}: {words}"
            mixing = mixing_hint(param.type, type_)
            hint = f"{mixing}; its schema: {spec.schema}" if mixing else f"its schema: {spec.schema}"
            context.report(_place(call, given.args, index), "TY071", message, hint)
    return are_accepted


def _place(call: Call, args: Sequence[Expr], index: int) -> Expr:
    """Return where a mistake is shown: a variable's span is its definition, so the call is shown for it."""
    arg = args[index] if 0 <= index < len(args) else call
    return call if isinstance(arg, Var) or arg.span is None else arg


def _plain_result(spec: PackedSpec) -> Type | None:
    """Return what the schema alone tells of the result."""
    is_known = all(item.base == "Tensor" and not item.is_list and not item.is_optional for item in spec.result)
    if not is_known:
        return None
    types = tuple(TensorType() for _ in spec.result)
    return types[0] if len(types) == 1 else TupleType(types)


def _compare(context: TypingContext, call: Call, types: tuple[Type, Type], given: _Arguments) -> None:
    stated, found = types
    words = contradiction(found, stated)
    if words:
        name = getattr(given.callee, "name", "")
        message = f"{name} gives {show_type(found)}, the call declares {show_type(stated)}: {words}"
        hint = "declare the type that it gives" + ("" if given.is_dps else "; the declared one is taken")
        context.report(call, "TY073", message, hint, "error" if given.is_dps else "warning")
