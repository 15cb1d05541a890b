"""Operators on packed bits: numbers of few bits, of which a word holds one bit of each of several."""

import re
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, TensorType, Type, constant
from relax_core.ir.prim import IntImm
from relax_core.ops.operands import replaced
from relax_core.ops.relay.dims import calculate, normal_axis
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import plain_type
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import (
    cast,
    dtype_of,
    rank,
    relax,
    scalar,
    size,
    untranslated,
)

_WIDE = "int64"


def _width(dtype: str) -> int:
    return int(re.sub(r"\D", "", dtype) or 0)


def _low_bits(value: Expr, count: int) -> Expr:
    return relax("bitwise_and", cast(value, _WIDE), scalar((1 << count) - 1, _WIDE))


def _bitpack(call: RelayCall) -> Expr:
    """A word has a bit of each of its numbers, that of the first number at the top."""
    dtype = call.text("pack_type")
    width, bits = _width(dtype), call.int_("bits")
    axis = call.int_("pack_axis") % rank(call)
    place = call.int_("bit_axis") % (rank(call) + 1)
    shape = tuple(size(call, k) for k in range(rank(call)))
    if width not in (8, 16, 32, 64) or shape[axis] % width:
        raise untranslated(call, f"{shape[axis]} numbers do not fill words of type {dtype}")
    words = (*shape[:axis], shape[axis] // width, width, *shape[axis + 1 :])
    numbers = relax("reshape", cast(call.exprs[0], _WIDE), words)
    shifts = _column([width - 1 - k for k in range(width)], len(shape) - axis - 1)
    planes: list[Expr] = []
    for bit in range(bits):
        one = relax("bitwise_and", relax("right_shift", numbers, scalar(bit, _WIDE)), scalar(1, _WIDE))
        planes.append(cast(relax("sum", relax("left_shift", one, shifts), (axis + 1,)), dtype))
    return relax("stack", tuple(planes), place)


def _column(values: list[int], axes_behind: int) -> Expr:
    made = constant(np.asarray(values, _WIDE))
    return relax("reshape", made, (len(values), *(1,) * axes_behind))


def _unpacked(call: RelayCall, index: int, bits: int) -> Expr:
    """Return the numbers of a matrix, which may be packed as `bitpack` does it: `(rows, bits, words)`."""
    value = call.exprs[index]
    if rank(call, index) == 2:
        return _low_bits(value, bits)
    dtype = dtype_of(call, index)
    width, rows, words = _width(dtype), size(call, 0, index), size(call, 2, index)
    if rank(call, index) != 3 or size(call, 1, index) != bits:
        raise untranslated(call, f"argument {index + 1} has neither rank 2 nor {bits} planes of bits")
    places = _column([width - 1 - k for k in range(width)], 0)
    shown = relax("right_shift", relax("expand_dims", cast(value, _WIDE), (3,)), places)
    every = relax("bitwise_and", shown, scalar(1, _WIDE))
    weighed = relax("left_shift", every, _column(list(range(bits)), 2))
    return relax("reshape", relax("sum", weighed, (1,)), (rows, words * width))


def _signed(call: RelayCall, weight: Expr) -> Expr:
    """Return what the bits of a weight stand for: with `unipolar` each is 1 or -1, else 1 or 0."""
    if not call.flag("unipolar"):
        return weight
    most = (1 << call.int_("weight_bits")) - 1
    return relax("subtract", relax("multiply", weight, scalar(2, _WIDE)), scalar(most, _WIDE))


def _dense(call: RelayCall) -> Expr:
    data = _unpacked(call, 0, call.int_("data_bits"))
    weight = _signed(call, _unpacked(call, 1, call.int_("weight_bits")))
    return cast(relax("matmul", data, relax("permute_dims", weight)), call.dtype("out_dtype") or "int16")


def _convolution(call: RelayCall) -> Expr:
    layouts = call.text("data_layout"), call.text("kernel_layout")
    if layouts not in (("NCHW", "OIHW"), ("NHWC", "HWIO")) or rank(call, 1) != 4:
        raise untranslated(call, "neither the layouts NCHW and OIHW nor NHWC and HWIO, or the weight is packed")
    data = cast(_low_bits(call.exprs[0], call.int_("activation_bits")), "int32")
    weight = cast(_signed(call, _low_bits(call.exprs[1], call.int_("weight_bits"))), "int32")
    padding = call.ints("padding")
    made = relax("nn.conv2d", data, weight, call.ints("strides"), padding * 2 if len(padding) == 1 else padding,
                 data_layout=layouts[0], kernel_layout=layouts[1], out_dtype="int32")  # fmt: skip
    return cast(made, call.dtype("out_dtype") or "int16")


def _dense_type(call: RelayCall) -> Type:
    """Relation: `(*b, k)` becomes `(*b, units)`, whatever the bits of the operands."""
    data = call.tensor()
    dims = None if not data.dims else (*data.dims[:-1], IntImm(call.int_("units")))
    return TensorType(dims, call.dtype("out_dtype") or data.dtype)


def _bitpack_type(call: RelayCall) -> Type:
    """Relation: an axis shrinks by the bits of the packed type, and a new one has an element per bit."""
    data = call.tensor()
    if data.dims is None:
        return TensorType(None, call.text("pack_type"))
    axis = normal_axis(call, call.int_("pack_axis"), len(data.dims))
    packed = calculate("//", data.dims[axis], _width(call.text("pack_type")))
    dims = replaced(data.dims, axis, packed)
    place = normal_axis(call, call.int_("bit_axis"), len(data.dims) + 1)
    return TensorType((*dims[:place], IntImm(call.int_("bits")), *dims[place:]), call.text("pack_type"))


_BITS = MappingProxyType({"pack_dtype": "uint32", "out_dtype": "int16", "unipolar": True})

SPECS = (
    op("nn.bitserial_dense", "data weight", _dense, {"units": None, "data_bits": 1, "weight_bits": 1, **_BITS},
       relation=_dense_type),
    op("nn.bitpack", "data", _bitpack,
       {"bits": 1, "pack_axis": 1, "bit_axis": 2, "pack_type": "uint32", "name": "BitPack"}, relation=_bitpack_type),
    op("nn.bitserial_conv2d", "data weight", _convolution,
       {"channels": None, "kernel_size": None, "strides": (1, 1), "padding": (0, 0), "activation_bits": 1,
        "weight_bits": 1, "data_layout": "NCHW", "kernel_layout": "OIHW", **_BITS}, relation=plain_type),
)  # fmt: skip
