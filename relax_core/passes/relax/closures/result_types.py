"""The result types that lifted functions declare."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from relax_core.ir.expr import OBJECT, Function, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.substitute import free_symbols, map_type, replace_symbols


def result_type(function: Function, type_of: Mapping[Node, Type]) -> Type:
    """Return the type of what `function` returns: what it declares, else what is inferred."""
    if function.ret_type is not None:
        return function.ret_type
    match type_of.get(function), type_of.get(function.body):
        case FuncType(ret=ret), _:
            return ret
        case _, inferred:
            return OBJECT if inferred is None else inferred


def map_symbols(type_: Type, symbols: Mapping[PrimVar, PrimExpr]) -> Type:
    """Return `type_` with its symbolic dimensions renamed."""
    return map_type(type_, lambda expr: replace_symbols(expr, symbols))


def without_shapes(type_: Type) -> Type:
    """Return `type_` with the rank and dtype of tensors only, as the functions of 2022 declared their results."""
    match type_:
        case TensorType():
            return replace(type_, shape=None)
        case ShapeType():
            return replace(type_, values=None)
        case TupleType(fields=fields):
            return TupleType(tuple(without_shapes(item) for item in fields))
        case PrimType(dtype=dtype):
            return PrimType(dtype)
        case _:
            return type_


def without_unbound(type_: Type, bound: AbstractSet[PrimVar]) -> Type:
    """Return `type_` without the dimensions that depend on symbols which no parameter gives."""
    if all(symbol in bound for symbol in free_symbols(type_)):
        return type_
    match type_:
        case TupleType(fields=fields):
            return TupleType(tuple(without_unbound(item, bound) for item in fields))
        case FuncType():
            return type_
        case _:
            return without_shapes(type_)
