"""Compute indices in 32 bits where the ranges of loops prove that they fit."""

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import Interval, dtype_interval
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.prim import Binary, Cast, IntImm, PrimExpr, PrimVar, Select, dtype_of
from relax_core.ir.tir import (
    Allocate,
    Buffer,
    BufferLoad,
    BufferStore,
    DeclBuffer,
    For,
    LaunchThread,
    LetStmt,
    PrimFunc,
    Stmt,
)
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of

N = TypeVar("N", bound=Node)
_SIGNED = ("int64", "int32", "int16")
_SHIFTS = ("<<", ">>")
_BOUND_BY = MappingProxyType({For: ("start", "extent"), LetStmt: ("value",), LaunchThread: ("extent",)})
"""What tells the values of the variable that a statement binds."""
_OPERATIONS = ("+", "-", "*", "//", "%", "min", "max", "&", "|", "^", *_SHIFTS)


@dataclass(frozen=True, slots=True)
class NarrowDataTypeOptions:
    """`target_bits` is the width of the integers in which indices are computed."""

    target_bits: Literal[32, 16] = 32


def run(module: IRModule, options: NarrowDataTypeOptions, ctx: PassContext) -> IRModule:
    """Give loop variables, variables of `let` and what is computed of them a narrower dtype.

    A variable stays as it is if it is part of an expression that is not proven to fit, as in TVM: else it had to be
    cast there. Parameters and elements of buffers stay, too. An operation is narrowed if its operands are and its
    result, in the wider dtype, is proven to fit; then no bit of it is lost.

    TVM does not use what a `let` says of its variable, so that it leaves `k - 3` wide, and casts the narrow `k` in it.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _narrowed(function, options, ctx))


def _narrowed(function: PrimFunc, options: NarrowDataTypeOptions, ctx: PassContext) -> PrimFunc:
    narrowing = _Narrowing(f"int{options.target_bits}", bounds_of(function), ctx)
    narrowing.collect(function.body)
    body = narrowing.part(function.body)
    narrowing.explain()
    if body is function.body:
        return function
    if not narrowing.new_vars:
        ctx.remark(function, "applied", f"literals of indices are written in {narrowing.dtype}")
    assert isinstance(body, Stmt), "a statement stays one"
    return replace(function, body=body)


@dataclass(slots=True)
class _Narrowing:
    """What is known of one function; recursion follows the nesting of the text."""

    dtype: str
    bounds: Bounds
    ctx: PassContext
    limits: Interval = field(init=False)
    wide_dtypes: tuple[str, ...] = field(init=False)
    variables: dict[PrimVar, Node] = field(default_factory=dict[PrimVar, Node])
    """The variables that might be narrowed, each with the statement that binds it."""
    reason_of: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])
    """The variables that stay, each with an expression that is not proven to fit."""
    new_vars: dict[PrimVar, PrimVar] = field(default_factory=dict[PrimVar, PrimVar])
    new_buffers: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])

    def __post_init__(self) -> None:
        self.limits = dtype_interval(self.dtype)
        self.wide_dtypes = _SIGNED[: _SIGNED.index(self.dtype)]

    def collect(self, node: Node) -> None:
        """Find the variables below `node`, and the expressions that keep them as they are."""
        match node:
            case For() | LaunchThread() | LetStmt() if node.var.dtype in self.wide_dtypes:
                self.variables[node.var] = node
            case PrimExpr() if not self.may_be_narrow(node):
                self.keep(node, node)
                return
            case _:
                pass
        match node:
            case For():
                for item in (node.start, node.extent):
                    self.collect(item)
                self.enter(node)
                if not self.fits_loop(node):
                    self.keep(node.var, node.extent)
                self.collect(node.body)
            case LaunchThread():
                self.collect(node.extent)
                self.enter(node)
                if not self.bounds.interval(node.extent).is_within(self.limits):
                    self.keep(node.var, node.extent)
                self.collect(node.body)
            case LetStmt():
                self.collect(node.value)
                self.enter(node)
                if not self.bounds.interval(node.value).is_within(self.limits):
                    self.keep(node.var, node.value)
                self.collect(node.body)
            case _:
                for item in children(node):
                    self.collect(item)

    def enter(self, node: For | LetStmt | LaunchThread) -> None:
        """Declare the variable of a statement."""
        match node:
            case LetStmt():
                self.bounds.bind_let(node.var, node.value)
            case LaunchThread(var=var, extent=extent, body=body):
                self.bounds.enter_loop(For(var, IntImm(0, dtype_of(extent)), extent, body))
            case For(step=None):
                self.bounds.enter_loop(node)
            case For(var=var):
                self.bounds.bind_scalar(var)

    def fits_loop(self, loop: For) -> bool:
        """Tell whether the values of a loop's variable, and the one behind the last, fit."""
        if loop.step is not None:
            return False
        start, extent = self.bounds.interval(loop.start), self.bounds.interval(loop.extent)
        ends = Interval(start.low, start.high + max(extent.high, 1))
        return all(item.is_within(self.limits) for item in (start, extent, ends))

    def may_be_narrow(self, expr: PrimExpr) -> bool:
        return dtype_of(expr) not in self.wide_dtypes or self.bounds.interval(expr).is_within(self.limits)

    def keep(self, expr: PrimExpr, reason: PrimExpr) -> None:
        """Keep the variables of an expression; an index in it is an expression of its own."""
        match expr:
            case PrimVar():
                self.reason_of.setdefault(expr, reason)
            case BufferLoad(indices=indices):
                for item in indices:
                    self.collect(item)
            case _:
                for item in children(expr):
                    if isinstance(item, PrimExpr):
                        self.keep(item, reason)

    def explain(self) -> None:
        """Say of each variable what became of it."""
        for var, statement in self.variables.items():
            if var in self.new_vars:
                self.ctx.remark(statement, "applied", f"{var.name} is computed in {self.dtype}")
            else:
                reason = self.reason_of.get(var, statement)
                words = (
                    f"{var.name} stays {var.dtype}: a value that is computed of it is not proven to fit {self.dtype}"
                )
                self.ctx.remark(statement, "missed", words, (reason,))

    def part(self, node: Node) -> Node:
        """Return `node` with what is below narrowed; an expression keeps its dtype."""
        match node:
            case PrimExpr():
                return self.wide(node)
            case For() | LetStmt() | LaunchThread():
                return self.binding(node)
            case BufferStore():
                indices = tuple(map(self.expr, node.indices))
                buffer = self.new_buffers.get(node.buffer, node.buffer)
                return self.made(node, replace(node, buffer=buffer, indices=indices, value=self.wide(node.value)))
            case DeclBuffer():
                self.renew_buffer(node.buffer)
            case Allocate():
                node = self.made(node, replace(node, extents=tuple(map(self.expr, node.extents))))
            case Buffer():
                return self.new_buffers.get(node, node)
            case _:
                pass
        return self.made(node, map_children(node, self.part))

    def binding(self, node: For | LetStmt | LaunchThread) -> Node:
        """Return a statement that binds a variable, which is narrowed unless it is to stay."""
        self.enter(node)
        if node.var not in self.variables or node.var in self.reason_of:
            return self.made(node, map_children(node, self.part))
        # What is bound is computed without the variable.
        given: dict[str, Any] = {name: self.cast(getattr(node, name)) for name in _BOUND_BY[type(node)]}
        self.new_vars[node.var] = self.ctx.derive(replace(node.var, dtype=self.dtype), node.var)
        return self.made(node, replace(node, var=self.new_vars[node.var], body=self.part(node.body), **given))

    def made(self, old: N, new: N) -> N:
        """Return `new`, or `old` if it has the same parts; the log is told."""
        if all(a is b for a, b in zip(children(old), children(new), strict=True)):
            return old
        self.ctx.log.rebuilt(old, new)
        return new

    def renew_buffer(self, buffer: Buffer) -> None:
        """Write the literals in the shape of a buffer of the body in the narrower dtype."""
        new = map_children(buffer, lambda item: self.expr(item) if isinstance(item, IntImm) else item)
        if new is not buffer:
            self.ctx.log.rebuilt(buffer, new)
            self.new_buffers[buffer] = new

    def wide(self, expr: PrimExpr) -> PrimExpr:
        """Return `expr` with its parts narrowed, in its own dtype."""
        new, dtype = self.expr(expr), dtype_of(expr)
        if dtype_of(new) == dtype:
            return new
        return expr if isinstance(expr, IntImm) else self.ctx.derive(Cast(new, dtype, span=expr.span), expr)

    def cast(self, expr: PrimExpr) -> PrimExpr:
        """Return `expr`, which is proven to fit, in the narrower dtype."""
        new = self.expr(expr)
        return new if dtype_of(new) == self.dtype else self.ctx.derive(Cast(new, self.dtype, span=expr.span), expr)

    def expr(self, expr: PrimExpr) -> PrimExpr:
        """Return `expr` with its parts narrowed, and in the narrower dtype itself where that is possible."""
        is_candidate = dtype_of(expr) in self.wide_dtypes and self.may_be_narrow(expr)
        match expr:
            case PrimVar():
                return self.new_vars.get(expr, expr)
            case IntImm(value=value) if is_candidate:
                return self.ctx.derive(IntImm(value, self.dtype, span=expr.span), expr)
            case Cast(value=value) if is_candidate and dtype_of(value) == self.dtype:
                return self.wide(value)
            case Cast(value=Binary() | PrimVar() | Select() as value):
                return self.made(expr, replace(expr, value=self.expr(value)))
            case BufferLoad(buffer=buffer, indices=indices):
                new = replace(expr, buffer=self.new_buffers.get(buffer, buffer), indices=tuple(map(self.expr, indices)))
                return self.made(expr, new)
            case Select(condition=condition, true_value=a, false_value=b) if is_candidate:
                a, b = self.operands(a, b)
                new = replace(expr, condition=self.wide(condition), true_value=a, false_value=b, dtype=dtype_of(a))
                return self.made(expr, new)
            case Binary(op=op, a=a, b=b) if is_candidate and op in _OPERATIONS and self.keeps_meaning(expr):
                a, b = self.operands(a, b)
                return self.made(expr, replace(expr, a=a, b=b, dtype=dtype_of(a)))
            case Binary(a=a, b=b, dtype="bool") if dtype_of(a) in self.wide_dtypes:
                a, b = self.operands(a, b)
                return self.made(expr, replace(expr, a=a, b=b))
            case _:
                return self.made(expr, map_children(expr, self.part))

    def keeps_meaning(self, expr: Binary) -> bool:
        """Tell whether an operation means the same on narrower integers: a shift counts bits of its operand."""
        bits = int(self.dtype.removeprefix("int"))
        return expr.op not in _SHIFTS or self.bounds.interval(expr.b).is_within(Interval(0, bits - 1))

    def operands(self, a: PrimExpr, b: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        """Return two operands of one dtype, the narrower one if both have it."""
        parts = (self.expr(a), self.expr(b))
        return parts if all(dtype_of(item) == self.dtype for item in parts) else (self.wide(a), self.wide(b))


PASS = Pass(
    "NarrowDataType",
    "Computes indices in 32 bits where the ranges of loops prove that they fit.",
    run,
    options=NarrowDataTypeOptions,
    needs=("no blocks",),
    see="tvm/src/tirx/transform/narrow_datatype.cc",
    dialect="tir",
)
