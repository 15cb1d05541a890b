"""Promise that pure functions are pure, so that their bodies may be lowered to calls with effects."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from relax_core.ir.attrs import attr, with_attr
from relax_core.ir.expr import Call, Function, Op
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.rewrite import Replacement
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.properties import FORCE_PURE
from relax_core.passes.remarks import UnnumberedRemark, value_name


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Set `relax.force_pure` on pure functions and unwrap calls that only promise purity."""

    def promise(node: Node) -> Node | None:
        """Rule: pure function -> function with relax.force_pure."""
        match node:
            case Function(is_pure=True, attrs=attrs) if attr(attrs, FORCE_PURE) is not True:
                return replace(node, attrs=with_attr(attrs, FORCE_PURE, True))
            case _:
                return None

    result = ctx.rewrite(module, promise, unwrap, kinds=(Function, Call))
    name_of: dict[Node, str] = {item.function: item.var.name for item in result.definitions}

    def promised(item: Replacement) -> str:
        (function,) = item.after
        return f"{_shown(name_of.get(function))} promises to be pure: its body may have effects that nobody sees"

    ctx.remark_replacements(promise, promised)
    ctx.remark_replacements(unwrap, lambda item: f"{value_name(item.before)} becomes {value_name(item.after[0])}")
    ctx.remark_on_reading(partial(_left, module))
    return result


def _left(module: IRModule) -> Iterator[UnnumberedRemark]:
    """Say of which functions nothing is promised."""
    name_of = {item.function: item.var.name for item in module.definitions}
    for item in preorder(module):
        match item:
            case Function(is_pure=False):
                yield UnnumberedRemark(item, "missed", f"{_shown(name_of.get(item))} promises nothing: it is impure")
            case Function(attrs=attrs) if attr(attrs, FORCE_PURE) is True:
                yield UnnumberedRemark(item, "note", f"{_shown(name_of.get(item))} promises already to be pure")
            case _:
                pass


def _shown(name: str | None) -> str:
    return "the local function" if name is None else f"@{name}"


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
