"""The plans of `guard` and `gather` as loop nests: indices are looked at ahead, then the loop runs, or runs as written.

In TIR an access has no check, so that both sides of the choice compute the same: the first one runs without checks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.prim import Cast, IntImm, PrimExpr, PrimVar, Unary, binary, const, dtype_of
from relax_core.ir.tir import Block, BufferLoad, For, IfThenElse, LetStmt, Stmt
from relax_core.jit.transforms.indirect.gather_read import Gather
from relax_core.jit.transforms.indirect.guard_read import Check, CheckTree, Rising, is_same, read_by
from relax_core.jit.transforms.indirect.guard_rows import GuardedRows
from relax_core.jit.transforms.plan_nest import holding, local, over, plus, seq, store, substituted, times

Values = Mapping[PrimVar, PrimExpr]
Range = tuple[PrimExpr, PrimExpr]
"""The first of some iterations, counted from 0, and their number."""


def in_tiles(loop: For, size: int, tile: Callable[[Range], Stmt], *, is_even: bool) -> Stmt:
    """Return a loop over tiles of `size` iterations; those behind the last whole one are run as written, if `is_even`.

    If not, the last tile is a shorter one.
    """
    dtype, count = loop.var.dtype, loop.extent
    whole, left = _divided(count, size)
    if not is_even:
        whole = _divided(plus(count, const(size - 1, dtype_of(count))), size)[0]

    def one(number: PrimExpr) -> Stmt:
        first = times(number, size)
        return tile((first, const(size, dtype) if is_even else _least(size, count, first)))

    tiles = _over("tile", whole, one, dtype)
    if not is_even or (isinstance(left, IntImm) and not left.value):
        return tiles
    rest = iterations(loop, (times(whole, size), left), is_renewed=True)
    return seq(tiles, rest)


def iterations(loop: For, part: Range, *, is_renewed: bool = False) -> For:
    """Return some iterations of a loop, by a variable of their own if there are others of the same loop."""
    first, count = part
    var = PrimVar(loop.var.name, loop.var.dtype) if is_renewed else loop.var
    body = substituted(loop.body, {loop.var: var}) if is_renewed else loop.body
    return replace(loop, var=var, start=plus(loop.start, first), extent=count, kind="serial", body=body)


def side_by_side(loop: For, rows: GuardedRows, part: Range) -> Stmt:
    """Return rows whose inner loops are one, which takes an element of each row in turn."""

    def each(*stmts: Stmt) -> For:
        return replace(iterations(loop, part), kind="unroll", body=seq(*stmts))

    before, behind = ([each(*stmts)] if stmts else [] for stmts in (rows.before, rows.behind))
    return seq(*before, replace(rows.loop, body=each(rows.loop.body)), *behind)


def guarded(loop: For, part: Range, ends: Sequence[Rising], scanned: CheckTree | None, run: Stmt) -> Stmt:
    """Return a tile: `run` if the indices of all its iterations are in bounds, and the loop as written if not."""
    written = iterations(loop, part, is_renewed=True)
    is_in = _all(condition for item in ends for condition in _at_ends(item, loop, part))
    if scanned is None:
        return IfThenElse(is_in, run, written)
    flag = BufferLoad(local("is_in", (1,), "bool"), (const(0, "int64"),))
    return holding(
        "ahead",
        (flag.buffer,),
        store(flag, is_in),
        _scan(scanned, replace(loop, start=plus(loop.start, part[0]), extent=part[1]), {}, flag),
        IfThenElse(flag, run, written),
    )


def gathered(gather: Gather) -> Stmt:
    """Return a loop with indirect loads: its groups in vectors, and what is left behind them as written."""
    inner = replace(gather.loop, kind="vectorized")
    loop = gather.loop if gather.outer is None else gather.outer
    checks: tuple[CheckTree | Check, ...] = tuple(
        Check(load, position, (), frozenset(), 0)
        for load in gather.gathered
        for position, index in enumerate(load.indices)
        if constant_value(index) is None
    )
    if gather.block is not None:
        checks = (CheckTree(gather.block, checks),)
    if gather.outer is not None:
        checks = (CheckTree(gather.loop, checks),)

    def group(part: Range) -> Stmt:
        vectors = iterations(loop, part)
        run = replace(vectors, kind="vectorized") if gather.outer is None else replace(vectors, body=inner)
        return guarded(loop, part, (), CheckTree(loop, checks), run)

    return in_tiles(loop, gather.rounds, group, is_even=True)


def _scan(scope: CheckTree, stmt: For | Block | LetStmt, values: Values, flag: BufferLoad) -> Stmt:
    """Return loops that look at the checks of a tree, in an order in which each comes behind those it relies on."""
    match stmt:
        case For(var=var, start=start, extent=extent):
            if var not in read_by(scope.parts):
                # The first iteration, if there is one, stands for all.
                extent = _least(1, extent, const(0, dtype_of(extent)))
            first = substituted(start, values)
            if constant_value(extent) == 1:
                return _looks(scope.parts, {**values, var: first}, flag)
            ahead = PrimVar(var.name, var.dtype)
            body = _looks(scope.parts, {**values, var: ahead}, flag)
            return For(ahead, first, substituted(extent, values), body, "serial")
        case Block(iter_vars=iter_vars):
            inside = dict(values)
            for item in iter_vars:
                inside[item.var] = substituted(item.binding, inside)
            return _looks(scope.parts, inside, flag)
        case LetStmt(var=var, value=value):
            return _looks(scope.parts, {**values, var: substituted(value, values)}, flag)


def _looks(parts: "Sequence[CheckTree | Check]", values: Values, flag: BufferLoad) -> Stmt:
    looked: list[Check] = []
    for check in sorted((part for part in parts if isinstance(part, Check)), key=lambda item: item.level):
        if not any(_are_alike(check, other) for other in looked):
            looked.append(check)
    made = [store(flag, binary("and", flag, substituted(_is_met(check), values))) for check in looked]
    scopes = [_scan(part, part.stmt, values, flag) for part in parts if isinstance(part, CheckTree)]
    return seq(*made, *scopes)


def _are_alike(a: Check, b: Check) -> bool:
    """Tell whether two checks compare the same index with the same extent, where the same holds."""
    extents = (item.access.buffer.shape[item.position] for item in (a, b))
    conditions = zip(a.conditions, b.conditions, strict=False)
    is_as_often = len(a.conditions) == len(b.conditions) and all(is_same(x, y) for x, y in conditions)
    return is_as_often and is_same(a.index, b.index) and prove_equal(*extents)


def _is_met(check: Check) -> PrimExpr:
    """Return whether an index is in bounds where it is used."""
    is_in = _all(_in_bounds(check, check.index))
    if not check.conditions:
        return is_in
    return binary("or", Unary("not", _all(check.conditions), "bool"), is_in)


def _in_bounds(check: Check, index: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """Return the conditions that an index is neither negative nor too large."""
    wide = _wide(index)
    return binary(">=", wide, const(0, dtype_of(wide))), binary("<", wide, check.access.buffer.shape[check.position])


def _at_ends(item: Rising, loop: For, part: Range) -> tuple[PrimExpr, ...]:
    values: dict[PrimVar, PrimExpr] = {}
    for stmt in item.path:
        match stmt:
            case For(var=var, start=start):
                values[var] = plus(start, part[0]) if stmt is loop else substituted(start, values)
            case Block(iter_vars=iter_vars):
                for bound in iter_vars:
                    values[bound.var] = substituted(bound.binding, values)
            case LetStmt(var=var, value=value):
                values[var] = substituted(value, values)
    index, others = (_wide(expr) for expr in (substituted(item.check.index, values), part[1]))
    others = plus(others, const(-1, "int64"))
    least = plus(plus(index, times(others, min(item.step, 0))), const(-item.below, "int64"))
    most = plus(plus(index, times(others, max(item.step, 0))), const(item.above, "int64"))
    return _in_bounds(item.check, least)[0], _in_bounds(item.check, most)[1]


def _wide(index: PrimExpr) -> PrimExpr:
    """Return an integer with 64 bits, which hold every extent and every sum of indices."""
    match index:
        case IntImm(value=value):
            return IntImm(value, "int64")
        case _:
            return index if dtype_of(index) in ("int64", "uint64") else Cast(index, "int64")


def _divided(count: PrimExpr, by: int) -> tuple[PrimExpr, PrimExpr]:
    """Return quotient and remainder."""
    if isinstance(count, IntImm):
        return IntImm(count.value // by, count.dtype), IntImm(count.value % by, count.dtype)
    divisor = const(by, dtype_of(count))
    return binary("//", count, divisor), binary("%", count, divisor)


def _least(size: int, count: PrimExpr, first: PrimExpr) -> PrimExpr:
    """Return how many iterations a tile has that may be the last one."""
    match count, first:
        case IntImm(), IntImm():
            return IntImm(min(size, count.value - first.value), count.dtype)
        case IntImm(), _ if count.value % size == 0:
            return IntImm(size, count.dtype)
        case _:
            return binary("min", const(size, dtype_of(count)), binary("-", count, first))


def _over(name: str, count: PrimExpr, body: Callable[[PrimExpr], Stmt], dtype: str) -> Stmt:
    if isinstance(count, IntImm):
        return over(name, count.value, body, dtype=dtype)
    var = PrimVar(name, dtype)
    return For(var, const(0, dtype), count, body(var), "serial")


def _all(conditions: Iterable[PrimExpr]) -> PrimExpr:
    found = [*conditions]
    return reduce(lambda a, b: binary("and", a, b), found) if found else const(True, "bool")
