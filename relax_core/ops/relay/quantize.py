"""Relay's operators of quantized programs (`qnn.`): each takes the scales and zero points of its operands."""

from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.types import TensorType, Type
from relax_core.ops.relay.convolution import conv_attrs, convolve, convolve_transposed
from relax_core.ops.relay.elementwise import arithmetic, identity
from relax_core.ops.relay.manipulate import concatenate
from relax_core.ops.relay.neural import dense, dense_pack, matmul, pool
from relax_core.ops.relay.spec import Relation, RelayCall, op
from relax_core.ops.spec import REQUIRED

_WHY = "Relax computes on the integers, then requantizes: qnn.canonicalize writes it so"
_NUMBERS = "the arithmetic itself: scaled, rounded, held within bounds"
_ONE = "x scale zero_point output_scale output_zero_point"
_TWO = "lhs rhs lhs_scale lhs_zero_point rhs_scale rhs_zero_point output_scale output_zero_point"
_PRODUCT = "data weight input_zero_point kernel_zero_point input_scale kernel_scale"
_AXES = MappingProxyType({"lhs_axis": -1, "rhs_axis": -1})


def _to(default: str) -> Relation:
    def relation(call: RelayCall) -> Type:
        return replace(call.tensor(), dtype=call.dtype("out_dtype") or default)

    return relation


def _transposed(call: RelayCall) -> Type:
    result = convolve_transposed(call)
    return replace(result, dtype=call.dtype("out_dtype") or "int32") if isinstance(result, TensorType) else result


SPECS = (
    op("qnn.quantize", "data output_scale output_zero_point", _to("int8"), {"out_dtype": "int8", "axis": -1},
       relax="relax.quantize"),
    op("qnn.dequantize", "data input_scale input_zero_point", _to("float32"), {"out_dtype": "float32", "axis": -1},
       relax="relax.dequantize"),
    op("qnn.requantize", "data input_scale input_zero_point output_scale output_zero_point", _to("int8"),
       {"axis": -1, "rounding": "None", "compute_dtype": "None", "out_dtype": "int8"}, why=_WHY),
    op("qnn.simulated_quantize", "data out_dtype output_scale output_zero_point", identity, {"axis": -1}, why=_NUMBERS),
    op("qnn.simulated_dequantize", "data in_dtype input_scale input_zero_point", identity, {"axis": -1}, why=_NUMBERS),
    *(op(f"qnn.{name}", _TWO, arithmetic, _AXES, why=_WHY) for name in ("add", "subtract", "mul")),
    op("qnn.dense", _PRODUCT, dense, {"units": None, "out_dtype": "int32"}, why=_WHY),
    op("qnn.contrib_dense_pack", _PRODUCT, dense_pack, {"units": None, "out_dtype": "int32", "weight_layout": "NC"},
       why=_WHY),
    op("qnn.batch_matmul", "x y x_zero_point y_zero_point x_scale y_scale", matmul,
       {"out_dtype": "int32", "transpose_a": False, "transpose_b": True}, why=_WHY),
    op("qnn.conv2d", _PRODUCT, convolve, {**conv_attrs(2), "out_dtype": "int32"}, why=_WHY),
    op("qnn.conv2d_transpose", _PRODUCT, _transposed,
       {**conv_attrs(2), "kernel_layout": "IOHW", "output_padding": (0, 0), "out_dtype": "int32"}, why=_WHY),
    op("qnn.concatenate", "data input_scales input_zero_points output_scale output_zero_point", concatenate,
       {"axis": 0}, why=_WHY),
    op("qnn.leaky_relu", _ONE, identity, {"alpha": REQUIRED}, why=_WHY),
    op("qnn.softmax", _ONE, identity, {"axis": -1}, why=_WHY),
    op("qnn.avg_pool2d", "data input_scale input_zero_point output_scale output_zero_point", pool,
       {"pool_size": REQUIRED, "strides": (1, 1), "dilation": (1, 1), "padding": (0, 0), "layout": "NCHW",
        "out_layout": "", "ceil_mode": False, "count_include_pad": False}, why=_WHY),
    *(op(f"qnn.{name}", _ONE, identity, why=_WHY) for name in ("tanh", "sigmoid", "hardswish", "exp", "sqrt",
                                                               "rsqrt", "erf", "log", "abs")),
    op("relay.op.annotation.simulated_quantize", "data dom_scale clip_min clip_max", identity,
       {"kind": 0, "sign": True, "rounding": "round"}, why=_NUMBERS),
)  # fmt: skip
