"""Simplify indices and conditions by what the loops around them say."""

from dataclasses import dataclass, replace

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, PrimExpr, is_number
from relax_core.ir.rewriting.rewrite import Replacement
from relax_core.ir.tir import (
    NOTHING,
    Block,
    BufferRegion,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LetStmt,
    MatchRegion,
    PrimFunc,
    SeqStmt,
    Stmt,
    seq,
)
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of, tidy

_SHORTER = "an expression -> a shorter one"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Fold literals, write sums and quotients as short as the ranges of loops allow, take branches that are known.

    Integers only: no operation of floats is moved, so that results keep their bits. TVM's simplifier has several
    hundred rules, and proves more; what ours leaves is right, and longer. A loop that runs once or never stays, as in
    TVM: LowerOpaqueBlock takes the first, RemoveNoOp the second.
    """
    ctx.remark_replacements(_SHORTER, _shortened)
    return change_prim_funcs(module, ctx, lambda _, function: _simplified(function, ctx))


def _shortened(item: Replacement) -> str:
    shown = (show_prim(part, is_short=True) for part in (item.before, *item.after) if isinstance(part, PrimExpr))
    return " becomes ".join(shown)


def _simplified(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    body = _Simplifier(bounds_of(function), ctx).stmt(function.body)
    return function if body is function.body else replace(function, body=body)


@dataclass(slots=True)
class _Simplifier:
    """Walks the statements; recursion follows the nesting of the text."""

    bounds: Bounds
    ctx: PassContext

    def stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case For():
                return self.loop(stmt)
            case IfThenElse():
                return self.branch(stmt)
            case LetStmt(var=var, value=value):
                made = self.expr(value)
                self.bounds.bind_let(var, made)
                return self.rebuilt(stmt)
            case Block(iter_vars=items):
                for item in items:
                    if item.start is None:
                        self.bounds.bind_let(item.var, item.binding)
                return self.rebuilt(stmt)
            case SeqStmt(stmts=stmts):
                made = [self.stmt(item) for item in stmts]
                if all(a is b for a, b in zip(made, stmts, strict=True)):
                    return stmt
                new = seq([item for item in made if not _is_nothing(item)])
                self.ctx.log.rebuilt(stmt, new)
                return new
            case _:
                return self.rebuilt(stmt)

    def rebuilt(self, stmt: Stmt) -> Stmt:
        """Return a statement with its parts simplified."""
        new = map_children(stmt, self.part)
        self.ctx.log.rebuilt(stmt, new)
        return new

    def part(self, node: Node) -> Node:
        match node:
            case Stmt():
                return self.stmt(node)
            case PrimExpr():
                return self.expr(node)
            case IterVar() | BufferRegion() | MatchRegion():
                new = map_children(node, self.part)
                self.ctx.log.rebuilt(node, new)
                return new
            case _:
                return node

    def expr(self, expr: PrimExpr) -> PrimExpr:
        new = tidy(expr, self.bounds)
        if new is not expr:
            self.ctx.log.replace(expr, new, _SHORTER)
        return new

    def loop(self, loop: For) -> Stmt:
        mark = self.bounds.mark()
        head = replace(loop, start=self.expr(loop.start), extent=self.expr(loop.extent))
        if isinstance(head.extent, IntImm) and head.extent.value <= 0:
            return loop
        inner = loop.body
        if loop.step is None:
            self.bounds.enter_loop(head)
        if loop.step is None and is_number(head.extent, 1):
            inner = self.ctx.substitute(inner, None, {loop.var: head.start})
            if inner is not loop.body:
                shown = show_prim(head.start, is_short=True)
                self.ctx.remark(loop, "applied", f"{loop.var.name} runs once, where it is {shown}")
        body = self.stmt(inner)
        self.bounds.leave(mark)
        if (body, head.start, head.extent) == (loop.body, loop.start, loop.extent):
            return loop
        new = replace(head, body=body)
        self.ctx.log.rebuilt(loop, new)
        return new

    def branch(self, stmt: IfThenElse) -> Stmt:
        condition = self.expr(stmt.condition)
        if isinstance(condition, IntImm):
            kept = stmt.then_body if condition.value else stmt.else_body
            which = "always" if condition.value else "never"
            self.ctx.remark(stmt, "applied", f"the condition {which} holds")
            return NOTHING if kept is None else self.stmt(kept)
        words = f"the condition {show_prim(condition, is_short=True)} stays: neither it nor its negation is proven"
        self.ctx.remark(stmt, "missed", words)
        mark = self.bounds.mark()
        self.bounds.assume(condition)
        then = self.stmt(stmt.then_body)
        self.bounds.leave(mark)
        self.bounds.assume(condition, truth=False)
        other = None if stmt.else_body is None else self.stmt(stmt.else_body)
        self.bounds.leave(mark)
        if (condition, then, other) == (stmt.condition, stmt.then_body, stmt.else_body):
            return stmt
        new = replace(stmt, condition=condition, then_body=then, else_body=other)
        self.ctx.log.rebuilt(stmt, new)
        return new


def _is_nothing(stmt: Stmt) -> bool:
    return isinstance(stmt, Evaluate) and isinstance(stmt.value, IntImm)


PASS = Pass(
    "StmtSimplify",
    "Simplifies indices and conditions by what the loops around them say.",
    run,
    see="tvm/src/tirx/transform/stmt_simplify.cc",
    dialect="tir",
)
