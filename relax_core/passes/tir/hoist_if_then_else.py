"""Ask a condition before a loop that it does not depend on."""

from dataclasses import replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import Binary, Cast, IntImm, Intrinsic, LetExpr, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import BufferLoad, For, IfThenElse, LetStmt, PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir import remove_no_op, stmt_simplify
from relax_core.passes.tir.copies import copied
from relax_core.passes.tir.sequences import flat

_LOOPS = ("serial", "parallel", "unroll")
_DIVISIONS = ("//", "%", "truncdiv", "truncmod", "<<", ">>")


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Move conditions out of loops of which they are all of the body, then simplify and drop what is empty.

    The condition is asked once instead of in each iteration, and also if there is none: what may stop the run, a load
    or a division by a variable, stays where it is. As in TVM's default, a condition stays that has statements beside
    it, and so does `T.if_then_else`.
    """
    hoisted = change_prim_funcs(module, ctx, lambda _, function: _hoisted(function, ctx))
    simplified = stmt_simplify.run(hoisted, options, ctx)
    return remove_no_op.run(simplified, options, ctx)


def _hoisted(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    def hoist(node: Node) -> Node | None:
        """Rule: for j: if c: S -> if c: for j: S."""
        match node:
            case For(var=var, start=start, extent=extent, body=IfThenElse() as inner) if node.kind in _LOOPS:
                before = (start, extent)
            case LetStmt(var=var, value=value, body=IfThenElse() as inner):
                before = (value,)
            case _:
                return None
        # What was evaluated in any case is then evaluated under the condition.
        if not _is_free(inner.condition, var):
            ctx.remark(inner, "missed", f"the condition stays: it depends on {var.name}, or may stop the run")
            return None
        if any(_may_stop(item) for expr in before for item in preorder(expr)):
            ctx.remark(inner, "missed", f"the condition stays: what {var.name} is bound to may stop the run before it")
            return None
        ctx.remark(inner, "applied", f"the condition is asked before {var.name}")
        other = None if inner.else_body is None else copied(replace(node, body=inner.else_body), {})
        return replace(inner, then_body=replace(node, body=inner.then_body), else_body=other)

    return ctx.rewrite(function, hoist, flat)


def _is_free(condition: PrimExpr, var: PrimVar) -> bool:
    """Tell whether a condition does not depend on a variable, and may be asked anywhere."""
    return not any(item is var or _may_stop(item) for item in preorder(condition))


def _may_stop(item: Node) -> bool:
    match item:
        case BufferLoad() | LetExpr():
            return True
        case Intrinsic(name=name):
            return name != "likely"
        case Binary(op=op, b=b) if op in _DIVISIONS:
            return not (isinstance(b, IntImm) and b.value > 0)
        case Cast(value=value, dtype=dtype):
            return dtype_of(value).startswith(("float", "bfloat")) and not dtype.startswith("float")
        case _:
            return False


PASS = Pass(
    "HoistIfThenElse",
    "Asks a condition before a loop that it does not depend on.",
    run,
    needs=("no blocks",),
    see="tvm/src/s_tir/transform/hoist_expression.cc",
    dialect="tir",
)
