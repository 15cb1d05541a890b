"""What normalizations and tensor_to_shape are made of."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.expr import (
    Call,
    Constant,
    Expr,
    ExternFunc,
    PrimValue,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    constant,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import FloatImm, IntImm
from relax_core.ir.rewriting.builder import Emitter
from relax_core.ops import OPS
from relax_core.passes.relax.functions import operator_call
from relax_core.passes.relax.operators.calls import flag, ints, op_call

TENSOR_TO_SHAPE = "relax.tensor_to_shape"
Decompose: TypeAlias = "Callable[[Layer], Expr | None]"


class Layer:
    """A call of an operator with the arguments by name; `type_` is that of the first one.

    What the call is made of is emitted in the order in which it is asked for.
    """

    def __init__(self, call: Call, name: str, type_: Type | None, emitter: Emitter) -> None:
        params = OPS[name].params
        self.given = dict(zip((param.name for param in params), call.args, strict=False))
        self.emitter = emitter
        self.type_ = type_ if isinstance(type_, TensorType) else TensorType()

    def op(self, name: str, *args: Expr) -> Var:
        """Emit a call of an operator."""
        return self.emitter.emit(op_call(name, *args))

    def expr(self, name: str) -> Expr:
        """Return an argument."""
        return self.given[name]

    def number(self, name: str) -> float:
        """Return a number among the arguments."""
        match self.given[name]:
            case PrimValue(value=FloatImm(value=value) | IntImm(value=value)):
                return value
            case other:
                raise AssertionError(f"{name} is a literal, not a {type(other).__name__}")

    def axes(self, name: str) -> tuple[int, ...]:
        """Return a list of ints among the arguments."""
        argument = self.given[name]
        items = argument.fields if isinstance(argument, Tuple) else (argument,)
        values = (constant_value(item.value) for item in items if isinstance(item, PrimValue))
        return tuple(value for value in values if value is not None)

    def scalar(self, value: float) -> Constant:
        """Return a number as a tensor of rank 0 with the dtype of the data."""
        return constant(value, self.type_.dtype)


def batch_norm(layer: Layer) -> Expr | None:
    """Return what inference gives: the data with the averages that are given, and these."""
    mean, variance = layer.expr("moving_mean"), layer.expr("moving_var")
    found = _normalized_batch(layer, mean, variance)
    return None if found is None else Tuple((found, mean, variance))


def batch_norm_in_training(layer: Layer) -> Expr | None:
    """Return what training gives: the data with its own averages, and the moving averages after this step."""
    if layer.type_.ndim is None or layer.type_.dtype is None:
        return None
    axes = ints(_other_axes(layer, layer.type_.ndim))
    mean = layer.op("mean", layer.expr("data"), axes, flag(value=False))
    variance = layer.op("variance", layer.expr("data"), axes, flag(value=False))
    found = _normalized_batch(layer, mean, variance)
    assert found is not None, "the rank and the dtype are known"
    momentum = layer.number("momentum")
    result = layer.emitter.emit(TupleGetItem(layer.emitter.emit(Tuple((found, mean, variance))), 0))
    return Tuple(
        (
            result,
            _moved(layer, layer.expr("moving_mean"), mean, momentum),
            _moved(layer, layer.expr("moving_var"), variance, momentum),
        )
    )


def _moved(layer: Layer, moving: Expr, measured: Expr, momentum: float) -> Expr:
    kept = layer.op("multiply", layer.scalar(1 - momentum), moving)
    return layer.op("add", kept, layer.op("multiply", layer.scalar(momentum), measured))


def _other_axes(layer: Layer, rank: int) -> tuple[int, ...]:
    axis = int(layer.number("axis")) % rank
    return tuple(item for item in range(rank) if item != axis)


def _normalized_batch(layer: Layer, mean: Expr, variance: Expr) -> Expr | None:
    if layer.type_.ndim is None or layer.type_.dtype is None:
        return None
    axes = ints(_other_axes(layer, layer.type_.ndim))

    def along(vector: Expr) -> Expr:
        return layer.op("expand_dims", vector, axes)

    centred = layer.op("subtract", layer.expr("data"), along(mean))
    deviation = layer.op("sqrt", layer.op("add", along(variance), layer.scalar(layer.number("epsilon"))))
    return _affine(layer, layer.op("divide", centred, deviation), along)


def _affine(layer: Layer, value: Expr, along: Callable[[Expr], Expr]) -> Expr:
    if layer.number("scale"):
        value = layer.op("multiply", value, along(layer.expr("gamma")))
    if layer.number("center"):
        value = layer.op("add", value, along(layer.expr("beta")))
    return value


def layer_norm(layer: Layer) -> Expr | None:
    """Return the data less its mean, in units of its deviation."""
    if layer.type_.dtype is None:
        return None
    data, axes = layer.expr("data"), ints(layer.axes("axes"))
    centred = layer.op("subtract", data, layer.op("mean", data, axes, flag(value=True)))
    variance = layer.op("variance", data, axes, flag(value=True))
    deviation = layer.op("sqrt", layer.op("add", variance, layer.scalar(layer.number("epsilon"))))
    return _affine(layer, layer.op("divide", centred, deviation), lambda expr: expr)


def tensor_to_shape(layer: Layer) -> Expr | None:
    """Return the call of the machine that reads a shape from a tensor; its length must be known."""
    dims = layer.type_.dims
    count = constant_value(dims[0]) if dims is not None and len(dims) == 1 else None
    if count is None:
        return None
    callee = ExternFunc("vm.builtin.tensor_to_shape")
    return operator_call("relax.call_pure_packed", callee, *layer.given.values(), type_args=(ShapeType(None, count),))


FOR_INFERENCE: Mapping[str, Decompose] = MappingProxyType(
    {"relax.nn.batch_norm": batch_norm, TENSOR_TO_SHAPE: tensor_to_shape}
)
FOR_TRAINING: Mapping[str, Decompose] = MappingProxyType(
    {
        "relax.nn.batch_norm": batch_norm_in_training,
        "relax.nn.layer_norm": layer_norm,
        TENSOR_TO_SHAPE: tensor_to_shape,
    }
)
