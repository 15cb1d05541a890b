"""Fold the scale of a batch normalization into the weights of the convolution before it."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    PrimValue,
    TupleGetItem,
    VarBinding,
    constant,
    is_op_call,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import FloatImm, IntImm, StringImm, const
from relax_core.ir.rewriting.builder import Emitter, names_in
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import shape
from relax_core.passes.relax.operators.calls import op_call
from relax_core.passes.relax.redundancy import without_redundancy

_CHANNEL_AXES = MappingProxyType({"OIHW": 0, "IOHW": 1})
"""The axis of the output channels in the weights of a convolution, by their layout."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Scale the weights of a convolution in place of its result, where the weights are constants.

    TVM folds a normalization in training, too, which takes the statistics of its input and not those it is given; and
    one over another axis, without a scale or without a center. Each of these stays.
    """

    def change(_: GlobalVar, function: Function) -> Function:
        if attr(function.attrs, "Primitive"):
            return function
        value_of: dict[Node, Expr] = {
            item.var: item.value for item in preorder(function) if isinstance(item, VarBinding)
        }
        names = names_in(function)

        def fold(node: Node) -> Node | None:
            """Rule: normalization of a convolution -> convolution with scaled weights, and a bias."""
            if not isinstance(node, BindingBlock):
                return None
            emitter = Emitter(names, is_dataflow=isinstance(node, DataflowBlock))
            for item in node.bindings:
                new = _folded(item, value_of, emitter, ctx) if isinstance(item, VarBinding) else None
                emitter.bindings.append(new or item)
            is_same = len(emitter.bindings) == len(node.bindings)
            return None if is_same else replace(node, bindings=tuple(emitter.bindings))

        return ctx.rewrite(function, fold)

    return without_redundancy(module, change_functions(module, ctx, change), ctx)


def _folded(
    binding: VarBinding, value_of: Mapping[Node, Expr], emitter: Emitter, ctx: PassContext
) -> VarBinding | None:
    match binding.value:
        case TupleGetItem(tuple_value=pair, index=0):
            norm = value_of.get(pair, pair)
        case _:
            return None
    if not is_op_call(norm, "relax.nn.batch_norm"):
        return None
    conv = value_of.get(norm.args[0], norm.args[0])
    if not is_op_call(conv, "relax.nn.conv2d"):
        return None
    reason = _obstacle(conv, norm)
    if reason:
        ctx.remark(binding, "missed", f"{binding.var.name} stays: {reason}", (conv, norm))
        return None
    start = len(emitter.bindings)
    value = _convolution(conv, norm, emitter)
    for item in emitter.bindings[start:]:
        ctx.derive(item, conv, norm)
    ctx.derive(value, norm, conv, rule="normalization of a convolution -> convolution with a bias")
    made = replace(binding, value=value)
    ctx.log.rebuilt(binding, made)
    ctx.remark(made, "applied", f"{binding.var.name}: the weights are scaled instead of the result", (conv, norm))
    return made


def _obstacle(conv: Call, norm: Call) -> str:
    """Say why a normalization is not folded, in the empty text if it is."""
    _, *statistics, axis, _, center, scale, _, training = norm.args
    if not all(isinstance(item, Constant) for item in (conv.args[1], *statistics)):
        return "not all of its weights and statistics are constants; BindParams makes them so"
    if _number(training) is not False and _number(training) != 0:
        return "in training it takes the statistics of its input; DecomposeOpsForInference is for others"
    if _number(axis) != 1 or _text(conv.args[8]) not in ("NCHW", "") or _text(conv.args[6]) != "NCHW":
        return "the channels are not its second axis"
    if not (_number(center) and _number(scale)):
        return "it has no scale or no center"
    if _text(conv.args[7]) not in _CHANNEL_AXES:
        return f"it is not known which axis of weights in the layout {_text(conv.args[7])} are the channels"
    return ""


def _number(value: Expr) -> int | float | None:
    return value.value.value if isinstance(value, PrimValue) and isinstance(value.value, IntImm | FloatImm) else None


def _text(value: Expr) -> str:
    return value.value.value if isinstance(value, PrimValue) and isinstance(value.value, StringImm) else ""


def _convolution(conv: Call, norm: Call, emitter: Emitter) -> Call:
    """Emit the scaled weights and the bias, and return the convolution with them."""
    _, gamma, beta, mean, variance, _, epsilon, *_ = norm.args
    x, weights, *rest = conv.args
    small = _number(epsilon)
    assert isinstance(gamma, Constant), "the weights of the normalization are known"
    assert small is not None, "the schema wants a number"
    count = gamma.data.shape[0]
    emit = emitter.emit
    deviation = emit(op_call("sqrt", emit(op_call("add", variance, constant(small, str(gamma.data.dtype))))))
    factor = emit(op_call("divide", gamma, deviation))
    axis = _CHANNEL_AXES[_text(conv.args[7])]
    sizes = tuple(const(count if index == axis else 1) for index in range(4))
    scaled = emit(op_call("multiply", weights, emit(op_call("reshape", factor, shape(sizes)))))
    result = emit(replace(conv, args=(x, scaled, *rest)))
    offset = emit(op_call("subtract", beta, emit(op_call("multiply", mean, factor))))
    per_channel = tuple(const(count if index == 1 else 1) for index in range(4))
    return op_call("add", result, emit(op_call("reshape", offset, shape(per_channel))))


PASS = Pass(
    "FoldBatchnormToConv2D",
    "Folds a batch normalization of constants into the weights of the convolution before it, and a bias.",
    run,
    needs=("normal form",),
    see="tvm/python/tvm/relax/transform/fold_batch_norm_to_conv2d_for_inference.py",
)
