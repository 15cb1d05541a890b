"""Compute an expression that occurs several times once, in a variable."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import LetExpr, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import Allocate, Buffer, For, LaunchThread, LetStmt, PrimFunc, Stmt, seq
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.scalars.occurrences import (
    ExpressionNumbers,
    Occurrence,
    Occurrences,
    Place,
    bodies_of,
    exprs_of,
    items_of,
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """An expression that a variable stands for, bound before the statement at a place."""

    key: int
    expr: PrimExpr
    place: Place
    count: int


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Bind what is computed several times to `cse_v1`, ... in the innermost list of statements around all uses.

    Only values without loads and calls, so that nothing that is written in between counts; comparisons stay where they
    are, as in TVM. Of two operands that are swapped, and of sizes of memory, nothing is made. What may stop the run, as
    a division by a variable, is computed before only where it is computed anyway; TVM computes `i // j` before
    `T.if_then_else(j > 0, ...)` as well.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _eliminated(function, ctx))


def _eliminated(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    binders = Counter(
        item.var
        for item in preorder(function.body)
        if isinstance(item, For | LetStmt | LaunchThread | Allocate | LetExpr)
    )
    if any(count > 1 for count in binders.values()):
        ctx.remark(function, "missed", "a variable is bound twice: no expression is taken out")
        return function
    walk = Occurrences()
    walk.inside(function.body, ())
    chosen = _chosen(walk, ctx)
    if not chosen:
        return function
    return _Placed(function, walk.expressions, chosen, ctx).function()


def _chosen(walk: Occurrences, ctx: PassContext) -> list[Chosen]:
    """Choose the largest expressions first: what is in one of them counts once, where its variable is bound."""
    of_key: dict[int, list[Occurrence]] = {}
    for occurrence in walk.found:
        of_key.setdefault(occurrence.key, []).append(occurrence)
    chosen: list[Chosen] = []
    for key in sorted(of_key, key=lambda key: -walk.expressions.sizes[key]):
        uses = [item for item in of_key[key] if not item.is_covered]
        if len(uses) < 2:
            continue
        place = _common(uses)
        if walk.expressions.may_stop[key] and not any(item.place == place and not item.is_lazy for item in uses):
            shown = show_prim(uses[0].expr, is_short=True)
            words = (
                f"{shown} is computed {len(uses)} times: computed before, it may stop the run where none of them would"
            )
            ctx.remark(uses[0].expr, "missed", words)
            continue
        for item in uses[1:]:
            item.cover()
        uses[0].move(place)
        chosen.append(Chosen(key, uses[0].expr, place, len(uses)))
    order = {occurrence.key: at for at, occurrence in reversed(list(enumerate(walk.found)))}
    return sorted(chosen, key=lambda item: (walk.expressions.heights[item.key], order[item.key]))


def _common(uses: Sequence[Occurrence]) -> Place:
    """Return the first statement of the innermost list around all uses in which one of them is."""
    first = uses[0].place
    length = next(
        (
            depth
            for depth in range(len(first))
            if any(len(item.place) <= depth or item.place[depth][0] != first[depth][0] for item in uses)
        ),
        len(first),
    )
    list_number = first[length - 1][0]
    return (*first[: length - 1], (list_number, min(item.place[length - 1][1] for item in uses)))


class _Placed:
    """Writes a function with variables for chosen expressions; lists are numbered as when they were found."""

    def __init__(
        self, function: PrimFunc, expressions: ExpressionNumbers, chosen: Sequence[Chosen], ctx: PassContext
    ) -> None:
        taken = {item.name for item in preorder(function) if isinstance(item, PrimVar | Buffer)}
        self.old = function
        self.ctx = ctx
        self.expressions = expressions
        self.lists = 0
        self.var_of: dict[int, PrimVar] = {}
        self.at: dict[tuple[int, int], list[Chosen]] = {}
        number = 0
        for item in chosen:
            number = next(at for at in range(number + 1, len(taken) + number + 2) if f"cse_v{at}" not in taken)
            self.var_of[item.key] = PrimVar(f"cse_v{number}", dtype_of(item.expr))
            self.at.setdefault(item.place[-1], []).append(item)

    def function(self) -> PrimFunc:
        return replace(self.old, body=self.inside(self.old.body))

    def inside(self, body: Stmt) -> Stmt:
        number = self.lists
        self.lists += 1
        made: Stmt | None = None
        items = [self.stmt(item) for item in items_of(body)]
        for position in reversed(range(len(items))):
            made = items[position] if made is None else seq((items[position], made))
            for item in reversed(self.at.get((number, position), ())):
                made = self.bound(item, made, items[position])
        assert made is not None, "a list has statements"
        return made

    def bound(self, item: Chosen, body: Stmt, first: Stmt) -> Stmt:
        """Bind a chosen expression around `body`, which begins with the statement `first`."""
        var = self.var_of[item.key]
        value = map_children(item.expr, self.part)
        self.ctx.remark(first, "applied", f"{var.name} is computed once for {item.count} uses", (item.expr,))
        return self.ctx.derive(LetStmt(var, value, body), item.expr)

    def stmt(self, stmt: Stmt) -> Stmt:
        made: dict[Node, Node] = {body: self.inside(body) for body in bodies_of(stmt)}
        made |= {expr: self.expr(expr) for expr in exprs_of(stmt)}
        new = map_children(stmt, lambda part: made.get(part, part))
        self.ctx.log.rebuilt(stmt, new)
        return new

    def part(self, node: Node) -> Node:
        return self.expr(node) if isinstance(node, PrimExpr) else node

    def expr(self, expr: PrimExpr) -> PrimExpr:
        """Return an expression with variables for what is chosen in it; recursion follows the nesting of the text."""
        if isinstance(expr, LetExpr):
            return expr
        number = self.expressions.number(expr)
        if number in self.var_of:
            var = self.var_of[number]
            return var
        new = map_children(expr, self.part)
        self.ctx.log.rebuilt(expr, new)
        return new


PASS = Pass(
    "CommonSubexprElim",
    "Binds an expression that occurs several times to a variable.",
    run,
    needs=("no blocks",),
    see="tvm/src/tirx/transform/common_subexpr_elim.cc",
    dialect="tir",
)
