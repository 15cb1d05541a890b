"""Cut a loop where a condition that the text calls likely becomes known."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.polynomial import Polynomial, add, constant, constant_of, multiply, split
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, map_children, preorder
from relax_core.ir.prim import Binary, IntImm, Intrinsic, PrimExpr, PrimVar, binary, is_number
from relax_core.ir.tir import For, IfThenElse, LetStmt, PrimFunc, Stmt, seq
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of, fits, tidy
from relax_core.passes.tir.copies import copied
from relax_core.passes.tir.memory.boxes import atoms_in, guards_of
from relax_core.passes.tir.memory.regions import written_number
from relax_core.passes.tir.sequences import flat, leaves_early

_LOOPS = ("serial", "parallel", "unroll")


@dataclass(frozen=True, slots=True)
class LoopPartitionOptions:
    """With `partition_const_loop` loops of known length are split, too; TVM's configuration calls it so."""

    partition_const_loop: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a loop is split, and the condition that holds before that (`is_first`), or from there on."""

    at: PrimExpr
    likely: Intrinsic
    is_first: bool


def run(module: IRModule, options: LoopPartitionOptions, ctx: PassContext) -> IRModule:
    """Cut loops at the iteration from which on `T.likely(i * 8 + j < n)` is not known to hold, or is.

    Where it holds, it is not asked. Iterations keep their order. Conditions that read memory, or whose numbers may not
    fit their dtype, split nothing. What is left of `T.likely` goes, as in TVM; where TVM takes the parts of the second
    loop apart again, StmtSimplify does.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _partitioned(function, options, ctx))


def _partitioned(function: PrimFunc, options: LoopPartitionOptions, ctx: PassContext) -> PrimFunc:
    body = _Partitioner(bounds_of(function), options, ctx).stmt(function.body)
    result = function if body is function.body else ctx.derive(replace(function, body=body), function)

    def forget(node: Node) -> Node | None:
        """Rule: T.likely(c) -> c."""
        if not isinstance(node, Intrinsic) or node.name != "likely":
            return None
        why = "" if options.partition_const_loop else ", and those of known length stay without partition_const_loop"
        ctx.remark(node, "missed", f"no loop around is split where this condition becomes known{why}")
        ctx.remark(node, "applied", "the mark T.likely goes, the condition stays")
        return node.args[0]

    def take(node: Node) -> Node | None:
        """Rule: if True: S -> S."""
        return node.then_body if isinstance(node, IfThenElse) and is_number(node.condition, 1) else None

    return ctx.rewrite(result, forget, take, flat)


@dataclass(slots=True)
class _Partitioner:
    """Walks the statements, the outer loops first; recursion follows the nesting of the text."""

    bounds: Bounds
    options: LoopPartitionOptions
    ctx: PassContext

    def stmt(self, stmt: Stmt) -> Stmt:
        mark = self.bounds.mark()
        match stmt:
            case For():
                new = self.loop(stmt)
            case IfThenElse(condition=condition, then_body=then, else_body=other):
                self.bounds.assume(condition)
                made = self.stmt(then)
                self.bounds.leave(mark)
                rest = None if other is None else self.stmt(other)
                is_same = made is then and rest is other
                new = stmt if is_same else replace(stmt, then_body=made, else_body=rest)
            case LetStmt(var=var, value=value):
                self.bounds.bind_let(var, value)
                new = self.inside(stmt)
            case _:
                new = self.inside(stmt)
        self.bounds.leave(mark)
        self.ctx.log.rebuilt(stmt, new)
        return new

    def inside(self, stmt: Stmt) -> Stmt:
        return map_children(stmt, lambda part: self.stmt(part) if isinstance(part, Stmt) else part)

    def loop(self, loop: For) -> Stmt:
        is_meant = self.options.partition_const_loop or not isinstance(loop.extent, IntImm)
        is_plain = loop.kind in _LOOPS and loop.step is None and is_number(loop.start, 0)
        found = self.split(loop) if is_meant and is_plain and not leaves_early(loop.body) else None
        if found is None:
            return self.as_it_is(loop)
        self.ctx.remark(found.likely, "applied", f"{loop.var.name} is split where its condition becomes known")
        zero = IntImm(0, loop.var.dtype)
        rest = tidy(binary("-", loop.extent, found.at))
        var = PrimVar(loop.var.name, loop.var.dtype)
        # Of one text there are two loops: in one of them all that is bound is bound anew.
        second = copied(loop.body, {loop.var: binary("+", var, found.at)})
        known = self.ctx.rewrite(loop.body, _Holds(found.likely))
        if found.is_first:
            first = self.stmt(replace(loop, start=zero, extent=found.at, body=known))
            rest_of_it = self.as_it_is(replace(loop, var=var, extent=rest, body=second))
            return self.ctx.derive(seq((first, rest_of_it)), loop)
        moved = self.ctx.substitute(known, None, {loop.var: binary("+", loop.var, found.at)})
        head = self.as_it_is(replace(loop, var=var, extent=found.at, body=copied(loop.body, {loop.var: var})))
        return self.ctx.derive(seq((head, self.stmt(replace(loop, extent=rest, body=moved)))), loop)

    def as_it_is(self, loop: For) -> Stmt:
        """Return a loop whose own range stays."""
        mark = self.bounds.mark()
        if loop.step is None:
            self.bounds.enter_loop(loop)
        else:
            self.bounds.bind_scalar(loop.var)
        new = self.inside(loop)
        self.bounds.leave(mark)
        return new

    def split(self, loop: For) -> Cut | None:
        """Return where the first likely condition in a loop becomes known, for all values of the loops inside."""
        mark = self.bounds.mark()
        self.bounds.enter_loop(loop)
        own = max(atoms_in(self.bounds.poly(loop.var)), default=-1)
        once = Counter(self.likely_in(loop.body))
        places = (self.split_at(loop, own, item) for item in self.likely_in(loop.body) if once[item] == 1)
        found = next((item for item in places if item is not None), None)
        self.bounds.leave(mark)
        return found

    def likely_in(self, stmt: Stmt) -> Iterator[Intrinsic]:
        """Yield the likely conditions in a statement, with the variables of the loops around each declared."""
        match stmt:
            case For(step=None):
                self.bounds.enter_loop(stmt)
            case LetStmt(var=var, value=value):
                self.bounds.bind_let(var, value)
            case For():
                return
            case IfThenElse(condition=condition):
                for item in preorder(condition):
                    if isinstance(item, Intrinsic) and item.name == "likely":
                        yield item
            case _:
                pass
        for part in children(stmt):
            if isinstance(part, Stmt):
                yield from self.likely_in(part)

    def split_at(self, loop: For, own: int, likely: Intrinsic) -> Cut | None:
        """Return where `likely` becomes known, if it is one comparison that is linear in the loop's variable."""
        guards = guards_of(self.bounds, likely.args[0]) or ()
        least = self.least(guards[0], own) if len(guards) == 1 else None
        parts = None if least is None else split(least, own)
        step = None if parts is None else constant_of(parts[0])
        if parts is None or not step or own in atoms_in(parts[1]):
            return None
        # With g = step * v + rest: g >= 0 for v <= rest // -step, or for v >= -rest / step, rounded up.
        top = add(parts[1], constant(-step)) if step < 0 else add(constant(step - 1), parts[1], -1)
        number = written_number(top, self.bounds, loop.var.dtype)
        if number is None or not fits(number, self.bounds):
            return None
        place = tidy(binary("//", number, IntImm(abs(step), loop.var.dtype)), self.bounds)
        return Cut(self.within(place, loop.extent), likely, step < 0)

    def least(self, p: Polynomial[int], own: int) -> Polynomial[int] | None:
        """Return a number of what is known around the loops inside that `p` is never below."""
        while inner := [number for number in atoms_in(p) if number > own]:
            number = max(inner)
            parts, atom = split(p, number), self.bounds.atoms[number]
            sign = None if parts is None else self.bounds.interval_of(parts[0])
            if parts is None or sign is None or sign.low < 0 < sign.high:
                return None
            bound = atom.lower if sign.low >= 0 else atom.upper
            if bound is None:
                return None
            p = add(multiply(parts[0], bound), parts[1])
        return p

    def within(self, place: PrimExpr, extent: PrimExpr) -> PrimExpr:
        """Return a place that is one of the loop, or its end."""
        p = self.bounds.poly(place)
        if not self.is_at_most(place, extent):
            place = tidy(binary("min", place, extent))
        return place if self.bounds.is_nonnegative(p) else tidy(binary("max", place, IntImm(0, "int32")))

    def is_at_most(self, a: PrimExpr, b: PrimExpr) -> bool:
        """Tell whether `a <= b` is proven; a quotient grows with what is divided."""
        match a, b:
            case Binary(op="//", a=x, b=IntImm(value=by)), Binary(op="//", a=y, b=IntImm(value=other)) if by == other:
                a, b = (x, y) if by > 0 else (a, b)
            case _:
                pass
        return self.bounds.is_nonnegative(add(self.bounds.poly(b), self.bounds.poly(a), -1))


class _Holds:
    """Rule: a condition that holds -> True."""

    def __init__(self, likely: Intrinsic) -> None:
        self.likely = likely

    def __call__(self, node: Node) -> Node | None:
        return IntImm(1, "bool") if node is self.likely else None


PASS = Pass(
    "LoopPartition",
    "Splits a loop where a condition that the text calls likely becomes known.",
    run,
    LoopPartitionOptions,
    needs=("no blocks",),
    see="tvm/src/s_tir/transform/loop_partition.cc",
    dialect="tir",
)
