"""Normalizations: batch, layer, group, instance, and by the root of the mean square."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, TupleType, Type
from relax_core.ir.integer.prove import prove_different
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, float_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, call, cast, div, floordiv, mul, size, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import (
    call_name,
    common_dtype,
    int_at,
    ints_at,
    normal_axes,
    normal_axis,
    product,
    require_float,
    tensor_at,
)
from relax_core.ops.schema import DATA
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import InSteps, mean_along, wide

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/nn/nn.cc"
_GAMMA, _BETA = Param("gamma", "tensor"), Param("beta", "tensor")
_AXES = Param("axes", "axes")
_EPSILON = Param("epsilon", "prim", "float64", default=1e-5)
_CENTER, _SCALE = Param("center", "prim", "bool", default=True), Param("scale", "prim", "bool", default=True)


def _axes(call_: Call, arg_types: tuple[Type, ...], index: int, rank: int) -> tuple[int, ...]:
    return normal_axes(call_, ints_at(call_, arg_types, index) or (), rank)


def _check_weights(call_: Call, data: TensorType, weights: tuple[TensorType, ...], axes: tuple[int, ...]) -> None:
    """Raise TY037 unless each weight has the sizes of the data at `axes`."""
    common_dtype(call_, (data, *weights))
    for item in weights:
        if item.ndim not in (None, len(axes)):
            raise OpTypeError("TY013", (f"{call_name(call_)} expects weights of rank {len(axes)}, got ", item))
        for axis, given in zip(axes, item.dims or (), strict=False):
            if data.dims is not None and prove_different(data.dims[axis], given):
                wanted = show_prim(data.dims[axis])
                raise OpTypeError(
                    "TY037",
                    f"{call_name(call_)} has weights of size {show_prim(given)} for axis {axis} of size {wanted}",
                )


def _infer_over_axes(weight_count: int, axes_at: int):
    """Return the inference of a normalization whose weights have the sizes at the axes."""

    def infer(call_: Call, arg_types: tuple[Type, ...]) -> Type:
        """Infer the type of the data, which must be of floats; the weights have its sizes at the axes."""
        data = tensor_at(call_, arg_types, 0)
        require_float(call_, data)
        weights = tuple(tensor_at(call_, arg_types, k + 1) for k in range(weight_count))
        if data.ndim is not None:
            _check_weights(call_, data, weights, _axes(call_, arg_types, axes_at, data.ndim))
        return data

    return infer


def _infer_over_channels(channel_at: int, axes_at: int):
    """Return the inference of a normalization whose weights have the size of the channel axis."""

    def infer(call_: Call, arg_types: tuple[Type, ...]) -> Type:
        """Infer the type of the data, which must be of floats; the weights have its size at the channel axis."""
        data = tensor_at(call_, arg_types, 0)
        require_float(call_, data)
        weights = tuple(tensor_at(call_, arg_types, k) for k in (1, 2))
        if data.ndim is None:
            return data
        channel = normal_axis(call_, int_at(call_, arg_types, channel_at), data.ndim)
        _axes(call_, arg_types, axes_at, data.ndim)
        _check_weights(call_, data, weights, (channel,))
        return data

    return infer


def _infer_batch_norm(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the normalized data, and the mean and the variance of the moving averages."""
    data = tensor_at(call_, arg_types, 0)
    require_float(call_, data)
    weights = tuple(tensor_at(call_, arg_types, k) for k in range(1, 5))
    if data.ndim is not None:
        _check_weights(call_, data, weights, (normal_axis(call_, int_at(call_, arg_types, 5), data.ndim),))
    return TupleType((data, weights[2], weights[3]))


@dataclass(frozen=True, slots=True)
class _Groups:
    """The parts of a tensor that are normalized together.

    Elements that differ only at `axes` are one part; with `channel` that axis is divided into `count` groups.
    """

    axes: tuple[int, ...]
    channel: int | None = None
    count: int = 1

    def kept(self, shape: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        return tuple(
            lift_count(self.count) if k == self.channel else dim for k, dim in enumerate(shape) if k not in self.axes
        )

    def part(self, shape: Sequence[PrimExpr], indices: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        return tuple(
            floordiv(index, self.width(shape)) if k == self.channel else index
            for k, index in enumerate(indices)
            if k not in self.axes
        )

    def width(self, shape: Sequence[PrimExpr]) -> PrimExpr:
        assert self.channel is not None
        return size(floordiv(shape[self.channel], self.count))

    def over(self, shape: Sequence[PrimExpr]) -> list[tuple[str, PrimExpr]]:
        """Return what a part is reduced over, in the order in which its elements lie."""
        extents = {axis: (f"k{axis}", shape[axis]) for axis in self.axes}
        if self.channel is not None:
            extents[self.channel] = ("kc", self.width(shape))
        return [extents[axis] for axis in sorted(extents)]

    def source(
        self, shape: Sequence[PrimExpr], part: Sequence[PrimExpr], reduced: Sequence[PrimExpr]
    ) -> tuple[PrimExpr, ...]:
        rest, inner = iter(part), iter(reduced)
        indices: list[PrimExpr] = []
        for axis in range(len(shape)):
            if axis == self.channel:
                indices.append(add(mul(next(rest), self.width(shape)), next(inner)))
            else:
                indices.append(next(inner) if axis in self.axes else next(rest))
        return tuple(indices)


def lift_count(count: int) -> PrimExpr:
    """Return a number of groups as a dimension."""
    return size(mul(count, 1))


def _mean(
    lowering: Lowering,
    data: Buffer,
    groups: _Groups,
    function: Callable[[tuple[PrimExpr, ...], PrimExpr], PrimExpr],
    name: str,
) -> Buffer:
    """Add the mean of `function(part, element)` over each part."""
    shape, over = data.shape, groups.over(data.shape)

    def element(part: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        return function(part, cast(load(data, groups.source(shape, part, reduced)), _wide(data.dtype)))

    total = lowering.builder.reduce(groups.kept(shape), over, element, "sum", name)
    count = product(tuple(extent for _, extent in over))
    return lowering.compute(total.shape, lambda *i: div(load(total, i), cast(count, _wide(data.dtype))), "T_divide")


def _wide(dtype: str) -> str:
    """Return the dtype of sums: half precision is not enough for them."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def _normalized(
    lowering: Lowering,
    data: Buffer,
    groups: _Groups,
    epsilon: float,
    weights: Callable[[PrimExpr, tuple[PrimExpr, ...]], PrimExpr],
) -> Buffer:
    shape = data.shape
    mean = _mean(lowering, data, groups, lambda _, x: x, f"{data.name}_sum")

    def deviation(part: tuple[PrimExpr, ...], x: PrimExpr) -> PrimExpr:
        difference = sub(x, load(mean, part))
        return mul(difference, difference)

    variance = _mean(lowering, data, groups, deviation, f"{data.name}_square_sum")

    def element(*indices: PrimExpr) -> PrimExpr:
        part = groups.part(shape, indices)
        scale = call("rsqrt", add(load(variance, part), epsilon))
        centred = sub(cast(load(data, indices), _wide(data.dtype)), load(mean, part))
        return cast(weights(mul(centred, scale), indices), data.dtype)

    return lowering.compute(shape, element, "T_normalize")


def _affine(
    gamma: Buffer, beta: Buffer | None, at: Callable[[tuple[PrimExpr, ...]], tuple[PrimExpr, ...]]
) -> Callable[[PrimExpr, tuple[PrimExpr, ...]], PrimExpr]:
    def weights(value: PrimExpr, indices: tuple[PrimExpr, ...]) -> PrimExpr:
        place = at(indices)
        scaled = mul(value, cast(load(gamma, place), _wide(gamma.dtype)))
        return scaled if beta is None else add(scaled, cast(load(beta, place), _wide(beta.dtype)))

    return weights


def _build_layer_norm(lowering: Lowering) -> Buffer:
    call_, types = lowering.call, lowering.arg_types
    data, gamma, beta = lowering.input(0, "x"), lowering.input(1, "gamma"), lowering.input(2, "beta")
    axes = _axes(call_, types, 3, len(data.shape))
    weights = _affine(gamma, beta, lambda indices: tuple(indices[axis] for axis in axes))
    return _normalized(lowering, data, _Groups(tuple(sorted(axes))), float_at(call_, types, 4), weights)


def _build_rms_norm(lowering: Lowering) -> Buffer:
    call_, types = lowering.call, lowering.arg_types
    data, weight = lowering.input(0, "x"), lowering.input(1, "weight")
    axes, epsilon = _axes(call_, types, 2, len(data.shape)), float_at(call_, types, 3)
    groups = _Groups(tuple(sorted(axes)))
    square = _mean(lowering, data, groups, lambda _, x: mul(x, x), f"{data.name}_square_sum")

    def element(*indices: PrimExpr) -> PrimExpr:
        scale = call("rsqrt", add(load(square, groups.part(data.shape, indices)), epsilon))
        weighted = cast(load(weight, tuple(indices[axis] for axis in axes)), _wide(data.dtype))
        return cast(mul(cast(load(data, indices), _wide(data.dtype)), scale, weighted), data.dtype)

    return lowering.compute(data.shape, element, "T_rms_norm")


def _build_over_channels(name: str):
    is_group = name == "group_norm"

    def build(lowering: Lowering) -> Buffer:
        call_, types = lowering.call, lowering.arg_types
        data, gamma, beta = lowering.input(0, "x"), lowering.input(1, "gamma"), lowering.input(2, "beta")
        rank, first = len(data.shape), 4 if is_group else 3
        channel = normal_axis(call_, int_at(call_, types, first), rank)
        axes = tuple(sorted(_axes(call_, types, first + 1, rank)))
        groups = _Groups(axes, channel, int_at(call_, types, 3)) if is_group else _Groups(axes)
        weights = _affine(gamma, beta, lambda indices: (indices[channel],))
        return _normalized(lowering, data, groups, float_at(call_, types, first + 2), weights)

    return build


def _build_batch_norm(lowering: Lowering) -> tuple[Buffer, ...]:
    call_, types = lowering.call, lowering.arg_types
    data, gamma, beta, mean, variance = (
        lowering.input(k, hint) for k, hint in enumerate(("x", "gamma", "beta", "moving_mean", "moving_var"))
    )
    axis = normal_axis(call_, int_at(call_, types, 5), len(data.shape))
    epsilon, momentum = float_at(call_, types, 6), float_at(call_, types, 9)
    has_center, has_scale = flag_at(call_, types, 7), flag_at(call_, types, 8)
    used = (mean, variance)
    if flag_at(call_, types, 10):
        groups = _Groups(tuple(k for k in range(len(data.shape)) if k != axis))
        batch_mean = _mean(lowering, data, groups, lambda _, x: x, "x_sum")

        def deviation(part: tuple[PrimExpr, ...], x: PrimExpr) -> PrimExpr:
            difference = sub(x, load(batch_mean, part))
            return mul(difference, difference)

        used = (batch_mean, _mean(lowering, data, groups, deviation, "x_square_sum"))

    def element(*indices: PrimExpr) -> PrimExpr:
        at = (indices[axis],)
        wide = _wide(data.dtype)
        centred = sub(cast(load(data, indices), wide), cast(load(used[0], at), wide))
        value = div(centred, call("sqrt", add(cast(load(used[1], at), wide), epsilon)))
        value = mul(value, cast(load(gamma, at), wide)) if has_scale else value
        value = add(value, cast(load(beta, at), wide)) if has_center else value
        return cast(value, data.dtype)

    out = lowering.compute(data.shape, element, "T_batch_norm")
    if used[0] is mean:
        return out, lowering.copy(mean), lowering.copy(variance)

    def moved(old: Buffer, batch: Buffer) -> Buffer:
        return lowering.compute(
            old.shape,
            lambda *i: add(mul(load(old, i), 1.0 - momentum), mul(cast(load(batch, i), old.dtype), momentum)),
            "T_moving",
        )

    return out, moved(mean, used[0]), moved(variance, used[1])


def _raised(data: Array) -> Array:
    """Return the elements in the dtype of sums."""
    return data.astype(_wide(str(data.dtype)))


def _standard(data: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Return data in the dtype of sums with a mean of 0 and a variance of 1 along axes."""
    centred = data - mean_along(data, axes, keepdims=True)
    return centred * (1 / np.sqrt(mean_along(centred * centred, axes, keepdims=True) + data.dtype.type(epsilon)))


def _spread(weight: Array, rank: int, axes: tuple[int, ...]) -> Array:
    """Return a weight whose axes stand at `axes` of a tensor of `rank`."""
    order = sorted(range(len(axes)), key=lambda k: axes[k] % rank)
    shape = [1] * rank
    for k, axis in enumerate(axes):
        shape[axis] = weight.shape[k]
    return np.transpose(weight, order).reshape(shape)


@InSteps
def _evaluate_layer_norm(args: tuple[Value, ...]) -> Value:
    data, gamma, beta = (_raised(np.asarray(item)) for item in args[:3])
    axes = tuple(args[3])
    result = _standard(data, axes, args[4]) * _spread(gamma, data.ndim, axes) + _spread(beta, data.ndim, axes)
    return result.astype(np.asarray(args[0]).dtype)


@InSteps
def _evaluate_rms_norm(args: tuple[Value, ...]) -> Value:
    data, weight, axes = _raised(np.asarray(args[0])), _raised(np.asarray(args[1])), tuple(args[2])
    scale = 1 / np.sqrt(mean_along(data * data, axes, keepdims=True) + data.dtype.type(args[3]))
    return (data * scale * _spread(weight, data.ndim, axes)).astype(np.asarray(args[0]).dtype)


@InSteps
def _evaluate_instance_norm(args: tuple[Value, ...]) -> Value:
    data, gamma, beta = (_raised(np.asarray(item)) for item in args[:3])
    at = (int(args[3]),)
    result = _standard(data, tuple(args[4]), args[5]) * _spread(gamma, data.ndim, at) + _spread(beta, data.ndim, at)
    return result.astype(np.asarray(args[0]).dtype)


@InSteps
def _evaluate_group_norm(args: tuple[Value, ...]) -> Value:
    data, gamma, beta = (_raised(np.asarray(item)) for item in args[:3])
    count, channel = int(args[3]), int(args[4]) % data.ndim
    split = data.reshape(*data.shape[:channel], count, data.shape[channel] // count, *data.shape[channel + 1 :])
    axes = tuple(axis % data.ndim + (axis % data.ndim > channel) for axis in args[5])
    normal = _standard(split, (*axes, channel + 1), args[6]).reshape(data.shape)
    result = normal * _spread(gamma, data.ndim, (channel,)) + _spread(beta, data.ndim, (channel,))
    return result.astype(np.asarray(args[0]).dtype)


@InSteps
def _evaluate_batch_norm(args: tuple[Value, ...]) -> Value:
    data, gamma, beta, mean, variance = (_raised(np.asarray(item)) for item in args[:5])
    axis, momentum = (int(args[5]) % data.ndim,), float(args[9])
    used = mean, variance
    if args[10]:
        others = tuple(k for k in range(data.ndim) if k not in axis)
        distance = data - mean_along(data, others, keepdims=True)
        used = mean_along(data, others), mean_along(distance * distance, others)
    deviation = np.sqrt(_spread(used[1], data.ndim, axis) + data.dtype.type(args[6]))
    result = (data - _spread(used[0], data.ndim, axis)) / deviation
    result = result * _spread(gamma, data.ndim, axis) if args[8] else result
    result = result + _spread(beta, data.ndim, axis) if args[7] else result
    old = tuple(np.asarray(item) for item in args[3:5])
    moved = old if not args[10] else tuple(_moved(a, b, momentum) for a, b in zip(old, used, strict=True))
    return result.astype(np.asarray(args[0]).dtype), moved[0].copy(), moved[1].copy()


def _moved(old: Array, batch: Array, momentum: float) -> Array:
    """Return a moving average, rounded where a prim func in the dtype of the average rounds."""
    kept, new = wide(old) * (1.0 - momentum), wide(batch.astype(old.dtype)) * momentum
    return np.asarray(kept + new).astype(old.dtype)


SPECS = (
    OpSpec("relax.nn.batch_norm",
           (DATA, _GAMMA, _BETA, Param("moving_mean", "tensor"), Param("moving_var", "tensor"),
            Param("axis", "prim", "int64"), _EPSILON, _CENTER, _SCALE,
            Param("momentum", "prim", "float64", default=0.1), Param("training", "prim", "bool", default=True)),
           _infer_batch_norm, "Normalize each channel over the batch, and move the averages.",
           evaluate=_evaluate_batch_norm, legalize=lowered("batch_norm", _build_batch_norm),
           pattern_kind="out_fusable", see=_SEE),
    OpSpec("relax.nn.layer_norm", (DATA, _GAMMA, _BETA, _AXES, _EPSILON, _CENTER, _SCALE), _infer_over_axes(2, 3),
           "Normalize over some axes.", evaluate=_evaluate_layer_norm,
           legalize=lowered("layer_norm", _build_layer_norm), pattern_kind="out_fusable", see=_SEE),
    OpSpec("relax.nn.group_norm",
           (DATA, _GAMMA, _BETA, Param("num_groups", "prim", "int64"), Param("channel_axis", "prim", "int64"), _AXES,
            _EPSILON, _CENTER, _SCALE),
           _infer_over_channels(4, 5), "Normalize groups of channels.", evaluate=_evaluate_group_norm,
           legalize=lowered("group_norm", _build_over_channels("group_norm")), pattern_kind="out_fusable", see=_SEE),
    OpSpec("relax.nn.instance_norm",
           (DATA, _GAMMA, _BETA, Param("channel_axis", "prim", "int64"), _AXES, _EPSILON, _CENTER, _SCALE),
           _infer_over_channels(3, 4), "Normalize each channel of each instance.", evaluate=_evaluate_instance_norm,
           legalize=lowered("instance_norm", _build_over_channels("instance_norm")), pattern_kind="out_fusable",
           see=_SEE),
    OpSpec("relax.nn.rms_norm", (DATA, Param("weight", "tensor"), Param("axes", "axes", default=(-1,)), _EPSILON),
           _infer_over_axes(1, 2), "Divide by the root of the mean square.", evaluate=_evaluate_rms_norm,
           legalize=lowered("rms_norm", _build_rms_norm), pattern_kind="out_fusable", see=_SEE),
)  # fmt: skip
