"""The value of an expression of operators and literals, such as `to_relax` makes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How values are made: `operator` computes an operator of the table by its name, the others are literals."""

    operator: Callable[[str, tuple[Any, ...]], Any]
    shape: Callable[[Iterable[int]], Any] = tuple
    dtype: Callable[[str], Any] = str


def evaluated(expr: Expr, evaluation: Evaluation) -> Any:
    """Return the value of `expr`; shared parts are computed once."""
    value_of: dict[Node, Any] = {}
    for item in postorder(expr):
        match item:
            case Constant(data=data):
                value_of[item] = data
            case PrimValue(value=value):
                value_of[item] = _scalar(value)
            case ShapeExpr(values=values):
                value_of[item] = evaluation.shape(map(_size, values))
            case DataTypeImm(value=name):
                value_of[item] = evaluation.dtype(name)
            case Null():
                value_of[item] = None
            case Tuple(fields=fields):
                value_of[item] = tuple(value_of[field] for field in fields)
            case TupleGetItem(tuple_value=inner, index=index):
                value_of[item] = value_of[inner][index]
            case Call(op=Op(name=name), args=args):
                value_of[item] = evaluation.operator(name, tuple(value_of[arg] for arg in args))
            case _:
                pass
    return value_of[expr]


def _scalar(value: PrimExpr) -> bool | int | float | str:
    match value:
        case IntImm(value=number, dtype="bool"):
            return bool(number)
        case IntImm(value=number) | FloatImm(value=number):
            return number
        case StringImm(value=text):
            return text
        case _:
            return _size(value)


def _size(value: PrimExpr) -> int:
    found = constant_value(value)
    assert found is not None, "the sizes of values are numbers"
    return int(found)
