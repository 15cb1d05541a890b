"""Leave out statements that do nothing."""

from dataclasses import dataclass, replace

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.prove import canonical_key
from relax_core.ir.module import IRModule
from relax_core.ir.node import map_children, preorder
from relax_core.ir.prim import Binary, Cast, IntImm, Intrinsic, LetExpr, PrimExpr, Unary, dtype_of
from relax_core.ir.tir import (
    NOTHING,
    AttrStmt,
    BufferLoad,
    BufferRef,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    seq,
)
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of
from relax_core.passes.tir.vectorize_loop import ELEMENTWISE

_DIVISIONS = ("//", "%", "truncdiv", "truncmod", "<<", ">>")


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Drop values that nobody uses, loops and conditions around nothing, and stores of what is there already.

    What might stop the run stays: a load that is not proven to lie in its buffer, a division by what may be zero. TVM
    drops these as well. A store that a later one overwrites stays, as in TVM.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _removed(function, ctx))


def _removed(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    body = _Remover(bounds_of(function), ctx).stmt(function.body)
    return function if body is function.body else replace(function, body=body)


@dataclass(slots=True)
class _Remover:
    """Walks the statements with what is known at each; recursion follows the nesting of the text."""

    bounds: Bounds
    ctx: PassContext

    def stmt(self, stmt: Stmt) -> Stmt:
        mark = self.bounds.mark()
        match stmt:
            case Evaluate(value=value):
                new = stmt if is_nothing(stmt) or self.may_stop(value) else self.dropped(stmt, "its value is not used")
            case BufferStore():
                new = self.store(stmt)
            case For():
                new = self.loop(stmt)
            case IfThenElse():
                new = self.branch(stmt)
            case SeqStmt(stmts=stmts):
                made = [self.stmt(item) for item in stmts]
                kept = [item for item in made if not is_nothing(item)]
                is_same = len(kept) == len(stmts) and all(a is b for a, b in zip(kept, stmts, strict=True))
                new = stmt if is_same else seq(kept)
            case AttrStmt(body=body) | DeclBuffer(body=body) | LaunchThread(body=body):
                if isinstance(stmt, LaunchThread):
                    self.bounds.enter_loop(For(stmt.var, IntImm(0, stmt.var.dtype), stmt.extent, body))
                inner = self.stmt(body)
                new = NOTHING if is_nothing(inner) else stmt if inner is body else replace(stmt, body=inner)
            case LetStmt(var=var, value=value, body=body):
                self.bounds.bind_let(var, value)
                inner = self.stmt(body)
                is_unused = is_nothing(inner) and not self.may_stop(value)
                new = NOTHING if is_unused else stmt if inner is body else replace(stmt, body=inner)
            case _:
                new = map_children(stmt, lambda part: self.stmt(part) if isinstance(part, Stmt) else part)
        self.bounds.leave(mark)
        self.ctx.log.rebuilt(stmt, new)
        return new

    def dropped(self, stmt: Stmt, why: str) -> Stmt:
        self.ctx.remark(stmt, "applied", f"a statement is left out: {why}")
        return NOTHING

    def store(self, store: BufferStore) -> Stmt:
        match store.value:
            case BufferLoad(buffer=buffer, indices=indices) if buffer is store.buffer:
                places = [list(map(canonical_key, item)) for item in (indices, store.indices)]
                if places[0] == places[1] and not self.may_stop(store.value):
                    return self.dropped(store, f"{buffer.name} has the value already")
                return store
            case _:
                return store

    def loop(self, loop: For) -> Stmt:
        never = self.bounds.interval(loop.extent).high <= 0
        may_stop = self.may_stop(loop.start) or self.may_stop(loop.extent)
        if never and not may_stop:
            return self.dropped(loop, f"{loop.var.name} has no iterations")
        if loop.step is None:
            self.bounds.enter_loop(loop)
        else:
            self.bounds.bind_scalar(loop.var)
        body = self.stmt(loop.body)
        if is_nothing(body) and not may_stop:
            return self.dropped(loop, f"nothing is done in the iterations of {loop.var.name}")
        if is_nothing(body):
            words = f"{loop.var.name} stays, though nothing is done: its range may stop the run or have an effect"
            self.ctx.remark(loop, "missed", words)
        return loop if body is loop.body else replace(loop, body=body)

    def branch(self, stmt: IfThenElse) -> Stmt:
        mark = self.bounds.mark()
        self.bounds.assume(stmt.condition)
        then = self.stmt(stmt.then_body)
        self.bounds.leave(mark)
        self.bounds.assume(stmt.condition, truth=False)
        other = None if stmt.else_body is None else self.stmt(stmt.else_body)
        self.bounds.leave(mark)
        other = None if other is not None and is_nothing(other) else other
        if not is_nothing(then):
            is_same = then is stmt.then_body and other is stmt.else_body
            return stmt if is_same else replace(stmt, then_body=then, else_body=other)
        if other is not None:
            return IfThenElse(Unary("not", stmt.condition, "bool"), other, span=stmt.span)
        if self.may_stop(stmt.condition):
            self.ctx.remark(
                stmt, "missed", "nothing is done here, but the condition may stop the run or have an effect"
            )
            return stmt if then is stmt.then_body else replace(stmt, then_body=then, else_body=None)
        return self.dropped(stmt, "nothing is done under its condition")

    def may_stop(self, expr: PrimExpr) -> bool:
        """Tell whether the evaluation of an expression may have an effect: a call, or an error that stops the run."""
        return any(self.has_effect(part) for part in preorder(expr) if isinstance(part, PrimExpr))

    def has_effect(self, part: PrimExpr) -> bool:
        match part:
            case BufferLoad(buffer=buffer, indices=indices):
                return not all(self.bounds.is_in_range(buffer, at, index) for at, index in enumerate(indices))
            case Binary(op=op, b=b) if op in _DIVISIONS:
                return not (isinstance(b, IntImm) and b.value > 0)
            case Cast(value=value, dtype=dtype):
                return dtype_of(value).startswith(("float", "bfloat")) and not dtype.startswith("float")
            case Intrinsic(name=name):
                return name not in ELEMENTWISE
            case LetExpr() | BufferRef():
                return True
            case _:
                return False


def is_nothing(stmt: Stmt) -> bool:
    """Tell whether a statement is one that only stands for none."""
    return isinstance(stmt, Evaluate) and isinstance(stmt.value, IntImm)


PASS = Pass(
    "RemoveNoOp",
    "Leaves out statements that do nothing.",
    run,
    needs=("no blocks",),
    see="tvm/src/tirx/transform/remove_no_op.cc",
    dialect="tir",
)
