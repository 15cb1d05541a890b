"""Operators that were not lowered, evaluated by the operator table once the size of the result is checked."""

import math
from typing import Any, Protocol, cast

import numpy as np

from relax_core.ir.expr import (
    OBJECT,
    VOID,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Null,
    Op,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
)
from relax_core.ir.prim import IntImm, PrimExpr, StringImm, const
from relax_core.ops.spec import NOT_COMPUTED, OpSpec, OpTypeError, OpValueError
from relax_core.vm.context import fail
from relax_core.vm.objects.placed import plain
from relax_core.vm.objects.values import DTypeValue, ShapeValue, Value, describe, root_of


class Budget(Protocol):
    """What counts the memory of a run."""

    def reserve(self, size_bytes: int, what: str, shape: tuple[int, ...] | None = None, dtype: str = "") -> None:
        """Charge memory that is about to be allocated; VM006 if it is too much."""
        ...


def run_operator(context: Budget, spec: OpSpec, args: tuple[Value, ...]) -> Value:
    """Evaluate an operator on run-time values; VM006 before a result that is too large is made, VM017 on failure."""
    if spec.evaluate is None:
        fail("VM017", f"operator `{spec.name}` has no evaluation of its own", "lower it with LegalizeOps")
    for arg in args:
        if isinstance(arg, tuple) and any(type(field) is tuple for field in arg):
            fail("VM017", f"operator `{spec.name}` takes no tuples of tuples")
    context.reserve(_result_bytes(spec, args), f"the result of `{spec.name}`")
    try:
        result = spec.evaluate(tuple(map(_plain, args)))
    except MemoryError:
        fail("VM006", f"there is no memory for the result of `{spec.name}`")
    except OpValueError as error:
        fail(error.code, f"operator `{spec.name}`: {error}", error.hint)
    except NOT_COMPUTED as error:
        found = ", ".join(map(describe, args))
        fail("VM017", f"operator `{spec.name}` cannot be computed on ({found}): {error}")
    return _value(result, args)


def _plain(value: Value) -> Any:
    match value:
        case DTypeValue(name=name):
            return name
        case ShapeValue():
            return tuple(value)
        case tuple():
            return tuple(map(_plain, value))
        case _:
            return plain(value)


def _value(result: Any, args: tuple[Value, ...]) -> Value:
    match result:
        case np.ndarray() | np.generic():
            return _own(np.asarray(cast("np.ndarray[Any, Any]", result)), args)
        case tuple() if all(type(item) is int for item in cast("tuple[Any, ...]", result)):
            return ShapeValue(cast("tuple[int, ...]", result))
        case tuple() | list():
            return tuple(_value(item, args) for item in cast("tuple[Any, ...]", result))
        case _:
            return result


def _own(result: np.ndarray[Any, Any], args: tuple[Value, ...]) -> np.ndarray[Any, Any]:
    """Return `result` in memory of its own: the result of an operator is never a view of an argument."""
    is_view = any(isinstance(arg, np.ndarray) and root_of(result) is root_of(arg) for arg in args)
    return result.copy() if is_view else np.ascontiguousarray(result).reshape(result.shape)


def _result_bytes(spec: OpSpec, args: tuple[Value, ...]) -> int:
    call = Call(Op(spec.name), tuple(map(expr_of_value, args)))
    try:
        found = spec.infer(call, tuple(map(type_of_value, args)))
    except OpTypeError as error:
        fail("VM017", f"operator `{spec.name}`: {error.message}", error.hint)
    return size_bytes(found)


def size_bytes(found: Type) -> int:
    """Return the size of a value of a type in bytes; unknown parts count as nothing."""
    match found:
        case TensorType(shape=tuple() as dims, dtype=str(dtype)):
            sizes = tuple(dim.value for dim in dims if isinstance(dim, IntImm))
            return math.prod(sizes) * np.dtype(dtype).itemsize if len(sizes) == len(dims) else 0
        case TupleType(fields=fields):
            return sum(map(size_bytes, fields))
        case _:
            return 0


def _dims(shape: tuple[int, ...]) -> tuple[PrimExpr, ...]:
    return tuple(IntImm(int(size)) for size in shape)


def type_of_value(value: Value) -> Type:
    """Return the most precise type of a value."""
    match value:
        case np.ndarray():
            return TensorType(_dims(value.shape), str(value.dtype))
        case ShapeValue():
            return ShapeType(_dims(value))
        case tuple():
            return TupleType(tuple(map(type_of_value, value)))
        case bool() | int() | float():
            prim = const(value)
            return PrimType(prim.dtype, prim)
        case str():
            return PrimType("string", StringImm(value))
        case None:
            return VOID
        case _:
            return OBJECT


def expr_of_value(value: Value) -> Expr:
    """Return the literal of a value; one that has none is `Null`."""
    match value:
        case np.ndarray():
            return Constant(value)
        case ShapeValue():
            return ShapeExpr(_dims(value))
        case tuple():
            return Tuple(tuple(map(expr_of_value, value)))
        case bool() | int() | float():
            return PrimValue(const(value))
        case str():
            return PrimValue(StringImm(value))
        case DTypeValue(name=name):
            return DataTypeImm(name)
        case _:
            return Null()
