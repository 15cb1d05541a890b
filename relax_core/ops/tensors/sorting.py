"""Sorting, the greatest few, the place of the greatest, and search in sorted numbers."""

import math
from typing import Any, Literal, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import PrimExpr, const, dtype_of
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, optional_int_at, out_dtype_at, require_rank, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, both, cast, choose, either, eq, le, least, lit, lt, mul, negated, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import ONE, int_at, normal_axis, product, tensor_at
from relax_core.ops.schema import DATA, LAST_AXIS, X
from relax_core.ops.spec import Evaluate, OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import InSteps, in_rows, is_float, kept_dims, wide
from relax_core.ops.tensors.rearrange import infer_along

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/tensor/sorting.cc"
_SEE_SEARCH = "tvm/src/relax/op/tensor/search.cc"
_DESCENDING = Param("descending", "prim", "bool", default=False)
_INDEX_DTYPE = Param("dtype", "dtype", default="int32")
_WORDS = ("both", "values", "indices")


def ranks(lowering: Lowering, data: Buffer, axis: int, *, is_descending: bool) -> Buffer:
    """Add for each element its place in the order along an axis: how many come before it; equal ones stay."""

    def element(at: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        other = load(data, (*at[:axis], reduced[0], *at[axis + 1 :]))
        own = load(data, at)
        is_before = _is_less(own, other) if is_descending else _is_less(other, own)
        comes_first = either(is_before, both(_is_same(other, own), lt(reduced[0], at[axis])))
        return choose(comes_first, const(1), const(0))

    return lowering.builder.reduce(data.shape, [("j", data.shape[axis])], element, "sum", "T_rank")


def _is_less(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Return whether `a` comes before `b`: a NaN is greater than all numbers, as NumPy has it."""
    return either(lt(a, b), both(negated(eq(b, b)), eq(a, a))) if "float" in dtype_of(a) else lt(a, b)


def _is_same(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Return whether two elements stand in one place of the order."""
    return either(eq(a, b), both(negated(eq(a, a)), negated(eq(b, b)))) if "float" in dtype_of(a) else eq(a, b)


def filled(lowering: Lowering, index: int, dtype: str) -> Buffer:
    """Add a result full of zeros, which is written over."""
    return lowering.compute(lowering.shape(index), lambda *_: lit(0, dtype), "T_full")


def _infer_argsort(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the data; the dtype is int32 unless it is given."""
    data = infer_along(call, arg_types)
    return TensorType(data.shape, out_dtype_at(call, 3) or "int32", data.ndim)


def _build_sort(*, gives_index: bool):
    def build(lowering: Lowering) -> Buffer:
        data = lowering.input(0, "data")
        axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 1), len(data.shape))
        place = ranks(lowering, data, axis, is_descending=flag_at(lowering.call, lowering.arg_types, 2))
        dtype = lowering.result.dtype
        result = filled(lowering, 0, dtype)

        def element(*at: PrimExpr) -> tuple[tuple[PrimExpr, ...], PrimExpr]:
            value = cast(at[axis], dtype) if gives_index else load(data, at)
            return (*at[:axis], load(place, at), *at[axis + 1 :]), value

        return lowering.builder.scatter(result, data.shape, element, "T_sort")

    return build


def order(data: Array, axis: int, *, is_descending: bool) -> Array:
    """Return the indices that sort along an axis; equal elements keep their order."""
    if not is_descending:
        return np.argsort(data, axis=axis, kind="stable")
    last = data.shape[axis] - 1
    return np.flip(last - np.argsort(np.flip(data, axis), axis=axis, kind="stable"), axis)


def _evaluate_sort(args: tuple[Value, ...]) -> Value:
    data, axis = np.asarray(args[0]), int(args[1])
    return np.take_along_axis(data, order(data, axis, is_descending=bool(args[2])), axis=axis)


def _evaluate_argsort(args: tuple[Value, ...]) -> Value:
    data, axis = np.asarray(args[0]), int(args[1])
    return order(data, axis, is_descending=bool(args[2])).astype(args[3] or "int32")


def _infer_topk(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `k` elements along the axis, all if `k` is less than 1: the values, their indices, or both."""
    data, k, axis = tensor_at(call, arg_types), int_at(call, arg_types, 1), int_at(call, arg_types, 2)
    wanted = word_at(call, arg_types, 3, _WORDS)
    flag_at(call, arg_types, 4)
    dims = data.dims
    if data.ndim is not None:
        axis = normal_axis(call, axis, data.ndim)
    if dims is not None and k > 0:
        extent = constant_value(dims[axis])
        if extent is not None and k > extent:
            raise OpTypeError("TY079", f"topk of {k:,} elements of an axis that has {extent:,}", "take a smaller k")
        dims = (*dims[:axis], const(k), *dims[axis + 1 :])
    values = TensorType(dims, data.dtype, data.ndim)
    indices = TensorType(dims, out_dtype_at(call, 5) or "int32", data.ndim)
    return TupleType((values, indices)) if wanted == "both" else values if wanted == "values" else indices


def _build_topk(lowering: Lowering) -> Buffer | tuple[Buffer, ...]:
    call, types = lowering.call, lowering.arg_types
    data, k = lowering.input(0, "data"), int_at(call, types, 1)
    axis = normal_axis(call, int_at(call, types, 2), len(data.shape))
    wanted = word_at(call, types, 3)
    place = ranks(lowering, data, axis, is_descending=flag_at(call, types, 4))

    def write(index: int, *, gives_index: bool) -> Buffer:
        dtype = lowering.results[index].dtype
        result = filled(lowering, index, dtype)

        def element(*at: PrimExpr) -> tuple[tuple[PrimExpr, ...], PrimExpr]:
            value = cast(at[axis], dtype) if gives_index else load(data, at)
            return (*at[:axis], load(place, at), *at[axis + 1 :]), value

        def guard(*at: PrimExpr) -> PrimExpr:
            return lt(load(place, at), k)

        return lowering.builder.scatter(result, data.shape, element, "T_topk", guard=guard if k > 0 else None)

    if wanted == "both":
        return write(0, gives_index=False), write(1, gives_index=True)
    return write(0, gives_index=wanted == "indices")


def _evaluate_topk(args: tuple[Value, ...]) -> Value:
    data, k, axis = np.asarray(args[0]), int(args[1]), int(args[2])
    chosen = order(data, axis, is_descending=bool(args[4]))
    if k > 0:
        chosen = np.take(chosen, range(min(k, data.shape[axis])), axis=axis)
    values, indices = np.take_along_axis(data, chosen, axis=axis), chosen.astype(args[5] or "int32")
    if k > data.shape[axis]:
        widths = [(0, k - data.shape[axis] if at == axis % data.ndim else 0) for at in range(data.ndim)]
        values, indices = np.pad(values, widths), np.pad(indices, widths)
    return (values, indices) if args[3] == "both" else values if args[3] == "values" else indices


def _infer_place(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer int64 without the axis, or with size 1 there; without an axis, of all elements in one."""
    data, axis, keeps = tensor_at(call, arg_types), optional_int_at(call, arg_types, 1), flag_at(call, arg_types, 2)
    if axis is None:
        if not keeps:
            return TensorType((), "int64")
        return TensorType(None if data.ndim is None else (ONE,) * data.ndim, "int64", data.ndim)
    if data.ndim is None:
        return TensorType(None, "int64")
    axis = normal_axis(call, axis, data.ndim)
    middle = (ONE,) if keeps else ()
    if data.dims is None:
        return TensorType(None, "int64", data.ndim - 1 + len(middle))
    return TensorType((*data.dims[:axis], *middle, *data.dims[axis + 1 :]), "int64")


def _build_place(kind: Literal["max", "min"]):
    def build(lowering: Lowering) -> Buffer:
        data = lowering.input(0)
        axis = optional_int_at(lowering.call, lowering.arg_types, 1)
        keeps = flag_at(lowering.call, lowering.arg_types, 2)
        rank = len(data.shape)
        axes = tuple(range(rank)) if axis is None else (normal_axis(lowering.call, axis, rank),)
        over = [(f"k{k}", data.shape[k]) for k in axes]
        kept = tuple(dim for k, dim in enumerate(data.shape) if k not in axes)
        count = product(tuple(extent for _, extent in over))

        def source(at: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
            rest, inner = iter(at), iter(reduced)
            return load(data, tuple(next(inner) if k in axes else next(rest) for k in range(rank)))

        # From an infinity the search finds the first of elements that are all infinite; TVM, from the least finite
        # number, finds none and gives -1.
        worst = lit(math.inf if kind == "min" else -math.inf, data.dtype) if "float" in data.dtype else None
        best = lowering.builder.reduce(kept, over, source, kind if worst is None else (kind, worst), "T_best")

        def place(at: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
            flat: PrimExpr = const(0)
            for k, (index, (_, extent)) in enumerate(zip(reduced, over, strict=True)):
                flat = index if k == 0 else add(mul(flat, extent), index)
            # Nothing equals a NaN, which is the best only if it comes last.
            return choose(eq(source(at, reduced), load(best, at)), flat, sub(count, 1))

        found = lowering.builder.reduce(kept, over, place, "min", "T_place")

        def element(*at: PrimExpr) -> PrimExpr:
            # Of no elements there is no index, and -1 stands for it.
            place = load(found, tuple(index for k, index in enumerate(at) if not (keeps and k in axes)))
            return place if (constant_value(count) or 0) > 0 else least(place, sub(count, 1))

        return lowering.compute(lowering.shape(), element, f"T_arg{kind}")

    return build


def _evaluate_place(kind: Literal["max", "min"]) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        data, axis, keepdims = np.asarray(args[0]), args[1], bool(args[2])
        rows = wide(in_rows(data, axis))
        return kept_dims(_first_best(rows, is_least=kind == "min"), axis, data.ndim, keepdims=keepdims)

    return InSteps(evaluate)


def _first_best(rows: Array, *, is_least: bool) -> Array:
    """Return the first index of the best of what is behind the last NaN; that of the NaN if it is last; -1 of none."""
    if rows.shape[-1] == 0:
        return np.full(rows.shape[:-1], -1, np.int64)
    last = rows.shape[-1] - 1
    if not is_float(rows):
        return np.asarray(np.argmin(rows, axis=-1) if is_least else np.argmax(rows, axis=-1), np.int64)
    is_nan = np.isnan(rows)
    is_behind = np.cumsum(is_nan[..., ::-1], axis=-1)[..., ::-1] == 0
    held = np.where(is_behind, rows, np.inf if is_least else -np.inf)
    best = held.min(axis=-1, keepdims=True) if is_least else held.max(axis=-1, keepdims=True)
    # A number before the NaN may equal the best behind it, and comes first.
    return np.asarray(np.where(is_nan[..., -1], last, np.argmax(rows == best, axis=-1)), np.int64)


def _infer_bucketize(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the data with int64, or int32 if asked for; the boundaries are a vector."""
    data, boundaries = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    require_rank(call, boundaries, 1, "boundaries")
    return TensorType(data.shape, "int32" if flag_at(call, arg_types, 2) else "int64", data.ndim)


def _build_bucketize(lowering: Lowering) -> Buffer:
    """The bucket of an element is how many boundaries are below it."""
    data, boundaries = lowering.input(0, "input_tensor"), lowering.input(1, "boundaries")
    is_right, dtype = flag_at(lowering.call, lowering.arg_types, 3), lowering.result.dtype

    def element(at: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        bound, value = load(boundaries, reduced), load(data, at)
        is_below = le(bound, value) if is_right else lt(bound, value)
        return choose(is_below, lit(1, dtype), lit(0, dtype))

    return lowering.builder.reduce(data.shape, [("k", boundaries.shape[0])], element, "sum", "T_bucketize")


def _evaluate_bucketize(args: tuple[Value, ...]) -> Value:
    data, boundaries = np.asarray(args[0]), np.asarray(args[1])
    found = np.zeros(data.shape, "int32" if args[2] else "int64")
    for boundary in boundaries:
        found += boundary <= data if args[3] else boundary < data
    return found


def _place_spec(kind: Literal["max", "min"], summary: str) -> OpSpec:
    params = (X, Param("axis", "prim", "int64", default=None), Param("keepdims", "prim", "bool", default=False))
    return OpSpec(f"relax.arg{kind}", params, _infer_place, summary, evaluate=_evaluate_place(kind),
                  legalize=lowered(f"arg{kind}", _build_place(kind)), pattern_kind="reduce",
                  see=_SEE_SEARCH)  # fmt: skip


SPECS = (
    OpSpec("relax.sort", (X, LAST_AXIS, _DESCENDING), infer_along, "Sort along an axis.", evaluate=_evaluate_sort,
           legalize=lowered("sort", _build_sort(gives_index=False)), see=_SEE),
    OpSpec("relax.argsort", (DATA, LAST_AXIS, _DESCENDING, _INDEX_DTYPE), _infer_argsort,
           "The indices that sort along an axis.", evaluate=_evaluate_argsort,
           legalize=lowered("argsort", _build_sort(gives_index=True)), see=_SEE),
    OpSpec("relax.topk",
           (DATA, Param("k", "prim", "int64", default=1), LAST_AXIS,
            Param("ret_type", "prim", "string", default="both"), Param("largest", "prim", "bool", default=True),
            _INDEX_DTYPE),
           _infer_topk, "The greatest or least few along an axis, in order.", evaluate=_evaluate_topk,
           legalize=lowered("topk", _build_topk), see=_SEE),
    _place_spec("max", "The index of the greatest element along an axis."),
    _place_spec("min", "The index of the least element along an axis."),
    OpSpec("relax.bucketize",
           (Param("input_tensor", "tensor"), Param("boundaries", "tensor"),
            Param("out_int32", "prim", "bool", default=False), Param("right", "prim", "bool", default=False)),
           _infer_bucketize, "How many boundaries each element is above.", evaluate=_evaluate_bucketize,
           legalize=lowered("bucketize", _build_bucketize), pattern_kind="reduce", see=_SEE_SEARCH),
)  # fmt: skip
