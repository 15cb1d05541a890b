"""Pooling: the greatest element or the mean of windows; adaptive pooling to a given size."""

import itertools
import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Op, TensorType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, padding_at, spread_at, word_at
from relax_core.ops.dtypes import limits
from relax_core.ops.kernels.extremes import greatest_along
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import (
    add,
    both,
    cast,
    choose,
    div,
    floordiv,
    greatest,
    inside,
    least,
    lit,
    lt,
    mul,
    size,
    sub,
)
from relax_core.ops.kernels.te import load, lowest
from relax_core.ops.layout import Layout, parse_layout, require_layout
from relax_core.ops.nn.convolution import SPATIAL, pairs, spread, window_count
from relax_core.ops.operands import call_name, ints_at, is_absent, tensor_at
from relax_core.ops.spec import Evaluate, OpSpec, Param, Value
from relax_core.ops.steps import InSteps, mean_along, quotient, sum_along

Array: TypeAlias = "np.ndarray[Any, Any]"
Kind: TypeAlias = Literal["max", "avg"]

_SEE = "tvm/src/relax/op/nn/pooling.cc"


@dataclass(frozen=True, slots=True)
class Pool:
    """The attributes of a pooling; `slack` per axis is added to the size by `ceil_mode`."""

    spatial: str
    window: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    is_ceil: bool
    counts_padding: bool
    layout: Layout
    out: Layout


def _out_layout(call: Call, arg_types: tuple[Type, ...], index: int, layout: Layout, spatial: str) -> Layout:
    is_given = not is_absent(call, index) and word_at(call, arg_types, index)
    return parse_layout(call, word_at(call, arg_types, index), f"NC{spatial}") if is_given else layout


def read_pool(call: Call, arg_types: tuple[Type, ...], first: int = 1) -> Pool:
    """Read the attributes of a pooling, which begin at the argument `first`."""
    rank = next(int(item) for item in call_name(call) if item.isdigit())
    spatial = SPATIAL[rank]
    layout = parse_layout(call, word_at(call, arg_types, first + 6), f"NC{spatial}")
    return Pool(
        spatial,
        spread_at(call, arg_types, first, rank),
        spread_at(call, arg_types, first + 1, rank),
        padding_at(call, arg_types, first + 2, rank),
        spread_at(call, arg_types, first + 3, rank),
        flag_at(call, arg_types, first + 4),
        flag_at(call, arg_types, first + 5),
        layout,
        _out_layout(call, arg_types, first + 7, layout, spatial),
    )


def pooled_shape(call: Call, pool: Pool, data: TensorType) -> TensorType:
    """Return the type of pooled data."""
    if data.dims is None:
        return TensorType(None, data.dtype, len(pool.out.axes), data.vdevice)
    extents = {letter: pool.layout.extent(data.dims, letter) for letter in "NC"}
    for k, letter in enumerate(pool.spatial):
        reach = pool.dilation[k] * (pool.window[k] - 1) + 1
        slack = pool.strides[k] - 1 if pool.is_ceil else 0
        extent = pool.layout.extent(data.dims, letter)
        room = size(add(extent, sum(pool.padding[k]) - reach + slack))
        count = window_count(call, room, pool.strides[k], letter)
        extents[letter] = _begun(count, extent, pool, k) if pool.is_ceil else count
    return TensorType(pool.out.shape(extents), data.dtype, vdevice=data.vdevice)


def _begun(count: PrimExpr, extent: PrimExpr, pool: Pool, k: int) -> PrimExpr:
    """Return the number of windows that begin on the data or before it: one behind them is none, as in PyTorch."""
    windows, elements = constant_value(count), constant_value(extent)
    if windows is None or elements is None or (windows - 1) * pool.strides[k] < elements + pool.padding[k][0]:
        return count
    return const(windows - 1)


def _infer(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(s + padding - dilation * (window - 1) - 1) // stride + 1` per spatial size; ceil mode rounds up."""
    data, pool = tensor_at(call, arg_types), read_pool(call, arg_types)
    require_layout(call, data, pool.layout, "data")
    return pooled_shape(call, pool, data)


def _build(kind: Kind):
    def build(lowering: Lowering) -> Buffer:
        pool = read_pool(lowering.call, lowering.arg_types)
        data = lowering.input(0, "x")
        extents = {letter: pool.layout.extent(data.shape, letter) for letter in f"NC{pool.spatial}"}
        outside = lowest(data.dtype) if kind == "max" else lit(0, data.dtype)

        def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
            at = pool.out.coordinates(spatial)
            places, conditions = dict(at), list[PrimExpr]()
            for k, letter in enumerate(pool.spatial):
                index = add(mul(at[letter], pool.strides[k]), mul(reduced[k], pool.dilation[k]))
                before, after = pool.padding[k]
                places[letter] = sub(index, before) if before else index
                if before or after or pool.is_ceil:
                    conditions.append(inside(places[letter], extents[letter]))
            value = load(data, pool.layout.indices(places))
            return choose(both(*conditions), value, outside) if conditions else value

        over = [(f"rv{k}", const(item)) for k, item in enumerate(pool.window)]
        combine = "max" if kind == "max" else "sum"
        name = "pool_max" if kind == "max" else "pool_sum"
        result = lowering.builder.reduce(lowering.shape(), over, element, combine, name)
        if kind == "max":
            return result

        def share(*indices: PrimExpr) -> PrimExpr:
            count = _count(pool, pool.out.coordinates(indices), extents)
            return div(load(result, indices), cast(count, data.dtype))

        return lowering.compute(result.shape, share, "pool_avg")

    return build


def _count(pool: Pool, at: dict[str, PrimExpr], extents: dict[str, PrimExpr]) -> PrimExpr:
    """Return by how many elements a sum is divided: those in the data, or in the data and its padding."""
    count: PrimExpr = const(1)
    for k, letter in enumerate(pool.spatial):
        before, after = pool.padding[k]
        window, dilation = pool.window[k], pool.dilation[k]
        if not (before or after or pool.is_ceil):
            count = mul(count, window)
            continue
        start = sub(mul(at[letter], pool.strides[k]), before)
        limit = add(extents[letter], after) if pool.counts_padding else extents[letter]
        end = least(add(start, (window - 1) * dilation + 1), limit)
        if not pool.counts_padding:
            missed = greatest(floordiv(sub(dilation - 1, start), dilation), 0)
            start = add(start, mul(missed, dilation))
        count = mul(count, floordiv(add(sub(end, start), dilation - 1), dilation))
    return greatest(size(count), 1)


def _evaluate(kind: Kind, rank: int) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        letters = f"NC{SPATIAL[rank]}"
        call = Call(Op(f"relax.nn.{kind}_pool{rank}d"), ())
        layout = parse_layout(call, args[7], letters)
        out = parse_layout(call, args[8], letters) if args[8] else layout
        data = layout.unpacked(np.asarray(args[0]), letters)
        window, strides, dilation = (spread(args[k], rank) for k in (1, 2, 4))
        padding, is_ceil, counts = pairs(args[3], rank), bool(args[5]), bool(args[6])
        reach = [d * (k - 1) + 1 for k, d in zip(window, dilation, strict=True)]
        slack = [_slack(*item) if is_ceil else 0 for item in zip(data.shape[2:], padding, reach, strides, strict=True)]
        lowest_value = np.asarray(limits(str(data.dtype))[0]).astype(data.dtype)
        widths = [(0, 0), (0, 0), *((a, b + s) for (a, b), s in zip(padding, slack, strict=True))]
        padded = np.pad(data, widths, constant_values=lowest_value if kind == "max" else 0)
        ones = np.pad(np.ones(data.shape, np.int64), [(0, 0), (0, 0), *padding], constant_values=1 if counts else 0)
        ones = np.pad(ones, [(0, 0), (0, 0), *((0, s) for s in slack)])
        parts = list(_windows(padded, window, strides, dilation))
        if kind == "max":
            return out.packed(greatest_along(np.asarray(parts), 0), letters)
        counted = np.maximum(np.sum(list(_windows(ones, window, strides, dilation)), axis=0), 1)
        total = sum_along(np.asarray(parts), 0)
        return out.packed(quotient(total, counted.astype(data.dtype)), letters)

    return InSteps(evaluate)


def _slack(extent: int, padding: tuple[int, int], reach: int, stride: int) -> int:
    """Return how far the last window that begins on the data, or before it, reaches beyond the padding."""
    over = -(-(extent + sum(padding) - reach) // stride)
    last = over - (over * stride >= extent + padding[0])
    return max(0, last * stride + reach - extent - sum(padding))


def _windows(data: Array, window: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...]):
    sizes = [
        (n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(data.shape[2:], window, strides, dilation, strict=True)
    ]
    for tap in itertools.product(*map(range, window)):
        yield data[
            (
                ...,
                *(
                    slice(t * d, t * d + (n - 1) * s + 1, s)
                    for t, d, n, s in zip(tap, dilation, sizes, strides, strict=True)
                ),
            )
        ]


def _adaptive_sizes(call: Call, arg_types: tuple[Type, ...], rank: int) -> tuple[int, ...] | None:
    return None if ints_at(call, arg_types, 1) is None else spread_at(call, arg_types, 1, rank)


def _adaptive_layouts(call: Call, arg_types: tuple[Type, ...], rank: int) -> tuple[Layout, Layout]:
    layout = parse_layout(call, word_at(call, arg_types, 2), f"NC{SPATIAL[rank]}")
    return layout, _out_layout(call, arg_types, 3, layout, SPATIAL[rank])


def _adaptive_rank(call: Call) -> int:
    return int(call_name(call)[-2])


def _infer_adaptive(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given spatial sizes; without them, those of the data."""
    data, rank = tensor_at(call, arg_types), _adaptive_rank(call)
    layout, out = _adaptive_layouts(call, arg_types, rank)
    require_layout(call, data, layout, "data")
    if data.dims is None:
        return TensorType(None, data.dtype, len(out.axes), data.vdevice)
    extents = {letter: layout.extent(data.dims, letter) for letter in f"NC{SPATIAL[rank]}"}
    sizes = _adaptive_sizes(call, arg_types, rank)
    if sizes is not None:
        extents |= {letter: const(item) for letter, item in zip(SPATIAL[rank], sizes, strict=True)}
    return TensorType(out.shape(extents), data.dtype, vdevice=data.vdevice)


def _build_adaptive(lowering: Lowering) -> Buffer:
    rank = _adaptive_rank(lowering.call)
    layout, out = _adaptive_layouts(lowering.call, lowering.arg_types, rank)
    data, shape = lowering.input(0, "x"), lowering.shape()
    letters = SPATIAL[rank]
    whole = {letter: layout.extent(data.shape, letter) for letter in letters}
    made = {letter: out.extent(shape, letter) for letter in letters}

    def bounds(at: dict[str, PrimExpr], letter: str) -> tuple[PrimExpr, PrimExpr]:
        start = floordiv(mul(at[letter], whole[letter]), made[letter])
        end = floordiv(add(mul(add(at[letter], 1), whole[letter]), sub(made[letter], 1)), made[letter])
        return start, end

    def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        at = out.coordinates(spatial)
        places, conditions = dict(at), list[PrimExpr]()
        for letter, offset in zip(letters, reduced, strict=True):
            start, end = bounds(at, letter)
            places[letter] = add(start, offset)
            conditions.append(lt(places[letter], end))
        return choose(both(*conditions), load(data, layout.indices(places)), lit(0, data.dtype))

    over = [(f"rv{k}", _reach(whole[letter], made[letter])) for k, letter in enumerate(letters)]
    total = lowering.builder.reduce(shape, over, element, "sum", "adaptive_pool_sum")

    def share(*indices: PrimExpr) -> PrimExpr:
        at = out.coordinates(indices)
        ranges = [bounds(at, letter) for letter in letters]
        count = mul(*(sub(end, start) for start, end in ranges))
        return div(load(total, indices), cast(count, data.dtype))

    return lowering.compute(total.shape, share, "adaptive_pool_avg")


def _reach(whole: PrimExpr, made: PrimExpr) -> PrimExpr:
    """Return how many elements a window has at most."""
    n, m = constant_value(whole), constant_value(made)
    if n is not None and m is not None:
        return const(max(math.ceil((i + 1) * n / m) - i * n // m for i in range(m)) if m else 0)
    return size(add(floordiv(add(whole, sub(made, 1)), made), 1))


def _evaluate_adaptive(rank: int) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        letters = f"NC{SPATIAL[rank]}"
        call = Call(Op(f"relax.nn.adaptive_avg_pool{rank}d"), ())
        layout = parse_layout(call, args[2], letters)
        out = parse_layout(call, args[3], letters) if args[3] else layout
        data = layout.unpacked(np.asarray(args[0]), letters)
        sizes = data.shape[2:] if args[1] is None else spread(args[1], rank)
        result = np.zeros((*data.shape[:2], *sizes), data.dtype)
        for place in itertools.product(*map(range, sizes)):
            window = tuple(
                slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in zip(place, data.shape[2:], sizes, strict=True)
            )
            result[(..., *place)] = mean_along(data[(..., *window)], tuple(range(2, 2 + rank)))
        return out.packed(result, letters)

    return InSteps(evaluate)


def pool_attributes(rank: int, *, counts_padding: bool) -> tuple[Param, ...]:
    """Return the attributes of a pooling."""
    return (
        Param("pool_size", "axes", default=(1,) * rank),
        Param("strides", "axes", default=(1,) * rank),
        Param("padding", "axes", default=(0,) * rank),
        Param("dilation", "axes", default=(1,) * rank),
        Param("ceil_mode", "prim", "bool", default=False),
        Param("count_include_pad", "prim", "bool", default=counts_padding),
        Param("layout", "prim", "string", default=f"NC{SPATIAL[rank]}"),
        Param("out_layout", "prim", "string", default=None),
    )


def _spec(kind: Kind, rank: int) -> OpSpec:
    name = f"{kind}_pool{rank}d"
    # The defaults of TVM's Python functions differ here.
    counts_padding = kind == "avg" and rank != 2
    return OpSpec(
        f"relax.nn.{name}",
        (Param("data", "tensor"), *pool_attributes(rank, counts_padding=counts_padding)),
        _infer,
        f"{'Greatest element' if kind == 'max' else 'Mean'} of windows over {rank} spatial axes.",
        evaluate=_evaluate(kind, rank),
        legalize=lowered(name, _build(kind)),
        pattern_kind="out_fusable",
        see=_SEE,
    )


def _adaptive_spec(rank: int) -> OpSpec:
    name = f"adaptive_avg_pool{rank}d"
    params = (
        Param("data", "tensor"),
        Param("output_size", "axes", default=None),
        Param("layout", "prim", "string", default=f"NC{SPATIAL[rank]}"),
        Param("out_layout", "prim", "string", default=None),
    )
    return OpSpec(
        f"relax.nn.{name}",
        params,
        _infer_adaptive,
        f"Mean of windows that divide {rank} spatial axes into a given number.",
        evaluate=_evaluate_adaptive(rank),
        legalize=lowered(name, _build_adaptive),
        pattern_kind="out_fusable",
        see=_SEE,
    )


SPECS = (
    *(_spec(kind, rank) for kind in ("max", "avg") for rank in (1, 2, 3)),
    *(_adaptive_spec(rank) for rank in (1, 2, 3)),
)
