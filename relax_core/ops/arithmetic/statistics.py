"""Variance and standard deviation, running sums and products."""

from typing import Literal

import numpy as np

from relax_core.ir.expr import Call, TensorType, TupleType, Type
from relax_core.ir.prim import PrimExpr, binary, const
from relax_core.ir.tir import Buffer
from relax_core.ops.arithmetic.reduce import infer_reduction, read_reduction
from relax_core.ops.attributes import flag_at, optional_int_at, out_dtype_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import call, cast, choose, div, eq, floordiv, lit, mul, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import call_name, ints_at, normal_axis, product, require_float, tensor_at
from relax_core.ops.schema import AXES, DATA, KEEPDIMS, X
from relax_core.ops.spec import Evaluate, OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import InSteps, converted, count_of, kept_shape, mean_along, quotient, sum_along, wide
from relax_core.ops.tensors.manipulate import split_index
from relax_core.ops.tensors.sorting import filled, ranks

_SEE = "tvm/src/relax/op/tensor/statistical.cc"


def _infer_spread(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a reduction as that of `sum`, of numbers; a root is of floats."""
    data = tensor_at(call_, arg_types)
    if call_name(call_) == "std":
        require_float(call_, data)
    if data.dtype == "bool":
        raise OpTypeError("TY033", ("variance expects numbers, got ", data), "convert it with R.astype")
    return infer_reduction(call_, arg_types)


def _build_spread(name: Literal["variance", "std"]):
    def build(lowering: Lowering) -> Buffer:
        data = lowering.input(0)
        reduction = read_reduction(lowering.call, lowering.arg_types, len(data.shape))
        over = [(f"k{axis}", data.shape[axis]) for axis in reduction.axes]
        kept = reduction.kept(data.shape)
        count = cast(product(tuple(extent for _, extent in over)), data.dtype)

        def value(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
            return load(data, reduction.source(spatial, reduced))

        total = lowering.builder.reduce(kept, over, value, "sum", "x_red")
        mean = lowering.compute(kept, lambda *i: div(load(total, i), count), "T_divide")

        def square(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
            difference = sub(value(spatial, reduced), load(mean, spatial))
            return mul(difference, difference)

        squares = lowering.builder.reduce(kept, over, square, "sum", "T_multiply_red")

        def element(*indices: PrimExpr) -> PrimExpr:
            share = div(load(squares, reduction.stripped(indices)), count)
            return call("sqrt", share) if name == "std" else share

        return lowering.compute(lowering.shape(), element, "compute" if name == "std" else "T_divide")

    return build


def _evaluate_spread(name: Literal["variance", "std"]) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        data = np.asarray(args[0])
        distance = wide(data) - wide(mean_along(data, args[1], keepdims=True))
        total = sum_along(distance * distance, args[1], keepdims=bool(args[2]), dtype=data.dtype)
        count = np.asarray(count_of(data, args[1])).astype(data.dtype)
        return np.sqrt(wide(total) / wide(count)).astype(data.dtype) if name == "std" else quotient(total, count)

    return InSteps(evaluate)


def _infer_scan(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the data; without an axis all elements are in one."""
    data, axis = tensor_at(call_, arg_types), optional_int_at(call_, arg_types, 1)
    dtype = out_dtype_at(call_, 2) or data.dtype
    if axis is None:
        return TensorType(None if data.dims is None else (product(data.dims),), dtype, 1)
    if data.ndim is not None:
        normal_axis(call_, axis, data.ndim)
    return TensorType(data.shape, dtype, data.ndim)


def _build_scan(kind: Literal["+", "*"]):
    start = 0 if kind == "+" else 1

    def build(lowering: Lowering) -> Buffer:
        data = lowering.input(0, "data")
        axis = optional_int_at(lowering.call, lowering.arg_types, 1)
        is_exclusive = flag_at(lowering.call, lowering.arg_types, 3)
        dtype = lowering.result.dtype
        place = 0 if axis is None else normal_axis(lowering.call, axis, len(data.shape))

        def before(at: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
            return (*at[:place], sub(at[place], 1), *at[place + 1 :])

        def source(at: tuple[PrimExpr, ...]) -> PrimExpr:
            return cast(load(data, split_index(at[0], data.shape) if axis is None else at), dtype)

        def element(result: Buffer, at: tuple[PrimExpr, ...]) -> PrimExpr:
            is_first = eq(at[place], 0)
            previous = load(result, before(at))
            operation = "or" if kind == "+" and dtype == "bool" else kind
            if is_exclusive:
                return choose(is_first, lit(start, dtype), binary(operation, previous, source(before(at))))
            return choose(is_first, source(at), binary(operation, previous, source(at)))

        return lowering.builder.scan(lowering.shape(), element, dtype, "T_scan")

    return build


def _evaluate_scan(kind: Literal["+", "*"]) -> Evaluate:
    function, start = (np.add, 0) if kind == "+" else (np.multiply, 1)

    def evaluate(args: tuple[Value, ...]) -> Value:
        data = np.asarray(args[0])
        dtype = np.dtype(args[2] if args[2] not in (None, "", "void") else data.dtype)
        items = converted(data.reshape(-1) if args[1] is None else data, dtype)
        axis = 0 if args[1] is None else int(args[1])
        if args[3] and items.shape[axis]:
            rows = np.moveaxis(items, axis, 0)
            items = np.moveaxis(np.concatenate([np.full_like(rows[:1], start), rows[:-1]]), 0, axis)
        return np.asarray(function.accumulate(items, axis=axis, dtype=dtype))

    return InSteps(evaluate)


def _infer_median(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the values and, with an axis, their indices."""
    values = infer_reduction(call_, arg_types)
    assert isinstance(values, TensorType)
    if _median_axis(call_, arg_types) is None:
        return values
    return TupleType((values, TensorType(values.shape, "int64", values.ndim)))


def _median_axis(call_: Call, arg_types: tuple[Type, ...]) -> int | None:
    axes = ints_at(call_, arg_types, 1) or ()
    if len(axes) > 1:
        raise OpTypeError("TY017", f"median takes one axis or none, got {list(axes)}")
    return axes[0] if axes else None


def _build_median(lowering: Lowering) -> Buffer | tuple[Buffer, ...]:
    """The median has half of the others, rounded down, before it in order; equal ones stand as they are."""
    data = lowering.input(0)
    axis = _median_axis(lowering.call, lowering.arg_types)
    rank = len(data.shape)
    place = 0 if axis is None else normal_axis(lowering.call, axis, rank)
    if axis is None:
        count = product(data.shape)
        source = data
        data = lowering.compute((count,), lambda *i: load(source, split_index(i[0], source.shape)), "T_flatten")
    position = ranks(lowering, data, place, is_descending=False)
    middle = floordiv(sub(data.shape[place], 1), 2)
    reduction = read_reduction(lowering.call, lowering.arg_types, rank)

    def place_of(at: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
        if axis is None:
            return (const(0),) * (rank if reduction.keeps else 0)
        return (*at[:place], *((const(0),) if reduction.keeps else ()), *at[place + 1 :])

    def is_middle(*at: PrimExpr) -> PrimExpr:
        return eq(load(position, at), middle)

    made: list[Buffer] = []
    for k, result in enumerate(lowering.results):
        buffer = filled(lowering, k, result.dtype)

        def element(*at: PrimExpr, k: int = k) -> tuple[tuple[PrimExpr, ...], PrimExpr]:
            return place_of(at), load(data, at) if k == 0 else at[place]

        made.append(lowering.builder.scatter(buffer, data.shape, element, "T_median", guard=is_middle))
    return made[0] if axis is None else tuple(made)


def _evaluate_median(args: tuple[Value, ...]) -> Value:
    data, axes, keeps = np.asarray(args[0]), args[1], bool(args[2])
    if count_of(data, axes or None) == 0:
        zeros = np.zeros(kept_shape(data, axes or None, keepdims=keeps), data.dtype)
        return (zeros, zeros.astype(np.int64)) if axes else zeros
    if not axes:
        value = np.asarray(np.sort(data, axis=None)[(data.size - 1) // 2])
        return value.reshape((1,) * data.ndim) if keeps else value
    axis = int(axes[0])
    order = np.argsort(data, axis=axis, kind="stable")
    where = np.take(order, [(data.shape[axis] - 1) // 2], axis=axis)
    values = np.take_along_axis(data, where, axis=axis)
    return (values, where) if keeps else (np.squeeze(values, axis), np.squeeze(where, axis))


def _spread_spec(name: Literal["variance", "std"], summary: str) -> OpSpec:
    return OpSpec(f"relax.{name}", (X, AXES, KEEPDIMS), _infer_spread, summary, evaluate=_evaluate_spread(name),
                  legalize=lowered(name, _build_spread(name)), pattern_kind="reduce", see=_SEE)  # fmt: skip


def _scan_spec(name: str, kind: Literal["+", "*"], summary: str) -> OpSpec:
    params = (
        DATA,
        Param("axis", "prim", "int64", default=None),
        Param("dtype", "dtype", default=None),
        Param("exclusive", "prim", "bool", default=False),
    )
    return OpSpec(f"relax.{name}", params, _infer_scan, summary, evaluate=_evaluate_scan(kind),
                  legalize=lowered(name, _build_scan(kind)), see=_SEE)  # fmt: skip


SPECS = (
    _spread_spec("variance", "Mean of the squared distances from the mean, along axes."),
    _spread_spec("std", "Root of the variance, along axes."),
    _scan_spec("cumsum", "+", "Running sum along an axis."),
    _scan_spec("cumprod", "*", "Running product along an axis."),
    OpSpec("relax.median", (X, AXES, KEEPDIMS), _infer_median,
           "The element in the middle of the order, and with an axis its index.", evaluate=_evaluate_median,
           legalize=lowered("median", _build_median), see=_SEE),
)  # fmt: skip
