"""Runs a prim func on arrays: its loops in Python, but independent instances of a block at once by NumPy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from relax_core.ir.equality import structural_equal
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, const
from relax_core.ir.tir import (
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    While,
    statements,
)
from relax_core.ops.kernels.numbers import Array, numpy_type
from relax_core.passes.tir.running.expressions import Computations, Values, unsupported

Effect: TypeAlias = Callable[[Values], None]
MAX_STORES: Final = 200_000
"""So many statements of Python are run before a prim func counts as too long for a pass."""
MAX_ELEMENTS: Final = 1 << 24


def run_prim_func(function: PrimFunc, arrays: Sequence[Array], scalars: Sequence[int]) -> tuple[Array, ...]:
    """Run a prim func on arrays, its buffers in order, and return them as they are then; `scalars` come behind them.

    Raises:
        NoValueError: it does what is not evaluated here, is not made for these shapes, or stops.
    """
    try:
        return _run(function, arrays, scalars, at_once=True)
    except (IndexError, ArithmeticError):
        # What only some instances do may stop the others.
        pass
    try:
        return _run(function, arrays, scalars, at_once=False)
    except (IndexError, ArithmeticError) as error:
        raise NoValueError(str(error)) from None


def _run(function: PrimFunc, given: Sequence[Array], scalars: Sequence[int], *, at_once: bool) -> tuple[Array, ...]:
    arrays = tuple(item.copy() for item in given)
    plain = tuple(param for param in function.params if function.buffer_of(param) is None)
    if len(plain) != len(scalars) or len(function.buffers) != len(arrays):
        unsupported("another number of arguments")
    values: Values = dict(zip(plain, scalars, strict=True))
    for param, array in zip(function.buffers, arrays, strict=True):
        _bind(param.buffer, array, values)
    placed = {param.buffer: array for param, array in zip(function.buffers, arrays, strict=True)}
    with np.errstate(all="ignore"):
        _Statements(placed, values, at_once=at_once).of(function.body)(values)
    return arrays


def _bind(buffer: Buffer, array: Array, values: Values) -> None:
    """Bind the dimensions of a buffer that are variables, and check the others."""
    if len(buffer.shape) != array.ndim or numpy_type(buffer.dtype) != array.dtype or buffer.strides:
        unsupported(f"the buffer {buffer.name} of {array.dtype}{list(array.shape)}")
    for dim, size in zip(buffer.shape, array.shape, strict=True):
        if isinstance(dim, PrimVar):
            values.setdefault(dim, size)
        if evaluate(dim, values) != size:
            raise NoValueError(f"the buffer {buffer.name} has another shape than {list(array.shape)}")


class _Statements:
    """Makes functions of statements; `sizes` are the values of dimensions."""

    def __init__(self, arrays: dict[Buffer, Array], sizes: Values, *, at_once: bool) -> None:
        self.arrays = arrays
        self.sizes = dict(sizes)
        self.expressions = Computations(arrays)
        self.at_once = at_once
        self.steps = 0
        self._rules: Mapping[type[Stmt], Callable[[Any], Effect]] = {
            SeqStmt: self._sequence, BufferStore: self._store, For: self._for, While: self._while,
            IfThenElse: self._if, LetStmt: self._let, Evaluate: self._evaluate, AttrStmt: self._attribute,
            Block: self._block, DeclBuffer: self._declare,
        }  # fmt: skip

    def of(self, stmt: Stmt) -> Effect:
        """Return the function that runs a statement."""
        rule = self._rules.get(type(stmt))
        if rule is None:
            unsupported(f"a statement {type(stmt).__name__}")
        return rule(stmt)

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STORES:
            raise NoValueError(f"it takes more than {MAX_STORES:,} steps")

    def _sequence(self, stmt: SeqStmt) -> Effect:
        parts = tuple(map(self.of, stmt.stmts))

        def run(values: Values) -> None:
            for part in parts:
                part(values)

        return run

    def _store(self, stmt: BufferStore) -> Effect:
        array, value = self.expressions.array_of(stmt.buffer), self.expressions.of(stmt.value)
        place = self.expressions.indices(stmt.indices, array.shape)

        def run(values: Values) -> None:
            self.step()
            array[place(values)] = value(values)

        return run

    def _for(self, stmt: For) -> Effect:
        if stmt.thread is not None:
            unsupported(f"a loop over {stmt.thread}")
        if self.at_once and (found := _independent(stmt)) is not None:
            return self._nest(*found)
        start, extent, body = self.expressions.of(stmt.start), self.expressions.of(stmt.extent), self.of(stmt.body)
        step = self.expressions.of(stmt.step or const(1))

        def run(values: Values) -> None:
            first, count, by = int(start(values)), int(extent(values)), int(step(values))
            for number in range(first, first + count, by):
                values[stmt.var] = number
                body(values)

        return run

    def _nest(self, loops: tuple[For, ...], lanes: frozenset[PrimVar], block: Block) -> Effect:
        """Run the loops of `lanes` as one step, inside of the others."""
        extents = tuple(self.expressions.of(item.extent) for item in loops)
        body, count = self.of(block), sum(item.var in lanes for item in loops)

        def run(values: Values) -> None:
            sizes = [int(item(values)) for item in extents]
            if np.prod([size for loop, size in zip(loops, sizes, strict=True) if loop.var in lanes]) > MAX_ELEMENTS:
                raise NoValueError("it has too many instances of a block")
            position = 0
            serial: list[tuple[PrimVar, int]] = []
            for loop, size in zip(loops, sizes, strict=True):
                if loop.var not in lanes:
                    serial.append((loop.var, size))
                    continue
                shape = [size if axis == position else 1 for axis in range(count)]
                values[loop.var] = np.arange(size, dtype=np.int64).reshape(shape)
                position += 1
            for numbers in np.ndindex(*(size for _, size in serial)):
                values.update(zip((var for var, _ in serial), numbers, strict=True))
                body(values)

        return run

    def _while(self, stmt: While) -> Effect:
        condition, body = self.expressions.of(stmt.condition), self.of(stmt.body)

        def run(values: Values) -> None:
            while condition(values):
                self.step()
                body(values)

        return run

    def _if(self, stmt: IfThenElse) -> Effect:
        condition, yes = self.expressions.of(stmt.condition), self.of(stmt.then_body)
        no = None if stmt.else_body is None else self.of(stmt.else_body)

        def run(values: Values) -> None:
            if condition(values):
                yes(values)
            elif no is not None:
                no(values)

        return run

    def _let(self, stmt: LetStmt) -> Effect:
        value, body = self.expressions.of(stmt.value), self.of(stmt.body)

        def run(values: Values) -> None:
            values[stmt.var] = value(values)
            body(values)

        return run

    def _evaluate(self, stmt: Evaluate) -> Effect:
        if not isinstance(stmt.value, IntImm):
            unsupported("a call for its effect")
        return lambda values: None

    def _attribute(self, stmt: AttrStmt) -> Effect:
        return self.of(stmt.body)

    def _declare(self, stmt: DeclBuffer) -> Effect:
        if stmt.pointer is not None:
            unsupported(f"the buffer {stmt.buffer.name}")
        self._allocate(stmt.buffer)
        return self.of(stmt.body)

    def _allocate(self, buffer: Buffer) -> None:
        shape = tuple(int(evaluate(dim, self.sizes)) for dim in buffer.shape)
        self.arrays[buffer] = np.zeros(shape, numpy_type(buffer.dtype))

    def _block(self, stmt: Block) -> Effect:
        if stmt.matches:
            unsupported("a buffer that is a part of another one")
        for buffer in stmt.alloc_buffers:
            self._allocate(buffer)
        bindings = tuple((item.var, self.expressions.of(item.binding)) for item in stmt.iter_vars)
        starts = tuple(
            (item.var, self.expressions.of(item.start or const(0))) for item in stmt.iter_vars if item.kind == "reduce"
        )
        predicate = None if stmt.predicate is None else self.expressions.of(stmt.predicate)
        init, body = None if stmt.init is None else self.of(stmt.init), self.of(stmt.body)

        def run(values: Values) -> None:
            for var, binding in bindings:
                values[var] = binding(values)
            if predicate is not None and not predicate(values):
                return
            if init is not None and all(values[var] == start(values) for var, start in starts):
                init(values)
            body(values)

        return run


def _independent(stmt: For) -> tuple[tuple[For, ...], frozenset[PrimVar], Block] | None:
    """Return the loops of a nest around one block, and the variables of those whose instances are independent.

    These are the loops of which a spatial variable of the block is the variable, and a stored element's index; the
    block reads no other element of what it writes. So no two of their instances write one element.
    """
    loops: list[For] = []
    inner: Stmt = stmt
    while isinstance(inner, For) and inner.thread is None and inner.step is None and _is_zero(inner.start):
        loops.append(inner)
        inner = inner.body
    if not isinstance(inner, Block) or inner.predicate is not None or inner.alloc_buffers or not loops:
        return None
    parts = (inner.body,) if inner.init is None else (inner.init, inner.body)
    flat = [item for part in parts for item in statements(part)]
    stores = [item for item in flat if isinstance(item, BufferStore)]
    if not stores or not all(isinstance(item, BufferStore | SeqStmt) for item in flat):
        return None
    own = {item.var for item in loops}
    direct = {
        item.binding
        for item in inner.iter_vars
        if item.kind == "spatial" and item.binding in own and all(item.var in store.indices for store in stores)
    }
    lanes = frozenset(item for item in direct if isinstance(item, PrimVar))
    fixed = [loop.extent for loop in loops] + [item.binding for item in inner.iter_vars if item.kind != "spatial"]
    is_free = not any(item in own for loop in loops for item in preorder(loop.extent))
    is_free = is_free and not any(item in lanes for expr in fixed for item in preorder(expr))
    return (tuple(loops), lanes, inner) if lanes and is_free and _reads_own(flat, stores) else None


def _reads_own(stmts: Sequence[Stmt], stores: Sequence[BufferStore]) -> bool:
    """Tell whether an instance reads, of what it writes, the elements alone that it writes itself."""
    loads = [item for stmt in stmts if isinstance(stmt, BufferStore) for item in preorder(stmt)]
    return all(
        all(map(structural_equal, load.indices, store.indices))
        for load in loads
        if isinstance(load, BufferLoad)
        for store in stores
        if store.buffer is load.buffer
    )


def _is_zero(expr: PrimExpr) -> bool:
    return isinstance(expr, IntImm) and expr.value == 0
