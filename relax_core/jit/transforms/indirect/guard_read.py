"""Find the bounds checks that can be hoisted out of a loop: those whose indices no store of it changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from relax_core.ir.node import children, postorder
from relax_core.ir.prim import Binary, Cast, IntImm, Intrinsic, LetExpr, PrimExpr, PrimVar, Select, Unary
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferStore,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    TirStmt,
    While,
)
from relax_core.jit.lowering.environment import AccessKey
from relax_core.jit.lowering.scalars.arithmetic import is_safe_binary
from relax_core.jit.lowering.scalars.intrinsics import CALLS, arity_of
from relax_core.jit.lowering.state import State

Access: TypeAlias = BufferLoad | BufferStore
Conditions: TypeAlias = tuple[PrimExpr, ...]
WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Check:
    """A bounds check of one index of an access, needed where all `conditions` hold.

    `behind` are the checks of the loads in the index, which must hold before it can be computed; `level` is the depth
    of indirection, the longest chain of them.
    """

    access: Access
    position: int
    conditions: Conditions
    behind: frozenset[AccessKey]
    level: int

    @property
    def index(self) -> PrimExpr:
        """The index that is checked."""
        return self.access.indices[self.position]

    @property
    def key(self) -> AccessKey:
        """Its key in `Position.assumed`, which lists the checks that hold."""
        return key_of(self.access, self.position)


@dataclass(frozen=True, slots=True)
class CheckTree:
    """A loop, a block or a binding with checks in it."""

    stmt: For | Block | LetStmt
    parts: "tuple[CheckTree | Check, ...]"

    def checks(self) -> Iterator[Check]:
        """Yield all checks below, in the order of the text."""
        for part in self.parts:
            if isinstance(part, Check):
                yield part
            else:
                yield from part.checks()

    def only(self, kept: frozenset[Check]) -> "CheckTree | None":
        """Return the tree pruned to the checks in `kept`, `None` if none of them is in it."""
        parts = [
            part.only(kept) if isinstance(part, CheckTree) else part if part in kept else None for part in self.parts
        ]
        found = tuple(part for part in parts if part is not None)
        return CheckTree(self.stmt, found) if found else None


@dataclass(frozen=True, slots=True)
class Rising:
    """A check of an affine index, monotonic in the outermost loop of `path`, where it has the stride `step`.

    Within one iteration of that loop the inner ones move it from `below` less to `above` more than its first value.
    Two comparisons, at the ends of the range of iterations, decide for all of them.
    """

    path: tuple[For | Block | LetStmt, ...]
    check: Check
    step: int
    above: int
    below: int


def key_of(access: Access, position: int) -> AccessKey:
    """Return the key of an index of an access."""
    return access.buffer, position, access.indices[position]


def is_same(a: PrimExpr, b: PrimExpr) -> bool:
    """Tell whether two expressions are congruent: the same operations on the same variables and elements."""
    pairs = [(a, b)]
    while pairs:
        match pairs.pop():
            case x, y if x is y:
                pass
            case IntImm(value=m, dtype=of), IntImm(value=n, dtype=to) if (m, of) == (n, to):
                pass
            case Cast(value=x, dtype=of), Cast(value=y, dtype=to) if of == to:
                pairs.append((x, y))
            case Binary(op=op, a=x, b=y), Binary(op=other, a=v, b=w) if op == other:
                pairs += [(x, v), (y, w)]
            case BufferLoad(buffer=x, indices=m), BufferLoad(buffer=y, indices=n) if x is y and len(m) == len(n):
                pairs += zip(m, n, strict=True)
            case _:
                return False
    return True


def read_checks(state: State, loop: For) -> CheckTree | str | None:
    """Find the checks of `loop` that can be made before it: `None` if it makes none, or in words why not."""
    nodes = [*postorder(loop.body)]
    if any(_is_foreign(state, item) for item in nodes):
        return None
    reader = _CheckReader(state, {item.buffer for item in nodes if isinstance(item, BufferStore)})
    mark = state.bounds.mark()
    state.bounds.enter_loop(loop)
    found = CheckTree(loop, tuple(reader.read(loop.body, ())))
    state.bounds.leave(mark)
    possible: set[Check] = set()
    for check in sorted(found.checks(), key=lambda item: item.level):
        if check.key not in reader.refused and check.behind <= {item.key for item in possible}:
            possible.add(check)
    return found.only(frozenset(possible)) or reader.reason or None


def _is_foreign(state: State, node: object) -> bool:
    """Tell whether a node keeps its loop from being guarded: a call, a vector, a loop without a trip count."""
    match node:
        case Intrinsic(name=name):
            return name in CALLS or arity_of(name) is None
        case BufferStore():
            return state.lanes.width(node) > 1
        case While() | LetExpr():
            return True
        case _:
            return False


@dataclass(slots=True)
class _CheckReader:
    """Collects the checks of a loop that stores to `written`; those in `refused` cannot be hoisted."""

    state: State
    written: set[Buffer]
    refused: set[AccessKey] = field(default_factory=set[AccessKey])
    reason: str = ""

    def read(self, stmt: Stmt, conditions: Conditions) -> "Iterator[CheckTree | Check]":
        """Yield the checks of a statement that is executed where `conditions` hold."""
        bounds = self.state.bounds
        mark = bounds.mark()
        match cast("TirStmt", stmt):
            case SeqStmt(stmts=stmts):
                for item in stmts:
                    yield from self.read(item, conditions)
            case BufferStore(indices=indices, value=value) as store:
                yield from self._access(store, conditions)
                yield from self._exprs((*indices, value), conditions)
            case For(start=start, extent=extent, step=None, body=body) as loop:
                if loop.kind != "thread_binding" and self._is_ahead((start, extent)):
                    bounds.enter_loop(loop)
                    yield from _scope(loop, self.read(body, conditions))
            case Block(matches=(), alloc_buffers=()) as block:
                yield from self._block(block, conditions)
            case IfThenElse(condition=condition, then_body=then, else_body=other):
                yield from self._exprs((condition,), conditions)
                if self._is_ahead((condition,)):
                    yield from self.read(then, (*conditions, condition))
                    if other is not None:
                        yield from self.read(other, (*conditions, _inverse(condition)))
            case LetStmt(var=var, value=value, body=body) as let:
                yield from self._exprs((value,), conditions)
                if self._is_ahead((value,)):
                    bounds.bind_let(var, value)
                    yield from _scope(let, self.read(body, conditions))
            case _:
                pass
        bounds.leave(mark)

    def _block(self, block: Block, conditions: Conditions) -> "Iterator[CheckTree | Check]":
        tests = () if block.predicate is None else (block.predicate,)
        for item in block.iter_vars:
            if not self._is_ahead((item.binding,)):
                return
            self.state.bounds.bind_let(item.var, item.binding)
        if self._is_ahead(tests):
            bodies = (block.body,) if block.init is None else (block.init, block.body)
            parts = (part for body in bodies for part in self.read(body, (*conditions, *tests)))
            yield from _scope(block, parts)

    def _exprs(self, exprs: Iterable[PrimExpr], conditions: Conditions) -> Iterator[Check]:
        """Yield the checks of expressions; a lazy select guards each side by its condition."""
        for expr in exprs:
            match expr:
                case Select(condition=condition, true_value=a, false_value=b):
                    yield from self._exprs((condition,), conditions)
                    yield from self._exprs((a,), (*conditions, condition))
                    yield from self._exprs((b,), (*conditions, _inverse(condition)))
                case Binary(op="and" | "or" as op, a=a, b=b):
                    yield from self._exprs((a,), conditions)
                    yield from self._exprs((b,), (*conditions, a if op == "and" else _inverse(a)))
                case _:
                    if isinstance(expr, BufferLoad):
                        yield from self._access(expr, conditions)
                    yield from self._exprs((item for item in children(expr) if isinstance(item, PrimExpr)), conditions)

    def _access(self, access: Access, conditions: Conditions) -> Iterator[Check]:
        storage = self.state.environment.storage.get(access.buffer)
        kinds = [self.state.scalar_of(index).kind for index in access.indices]
        if storage is None or len(kinds) != len(storage.extents) or not {*kinds} <= {"int", "uint"}:
            return
        for position, index in enumerate(access.indices):
            if not self._is_proven(access, position, conditions):
                behind = self._behind(index)
                if self._is_ahead((index,), behind) and self._is_ahead(conditions):
                    level = 1 + self._depth(index) if behind else 0
                    yield Check(access, position, conditions, frozenset(behind), level)
                else:
                    self.refused.add(key_of(access, position))

    def _is_proven(self, access: Access, position: int, conditions: Conditions = ()) -> bool:
        bounds = self.state.bounds
        mark = bounds.mark()
        for condition in conditions:
            bounds.assume(condition)
        is_proven = self.state.is_in_range(access, position)
        bounds.leave(mark)
        return is_proven

    def _behind(self, index: PrimExpr) -> set[AccessKey]:
        """Return the checks of the loads in an index."""
        loads = [item for item in postorder(index) if isinstance(item, BufferLoad)]
        places = ((load, at) for load in loads for at in range(len(load.indices)))
        return {key_of(load, at) for load, at in places if not self._is_proven(load, at)}

    def _depth(self, index: PrimExpr) -> int:
        """Return the depth of indirection of an index: how many loads are nested in it."""
        return max((1 + self._depth(item) for _, _, item in self._behind(index) if self._behind(item)), default=0)

    def _is_ahead(self, exprs: Iterable[PrimExpr], behind: "set[AccessKey] | None" = None) -> bool:
        """Tell whether expressions are invariant under the stores of the loop and, once `behind` hold, cannot fault."""
        return all(self._is_ahead_node(item, behind or set()) for expr in exprs for item in postorder(expr))

    def _is_ahead_node(self, item: object, behind: "set[AccessKey]") -> bool:
        match item:
            case BufferLoad(indices=indices):
                if not self._is_kept(item):
                    self.reason = f"`{item.buffer.name}`, which its indices are read from, is written in it"
                    return False
                return all(self._is_proven(item, at) or key_of(item, at) in behind for at in range(len(indices)))
            case Binary():
                return is_safe_binary(self.state, item)
            case _:
                return True

    def _is_kept(self, load: BufferLoad) -> bool:
        """Tell whether no store of the loop aliases a load."""
        storage = self.state.environment.storage
        stored = [storage.get(buffer) for buffer in self.written]
        mine = storage.get(load.buffer)
        if mine is None or mine.memory is not None or len(load.indices) != len(mine.extents):
            return False
        return all(item is not None and item.memory is None and item.pointer != mine.pointer for item in stored)


def _scope(stmt: For | Block | LetStmt, parts: "Iterable[CheckTree | Check]") -> "tuple[CheckTree, ...]":
    found = tuple(parts)
    return (CheckTree(stmt, found),) if found else ()


def _inverse(condition: PrimExpr) -> PrimExpr:
    return Unary("not", condition, "bool")


@dataclass(frozen=True, slots=True)
class Bound:
    """The unsigned comparison `index + shift < extent + shift`, which holds if and only if an index is in bounds.

    `shift` and `extent` are 64-bit registers or literals; an empty `shift` is 0.
    """

    index: PrimExpr
    shift: str
    extent: str


def bound_of(state: State, check: Check) -> Bound:
    """Return the index to scan for a check, and its bound.

    Python's negative indices need no select: for `n <= m`, `i + n if i < 0 else i` is in `[0, m)` if and only if
    `i + n < m + n`, unsigned.
    """
    extent = state.environment.storage[check.access.buffer].extents[check.position]
    match check.index:
        case Select(condition=Binary(op="<", a=i, b=zero), true_value=Binary(op="+", a=a, b=n), false_value=b):
            scalar = state.scalar_of(i)
            counts_back = is_same(i, a) and is_same(i, b) and state.bounds.constant(zero) == 0 and scalar.kind == "int"
            size = state.bounds.constant(n)
            if counts_back and size is not None and "%" not in extent:
                if 0 < size <= int(extent) and size + int(extent) <= scalar.high:
                    return Bound(i, str(size), extent)
            elif counts_back and scalar.bits == WORD_BITS and _is_extent(state, check, n):
                return Bound(i, extent, extent)
        case _:
            pass
    return Bound(check.index, "", extent)


def limit_of(state: State, bound: Bound) -> str:
    """Return `extent + shift`, the exclusive bound of `index + shift`."""
    if not bound.shift:
        return bound.extent
    if "%" in bound.extent:
        # Extents are far below 2**63, so that the sum of two does not wrap around.
        return state.code.emit(f"add nuw nsw i64 {bound.extent}, {bound.shift}")
    return str(int(bound.extent) + int(bound.shift))


def _is_extent(state: State, check: Check, size: PrimExpr) -> bool:
    """Tell whether `size` is proven equal to the extent that the index is checked against."""
    bounds = state.bounds
    extent = check.access.buffer.shape[check.position]
    return bounds.poly(size) == bounds.poly(extent)


def read_by(parts: "Sequence[CheckTree | Check]") -> set[PrimVar]:
    """Return the free variables of the checks in `parts`, bindings expanded."""
    found: set[PrimVar] = set()
    for part in parts:
        if isinstance(part, Check):
            found |= _variables(part.index, *part.conditions)
            continue
        inner = read_by(part.parts)
        match part.stmt:
            case For(var=var, start=start, extent=extent):
                inner = inner - {var} | _variables(start, extent)
            case LetStmt(var=var, value=value) if var in inner:
                inner = inner - {var} | _variables(value)
            case Block(iter_vars=iter_vars):
                inner |= _variables(*(item.binding for item in iter_vars if item.var in inner))
            case LetStmt():
                pass
        found |= inner
    return found


def _variables(*exprs: PrimExpr) -> set[PrimVar]:
    return {item for expr in exprs for item in postorder(expr) if isinstance(item, PrimVar)}
