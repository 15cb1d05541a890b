"""Whether a statement writes each element of a buffer before it reads it, so that what was there does not matter."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.polynomial import add, constant
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import Binary, IntImm, LetExpr, PrimExpr, PrimVar, Select, binary, is_number
from relax_core.ir.tir import (
    AssertStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LaunchThread,
    LetStmt,
    ScopedStmt,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.memory.boxes import Box, atoms_in, closing, covers, depends, guards_of, point
from relax_core.passes.tir.sequences import leaves_early

Boxes = tuple[Box, ...]


def first_foreign_load(body: Stmt, buffer: Buffer, bounds: Bounds) -> Node | None:
    """Return a load of `buffer` in `body` that may read what one execution of `body` has not written before.

    `bounds` tells of the variables around `body`. Accesses through other names are not seen: the buffer has none.
    `None` is a proof: every load is in a box of elements that are written on every way to it. A `break` or a `continue`
    ends the search, as what stands behind it may be skipped.
    """
    if leaves_early(body):
        return next((item for item in preorder(body) if isinstance(item, BufferLoad) and item.buffer is buffer), None)
    walk = _Writes(buffer, bounds)
    walk.stmt(body, ())
    return walk.foreign


@dataclass(slots=True)
class _Writes:
    """Follows the statements with the boxes that are written so far; recursion follows the nesting of the text."""

    buffer: Buffer
    bounds: Bounds
    sources: dict[PrimVar, frozenset[PrimVar]] = field(default_factory=dict[PrimVar, frozenset[PrimVar]])
    foreign: BufferLoad | None = None

    def stmt(self, stmt: Stmt, known: Boxes) -> Boxes:
        """Check the loads of `stmt`, and return the boxes that are written behind it; `known` are among them."""
        match stmt:
            case SeqStmt(stmts=stmts):
                mark = self.bounds.mark()
                for item in stmts:
                    known = self.stmt(item, known)
                    if isinstance(item, AssertStmt):
                        self.bounds.assume(item.condition)
                self.bounds.leave(mark)
                return known
            case BufferStore(indices=indices, value=value):
                self.reads(known, *indices, value)
                box = point(self.bounds, indices) if stmt.buffer is self.buffer else None
                return known if box is None else (*known, box)
            case For():
                return self.loop(stmt, known)
            case LaunchThread(var=var, extent=extent, body=body):
                zero = IntImm(0, var.dtype)
                return self.loop(For(var, zero, extent, body, "thread_binding"), known)
            case IfThenElse(condition=condition, then_body=then, else_body=other):
                return self.branch(condition, then, other, known)
            case Block():
                return self.block(stmt, known)
            case While(condition=condition, body=body):
                self.reads(known, condition)
                self.stmt(body, known)
                return known
            case LetStmt(var=var, value=value, body=body):
                self.reads(known, value)
                self.let(var, value)
                return self.without([var], self.stmt(body, known), known)
            case Evaluate(value=value) | AssertStmt(condition=value):
                self.reads(known, value)
                return known
            case _:
                assert isinstance(stmt, ScopedStmt), f"{type(stmt).__name__} has one body"
                return self.stmt(stmt.body, known)

    def without(self, left: Sequence[PrimVar], boxes: Boxes, known: Boxes) -> Boxes:
        """Leave out the boxes that depend on variables whose scope ends and whose values are not known outside."""
        ended = {
            var for var in left if any(self.bounds.atoms[at].expr is var for at in atoms_in(self.bounds.poly(var)))
        }
        if not ended:
            return boxes

        def stays(box: Box) -> bool:
            atoms = {at for p in box.numbers() for at in atoms_in(p)}
            return not any(depends(self.bounds.atoms[at].expr, var, self.sources) for at in atoms for var in ended)

        return tuple(box for box in boxes if box in known or stays(box))

    def let(self, var: PrimVar, value: PrimExpr) -> None:
        self.bounds.bind_let(var, value)
        found = [item for item in preorder(value) if isinstance(item, PrimVar)]
        self.sources[var] = frozenset((*found, *(root for item in found for root in self.sources.get(item, ()))))

    def block(self, block: Block, known: Boxes) -> Boxes:
        for item in block.iter_vars:
            self.reads(known, item.binding)
            self.let(item.var, item.binding)
        condition = block.predicate
        if condition is None or is_number(condition, 1):
            behind = self.inner(block, known)
        else:
            self.reads(known, condition)
            behind = self.under(condition, known, lambda: self.inner(block, known))
        return self.without([item.var for item in block.iter_vars], behind, known)

    def inner(self, block: Block, known: Boxes) -> Boxes:
        if block.init is None:
            return self.stmt(block.body, known)
        starts = [_at_start(item) for item in block.iter_vars if item.kind == "reduce"]
        condition: PrimExpr = IntImm(1, "bool")
        for item in starts:
            condition = Binary("and", condition, item, "bool")
        return self.stmt(block.body, self.branch(condition, block.init, None, known))

    def branch(self, condition: PrimExpr, then: Stmt, other: Stmt | None, known: Boxes) -> Boxes:
        self.reads(known, condition)
        value = tidy(condition, self.bounds)
        if isinstance(value, IntImm):
            chosen = then if value.value else other
            return known if chosen is None else self.stmt(chosen, known)
        yes = self.under(condition, known, lambda: self.stmt(then, known))
        if other is None:
            return yes
        no = self.under(condition, known, lambda: self.stmt(other, known), truth=False)
        return (*yes, *(box for box in no if box not in yes))

    def under(self, condition: PrimExpr, known: Boxes, follow: Callable[[], Boxes], *, truth: bool = True) -> Boxes:
        """Follow what runs where `condition` is `truth`; what it writes is guarded by that."""
        mark = self.bounds.mark()
        self.bounds.assume(condition, truth=truth)
        behind = follow()
        self.bounds.leave(mark)
        guards = guards_of(self.bounds, condition, truth=truth)
        fresh = () if guards is None else tuple(box for box in behind if box not in known)
        return (*known, *(replace(box, guards=(*box.guards, *guards)) for box in fresh if guards is not None))

    def loop(self, loop: For, known: Boxes) -> Boxes:
        """Follow a loop: its first iteration by itself if a condition asks for it, then any other one."""
        self.reads(known, loop.start, loop.extent)
        if not _names(loop.body, self.buffer):
            return known
        if loop.step is not None:
            self.bounds.bind_scalar(loop.var)
            self.stmt(loop.body, known)
            return known
        mark = self.bounds.mark()
        runs = self._runs(loop.extent, 1)
        inside = behind = known
        if loop.kind in ("serial", "unroll") and self._has_first(loop):
            self.let(loop.var, loop.start)
            self.bounds.assume(binary("<", IntImm(0, loop.var.dtype), loop.extent))
            inside = self.stmt(loop.body, known)
            once = () if runs else (add(self.bounds.poly(loop.extent), constant(1), -1),)
            fresh = (box for box in inside if box not in known)
            behind = (*known, *(replace(box, guards=(*box.guards, *once)) for box in fresh))
            runs = self._runs(loop.extent, 2)
            one = IntImm(1, loop.var.dtype)
            start = tidy(Binary("+", loop.start, one, loop.var.dtype))
            loop = replace(loop, start=start, extent=tidy(Binary("-", loop.extent, one, loop.var.dtype)))
        self.bounds.enter_loop(loop)
        self.sources[loop.var] = frozenset()
        around = closing(self.bounds, self.sources, loop, runs=runs)
        found = [box for box in self.stmt(loop.body, inside) if box not in inside]
        self.bounds.leave(mark)
        wide = () if around is None else tuple(map(around.widened, found))
        return (*behind, *(box for box in wide if box is not None))

    def _runs(self, extent: PrimExpr, least: int) -> bool:
        return self.bounds.is_nonnegative(add(self.bounds.poly(extent), constant(least), -1))

    def _has_first(self, loop: For) -> bool:
        """Tell whether something is done for one value of the loop's variable only, as the start of a reduction is."""
        axes = {
            item.var: item.binding for part in preorder(loop.body) if isinstance(part, Block) for item in part.iter_vars
        }
        for part in preorder(loop.body):
            match part:
                case IfThenElse(condition=condition) | Block(predicate=PrimExpr() as condition):
                    pass
                case Block(init=Stmt()):
                    return True
                case _:
                    continue
            tests = (item for item in preorder(condition) if isinstance(item, Binary) and item.op == "==")
            if any(_reaches(item, loop.var, axes) for item in tests):
                return True
        return False

    def reads(self, known: Boxes, *exprs: PrimExpr) -> None:
        """Check the loads in expressions, each under what must hold for it to be evaluated."""
        for expr in exprs:
            mark = self.bounds.mark()
            match expr:
                case Select(condition=condition, true_value=a, false_value=b, is_lazy=True):
                    self.reads(known, condition)
                    for side, truth in ((a, True), (b, False)):
                        self.bounds.assume(condition, truth=truth)
                        self.reads(known, side)
                        self.bounds.leave(mark)
                case Binary(op="and" | "or" as op, a=a, b=b):
                    self.reads(known, a)
                    self.bounds.assume(a, truth=op == "and")
                    self.reads(known, b)
                case LetExpr(var=var, value=value, body=body):
                    self.reads(known, value)
                    self.let(var, value)
                    self.reads(known, body)
                case BufferLoad(buffer=buffer, indices=indices) if buffer is self.buffer:
                    self.reads(known, *indices)
                    if not any(covers(self.bounds, box, indices) for box in reversed(known)):
                        self.foreign = self.foreign or expr
                case _:
                    self.reads(known, *(item for item in children(expr) if isinstance(item, PrimExpr)))
            self.bounds.leave(mark)


def _at_start(item: IterVar) -> PrimExpr:
    return Binary("==", item.var, item.start or IntImm(0, item.var.dtype), "bool")


def _names(body: Stmt, buffer: Buffer) -> bool:
    """Tell whether a statement accesses the buffer."""
    return any(isinstance(item, BufferLoad | BufferStore) and item.buffer is buffer for item in preorder(body))


def _reaches(expr: PrimExpr, var: PrimVar, axes: "dict[PrimVar, PrimExpr]") -> bool:
    """Tell whether an expression depends on `var`, through the values of block variables as well."""
    found = {item for item in preorder(expr) if isinstance(item, PrimVar)}
    return var in found or any(item in axes and _reaches(axes[item], var, axes) for item in found)


def accesses_of(root: Node, buffer: Buffer) -> Iterator[BufferLoad | BufferStore]:
    """Yield the loads and stores of a buffer, by its own name."""
    for item in preorder(root):
        if isinstance(item, BufferLoad | BufferStore) and item.buffer is buffer:
            yield item
