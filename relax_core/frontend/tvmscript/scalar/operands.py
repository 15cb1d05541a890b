"""What the operands of a scalar operation have to be, as in TVM."""

from relax_core.ir.prim import LOGICAL, BinaryKind, PrimExpr, PrimList, PrimVar, StringImm, dtype_of, scalar_of

_OF_INTEGERS: tuple[BinaryKind, ...] = ("//", "%", "&", "|", "^", "<<", ">>")
_FLOATS = ("float", "bfloat")
_NUMBERS = ("int", "uint", *_FLOATS)
_OF_POINTERS: tuple[BinaryKind, ...] = ("==", "!=")


def is_pointer_or_text(value: PrimExpr) -> bool:
    """Tell a pointer variable, a string or a list from a number. A call whose result is not known passes for one."""
    return isinstance(value, StringImm | PrimList) or (isinstance(value, PrimVar) and value.dtype == "handle")


def is_float(value: PrimExpr) -> bool:
    """Tell whether a value, or each of its lanes, is a float."""
    return dtype_of(value).startswith(_FLOATS)


def is_condition(value: PrimExpr) -> bool:
    """Tell whether a value may be a truth value; that of a call is not always known."""
    scalar = scalar_of(dtype_of(value))
    return not is_pointer_or_text(value) and (scalar == "uint1" or not scalar.startswith(_NUMBERS))


def unfit(op: BinaryKind, *operands: PrimExpr) -> str:
    """Say why `op` does not take the operands; nothing if it does."""
    if op in LOGICAL:
        return "" if all(map(is_condition, operands)) else f"`{op}` takes truth values, write x != 0 for a number"
    if op not in _OF_POINTERS and any(map(is_pointer_or_text, operands)):
        return f"`{op}` takes numbers, not pointers or strings"
    if op in _OF_INTEGERS and any(map(is_float, operands)):
        return f"`{op}` takes integers, not floats"
    return ""
