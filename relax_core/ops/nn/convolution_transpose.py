"""Transposed convolutions: each element of the data spreads the kernel over the result."""

from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Op, TensorType, Type
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import out_dtype_at, padding_at, spread_at, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, both, cast, choose, eq, floordiv, floormod, inside, mul, size, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.layout import Layout, parse_layout, require_layout
from relax_core.ops.nn.convolution import SPATIAL, attributes, check_channels, convolve, pairs, spread
from relax_core.ops.operands import call_name, common_dtype, int_at, is_absent, tensor_at
from relax_core.ops.spec import Evaluate, OpSpec, OpTypeError, Param, Value

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/nn/convolution.cc"


def _layouts(call: Call, arg_types: tuple[Type, ...], spatial: str) -> tuple[Layout, Layout, Layout]:
    data = parse_layout(call, word_at(call, arg_types, 7), f"NC{spatial}")
    kernel = parse_layout(call, word_at(call, arg_types, 8), f"IO{spatial}")
    is_given = not is_absent(call, 9) and word_at(call, arg_types, 9)
    return data, kernel, parse_layout(call, word_at(call, arg_types, 9), f"NC{spatial}") if is_given else data


def _rank(call: Call) -> int:
    return int(call_name(call).removesuffix("d_transpose")[-1])


def _infer(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(n, c, *s) * (c, o / groups, *k) -> (n, o, *t)`.

    Each `t` is `(s - 1) * stride - padding + dilation * (k - 1) + output_padding + 1`.

    Raises:
        OpTypeError: TY037 if the channels do not go together.
    """
    rank = _rank(call)
    spatial = SPATIAL[rank]
    data, weight = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    data_layout, kernel_layout, out_layout = _layouts(call, arg_types, spatial)
    require_layout(call, data, data_layout, "data")
    require_layout(call, weight, kernel_layout, "a weight")
    dtype = out_dtype_at(call, 10) or common_dtype(call, (data, weight))
    strides, padding = spread_at(call, arg_types, 2, rank), padding_at(call, arg_types, 3, rank)
    extra, dilation = spread_at(call, arg_types, 4, rank), spread_at(call, arg_types, 5, rank)
    groups = int_at(call, arg_types, 6)
    if any(more >= stride for more, stride in zip(extra, strides, strict=True)):
        raise OpTypeError("TY037", f"{call_name(call)} needs an output_padding less than the strides")
    if data.dims is None or weight.dims is None:
        return TensorType(None, dtype, len(out_layout.axes), data.vdevice)
    channels = data_layout.extent(data.dims, "C"), kernel_layout.extent(weight.dims, "I")
    check_channels(call, *channels, (data, weight))
    extents = {"N": data_layout.extent(data.dims, "N")}
    extents["C"] = size(mul(kernel_layout.extent(weight.dims, "O"), groups))
    for k, letter in enumerate(spatial):
        spread_out = mul(sub(data_layout.extent(data.dims, letter), 1), strides[k])
        reach = mul(sub(kernel_layout.extent(weight.dims, letter), 1), dilation[k])
        extents[letter] = size(add(sub(add(spread_out, reach), sum(padding[k])), extra[k] + 1))
    return TensorType(out_layout.shape(extents), dtype, vdevice=data.vdevice)


def _build(lowering: Lowering) -> Buffer:
    call, types = lowering.call, lowering.arg_types
    rank = _rank(call)
    spatial = SPATIAL[rank]
    data_layout, kernel_layout, out_layout = _layouts(call, types, spatial)
    strides, padding = spread_at(call, types, 2, rank), padding_at(call, types, 3, rank)
    dilation, groups = spread_at(call, types, 5, rank), int_at(call, types, 6)
    data, weight = lowering.input(0, "data"), lowering.input(1, "weight")
    dtype = lowering.result.dtype
    outputs = kernel_layout.extent(weight.shape, "O")
    inputs = size(floordiv(kernel_layout.extent(weight.shape, "I"), groups))

    def element(at_out: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        at = out_layout.coordinates(at_out)
        channel, places = reduced[0], reduced[1:]
        if groups > 1:
            channel = add(mul(floordiv(at["C"], outputs), inputs), channel)
        source, conditions = {"N": at["N"], "C": channel}, list[PrimExpr]()
        for k, letter in enumerate(spatial):
            offset = sub(add(at[letter], padding[k][0]), mul(places[k], dilation[k]))
            source[letter] = offset if strides[k] == 1 else floordiv(offset, strides[k])
            if strides[k] > 1:
                conditions.append(eq(floormod(offset, strides[k]), 0))
            conditions.append(inside(source[letter], data_layout.extent(data.shape, letter)))
        value = choose(both(*conditions), load(data, data_layout.indices(source)), 0)
        tap = {"I": channel, "O": floormod(at["C"], outputs) if groups > 1 else at["C"]}
        tap |= dict(zip(spatial, places, strict=True))
        return mul(cast(value, dtype), cast(load(weight, kernel_layout.indices(tap)), dtype))

    over = [("dc", inputs), *((f"d{c.lower()}", kernel_layout.extent(weight.shape, c)) for c in spatial)]
    return lowering.builder.reduce(lowering.shape(), over, element, "sum", "compute", axis="i")


def _evaluate(rank: int) -> Evaluate:
    spatial = SPATIAL[rank]

    def evaluate(args: tuple[Value, ...]) -> Value:
        call = Call(Op(f"relax.nn.conv{rank}d_transpose"), ())
        layout = parse_layout(call, args[7], f"NC{spatial}")
        kernel = parse_layout(call, args[8], f"IO{spatial}")
        out = parse_layout(call, args[9], f"NC{spatial}") if args[9] else layout
        dtype = args[10] if args[10] not in (None, "", "void") else np.asarray(args[0]).dtype
        data = layout.unpacked(np.asarray(args[0]), f"NC{spatial}").astype(dtype)
        weight = kernel.unpacked(np.asarray(args[1]), f"IO{spatial}").astype(dtype)
        strides, dilation, extra = spread(args[2], rank), spread(args[5], rank), spread(args[4], rank)
        groups = int(args[6])
        taps = weight.shape[2:]
        widths = [
            (d * (k - 1) - before, d * (k - 1) - after + e)
            for d, k, (before, after), e in zip(dilation, taps, pairs(args[3], rank), extra, strict=True)
        ]
        whole = _padded(_spread_out(data, strides), widths)
        grouped = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        filters = np.flip(np.swapaxes(grouped, 1, 2), tuple(range(3, 3 + rank)))
        flat = filters.reshape(groups * filters.shape[1], *filters.shape[2:])
        with np.errstate(all="ignore"):
            return out.packed(convolve(whole, flat, (1,) * rank, dilation, groups), f"NC{spatial}")

    return evaluate


def _spread_out(data: Array, strides: tuple[int, ...]) -> Array:
    """Return the data with zeros between the elements; a weight that meets one is multiplied by it."""
    sizes = (max((n - 1) * s + 1, 0) for n, s in zip(data.shape[2:], strides, strict=True))
    result = np.zeros((*data.shape[:2], *sizes), data.dtype)
    result[(..., *(slice(None, None, s) for s in strides))] = data
    return result


def _padded(data: Array, widths: list[tuple[int, int]]) -> Array:
    """Pad the spatial axes with zeros; a negative width cuts."""
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(data.shape[2:], widths, strict=True))
    return np.pad(data[(..., *cut)], [(0, 0), (0, 0), *((max(a, 0), max(b, 0)) for a, b in widths)])


def _spec(rank: int) -> OpSpec:
    name = f"conv{rank}d_transpose"
    return OpSpec(
        f"relax.nn.{name}",
        attributes(rank, "IO", Param("output_padding", "axes", default=(0,) * rank)),
        _infer,
        f"Transposed convolution over {rank} spatial ax{'is' if rank == 1 else 'es'}.",
        evaluate=_evaluate(rank),
        legalize=lowered(name, _build),
        pattern_kind="out_fusable",
        see=_SEE,
    )


SPECS = tuple(_spec(rank) for rank in (1, 2, 3))
