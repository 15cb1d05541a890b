"""SimplifyInference: operators of training become the arithmetic that inference needs.

See: tvm/src/relay/transforms/simplify_inference.cc, v0.19
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.expr import Call, Expr, Op, TupleGetItem
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.spec import RelayCall
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.operator_calls import along, call, known_sizes, known_tensor, scalar
from relax_core.passes.relay.rebuild import change_functions, rebuild


@dataclass(frozen=True, slots=True)
class _Layer:
    """A call of an operator: its arguments, its attributes with defaults, and what is known of its first argument."""

    args: tuple[Expr, ...]
    attrs: RelayCall
    ndim: int
    dtype: str
    sizes: tuple[int, ...] | None

    @property
    def axis(self) -> int:
        return self.attrs.int_("axis") % self.ndim

    @property
    def epsilon(self) -> Expr:
        return scalar(self.attrs.number("epsilon"), self.dtype)


Rule: TypeAlias = Callable[[_Layer], "Expr | None"]


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Unpack normalisations, and drop dropout."""
    types = ctx.types(module)

    def change(old: Node, rebuilt: Node) -> Node:
        match old, rebuilt:
            case TupleGetItem(index=0, tuple_value=Call() as inner), TupleGetItem(tuple_value=Call() as made):
                rules = _FIRST_FIELD
            case Call() as inner, Call() as made:
                rules = _RULES
            case _:
                return rebuilt
        name = made.op.name if isinstance(made.op, Op) else ""
        known = known_tensor(types.get(inner.args[0])) if name in rules else None
        if known is None:
            if name in rules:
                ctx.remark(old, "missed", f"`{name}` stays: the rank or dtype of its argument is not known")
            return rebuilt
        attrs = RelayCall(name, (), RELAY_OPS[name].with_defaults(dict(made.attrs)))
        after = rules[name](_Layer(made.args, attrs, *known, known_sizes(types.get(inner.args[0]))))
        if after is None:
            ctx.remark(old, "missed", f"`{name}` stays: a size of its argument is not a number")
            return rebuilt
        ctx.remark(old, "applied", f"`{name}` is unpacked into arithmetic")
        if after not in made.args:
            # The arithmetic stems from the call; the field that is taken of its result may be another line.
            ctx.derive(after, made, rebuilt)
        return ctx.log.apply(rebuilt, after, f"unpack {name}", known=made.args)

    return change_functions(module, lambda function: rebuild(function, change, ctx), ctx)


def _batch_norm(layer: _Layer) -> Expr:
    """Return `data * scale + shift` with what training has measured."""
    data, gamma, beta, mean, variance = layer.args
    scale = call("divide", scalar(1.0, layer.dtype), call("sqrt", call("add", variance, layer.epsilon)))
    if layer.attrs.flag("scale"):
        scale = call("multiply", scale, gamma)
    shift = call("multiply", call("negative", mean), scale)
    if layer.attrs.flag("center"):
        shift = call("add", shift, beta)
    scaled = call("multiply", data, along(scale, layer.ndim, layer.axis))
    return call("add", scaled, along(shift, layer.ndim, layer.axis))


def _normalized(layer: _Layer, data: Expr, axes: tuple[int, ...]) -> Expr:
    """Return `data` less its mean over `axes`, in units of its deviation."""
    mean = call("mean", data, axis=axes, keepdims=True, exclude=False)
    variance = call("variance", data, mean, axis=axes, keepdims=True, exclude=False, unbiased=False)
    deviation = call("sqrt", call("add", variance, layer.epsilon))
    return call("divide", call("subtract", data, mean), deviation)


def _affine(layer: _Layer, value: Expr) -> Expr:
    _, gamma, beta = layer.args
    if layer.attrs.flag("scale"):
        value = call("multiply", value, along(gamma, layer.ndim, layer.axis))
    if layer.attrs.flag("center"):
        value = call("add", value, along(beta, layer.ndim, layer.axis))
    return value


def _layer_norm(layer: _Layer) -> Expr:
    return _affine(layer, _normalized(layer, layer.args[0], (layer.axis,)))


def _instance_norm(layer: _Layer) -> Expr:
    axes = tuple(k for k in range(1, layer.ndim) if k != layer.axis)
    return _affine(layer, _normalized(layer, layer.args[0], axes))


def _group_norm(layer: _Layer) -> Expr | None:
    """Give the channels an axis of groups, and normalise over all behind the groups."""
    if layer.sizes is None:
        return None
    groups, at, sizes = layer.attrs.int_("num_groups"), layer.axis, layer.sizes
    split = (*sizes[:at], groups, sizes[at] // groups, *sizes[at + 1 :])
    data = call("reshape", layer.args[0], newshape=split)
    value = _normalized(layer, data, tuple(range(at + 1, len(split))))
    return _affine(layer, call("reshape", value, newshape=sizes))


def _l2_normalize(layer: _Layer) -> Expr:
    data = layer.args[0]
    total = call("sum", call("multiply", data, data), axis=layer.attrs.ints("axis"), keepdims=True, exclude=False)
    bounded = call("maximum", total, scalar(layer.attrs.number("eps"), layer.dtype))
    return call("divide", data, call("sqrt", bounded))


def _dropout(layer: _Layer) -> Expr:
    return layer.args[0]


_FIRST_FIELD: Mapping[str, Rule] = MappingProxyType({"nn.batch_norm": _batch_norm, "nn.dropout": _dropout})
"""Operators with several results of which inference uses the first."""
_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "nn.layer_norm": _layer_norm,
        "nn.instance_norm": _instance_norm,
        "nn.group_norm": _group_norm,
        "nn.l2_normalize": _l2_normalize,
    }
)

PASS = Pass(
    "SimplifyInference",
    "Unpacks batch, layer, instance, group and L2 normalisation into arithmetic, and drops dropout.",
    run,
    dialect="relay",
    see="tvm/src/relay/transforms/simplify_inference.cc",
)
