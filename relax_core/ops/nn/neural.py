"""Activations and softmax."""

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from relax_core.ir.attrs import Attrs, attrs_of
from relax_core.ir.expr import Call, Type
from relax_core.ir.prim import Intrinsic, PrimExpr, binary, const, dtype_of
from relax_core.ir.tir import Buffer
from relax_core.ops.arithmetic.elementwise import erf, infer_float, infer_same, legalize_map, sigmoid
from relax_core.ops.kernels.extremes import greater_of, greatest_along
from relax_core.ops.kernels.te import FuncBuilder, Known, known, load
from relax_core.ops.operands import int_at, normal_axis, require_float, tensor_at
from relax_core.ops.schema import DATA, LAST_AXIS
from relax_core.ops.spec import Evaluate, Infer, Legalize, Legalized, OpSpec, Value
from relax_core.ops.steps import InSteps, sum_along, wide

_SEE = "tvm/src/relax/op/nn/nn.cc"
Softmax: TypeAlias = Literal["softmax", "log_softmax"]
Exponential: TypeAlias = Callable[[tuple[PrimExpr, ...]], PrimExpr]


def _infer_softmax(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand, which must be of floats; the axis must be one of its axes."""
    tensor = tensor_at(call, arg_types)
    require_float(call, tensor)
    axis = int_at(call, arg_types, 1)
    if tensor.ndim is not None:
        normal_axis(call, axis, tensor.ndim)
    return tensor


def _relu(x: PrimExpr) -> PrimExpr:
    zero = const(0.0 if "float" in dtype_of(x) else 0, dtype_of(x))
    return binary("max", x, zero)


def _evaluate_relu(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    return greater_of(data, data.dtype.type(0))


@InSteps
def _evaluate_gelu(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    half, root, dtype = 0.5, math.sqrt(0.5), data.dtype
    scaled = np.asarray(wide(data) * root).astype(dtype)
    error = erf(wide(scaled)).astype(dtype)
    share = np.asarray(half + wide(np.asarray(wide(error) * half).astype(dtype))).astype(dtype)
    return np.asarray(wide(data) * wide(share)).astype(dtype)


@InSteps
def _evaluate_silu(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    gate = sigmoid(wide(data)).astype(data.dtype)
    return np.asarray(wide(data) * wide(gate)).astype(data.dtype)


def _start(call: Call, out_type: Type, name: str) -> tuple[FuncBuilder, Buffer, Known] | None:
    """Begin a prim func whose only input has the type of its result; `None` if that is not known."""
    result = known(out_type)
    if result is None:
        return None
    builder = FuncBuilder(name)
    return builder, builder.input(call.args[0], result, "data"), result


def _legalize_silu(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    started = _start(call, out_type, "silu")
    if started is None:
        return None
    builder, data, out = started
    gate = builder.compute(data.shape, lambda *i: Intrinsic("sigmoid", (load(data, i),), data.dtype))
    result = builder.compute(data.shape, lambda *i: binary("*", load(data, i), load(gate, i)), "T_multiply", axis="ax")
    return builder.finish(result, out)


def _legalize_gelu(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    """Legalize to `data * (0.5 + 0.5 * erf(data / sqrt(2)))` in five blocks."""
    started = _start(call, out_type, "gelu")
    if started is None:
        return None
    builder, data, out = started
    half, root = const(0.5, data.dtype), const(math.sqrt(0.5), data.dtype)

    scaled = builder.compute(data.shape, lambda *i: binary("*", load(data, i), root), "T_multiply", axis="ax")
    error = builder.compute(data.shape, lambda *i: Intrinsic("erf", (load(scaled, i),), data.dtype))
    halved = builder.compute(data.shape, lambda *i: binary("*", load(error, i), half), "T_multiply", axis="ax")
    share = builder.compute(data.shape, lambda *i: binary("+", half, load(halved, i)), "T_add", axis="ax")
    result = builder.compute(data.shape, lambda *i: binary("*", load(data, i), load(share, i)), "T_multiply", axis="ax")
    return builder.finish(result, out)


def _without(indices: tuple[PrimExpr, ...], axis: int) -> tuple[PrimExpr, ...]:
    return indices[:axis] + indices[axis + 1 :]


def _with(indices: tuple[PrimExpr, ...], axis: int, index: PrimExpr) -> tuple[PrimExpr, ...]:
    return (*indices[:axis], index, *indices[axis:])


def _legalize_softmax(name: Softmax) -> Legalize:
    """Return a legalization to blocks for the maximum, the exponentials, their sum, and the result."""

    def legalize(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
        started = _start(call, out_type, name)
        if started is None:
            return None
        builder, data, out = started
        axis = normal_axis(call, int_at(call, arg_types, 1), len(data.shape))
        over = [("k", data.shape[axis])]
        rest = _without(data.shape, axis)
        top = builder.reduce(
            rest, over, lambda s, r: load(data, _with(s, axis, r[0])), "max", "T_softmax_maxelem", axis="i"
        )

        def exponential(indices: tuple[PrimExpr, ...]) -> PrimExpr:
            shifted = binary("-", load(data, indices), load(top, _without(indices, axis)))
            return Intrinsic("exp", (shifted,), data.dtype)

        attrs = attrs_of({"axis": axis})
        finish = _norm if name == "softmax" else _log_norm
        return builder.finish(finish(builder, data, top, exponential, axis, attrs), out)

    return legalize


def _norm(builder: FuncBuilder, data: Buffer, top: Buffer, exponential: Exponential, axis: int, attrs: Attrs) -> Buffer:
    exps = builder.compute(data.shape, lambda *i: exponential(i), "T_softmax_exp")
    total = builder.reduce(
        top.shape, [("k", data.shape[axis])], lambda s, r: load(exps, _with(s, axis, r[0])), "sum",
        "T_softmax_expsum", axis="i",
    )  # fmt: skip
    return builder.compute(
        data.shape, lambda *i: binary("/", load(exps, i), load(total, _without(i, axis))), "T_softmax_norm", attrs=attrs
    )


def _log_norm(
    builder: FuncBuilder, data: Buffer, top: Buffer, exponential: Exponential, axis: int, attrs: Attrs
) -> Buffer:
    total = builder.reduce(
        top.shape, [("k", data.shape[axis])], lambda s, r: exponential(_with(s, axis, r[0])), "sum", "compute", axis="i"
    )

    def element(*i: PrimExpr) -> PrimExpr:
        shifted = binary("-", load(data, i), load(top, _without(i, axis)))
        return binary("-", shifted, Intrinsic("log", (load(total, _without(i, axis)),), data.dtype))

    return builder.compute(data.shape, element, attrs=attrs)


def _evaluate_softmax(name: Softmax) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        data, axis = np.asarray(args[0]), int(args[1])
        dtype, values = data.dtype, wide(data)
        shifted = values - wide(greatest_along(data, axis, keepdims=True))
        exps = np.exp(shifted)
        if name == "softmax":
            stored = exps.astype(dtype)
            return np.asarray(wide(stored) / wide(sum_along(stored, axis, keepdims=True))).astype(dtype)
        return np.asarray(shifted - np.log(wide(sum_along(exps, axis, keepdims=True, dtype=dtype)))).astype(dtype)

    return InSteps(evaluate)


def _spec(name: str, infer: Infer, summary: str, evaluate: Evaluate, legalize: Legalize) -> OpSpec:
    return OpSpec(
        f"relax.nn.{name}",
        (DATA,),
        infer,
        summary,
        evaluate=evaluate,
        legalize=legalize,
        pattern_kind="elementwise",
        see=_SEE,
    )


def _softmax_spec(name: Softmax, summary: str) -> OpSpec:
    return OpSpec(
        f"relax.nn.{name}",
        (DATA, LAST_AXIS),
        _infer_softmax,
        summary,
        evaluate=_evaluate_softmax(name),
        legalize=_legalize_softmax(name),
        pattern_kind="opaque",
        see=_SEE,
    )


SPECS = (
    _spec("relu", infer_same, "The element, or 0 if it is negative.", _evaluate_relu,
          legalize_map("relu", "compute", _relu, axis="i")),
    _spec("gelu", infer_float, "Gaussian error linear unit.", _evaluate_gelu, _legalize_gelu),
    _spec("silu", infer_float, "The element times its sigmoid.", _evaluate_silu, _legalize_silu),
    _softmax_spec("softmax", "Exponentials along an axis, divided by their sum."),
    _softmax_spec("log_softmax", "Logarithm of softmax."),
)  # fmt: skip
