"""Activations with attributes, and dropout."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value, prove_different
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer
from relax_core.ops.arithmetic.elementwise import infer_float, infer_same, legalize_map
from relax_core.ops.attributes import float_at, require_rank
from relax_core.ops.kernels.extremes import greater_of, lesser_of
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, call, choose, div, greatest, least, lit, lt, mul, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import common_dtype, int_at, normal_axis, require_float, tensor_at
from relax_core.ops.schema import DATA
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value

Array: TypeAlias = "np.ndarray[Any, Any]"
Element: TypeAlias = Callable[..., PrimExpr]

_SEE = "tvm/src/relax/op/nn/nn.cc"
_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
_CUBIC, _ROOT = 0.044715, math.sqrt(2.0 / math.pi)


def with_numbers(name: str, count: int, element: Element):
    """Return a legalization to one block; `element` gets the element and the `count` numbers behind the tensor."""

    def build(lowering: Lowering) -> Buffer:
        numbers = [float_at(lowering.call, lowering.arg_types, k + 1) for k in range(count)]
        data = lowering.input(0, "data")
        return lowering.compute(data.shape, lambda *i: element(load(data, i), *numbers), "compute", axis="i")

    return lowered(name, build)


def _leaky(x: PrimExpr, alpha: float) -> PrimExpr:
    zero = lit(0, _dtype(x))
    return choose(lt(zero, x), x, mul(x, lit(alpha, _dtype(x))))


def _dtype(x: PrimExpr) -> str:
    return str(getattr(x, "dtype", ""))


def _softplus(x: PrimExpr, beta: float, threshold: float) -> PrimExpr:
    scaled = mul(x, beta)
    soft = div(call("log", add(call("exp", scaled), 1.0)), beta)
    return choose(lt(threshold, scaled), x, soft)


def _selu(x: PrimExpr) -> PrimExpr:
    below = mul(sub(call("exp", x), 1.0), _ALPHA)
    return mul(choose(lt(0.0, x), x, below), _SCALE)


def _gelu_tanh(x: PrimExpr) -> PrimExpr:
    inner = mul(mul(_ROOT, x), add(1.0, mul(mul(_CUBIC, x), x)))
    return mul(mul(0.5, x), add(1.0, call("tanh", inner)))


def _relu6(x: PrimExpr) -> PrimExpr:
    return greatest(least(x, 6), 0)


def _evaluate(function: Callable[..., Any]) -> Callable[[tuple[Value, ...]], Value]:
    """Return an evaluation in the dtype of the data, with the operations of the prim func in its order."""

    def evaluate(args: tuple[Value, ...]) -> Value:
        data = np.asarray(args[0])
        with np.errstate(all="ignore"):
            return np.asarray(function(data, *args[1:])).astype(data.dtype)

    return evaluate


def _numpy_leaky(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, x * alpha)


def _numpy_relu6(x: Array) -> Array:
    return greater_of(lesser_of(x, x.dtype.type(6)), x.dtype.type(0))


def _numpy_softplus(x: Array, beta: float, threshold: float) -> Array:
    scaled = x * beta
    return np.where(scaled > threshold, x, np.log(np.exp(scaled) + 1) / beta)


def _numpy_selu(x: Array) -> Array:
    return np.where(x > 0, x, (np.exp(x) - 1) * _ALPHA) * _SCALE


def _numpy_gelu_tanh(x: Array) -> Array:
    return (0.5 * x) * (1 + np.tanh((_ROOT * x) * (1 + (_CUBIC * x) * x)))


def _infer_prelu(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the data, which must be of floats; there is one slope, or one for each place of the axis."""
    data, alpha = tensor_at(call_, arg_types, 0), tensor_at(call_, arg_types, 1)
    require_float(call_, data)
    common_dtype(call_, (data, alpha))
    require_rank(call_, alpha, 1, "slopes")
    if data.ndim is None:
        return data
    axis = normal_axis(call_, int_at(call_, arg_types, 2), data.ndim)
    if data.dims is not None and alpha.dims is not None:
        wanted, given = data.dims[axis], alpha.dims[0]
        if constant_value(given) != 1 and prove_different(wanted, given):
            raise OpTypeError(
                "TY037", f"nn.prelu has {show_prim(given)} slopes for an axis of size {show_prim(wanted)}"
            )
    return data


def _build_prelu(lowering: Lowering) -> Buffer:
    data, alpha = lowering.input(0, "data"), lowering.input(1, "alpha")
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 2), len(data.shape))
    is_one = constant_value(alpha.shape[0]) == 1

    def element(*indices: PrimExpr) -> PrimExpr:
        x = load(data, indices)
        slope = load(alpha, (lit(0, "int64") if is_one else indices[axis],))
        return choose(lt(lit(0, data.dtype), x), x, mul(x, slope))

    return lowering.compute(data.shape, element, "compute", axis="i")


def _evaluate_prelu(args: tuple[Value, ...]) -> Value:
    data, alpha = np.asarray(args[0]), np.asarray(args[1])
    shape = [1] * data.ndim
    shape[int(args[2])] = -1
    with np.errstate(all="ignore"):
        return np.where(data > 0, data, data * alpha.reshape(shape)).astype(data.dtype)


def _infer_dropout(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the result and the mask, both of the type of the data."""
    data = tensor_at(call_, arg_types)
    require_float(call_, data)
    return TupleType((data, TensorType(data.shape, data.dtype, data.ndim)))


def _build_dropout(lowering: Lowering) -> tuple[Buffer, ...]:
    data = lowering.input(0, "data")
    mask = lowering.compute(lowering.shape(1), lambda *_: lit(1, data.dtype), "T_full_like")
    return lowering.copy(data, "T_identity"), mask


def _evaluate_dropout(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    return data.copy(), np.ones_like(data)


SPECS = (
    OpSpec("relax.nn.leakyrelu", (DATA, Param("alpha", "prim", "float64", default=0.01)), infer_float,
           "The element, or a part of it if it is negative.",
           evaluate=_evaluate(_numpy_leaky),
           legalize=with_numbers("leaky_relu", 1, _leaky), pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.nn.prelu", (DATA, Param("alpha", "tensor"), Param("axis", "prim", "int64", default=1)),
           _infer_prelu, "The element, or a part of it if it is negative, by slopes along an axis.",
           evaluate=_evaluate_prelu, legalize=lowered("prelu", _build_prelu), pattern_kind="broadcast", see=_SEE),
    OpSpec("relax.nn.softplus",
           (DATA, Param("beta", "prim", "float64", default=1.0), Param("threshold", "prim", "float64", default=20.0)),
           infer_float, "A smooth form of relu.", evaluate=_evaluate(_numpy_softplus),
           legalize=with_numbers("softplus", 2, _softplus), pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.nn.selu", (DATA,), infer_float, "Scaled exponential linear unit.",
           evaluate=_evaluate(_numpy_selu), legalize=legalize_map("selu", "compute", _selu, axis="i"),
           pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.nn.gelu_tanh", (DATA,), infer_float, "Gaussian error linear unit, approximated with tanh.",
           evaluate=_evaluate(_numpy_gelu_tanh), legalize=legalize_map("gelu_tanh", "compute", _gelu_tanh, axis="i"),
           pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.nn.relu6", (DATA,), infer_same, "The element, held between 0 and 6.",
           evaluate=_evaluate(_numpy_relu6),
           legalize=legalize_map("relu6", "compute", _relu6, axis="i"), pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.nn.dropout", (DATA, Param("rate", "prim", "float64", default=0.5)), _infer_dropout,
           "The data and a mask of ones: at inference nothing is dropped.", evaluate=_evaluate_dropout,
           legalize=lowered("dropout", _build_dropout), see=_SEE),
)  # fmt: skip
