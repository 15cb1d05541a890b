"""Convolutions of one, two and three spatial axes."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Op, TensorType, Type
from relax_core.ir.integer.prove import constant_value, prove_different
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import out_dtype_at, padding_at, spread_at, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, both, cast, choose, floordiv, inside, mul, size, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.layout import Layout, parse_layout, require_layout
from relax_core.ops.operands import call_name, common_dtype, int_at, is_absent, tensor_at
from relax_core.ops.spec import Evaluate, OpSpec, OpTypeError, Param, Value, listed

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/nn/convolution.cc"
SPATIAL = ("", "W", "HW", "DHW")


@dataclass(frozen=True, slots=True)
class Convolution:
    """The attributes of a convolution; `spatial` are the letters of its spatial axes."""

    spatial: str
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int
    data: Layout
    kernel: Layout
    out: Layout


def _read(call: Call, arg_types: tuple[Type, ...]) -> Convolution:
    rank = int(call_name(call)[-2])
    spatial = SPATIAL[rank]
    data = parse_layout(call, word_at(call, arg_types, 6), f"NC{spatial}")
    kernel = parse_layout(call, word_at(call, arg_types, 7), f"OI{spatial}")
    out = data
    if not is_absent(call, 8) and (name := word_at(call, arg_types, 8)):
        out = parse_layout(call, name, f"NC{spatial}")
    return Convolution(
        spatial,
        spread_at(call, arg_types, 2, rank),
        padding_at(call, arg_types, 3, rank),
        spread_at(call, arg_types, 4, rank),
        int_at(call, arg_types, 5),
        data,
        kernel,
        out,
    )


def _infer(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(n, c, *s) * (o, c / groups, *k) -> (n, o, *t)`.

    Each `t` is `(s + padding - dilation * (k - 1) - 1) // stride + 1`.

    Raises:
        OpTypeError: TY037 if the channels do not go together.
    """
    data, weight, conv = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1), _read(call, arg_types)
    require_layout(call, data, conv.data, "data")
    require_layout(call, weight, conv.kernel, "a weight")
    dtype = out_dtype_at(call, 9) or common_dtype(call, (data, weight))
    if data.dims is None or weight.dims is None:
        return TensorType(None, dtype, len(conv.out.axes), data.vdevice)
    _check_channels(call, conv, data, weight)
    extents = {"N": conv.data.extent(data.dims, "N"), "C": conv.kernel.extent(weight.dims, "O")}
    for k, letter in enumerate(conv.spatial):
        reach = mul(sub(conv.kernel.extent(weight.dims, letter), 1), conv.dilation[k])
        room = sub(add(conv.data.extent(data.dims, letter), sum(conv.padding[k])), add(reach, 1))
        extents[letter] = window_count(call, size(room), conv.strides[k], letter)
    return TensorType(conv.out.shape(extents), dtype, vdevice=data.vdevice)


def window_count(call: Call, room: PrimExpr, stride: int, letter: str) -> PrimExpr:
    """Return how many windows fit in an axis that leaves the first of them `room` to move.

    Raises:
        OpTypeError: TY078 if not even one fits.
    """
    if (constant_value(room) or 0) < 0:
        message = f"{call_name(call)} has a window that is larger than its padded input along {letter}"
        raise OpTypeError("TY078", message, "pad more, or take a smaller window or dilation")
    return size(add(floordiv(room, stride), 1))


def _check_channels(call: Call, conv: Convolution, data: TensorType, weight: TensorType) -> None:
    assert data.dims is not None
    assert weight.dims is not None
    check_channels(
        call,
        conv.data.extent(data.dims, "C"),
        size(mul(conv.kernel.extent(weight.dims, "I"), conv.groups)),
        (data, weight),
    )
    outputs = constant_value(conv.kernel.extent(weight.dims, "O"))
    if conv.groups < 1 or (outputs is not None and outputs % conv.groups):
        raise OpTypeError(
            "TY037", f"{call_name(call)} cannot divide {outputs} output channels into {conv.groups} groups"
        )


def check_channels(call: Call, given: PrimExpr, wanted: PrimExpr, types: Iterable[Type]) -> None:
    """Raise TY037 if the channels of the data provably are not those that the weight takes."""
    if prove_different(given, wanted):
        raise OpTypeError(
            "TY037",
            (
                f"{call_name(call)} has data of {show_prim(given)} channels and a weight for {show_prim(wanted)}: ",
                *listed(types, " and "),
            ),
            "the weight's input channels times groups must be the channels of the data",
        )


def _build(lowering: Lowering) -> Buffer:
    conv = _read(lowering.call, lowering.arg_types)
    data, weight = lowering.input(0, "data"), lowering.input(1, "weight")
    dtype = lowering.result.dtype
    kernel = {letter: conv.kernel.extent(weight.shape, letter) for letter in f"OI{conv.spatial}"}
    extents = {letter: conv.data.extent(data.shape, letter) for letter in f"NC{conv.spatial}"}
    per_group = size(floordiv(kernel["O"], conv.groups))

    def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        at = conv.out.coordinates(spatial)
        channel, places = reduced[0], reduced[1:]
        inputs = channel
        if conv.groups > 1:
            inputs = add(mul(floordiv(at["C"], per_group), kernel["I"]), channel)
        source = {"N": at["N"], "C": inputs}
        conditions: list[PrimExpr] = []
        for k, letter in enumerate(conv.spatial):
            index = add(mul(at[letter], conv.strides[k]), mul(places[k], conv.dilation[k]))
            before, after = conv.padding[k]
            source[letter] = sub(index, before) if before else index
            if before or after:
                conditions.append(inside(source[letter], extents[letter]))
        value = load(data, conv.data.indices(source))
        if conditions:
            value = choose(both(*conditions), value, 0)
        tap = {"O": at["C"], "I": channel, **dict(zip(conv.spatial, places, strict=True))}
        return mul(cast(value, dtype), cast(load(weight, conv.kernel.indices(tap)), dtype))

    over = [("rc", kernel["I"]), *((f"r{letter.lower()}", kernel[letter]) for letter in conv.spatial)]
    name = f"conv{len(conv.spatial)}d_{conv.data.name.lower()}"
    return lowering.builder.reduce(lowering.shape(), over, element, "sum", name, axis="i")


def _evaluate(rank: int) -> Evaluate:
    spatial = SPATIAL[rank]

    def evaluate(args: tuple[Value, ...]) -> Value:
        call = Call(Op(f"relax.nn.conv{rank}d"), ())
        data_layout, kernel_layout = (
            parse_layout(call, name, f"{letters}{spatial}") for name, letters in ((args[6], "NC"), (args[7], "OI"))
        )
        out_layout = parse_layout(call, args[8], f"NC{spatial}") if args[8] else data_layout
        dtype = args[9] if args[9] not in (None, "", "void") else np.asarray(args[0]).dtype
        data = data_layout.unpacked(np.asarray(args[0]), f"NC{spatial}").astype(dtype)
        weight = kernel_layout.unpacked(np.asarray(args[1]), f"OI{spatial}").astype(dtype)
        padded = np.pad(data, [(0, 0), (0, 0), *pairs(args[3], rank)])
        result = convolve(padded, weight, spread(args[2], rank), spread(args[4], rank), int(args[5]))
        return out_layout.packed(result, f"NC{spatial}")

    return evaluate


def convolve(data: Array, weight: Array, strides: tuple[int, ...], dilation: tuple[int, ...], groups: int) -> Array:
    """Convolve padded data `(n, c, *s)` with `(o, c / groups, *k)`."""
    taps = weight.shape[2:]
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(data.shape[2:], taps, strides, dilation, strict=True)]
    batch, outputs, inputs = data.shape[0], weight.shape[0] // groups, weight.shape[1]
    result = np.zeros((batch, groups, outputs, *sizes), data.dtype)
    grouped = data.reshape(batch, groups, inputs, *data.shape[2:])
    filters = weight.reshape(groups, outputs, inputs, *taps)
    for tap in itertools.product(*map(range, taps)):
        window = tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilation, sizes, strides, strict=True)
        )
        result += np.einsum("bgi...,goi->bgo...", grouped[(..., *window)], filters[(..., *tap)])
    return result.reshape(batch, groups * outputs, *sizes)


def spread(value: Value, count: int) -> tuple[int, ...]:
    """Return `count` ints of one int, of a list of one, or of a list of as many."""
    items = (value,) if isinstance(value, int) else tuple(value)
    return items * count if len(items) == 1 else items


def pairs(value: Value, count: int) -> list[tuple[int, int]]:
    """Return padding before and after per axis."""
    items = (value,) if isinstance(value, int) else tuple(value)
    items = items * count if len(items) == 1 else items
    items = items * 2 if len(items) == count else items
    return list(zip(items[:count], items[count:], strict=True))


def attributes(rank: int, kernel: str, *extra: Param) -> tuple[Param, ...]:
    """Return the parameters of a convolution; `extra` ones come behind the padding."""
    return (
        Param("data", "tensor"),
        Param("weight", "tensor"),
        Param("strides", "axes", default=(1,) * rank),
        Param("padding", "axes", default=(0,) * rank),
        *extra,
        Param("dilation", "axes", default=(1,) * rank),
        Param("groups", "prim", "int64", default=1),
        Param("data_layout", "prim", "string", default=f"NC{SPATIAL[rank]}"),
        Param("kernel_layout", "prim", "string", default=f"{kernel}{SPATIAL[rank]}"),
        Param("out_layout", "prim", "string", default=None),
        Param("out_dtype", "dtype", default=None),
    )


def _spec(rank: int) -> OpSpec:
    name = f"conv{rank}d"
    return OpSpec(
        f"relax.nn.{name}",
        attributes(rank, "OI"),
        _infer,
        f"Convolution over {rank} spatial ax{'is' if rank == 1 else 'es'}.",
        evaluate=_evaluate(rank),
        legalize=lowered(name, _build),
        pattern_kind="out_fusable",
        see=_SEE,
    )


SPECS = tuple(_spec(rank) for rank in (1, 2, 3))
