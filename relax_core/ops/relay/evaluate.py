"""The value of a call of a Relay operator on constants, by the operators of Relax that it becomes."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import (
    Constant,
    Expr,
    Tuple,
)
from relax_core.ir.prim import IntImm
from relax_core.ir.types import TensorType, TupleType, Type
from relax_core.ops import find
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.operator_values import Evaluation, evaluated
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax import to_relax
from relax_core.ops.spec import NOT_COMPUTED, OpTypeError


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
        return _literal(evaluated(to_relax(call), Evaluation(operator)))
    except (*NOT_COMPUTED, MemoryError) as error:
        raise OpTypeError("PS011", f"`{name}` cannot be computed: {error}") from error


def is_literal(expr: Expr) -> bool:
    """Tell whether `expr` is a constant, or a tuple of literals."""
    stack = [expr]
    while stack:
        match stack.pop():
            case Constant():
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


def _literal(value: Any) -> Expr:
    match value:
        case np.ndarray() | np.generic():
            data: npt.NDArray[Any] = np.array(cast("npt.NDArray[Any]", value))
            data.flags.writeable = False
            return Constant(data)
        case tuple() | list():
            return Tuple(tuple(map(_literal, cast("tuple[Any, ...]", value))))
        case _:
            raise OpTypeError("PS011", f"the result, {value!r}, is no tensor")
