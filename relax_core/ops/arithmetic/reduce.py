"""Reductions along axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.prim import Cast, IntImm, PrimExpr, binary
from relax_core.ops.kernels.extremes import greatest_along, least_along
from relax_core.ops.kernels.te import Combine, FuncBuilder, known, load
from relax_core.ops.operands import ONE, ints_at, normal_axes, product, scalar_at, tensor_at
from relax_core.ops.schema import AXES, KEEPDIMS, X
from relax_core.ops.spec import Evaluate, Legalize, Legalized, OpSpec, OpTypeError, Value
from relax_core.ops.steps import InSteps, mean_along, product_along, sum_along

_SEE = "tvm/src/relax/op/tensor/statistical.cc"


@dataclass(frozen=True, slots=True)
class Reduction:
    """Which axes of a tensor of `rank` are reduced, and whether they stay with size 1."""

    axes: tuple[int, ...]
    rank: int
    keeps: bool

    def kept(self, shape: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        """Return the sizes of the other axes."""
        return tuple(dim for k, dim in enumerate(shape) if k not in self.axes)

    def stripped(self, indices: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
        """Return the indices of the result at the other axes."""
        return self.kept(indices) if self.keeps else indices

    def source(self, kept: Sequence[PrimExpr], reduced: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        """Return the indices of an element: `kept` at the other axes, `reduced` at the reduced ones."""
        rest, inner = iter(kept), iter(reduced)
        return tuple(next(inner) if k in self.axes else next(rest) for k in range(self.rank))


def read_reduction(call: Call, arg_types: tuple[Type, ...], rank: int) -> Reduction:
    """Read `axis` and `keepdims`; without axes all are reduced."""
    axes = ints_at(call, arg_types, 1)
    found = tuple(range(rank)) if axes is None else tuple(sorted(normal_axes(call, axes, rank)))
    return Reduction(found, rank, _keeps_dims(call, arg_types))


def _keeps_dims(call: Call, arg_types: tuple[Type, ...]) -> bool:
    match scalar_at(call, arg_types, 2):
        case IntImm(value=value):
            return bool(value)
        case _:
            raise OpTypeError("TY018", "keepdims must be True or False, written out")


def infer_reduction(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a reduction: the reduced axes vanish, or are of size 1 with keepdims; without axes all are reduced."""
    tensor, keeps = tensor_at(call, arg_types), _keeps_dims(call, arg_types)
    if tensor.ndim is None:
        is_total = ints_at(call, arg_types, 1) is None and not keeps
        return TensorType((), tensor.dtype) if is_total else TensorType(None, tensor.dtype)
    axes = read_reduction(call, arg_types, tensor.ndim).axes
    if tensor.dims is None:
        if len(axes) == tensor.ndim:
            return TensorType((ONE,) * tensor.ndim if keeps else (), tensor.dtype)
        return TensorType(None, tensor.dtype, tensor.ndim if keeps else tensor.ndim - len(axes))
    dims = tuple(ONE if k in axes else dim for k, dim in enumerate(tensor.dims) if keeps or k not in axes)
    return TensorType(dims, tensor.dtype)


def _legalize_reduction(name: Literal["sum", "prod", "max", "min", "mean"]) -> Legalize:
    combine: Combine = "sum" if name == "mean" else name

    def legalize(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
        data, result = known(arg_types[0]), known(out_type)
        if data is None or result is None:
            return None
        reduction = read_reduction(call, arg_types, len(data.dims))
        axes = reduction.axes
        builder = FuncBuilder(name)
        source = builder.input(call.args[0], data, "x")

        def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
            return load(source, reduction.source(reduction.stripped(spatial), reduced))

        over = [(f"k{axis}", source.shape[axis]) for axis in axes]
        out = builder.reduce(builder.shape(result.dims), over, element, combine, f"{source.name}_red")
        if name == "mean":
            total, count = out, product(tuple(source.shape[axis] for axis in axes))
            is_float = "float" in data.dtype

            def share(*indices: PrimExpr) -> PrimExpr:
                return binary("/" if is_float else "truncdiv", load(total, indices), Cast(count, data.dtype))

            out = builder.compute(out.shape, share, "T_divide", axis="ax")
        return builder.finish(out, result)

    return legalize


def _evaluate_reduction(function: Callable[..., Any]) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        data = np.asarray(args[0])
        return np.asarray(function(data, args[1], keepdims=bool(args[2]))).astype(data.dtype)

    return InSteps(evaluate)


def _spec(name: Literal["sum", "prod", "max", "min", "mean"], function: Callable[..., Any], summary: str) -> OpSpec:
    return OpSpec(
        f"relax.{name}",
        (X, AXES, KEEPDIMS),
        infer_reduction,
        summary,
        evaluate=_evaluate_reduction(function),
        legalize=_legalize_reduction(name),
        pattern_kind="reduce",
        see=_SEE,
    )


SPECS = (
    _spec("sum", sum_along, "Sum along axes."),
    _spec("mean", mean_along, "Mean along axes."),
    _spec("max", greatest_along, "Greatest element along axes."),
    _spec("min", least_along, "Least element along axes."),
    _spec("prod", product_along, "Product along axes."),
)
