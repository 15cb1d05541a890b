"""Promise that pure functions are pure, so that their bodies may be lowered to calls with effects."""

from dataclasses import replace

from relax_core.ir.attrs import attr, with_attr
from relax_core.ir.expr import Call, Function, Op
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.properties import FORCE_PURE


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Set `relax.force_pure` on pure functions and unwrap calls that only promise purity."""

    def promise(node: Node) -> Node | None:
        """Rule: pure function -> function with relax.force_pure."""
        match node:
            case Function(is_pure=True, attrs=attrs) if attr(attrs, FORCE_PURE) is not True:
                return replace(node, attrs=with_attr(attrs, FORCE_PURE, True))
            case _:
                return None

    return ctx.rewrite(module, promise, unwrap)


def unwrap(node: Node) -> Node | None:
    """Rule: call_pure_packed(f, x) -> f(x)."""
    match node:
        case Call(op=Op(name="relax.call_pure_packed"), args=(function, *rest)):
            return replace(node, op=function, args=tuple(rest))
        case Call(op=Op(name="relax.call_inplace_packed"), args=(function, _, *rest)):
            return replace(node, op=function, args=tuple(rest))
        case Call(op=Op(name="relax.invoke_pure_closure") as op):
            return replace(node, op=Op("relax.invoke_closure", span=op.span))
        case _:
            return None


PASS = Pass(
    "RemovePurityChecking",
    "Marks pure functions with relax.force_pure: the passes that follow write memory explicitly.",
    run,
    gives=("purity promised",),
    see="tvm/src/relax/transform/remove_purity_checking.cc",
)
