"""The value of an expression of operators and literals, such as `to_relax` makes, and of a call on constants."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from relax_core.ir.absent import has_data
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm
from relax_core.ops import find
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax import to_relax
from relax_core.ops.spec import NOT_COMPUTED, OpTypeError, literal_of


def evaluate_call(name: str, attrs: Mapping[str, AttrValue], args: tuple[Expr, ...]) -> Expr:
    """Return the literal that a call of the operator `name` on literals gives: constants, and tuples of them.

    Raises:
        OpTypeError: nothing computes the operator, or not for these arguments.
    """
    spec = RELAY_OPS.get(name)
    if spec is None:
        raise OpTypeError("PS011", f"nothing is known of the operator `{name}`")
    if spec.is_identity:
        return args[0]

    def operator(relax: str, args: tuple[Any, ...]) -> Any:
        found = find(relax)
        if found is None or found.evaluate is None:
            raise OpTypeError("PS011", f"nothing computes `{name}`")
        return found.evaluate(args)

    call = RelayCall(name, tuple(map(literal_type, args)), spec.with_defaults(attrs), args)
    try:
        value = evaluated(to_relax(call), Evaluation(operator))
    except (*NOT_COMPUTED, MemoryError) as error:
        raise OpTypeError("PS011", f"`{name}` cannot be computed: {error}") from error
    found = literal_of(value)
    if found is None:
        raise OpTypeError("PS011", f"the result, {value!r}, is no tensor")
    return found


def is_literal(expr: Expr) -> bool:
    """Tell whether `expr` is a constant with known data, or a tuple of literals."""
    stack = [expr]
    while stack:
        match stack.pop():
            case Constant() as constant if has_data(constant):
                pass
            case Tuple(fields=fields):
                stack.extend(fields)
            case _:
                return False
    return True


def literal_type(expr: Expr) -> Type:
    """Return the type of a tensor literal, or of a tuple of such."""
    match expr:
        case Constant(data=data):
            return TensorType(tuple(IntImm(int(size)) for size in data.shape), str(data.dtype))
        case Tuple(fields=fields):
            return TupleType(tuple(map(literal_type, fields)))
        case _:
            raise AssertionError(f"{type(expr).__name__} is no literal")


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
