"""The gradients of pooling over two spatial axes."""

import itertools
from dataclasses import replace
from typing import Literal

import numpy as np

from relax_core.ir.expr import Call, Op, Type
from relax_core.ops.layout import parse_layout, require_layout
from relax_core.ops.nn.convolution import pairs, spread
from relax_core.ops.nn.pooling import pool_attributes, read_pool
from relax_core.ops.operands import common_dtype, tensor_at
from relax_core.ops.spec import Evaluate, OpSpec, Param, Value

_SEE = "tvm/src/relax/op/tensor/grad.cc"


def _infer(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the data; the gradient has the same dtype."""
    grad, data, pool = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1), read_pool(call, arg_types, 2)
    common_dtype(call, (grad, data))
    require_layout(call, grad, pool.out, "a gradient")
    require_layout(call, data, pool.layout, "data")
    return data


def _evaluate(kind: Literal["max", "avg"]) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        call = Call(Op(f"relax.grad.{kind}_pool2d_backward"), ())
        layout = parse_layout(call, args[8], "NCHW")
        out = parse_layout(call, args[9], "NCHW") if args[9] else layout
        grad, data = out.unpacked(np.asarray(args[0]), "NCHW"), layout.unpacked(np.asarray(args[1]), "NCHW")
        window, strides, dilation = (spread(args[k], 2) for k in (2, 3, 5))
        padding, counts = pairs(args[4], 2), bool(args[7])
        result = np.zeros_like(data)
        for at in itertools.product(*map(range, grad.shape[2:])):
            first = [at[k] * strides[k] - padding[k][0] for k in (0, 1)]
            taps = itertools.product(*map(range, window))
            places = [(first[0] + i * dilation[0], first[1] + j * dilation[1]) for i, j in taps]
            seen = [(y, x) for y, x in places if 0 <= y < data.shape[2] and 0 <= x < data.shape[3]]
            incoming = grad[:, :, at[0], at[1]]
            if kind == "avg":
                share = incoming / max(len(places) if counts else len(seen), 1)
                for y, x in seen:
                    result[:, :, y, x] += share
            elif seen:
                best = np.stack([data[:, :, y, x] for y, x in seen]).argmax(axis=0)
                for k, (y, x) in enumerate(seen):
                    result[:, :, y, x] += np.where(best == k, incoming, 0)
        return layout.packed(result, "NCHW")

    return evaluate


def _spec(kind: Literal["max", "avg"], summary: str) -> OpSpec:
    params = (
        Param("output_grad", "tensor"),
        Param("data", "tensor"),
        # TVM's Python functions default to all four sides here, to two numbers in the pooling itself.
        *(
            replace(item, default=(0,) * 4) if item.name == "padding" else item
            for item in pool_attributes(2, counts_padding=False)
        ),
    )
    return OpSpec(f"relax.grad.{kind}_pool2d_backward", params, _infer, summary, evaluate=_evaluate(kind),
                  see=_SEE,
                  realized_by="evaluation", reason="The machine computes it; it has no prim func.")  # fmt: skip


SPECS = (
    _spec("max", "The gradient of max_pool2d: to where the greatest element was."),
    _spec("avg", "The gradient of avg_pool2d: an equal share to each element."),
)
