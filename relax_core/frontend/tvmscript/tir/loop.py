"""Read the heads of loops."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.literal.literals import read_attributes
from relax_core.frontend.tvmscript.scope import Several
from relax_core.frontend.tvmscript.tir.arguments import given, text_argument
from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.prim import Cast, IntImm, PrimExpr, PrimList, PrimVar, dtype_of, is_number
from relax_core.ir.tir import For, LoopKind, Stmt
from relax_core.source import Span

LOOPS: tuple[LoopKind, ...] = ("serial", "parallel", "vectorized", "unroll", "thread_binding")
_KINDS: Mapping[str, LoopKind] = MappingProxyType({kind: kind for kind in LOOPS})


@dataclass(frozen=True, slots=True)
class LoopHead:
    """The variables of a nest of loops with their ranges, and what is said of all of them."""

    loop_vars: tuple[PrimVar, ...]
    ranges: tuple[tuple[PrimExpr, PrimExpr], ...]
    kind: LoopKind
    thread: str | None
    annotations: Attrs
    step: PrimExpr | None

    def around(self, body: Stmt, span: Span) -> Stmt:
        """Make the loops around `body`."""
        for var, (start, extent) in zip(reversed(self.loop_vars), reversed(self.ranges), strict=True):
            body = For(var, start, extent, body, self.kind, self.thread, self.annotations, self.step, span=span)
        return body


def without_else(context: Context, statements: Sequence[ast.stmt]) -> None:
    """Say that the `else` of a loop is left out, as TVM does without a word."""
    if statements:
        message = "the `else` of a loop is left out; TVM leaves it out as well"
        context.report("PA040", statements[0], message, "write the statements behind the loop", severity="warning")


def read_head(reader: TirReader, inner: TirReader, target: ast.expr, iterator: ast.expr) -> LoopHead:
    """Read `for i, j in T.grid(n, m)` and the other loops; their variables are defined in `inner`."""
    context = reader.context
    name = reader.name_of(iterator)
    if not isinstance(iterator, ast.Call) or name not in ("grid", "range", *LOOPS):
        raise context.unsupported(iterator, f"a loop over `{source_of(iterator)}`", "write range(n) or T.grid(n, m)")
    thread, annotations, step = None, NO_ATTRS, None
    if name == "grid":
        ranges = _grid(reader, iterator)
    else:
        values = _options(reader, iterator, name)
        ranges = [_range(reader, iterator, values)]
        thread = text_argument(context, values["thread"], "a thread") if "thread" in values else None
        annotations = read_attributes(context, values["annotations"]) if "annotations" in values else NO_ATTRS
        step = reader.scalars.as_dtype(values["step"], dtype_of(ranges[0][1])) if "step" in values else None
    loop_vars = _loop_vars(inner, target, iterator, ranges)
    step = None if is_number(step, 1) else step
    return LoopHead(tuple(loop_vars), tuple(ranges), _KINDS.get(name, "serial"), thread, annotations, step)


def _loop_vars(
    inner: TirReader, target: ast.expr, iterator: ast.expr, ranges: list[tuple[PrimExpr, PrimExpr]]
) -> list[PrimVar]:
    """Define the loop variables: one name for each range, or one with a star for those that are left."""
    targets = list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]
    if len(targets) == 1 and len(ranges) > 1 and isinstance(target, ast.Name):
        targets = [ast.copy_location(ast.Starred(target), target)]
    names = [item for item in targets if isinstance(item, ast.Name)]
    starred = [place for place, item in enumerate(targets) if isinstance(item, ast.Starred)]
    left = len(ranges) - len(names)
    are_named = len(names) + len(starred) == len(targets)
    if not are_named or len(starred) > 1 or left < 0 or (left and not starred):
        message = f"{len(ranges)} ranges for {len(targets)} loop variables"
        raise inner.context.fail("PA006", iterator, message)
    counts = [left if place in starred else 1 for place in range(len(targets))]
    bounds = iter(ranges)
    loop_vars: list[PrimVar] = []
    for item, count in zip(targets, counts, strict=True):
        name = item.value if isinstance(item, ast.Starred) else item
        if not isinstance(name, ast.Name):
            raise inner.context.fail("PA006", item, f"`{source_of(item)}` is no loop variable")
        is_one = isinstance(item, ast.Name)
        words = [name.id] if is_one else [f"{name.id}_{number}" for number in range(count)]
        made: list[PrimVar] = []
        for word in words:
            start, extent = next(bounds)
            made.append(PrimVar(word, dtype_of(extent), span=inner.context.span(item)))
            inner.ranges[made[-1]] = (start, extent)
        inner.scope.define(name.id, made[0] if is_one else Several(tuple(made)))
        loop_vars += made
    return loop_vars


def _grid(reader: TirReader, node: ast.Call) -> list[tuple[PrimExpr, PrimExpr]]:
    ranges = [made for item in node.args for made in _grid_ranges(reader, item)]
    match node.keywords:
        case []:
            return ranges
        case [ast.keyword(arg="dtype", value=value)]:
            dtype = reader.dtype(value)
            return [(_as(start, dtype), _as(extent, dtype)) for start, extent in ranges]
        case others:
            raise reader.context.unsupported(node, f"`{others[0].arg}=` of a loop")


def _as(value: PrimExpr, dtype: str) -> PrimExpr:
    if dtype_of(value) == dtype:
        return value
    return IntImm(value.value, dtype, span=value.span) if isinstance(value, IntImm) else Cast(value, dtype)


def _grid_ranges(reader: TirReader, node: ast.expr) -> list[tuple[PrimExpr, PrimExpr]]:
    """Read one extent, or those of `*A.shape`, `*(4, n)` and `*shape`, a name of several things."""
    match node:
        case ast.Starred(value=ast.Name() as name) if several := reader.several(name):
            extents = [item for item in several.items if isinstance(item, PrimExpr)]
            if len(extents) < len(several.items):
                raise reader.context.fail("PA009", node, f"`{name.id}` is not of scalars alone")
            return [(IntImm(0, dtype_of(item), span=item.span), item) for item in extents]
        case ast.Starred(value=ast.Tuple(elts=items) | ast.List(elts=items)):
            return [_grid_range(reader, item) for item in items]
        case ast.Starred(value=value) if isinstance(made := reader.argument(value), PrimList):
            return [(IntImm(0, dtype_of(item), span=item.span), item) for item in made.items]
        case _:
            return [_grid_range(reader, node)]


def _grid_range(reader: TirReader, node: ast.expr) -> tuple[PrimExpr, PrimExpr]:
    """Read an extent, or a start with an extent: in TVM the second is no stop, as that of `range` is."""
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        return reader.scalars.unified(node.elts[0], node.elts[1])
    return _from_zero(reader, node)


def _options(reader: TirReader, node: ast.Call, name: str) -> dict[str, ast.expr]:
    """Return the arguments of a loop by name: `range(a, b, step)`, `T.thread_binding(n, "threadIdx.x")`."""
    names = "start stop step annotations" if name == "range" else "start stop thread annotations step"
    args = list(node.args)
    is_thread_next = (
        name == "thread_binding"
        and len(args) == 2
        and isinstance(args[1], ast.Constant)
        and isinstance(args[1].value, str)
    )
    if is_thread_next:
        args.insert(0, ast.copy_location(ast.Constant(0), args[0]))
    return given(reader.context, node, names, 1, args)


def _range(reader: TirReader, node: ast.Call, values: dict[str, ast.expr]) -> tuple[PrimExpr, PrimExpr]:
    if "stop" not in values:
        return _from_zero(reader, values["start"])
    return reader.extent(node, values["start"], values["stop"])


def _from_zero(reader: TirReader, node: ast.expr) -> tuple[PrimExpr, PrimExpr]:
    extent = reader.read(node)
    return IntImm(0, dtype_of(extent), span=extent.span), extent
