"""Bounds on the size of inferred types.

Types share their parts, so a short program can build one whose text would never end: `a = (x, x); b = (a, a); ...`
"""

from dataclasses import replace

from relax_core.ir.expr import OBJECT, FuncType, TupleType, Type

MAX_DEPTH = 64
MAX_SIZE = 4096


def bounded(type_: Type) -> Type:
    """Return `type_`, with its compound parts widened to an object if it is too deep or too large."""
    if _is_small(type_):
        return type_
    match type_:
        case TupleType(fields=fields):
            return TupleType(tuple(_widened(item) for item in fields))
        case FuncType(params=params, ret=ret):
            widened = replace(type_, ret=_widened(ret))
            if params is not None and not _is_small(widened):
                return replace(widened, params=tuple(_widened(item) for item in params))
            return widened
        case _:
            return type_


def _widened(type_: Type) -> Type:
    return OBJECT if isinstance(type_, TupleType | FuncType) else type_


def _is_small(type_: Type) -> bool:
    size = 0
    stack: list[tuple[Type, int]] = [(type_, 0)]
    while stack:
        current, depth = stack.pop()
        size += 1
        if size > MAX_SIZE or depth > MAX_DEPTH:
            # A flat tuple is as large as its text.
            return depth <= 1 and isinstance(type_, TupleType) and not _has_compound_field(type_)
        match current:
            case TupleType(fields=fields):
                stack.extend((item, depth + 1) for item in fields)
            case FuncType(params=params, ret=ret):
                stack.extend((item, depth + 1) for item in (*(params or ()), ret))
            case _:
                pass
    return True


def _has_compound_field(type_: TupleType) -> bool:
    return any(isinstance(item, TupleType | FuncType) for item in type_.fields)
