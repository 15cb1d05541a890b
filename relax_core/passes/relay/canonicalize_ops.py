"""CanonicalizeOps: an operator that others can express becomes them, so that other passes see fewer kinds.

See: tvm/src/relay/transforms/canonicalize_ops.cc, v0.19
"""

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Op
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.operator_calls import along, call, known_tensor
from relax_core.passes.relay.rebuild import change_functions, rebuild


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Make `nn.bias_add` an addition along its axis."""
    types = ctx.types(module)

    def change(old: Node, rebuilt: Node) -> Node:
        match rebuilt:
            case Call(op=Op(name="nn.bias_add"), args=(data, bias), attrs=attrs) if isinstance(old, Call):
                known = known_tensor(types.get(old.args[0]))
                axis = attr(attrs, "axis", 1)
                if known is None or not isinstance(axis, int):
                    ctx.remark(old, "missed", "`nn.bias_add` stays: the rank of its argument is not known")
                    return rebuilt
                made = call("add", data, along(bias, known[0], axis % known[0]))
                ctx.remark(old, "applied", "`nn.bias_add` is an addition along one axis")
                return ctx.log.apply(rebuilt, made, "nn.bias_add -> add", known=(data, bias))
            case _:
                return rebuilt

    return change_functions(module, lambda function: rebuild(function, change, ctx), ctx)


PASS = Pass(
    "CanonicalizeOps",
    "Makes nn.bias_add an addition along its axis.",
    run,
    dialect="relay",
    see="tvm/src/relay/transforms/canonicalize_ops.cc",
)
