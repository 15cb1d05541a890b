"""Operators whose result has a size that only the run knows, and the number of elements."""

from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, TupleType, Type
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, optional_int_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import cast
from relax_core.ops.operands import normal_axis, product, tensor_at
from relax_core.ops.schema import X
from relax_core.ops.spec import OpSpec, Param, Value, realized

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/tensor/set.cc"
_FLAGS = ("return_index", "return_inverse", "return_counts")


def _infer_unique(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the unique elements, or the unique parts along an axis, and an int64 vector for each that is asked for."""
    data, axis = tensor_at(call, arg_types), optional_int_at(call, arg_types, 5)
    flag_at(call, arg_types, 1)
    asked = [flag_at(call, arg_types, k) for k in (2, 3, 4)]
    if axis is not None and data.ndim is not None:
        normal_axis(call, axis, data.ndim)
    values = TensorType(None, data.dtype, 1 if axis is None else data.ndim)
    vectors = (TensorType(None, "int64", 1),) * sum(asked)
    return TupleType((values, *vectors)) if vectors else values


def evaluate_unique(args: tuple[Value, ...]) -> Value:
    """Return each element once, and int64 vectors for what else is asked: first places, inverse, counts."""
    data, is_sorted, axis = np.asarray(args[0]), bool(args[1]), args[5]
    values, index, inverse, counts = np.unique(
        data, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not is_sorted:
        by_first = np.argsort(index, kind="stable")
        values = np.take(values, by_first, axis=axis or 0)
        place = np.empty_like(by_first)
        place[by_first] = np.arange(len(by_first))
        index, inverse, counts = index[by_first], place[inverse], counts[by_first]
    asked = [item.astype(np.int64) for item, wanted in zip((index, inverse, counts), args[2:5], strict=True) if wanted]
    return (values, *asked) if asked else values


def _infer_nonzero(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer int64 `(rank, ?)`: a column per element that is not zero."""
    tensor_at(call, arg_types)
    return TensorType(None, "int64", 2)


def evaluate_nonzero(args: tuple[Value, ...]) -> Value:
    """Return int64 `(rank, count)`: a column of indices per element that is not zero."""
    data = np.asarray(args[0])
    return np.stack(np.nonzero(np.atleast_1d(data))).astype(np.int64)


def _infer_size(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer int64 of rank 0."""
    tensor_at(call, arg_types)
    return TensorType((), "int64")


def _build_size(lowering: Lowering) -> Buffer:
    data = lowering.input(0)
    count = cast(product(data.shape), "int64")
    return lowering.compute((), lambda *_: count, "T_size")


def _evaluate_size(args: tuple[Value, ...]) -> Value:
    return np.asarray(np.asarray(args[0]).size, dtype=np.int64)


_BY_VALUES = "The size of its result depends on the values; a kernel writes a result whose size is known."

SPECS = (
    *realized("evaluation", _BY_VALUES,
        OpSpec("relax.unique",
               (X, Param("sorted", "prim", "bool", default=True),
                *(Param(name, "prim", "bool", default=False) for name in _FLAGS),
                Param("axis", "prim", "int64", default=None)),
               _infer_unique, "Each element once.", evaluate=evaluate_unique, see=_SEE),
        OpSpec("relax.nonzero", (X,), _infer_nonzero, "The places of the elements that are not zero.",
               evaluate=evaluate_nonzero, see=_SEE),
    ),
    OpSpec("relax.size", (Param("expr", "tensor"),), _infer_size, "The number of elements.", evaluate=_evaluate_size,
           legalize=lowered("size", _build_size), see="tvm/src/relax/op/tensor/inspect.cc"),
)  # fmt: skip
