"""Let loops count from 0 by 1."""

from dataclasses import replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, is_number
from relax_core.ir.tir import For
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import tidy


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace the variable of a loop that starts elsewhere, or has a step, by what it is in iteration i."""

    def canonicalize(node: Node) -> Node | None:
        """Rule: for i in range(a, b, s) -> for i in range((b - a + s - 1) // s)."""
        if not isinstance(node, For) or (node.step is None and is_number(node.start, 0)):
            return None
        step = 1 if node.step is None else node.step.value if isinstance(node.step, IntImm) else 0
        if step < 1:
            ctx.remark(node, "missed", f"{node.var.name} keeps its step, which is no positive number")
            return None
        dtype = node.var.dtype
        var = PrimVar(node.var.name, dtype)
        value: PrimExpr = var if step == 1 else binary("*", var, IntImm(step, dtype))
        value = value if is_number(node.start, 0) else binary("+", value, node.start)
        rounded = binary("+", node.extent, IntImm(step - 1, dtype))
        count = node.extent if step == 1 else tidy(binary("//", rounded, IntImm(step, dtype)))
        ctx.remark(node, "applied", f"{node.var.name} counts from 0 by 1")
        body = ctx.substitute(node.body, None, {node.var: value})
        return replace(node, var=var, start=IntImm(0, dtype), extent=count, step=None, body=body)

    return change_prim_funcs(module, ctx, lambda _, function: ctx.rewrite(function, canonicalize))


PASS = Pass(
    "CanonicalizeLoop",
    "Lets loops count from 0 by 1.",
    run,
    see="tvm/src/s_tir/transform/canonicalize_loop.cc",
    dialect="tir",
)
