"""Operators of Relay on values: what `to_relax` makes of the call is evaluated by the table of Relax's operators."""

from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import (
    Expr,
)
from relax_core.ops import find
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.evaluate import Evaluation, evaluated
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

    def operator(name: str, args: tuple[Value, ...]) -> Value:
        spec = find(name)
        assert spec is not None, f"{name} is an operator of the table"
        return run_operator(budget, spec, args)

    return evaluated(expr, Evaluation(operator, ShapeValue, DTypeValue))
