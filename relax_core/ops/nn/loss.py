"""Losses and their gradients."""

from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Dims, TensorType, Type
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import integer_tensor_at, require_rank, same_sizes, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import as_index, both, cast, choose, div, eq, lit, mul, negated
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import common_dtype, int_at, is_absent, require_float, tensor_at
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import InSteps, sum_along, wide
from relax_core.ops.tensors.index_map import places_of

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/nn/nn.cc"
_WORDS = ("none", "sum", "mean")
_LOSS = (
    Param("predictions", "tensor"),
    Param("targets", "tensor"),
    Param("weights", "tensor", default=None),
    Param("reduction", "prim", "string", default="mean"),
    Param("ignore_index", "prim", "int64", default=-100),
)


def _infer_cross_entropy(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer rank 0; predictions and labels have one shape and one dtype."""
    a, b = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    require_float(call, a)
    if a.ndim is not None:
        require_rank(call, b, a.ndim, "labels")
    if a.dims is not None and b.dims is not None:
        same_sizes(call, list(zip(a.dims, b.dims, strict=True)), (a, b))
    return TensorType((), common_dtype(call, (a, b)))


def _build_cross_entropy(lowering: Lowering) -> Buffer:
    a, b = lowering.input(0, "predictions"), lowering.input(1, "labels")
    over = [(f"k{k}", dim) for k, dim in enumerate(a.shape)]
    total = lowering.builder.reduce((), over, lambda _, r: mul(load(a, r), load(b, r)), "sum", "T_multiply_red")

    def element(*_: PrimExpr) -> PrimExpr:
        loss = mul(load(total, ()), lit(-1, a.dtype))
        return div(loss, cast(a.shape[0], a.dtype)) if len(a.shape) > 1 else loss

    return lowering.compute((), element, "T_divide")


@InSteps
def _evaluate_cross_entropy(args: tuple[Value, ...]) -> Value:
    a, b = np.asarray(args[0]), np.asarray(args[1])
    loss = -wide(sum_along(np.asarray(wide(a) * wide(b)), dtype=a.dtype))
    return np.asarray(loss / a.shape[0] if a.ndim > 1 else loss).astype(a.dtype)


def _check_loss(call: Call, arg_types: tuple[Type, ...], first: int) -> tuple[TensorType, TensorType]:
    """Check predictions `(n, c, *d)` or `(c,)`, targets `(n, *d)` or `()`, and weights `(c,)`."""
    data, targets = tensor_at(call, arg_types, first), integer_tensor_at(call, arg_types, first + 1)
    require_float(call, data)
    word_at(call, arg_types, first + 3, _WORDS)
    int_at(call, arg_types, first + 4)
    if data.ndim is not None:
        if data.ndim == 0:
            raise OpTypeError("TY013", ("nll_loss expects predictions of rank 1 or more, got ", data))
        require_rank(call, targets, data.ndim - 1, "targets")
    if data.dims is not None and targets.dims is not None and len(data.dims) > 1:
        same_sizes(call, list(zip((data.dims[0], *data.dims[2:]), targets.dims, strict=True)), (data, targets))
    if not is_absent(call, first + 2):
        weights = tensor_at(call, arg_types, first + 2)
        require_rank(call, weights, 1, "weights")
        if data.dims is not None and weights.dims is not None:
            same_sizes(call, [(data.dims[1 if len(data.dims) > 1 else 0], weights.dims[0])], (data, weights))
    return data, targets


def _infer_nll_loss(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the targets without a reduction, else rank 0."""
    data, targets = _check_loss(call, arg_types, 0)
    if word_at(call, arg_types, 3) != "none":
        return TensorType((), data.dtype)
    return TensorType(targets.shape, data.dtype, targets.ndim)


class _Loss:
    """The parts of the loss of one target."""

    def __init__(self, lowering: Lowering, first: int) -> None:
        self.data, self.targets = lowering.input(first, "predictions"), lowering.input(first + 1, "targets")
        self.weights = lowering.optional(first + 2, "weights")
        self.ignored = int_at(lowering.call, lowering.arg_types, first + 4)

    @property
    def shape(self) -> Dims:
        return self.targets.shape

    def target(self, at: tuple[PrimExpr, ...]) -> PrimExpr:
        return as_index(load(self.targets, at))

    def place(self, at: tuple[PrimExpr, ...], target: PrimExpr) -> tuple[PrimExpr, ...]:
        return (*at[:1], target, *at[1:])

    def is_counted(self, at: tuple[PrimExpr, ...]) -> PrimExpr:
        return negated(eq(self.target(at), self.ignored))

    def weight(self, at: tuple[PrimExpr, ...]) -> PrimExpr:
        dtype = self.data.dtype
        one = lit(1, dtype) if self.weights is None else load(self.weights, (self.target(at),))
        return choose(self.is_counted(at), one, lit(0, dtype))

    def loss(self, at: tuple[PrimExpr, ...]) -> PrimExpr:
        value = load(self.data, self.place(at, self.target(at)))
        weight = lit(1, self.data.dtype) if self.weights is None else load(self.weights, (self.target(at),))
        return choose(self.is_counted(at), mul(mul(value, weight), lit(-1, self.data.dtype)), 0)

    def total(self, lowering: Lowering, element: Any, name: str) -> Buffer:
        over = [(f"k{k}", dim) for k, dim in enumerate(self.shape)]
        if not over:
            return lowering.compute((), lambda *_: element(()), name)
        return lowering.builder.reduce((), over, lambda _, r: element(r), "sum", name)


def _build_nll_loss(lowering: Lowering) -> Buffer:
    loss = _Loss(lowering, 0)
    reduction = word_at(lowering.call, lowering.arg_types, 3)
    if reduction == "none":
        return lowering.compute(lowering.shape(), lambda *i: loss.loss(i), "nll_loss")
    total = loss.total(lowering, loss.loss, "nll_loss_red")
    if reduction == "sum":
        return total
    weights = loss.total(lowering, loss.weight, "weights_red")
    return lowering.compute((), lambda *_: div(load(total, ()), load(weights, ())), "T_divide")


def _parts(data: Array, targets: Array, weights: Value, ignored: int) -> tuple[Array, Array, tuple[Array, ...]]:
    """Return per target its weight, its loss, and where its prediction is."""
    is_counted = targets != ignored
    safe = np.where(is_counted, targets, 0)
    grid = places_of(targets.shape)
    where = (safe,) if data.ndim == 1 else (grid[0], safe, *grid[1:])
    weight = np.where(is_counted, 1 if weights is None else np.asarray(weights)[safe], 0).astype(data.dtype)
    one = 1 if weights is None else np.asarray(weights)[safe]
    return weight, np.where(is_counted, -(wide(data)[where] * wide(np.asarray(one))), 0).astype(data.dtype), where


@InSteps
def _evaluate_nll_loss(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    weight, loss, _ = _parts(data, np.asarray(args[1]), args[2], int(args[4]))
    if args[3] == "none":
        return np.asarray(loss)
    total = sum_along(loss)
    return total if args[3] == "sum" else np.asarray(wide(total) / wide(sum_along(weight))).astype(data.dtype)


def _infer_backward(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the predictions."""
    tensor_at(call, arg_types, 0)
    data, _ = _check_loss(call, arg_types, 1)
    return data


def _build_backward(lowering: Lowering) -> Buffer:
    grad, loss = lowering.input(0, "output_grad"), _Loss(lowering, 1)
    reduction = word_at(lowering.call, lowering.arg_types, 4)
    weights = loss.total(lowering, loss.weight, "weights_red") if reduction == "mean" else None
    axis = 1 if len(loss.data.shape) > 1 else 0

    def element(*at: PrimExpr) -> PrimExpr:
        place = at[:axis] + at[axis + 1 :]
        incoming = load(grad, place if reduction == "none" else ())
        share = div(incoming, load(weights, ())) if weights is not None else incoming
        is_target = both(eq(loss.target(place), at[axis]), loss.is_counted(place))
        weight = lit(1, grad.dtype) if loss.weights is None else load(loss.weights, (at[axis],))
        return choose(is_target, mul(mul(share, weight), lit(-1, grad.dtype)), 0)

    return lowering.compute(loss.data.shape, element, "nll_loss_backward")


@InSteps
def _evaluate_backward(args: tuple[Value, ...]) -> Value:
    grad, data = np.asarray(args[0]), np.asarray(args[1])
    weight, _, where = _parts(data, np.asarray(args[2]), args[3], int(args[5]))
    share = wide(grad) / wide(sum_along(weight)) if args[4] == "mean" else wide(grad)
    one = 1 if args[3] is None else wide(np.asarray(args[3]))[where[0 if data.ndim == 1 else 1]]
    result = np.zeros_like(data)
    result[where] = np.where(np.asarray(args[2]) != int(args[5]), -(share * one), 0).astype(data.dtype)
    return result


SPECS = (
    OpSpec("relax.nn.cross_entropy_with_logits", (Param("predictions", "tensor"), Param("labels", "tensor")),
           _infer_cross_entropy, "Minus the mean of the products with the labels.", evaluate=_evaluate_cross_entropy,
           legalize=lowered("cross_entropy_with_logits", _build_cross_entropy), pattern_kind="reduce", see=_SEE),
    OpSpec("relax.nn.nll_loss", _LOSS, _infer_nll_loss, "Minus the predictions of the targets, weighted.",
           evaluate=_evaluate_nll_loss, legalize=lowered("nll_loss", _build_nll_loss), see=_SEE),
    OpSpec("relax.grad.nll_loss_backward", (Param("output_grad", "tensor"), *_LOSS), _infer_backward,
           "The gradient of nll_loss for the predictions.", evaluate=_evaluate_backward,
           legalize=lowered("nll_loss_backward", _build_backward), see="tvm/src/relax/op/tensor/grad.cc"),
)  # fmt: skip
