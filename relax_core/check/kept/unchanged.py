"""Types that calls keep from an earlier typing: a pass leaves most calls of a function as the nodes that they were.

Such a call has its earlier type if what it is given has. That is told by identity: a variable whose value is another
one now, of the same type, gets the object that its type was.
"""

from relax_core.check.kept.flat import flat_binding, names_variables
from relax_core.check.typing_context import TypingContext
from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    Binding,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    Type,
    Var,
)
from relax_core.ir.tir import PrimFunc

_LITERALS = (ShapeExpr, PrimValue, Constant, DataTypeImm, Null, Op)


def is_unchanged(context: TypingContext, binding: Binding) -> bool:
    """Tell whether a binding of the earlier form has the types that it had, and note them if so."""
    earlier, type_of = context.earlier, context.type_of
    flat = flat_binding(binding) if binding in earlier.bindings else None
    if flat is None:
        return False
    known = earlier.type_of
    for var in flat.reads:
        type_ = type_of.get(var)
        if type_ is None or known.get(var) is not type_:
            return False
    if not all(_is_known(context, item) for item in flat.globals):
        return False
    for part in flat.parts:
        type_of[part] = known[part]
    type_of[binding.var] = known[binding.var]
    context.symbols.update(dict.fromkeys(flat.declared))
    context.bindings.add(binding)
    return True


def unchanged_type(context: TypingContext, call: Call) -> Type | None:
    """Return the type that `call` had, and note those of its parts; `None` if it may have another now.

    What is declared in the call must name no variable: the shape that it stands for may be another one.
    """
    type_ = context.earlier.type_of.get(call)
    if type_ is None or any(map(names_variables, call.type_args)) or not _is_unchanged(context, call.op):
        return None
    return type_ if all(_is_unchanged(context, arg) for arg in call.args) else None


def same_object(context: TypingContext, var: Var, type_: Type) -> Type:
    """Return the object that the type of `var` was if it is still that type, else `type_`."""
    known = context.earlier.type_of.get(var)
    return known if known is not None and (known is type_ or same_type(known, type_)) else type_


def _is_unchanged(context: TypingContext, part: Expr) -> bool:
    """Tell whether a part of a call has the type that it had; if so that is noted."""
    known = context.earlier.type_of.get(part)
    match part:
        case Var():
            return known is not None and context.type_of.get(part) is known
        case Tuple(fields=fields):
            if known is None or not all(_is_unchanged(context, item) for item in fields):
                return False
        case GlobalVar():
            if not _is_known(context, part):
                return False
        case ExternFunc(annotation=annotation):
            if annotation is not None:
                return False
        case _:
            if not isinstance(part, _LITERALS):
                return False
    if known is not None:
        context.type_of[part] = known
    return True


def _is_known(context: TypingContext, var: GlobalVar) -> bool:
    """Tell whether a global is the prim func that it was, and note its use."""
    signature = context.signature_of.get(var.name)
    if not isinstance(signature, PrimFunc) or context.earlier.signature_of.get(var.name) is not signature:
        return False
    context.used_globals[var.name] = var
    return True
