"""Operators of Relay on values: what `to_relax` makes of the call is evaluated by the table of Relax's operators."""

from relax_core.ir.attrs import Attrs
from relax_core.ir.canonical import constant_value
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
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm
from relax_core.ops import find
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax import to_relax
from relax_core.ops.spec import OpTypeError
from relax_core.vm.context import fail
from relax_core.vm.operators import Budget, expr_of_value, run_operator, type_of_value
from relax_core.vm.values import DTypeValue, ShapeValue, Value


def run_relay_operator(budget: Budget, name: str, attrs: Attrs, args: tuple[Value, ...]) -> Value:
    """Evaluate a Relay operator.

    Raises:
        RunError: VM017 if Relax cannot express the call or it cannot be computed, VM006 for lack of memory.
    """
    spec = RELAY_OPS.get(name)
    if spec is None:
        fail("VM017", f"nothing is known of the operator `{name}`, so it cannot run")
    if spec.is_identity:
        return args[0]
    types, literals = tuple(map(type_of_value, args)), tuple(map(expr_of_value, args))
    try:
        expr = to_relax(RelayCall(name, types, spec.with_defaults(dict(attrs)), literals))
    except OpTypeError as error:
        fail("VM017", error.message, error.hint)
    return evaluate(budget, expr)


def evaluate(budget: Budget, expr: Expr) -> Value:
    """Evaluate an expression of operators and literals; shared parts once."""
    value_of: dict[Node, Value] = {}
    for item in postorder(expr):
        match item:
            case Constant(data=data):
                value_of[item] = data
            case PrimValue(value=value):
                value_of[item] = _number(value)
            case ShapeExpr(values=values):
                value_of[item] = ShapeValue(int(_known(value)) for value in values)
            case DataTypeImm(value=name):
                value_of[item] = DTypeValue(name)
            case Null():
                value_of[item] = None
            case Tuple(fields=fields):
                value_of[item] = tuple(value_of[field] for field in fields)
            case TupleGetItem(tuple_value=inner, index=index):
                taken = value_of[inner]
                assert isinstance(taken, tuple), "the operator's type says so"
                value_of[item] = taken[index]
            case Call(op=Op(name=name), args=args):
                spec = find(name)
                assert spec is not None, f"{name} is an operator of the table"
                value_of[item] = run_operator(budget, spec, tuple(value_of[arg] for arg in args))
            case _:
                pass
    return value_of[expr]


def _number(value: PrimExpr) -> bool | int | float | str:
    match value:
        case IntImm(value=number, dtype="bool"):
            return bool(number)
        case IntImm(value=number) | FloatImm(value=number):
            return number
        case StringImm(value=text):
            return text
        case _:
            return _known(value)


def _known(value: PrimExpr) -> int:
    found = constant_value(value)
    assert found is not None, "sizes of values are numbers"
    return found
