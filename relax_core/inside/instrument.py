"""Rewrites a prim func so that it stops before a given statement instance, and goes on from there later.

Its loops, conditions and blocks become ones that find their way back to the site that the control array names; memory
that it allocates becomes parameters, so that it outlives a stop. All loops run in order.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, cast

from relax_core.inside import control
from relax_core.inside.sites import Layout, Level, Phase, Site, SiteKind, Slot
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import (
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    binary,
    const,
    dtype_of,
    lanes_of,
    scalar_of,
)
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRealize,
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
    TirStmt,
    While,
    seq,
)
from relax_core.jit.lowering.lower import started

WORDS: Final = Buffer("control", (PrimVar("control_words"),), "int64")
REALS: Final = Buffer("control_reals", (PrimVar("control_reals_words"),), "float64")
TRUE: Final = IntImm(1, "bool")

_STEPS: Final = (BufferStore, Evaluate, AssertStmt)

Probe = Callable[[Site], "PrimExpr | None"]
"""What is looked for at a site besides its place: a condition, TRUE, or `None` where it is never found."""
Extra = Callable[[Site], tuple[Stmt, ...]]
"""What is done at a site that is looked for, before it runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Instrumented:
    """The rewritten function, which takes the control arrays and the allocated buffers behind its own parameters."""

    function: PrimFunc
    layout: Layout


def instrument(
    function: PrimFunc,
    name: str = "",
    probe: "Probe | None" = None,
    extra: "Extra | None" = None,
    beside: tuple[Buffer, ...] = (),
) -> Instrumented:
    """Return `function` so that it can be stopped. With `extra` it does that where else it would look.

    It takes the arrays `beside` behind those of its own memory.
    """
    made = _Instrumenter(Layout(function, name), probe or _everywhere, extra)
    body = made.statement(function.body, _Scope())
    layout = made.layout
    own = [(PrimVar("control", "handle"), WORDS), (PrimVar("control_reals", "handle"), REALS), *layout.allocated]
    own += [(PrimVar(item.name, "handle"), item) for item in beside]
    added = tuple(BufferParam(handle, buffer) for handle, buffer in own)
    params = (*function.params, *(handle for handle, _ in own))
    result = PrimFunc(params, (*function.buffers, *added), body, ret_dtype=function.ret_dtype, span=function.span)
    return Instrumented(result, layout)


def _everywhere(_: Site) -> PrimExpr:
    return TRUE


def word(number: int) -> PrimExpr:
    """Return a word of the control array."""
    return BufferLoad(WORDS, (IntImm(number),))


def put(number: int, value: PrimExpr | int) -> Stmt:
    """Set a word of the control array."""
    found = IntImm(value) if isinstance(value, int) else value if dtype_of(value) == "int64" else Cast(value, "int64")
    return BufferStore(WORDS, (IntImm(number),), found)


def when(condition: PrimExpr, yes: PrimExpr, no: PrimExpr) -> PrimExpr:
    """Return one of two values; the other one is not computed."""
    return Select(condition, yes, no, dtype_of(yes))


def every(conditions: Iterable[PrimExpr]) -> PrimExpr:
    """Return whether all conditions hold, asked for in order."""
    found: PrimExpr = TRUE
    for item in conditions:
        found = item if found is TRUE else binary("and", found, item)
    return found


_IS_RESUMING: Final = binary("==", word(control.MODE), IntImm(control.RESUMING))


@dataclass(frozen=True, slots=True)
class _Scope:
    """What stands around a statement."""

    slots: tuple[Slot, ...] = ()
    levels: tuple[Level, ...] = ()
    phase: Phase = ""
    is_spare: bool = False


class _Instrumenter:
    def __init__(self, layout: Layout, probe: Probe, extra: "Extra | None") -> None:
        self.layout = layout
        self._probe = probe
        self._extra = extra

    @property
    def _next(self) -> int:
        return len(self.layout.sites)

    def statement(self, stmt: Stmt, scope: _Scope) -> Stmt:
        """Return a statement that can be stopped in."""
        match cast("TirStmt", stmt):
            case SeqStmt(stmts=stmts):
                return seq([self._part(item, scope) for item in stmts])
            case BufferStore():
                return self._site(stmt, "store", scope)
            case Evaluate(value=IntImm()):
                return stmt
            case Evaluate():
                return self._site(stmt, "evaluate", scope)
            case AssertStmt():
                return self._site(stmt, "assert", scope)
            case For() as loop:
                return self._loop(loop, scope)
            case While() as loop:
                return self._while(loop, scope)
            case IfThenElse() as chosen:
                return self._branch(chosen, scope)
            case LetStmt() as let:
                return self._let(let.var, let.value, scope, lambda inner: self.statement(let.body, inner))
            case Block() as block:
                return self._block(block, scope)
            case AttrStmt() | LaunchThread() | Allocate() | DeclBuffer() | BufferRealize() as scoped:
                return self._scoped(scoped, scope)

    def _scoped(self, stmt: AttrStmt | LaunchThread | Allocate | DeclBuffer | BufferRealize, scope: _Scope) -> Stmt:
        """Return a statement that only declares something; memory becomes a parameter."""
        match stmt:
            case AttrStmt(body=body) | LaunchThread(body=body):
                return replace(stmt, body=self.statement(body, scope))
            case Allocate() as item:
                shape = (*item.extents, *_lanes(item.dtype))
                buffer = Buffer(item.var.name, shape, scalar_of(item.dtype), scope=item.scope, span=item.span)
                self.layout.allocated.append((item.var, buffer))
                return self.statement(item.body, scope)
            case DeclBuffer(pointer=None, buffer=buffer, body=body):
                self._allocate(buffer)
                return self.statement(body, scope)
            case BufferRealize(region=region, body=body):
                if region.buffer not in {item.buffer for item in self.layout.function.buffers}:
                    self._allocate(region.buffer)
                return self.statement(body, scope)
            case DeclBuffer(body=body):
                return replace(stmt, body=self.statement(body, scope))

    def _allocate(self, buffer: Buffer) -> None:
        self.layout.allocated.append((PrimVar(buffer.name, "handle"), buffer))

    def _part(self, stmt: Stmt, scope: _Scope) -> Stmt:
        """Return a statement of a sequence, which is passed over while the run goes back to a site behind it."""
        found = self.statement(stmt, scope)
        return found if isinstance(stmt, _STEPS) else self._unless_passed(found)

    def _unless_passed(self, stmt: Stmt) -> Stmt:
        is_behind = binary("<", word(control.SITE), IntImm(self._next))
        return IfThenElse(when(_IS_RESUMING, is_behind, TRUE), stmt)

    def _site(self, stmt: Stmt, kind: SiteKind, scope: _Scope) -> Stmt:
        site = Site(self._next, stmt, kind, scope.slots, scope.levels, scope.phase)
        self.layout.sites.append(site)
        arrive = IfThenElse(binary("==", word(control.SITE), IntImm(site.number)), put(control.MODE, control.RUNNING))
        body = [
            *self._looked_at(site),
            self._stop(site),
            put(control.CLOCK, binary("+", word(control.CLOCK), const(1))),
        ]
        if kind != "branch":
            body.append(stmt)
        return SeqStmt(
            (
                IfThenElse(binary("!=", word(control.MODE), IntImm(control.RUNNING)), arrive),
                IfThenElse(binary("==", word(control.MODE), IntImm(control.RUNNING)), seq(body)),
            )
        )

    def _looked_at(self, site: Site) -> list[Stmt]:
        """Return what is done before a site for a search."""
        probe = self._probe(site)
        if probe is None:
            return []
        done = (
            self._extra(site)
            if self._extra
            else (
                IfThenElse(
                    binary("==", word(control.SEARCH), IntImm(control.TO_LAST)),
                    put(control.FOUND, word(control.CLOCK)),
                    put(control.TARGET, word(control.CLOCK)),
                ),
            )
        )
        if not done:
            return []
        number = IntImm(site.number)
        wanted = [self._is_wanted(level) for level in site.loops if level.slot is not None]
        here = every([binary(">=", number, word(control.FIRST)), binary("<", number, word(control.END)), *wanted])
        asked = every(
            [
                binary("!=", word(control.SEARCH), IntImm(control.NO_SEARCH)),
                binary(">", word(control.CLOCK), word(control.AFTER)),
                binary("!=", Cast(here, "int64"), word(control.IS_NEGATED)),
            ]
        )
        body = seq(done) if probe is TRUE else IfThenElse(probe, seq(done))
        # A statement that stops here is not one that has run.
        is_before = binary("<", word(control.CLOCK), word(control.TARGET))
        return [IfThenElse(every([asked, is_before]), body)]

    def _is_wanted(self, level: Level) -> PrimExpr:
        assert level.slot is not None
        wanted, var = word(level.wanted), level.slot.var
        return binary("or", binary("==", wanted, IntImm(control.ANY)), binary("==", wanted, Cast(var, "int64")))

    def _stop(self, site: Site) -> Stmt:
        kept = [_kept(slot) for slot in site.slots]
        leave = Evaluate(Intrinsic("ret", (_nothing(self.layout.function),), "int32"))
        stop = [put(control.SITE, site.number), put(control.MODE, control.STOPPED), *kept, leave]
        return IfThenElse(binary("==", word(control.CLOCK), word(control.TARGET)), seq(stop))

    def _slot(self, var: PrimVar, value: PrimExpr | None = None, *, is_hidden: bool = False) -> Slot:
        is_float = var.dtype.startswith(("float", "bfloat"))
        slot = Slot(var, self._take_real() if is_float else self._take_word(), is_float, is_hidden, value)
        self.layout.slots.append(slot)
        return slot

    def _take_word(self) -> int:
        self.layout.word_count += 1
        return self.layout.word_count - 1

    def _take_real(self) -> int:
        self.layout.real_count += 1
        return self.layout.real_count - 1

    def _let(
        self, var: PrimVar, value: PrimExpr, scope: _Scope, body: Callable[[_Scope], Stmt], *, is_hidden: bool = False
    ) -> Stmt:
        """Return `body` where `var` is `value`; what was loaded before a stop is not loaded again."""
        if var.dtype == "handle" or lanes_of(var.dtype) > 1:
            return LetStmt(var, value, body(scope))
        slot = self._slot(var, value, is_hidden=is_hidden)
        if any(map(_is_read, postorder(value))):
            value = when(_IS_RESUMING, _value_in(slot), value)
        return LetStmt(var, value, body(replace(scope, slots=(*scope.slots, slot))))

    def _loop(self, loop: For, scope: _Scope) -> Stmt:
        parts: list[Stmt] = []
        start = None if isinstance(loop.extent, IntImm) and loop.extent.value > 0 else started(loop.body, loop)
        if start is not None:
            is_empty = binary("<=", loop.extent, IntImm(0, dtype_of(loop.extent)))
            started_first = self.statement(start, replace(scope, is_spare=True))
            parts.append(self._unless_passed(IfThenElse(when(_IS_RESUMING, TRUE, is_empty), started_first)))
        level = self._level(loop, scope)
        slot = level.slot = self._slot(loop.var)
        if not any(map(_is_read, postorder(loop.start, loop.extent))):
            whole = binary("+", loop.extent, loop.start)
            inner = replace(scope, slots=(*scope.slots, slot), levels=(*scope.levels, level))
            parts.append(self._iterated(loop, level, slot, whole, inner))
        else:
            last = PrimVar(f"{loop.var.name}_end", "int64")
            whole = binary("+", _like(loop.start, last), _like(loop.extent, last))

            def body(inner: _Scope) -> Stmt:
                level.last = inner.slots[-1]
                inner = replace(inner, slots=(*inner.slots, slot), levels=(*scope.levels, level))
                return self._iterated(loop, level, slot, last, inner)

            parts.append(self._let(last, whole, scope, body, is_hidden=True))
        level.end = self._next
        return seq(parts)

    def _iterated(self, loop: For, level: Level, slot: Slot, last: PrimExpr, scope: _Scope) -> Stmt:
        """Return a loop that ends where it would have ended, wherever it begins."""
        begin = when(_IS_RESUMING, _value_in(slot), loop.start)
        left = _like(binary("-", last, _like(_value_in(slot), last)), loop.var)
        known = loop.extent if level.last is None else binary("-", last, _like(loop.start, last))
        extent = when(_IS_RESUMING, left, _like(known, loop.var))
        return For(loop.var, begin, extent, self.statement(loop.body, scope), step=loop.step, span=loop.span)

    def _level(self, node: "For | While | Block", scope: _Scope) -> Level:
        parent = scope.levels[-1] if scope.levels else None
        level = Level(len(self.layout.levels), node, parent, self._next, self._take_word(), is_spare=scope.is_spare)
        self.layout.levels.append(level)
        return level

    def _while(self, loop: While, scope: _Scope) -> Stmt:
        level = self._level(loop, scope)
        body = self.statement(loop.body, replace(scope, levels=(*scope.levels, level)))
        level.end = self._next
        return replace(loop, condition=when(_IS_RESUMING, TRUE, loop.condition), body=body)

    def _branch(self, chosen: IfThenElse, scope: _Scope) -> Stmt:
        site = self._site(chosen, "branch", scope)
        then_body = self.statement(chosen.then_body, scope)
        is_in_then = binary("<", word(control.SITE), IntImm(self._next))
        else_body = None if chosen.else_body is None else self.statement(chosen.else_body, scope)
        condition = when(_IS_RESUMING, is_in_then, chosen.condition)
        entered = replace(chosen, condition=condition, then_body=then_body, else_body=else_body)
        return SeqStmt((site, entered))

    def _block(self, block: Block, scope: _Scope) -> Stmt:
        level = self._level(block, scope)
        for buffer in block.alloc_buffers:
            self._allocate(buffer)

        def body(inner: _Scope) -> Stmt:
            found = self._phases(block, replace(inner, levels=(*inner.levels, level)))
            if block.matches:
                found = Block(block.name, (), found, matches=block.matches, span=block.span)
            if block.predicate is None:
                return found
            return IfThenElse(when(_IS_RESUMING, TRUE, block.predicate), found)

        made = self._axes(block, 0, scope, body)
        level.end = self._next
        return made

    def _axes(self, block: Block, number: int, scope: _Scope, body: Callable[[_Scope], Stmt]) -> Stmt:
        if number == len(block.iter_vars):
            return body(scope)
        item = block.iter_vars[number]
        value = _like(item.binding, item.var)
        return self._let(item.var, value, scope, lambda inner: self._axes(block, number + 1, inner, body))

    def _phases(self, block: Block, scope: _Scope) -> Stmt:
        if block.init is None:
            return self.statement(block.body, scope)
        init = self.statement(block.init, replace(scope, phase="init"))
        reduced = [item for item in block.iter_vars if item.kind == "reduce"]
        starts = [binary("==", item.var, item.start or IntImm(0, item.var.dtype)) for item in reduced]
        if starts:
            init = IfThenElse(when(_IS_RESUMING, TRUE, every(starts)), init)
        init = self._unless_passed(init)
        return seq((init, self.statement(block.body, replace(scope, phase="update"))))


def _lanes(dtype: str) -> tuple[PrimExpr, ...]:
    lanes = lanes_of(dtype)
    return () if lanes == 1 else (IntImm(lanes, "int32"),)


def _is_read(node: Node) -> bool:
    """Tell whether a value may be another one when it is computed again."""
    return isinstance(node, BufferLoad | Intrinsic)


def _like(value: PrimExpr, var: PrimExpr) -> PrimExpr:
    dtype = dtype_of(var)
    return value if dtype_of(value) == dtype else Cast(value, dtype)


def _kept(slot: Slot) -> Stmt:
    if slot.is_float:
        return BufferStore(REALS, (IntImm(slot.word),), Cast(slot.var, "float64"))
    return put(slot.word, slot.var)


def _value_in(slot: Slot) -> PrimExpr:
    found = BufferLoad(REALS, (IntImm(slot.word),)) if slot.is_float else word(slot.word)
    return found if dtype_of(found) == slot.var.dtype else Cast(found, slot.var.dtype)


def _nothing(function: PrimFunc) -> PrimExpr:
    """Return what a stopped function returns: a zero of the type of its result."""
    returns = (item for item in postorder(function.body) if isinstance(item, Intrinsic) and item.name == "ret")
    dtype = next((dtype_of(item.args[0]) for item in returns if item.args), function.ret_dtype or "int32")
    return FloatImm(0.0, dtype) if "float" in dtype else IntImm(0, dtype)
