"""Hypothesis strategies: dataflow patterns of every kind, with parts that stand in several places."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Op, Tuple, TupleGetItem, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import Let
from relax_core.pattern.language import nodes, relax_words
from relax_core.pattern.language.nodes import Pattern, WildcardPattern

OPERATORS = ("add", "subtract", "multiply", "divide", "maximum", "negative", "abs", "copy", "nn.relu", "tanh", "less")
ARITHMETIC: tuple[Callable[[Pattern, Pattern], Pattern], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a | b,
)
ATTRS = ({"TOpPattern": 0}, {"axis": 1}, {"Composite": "a.p0"}, {"units": None, "kernel_size": [3]})
TYPES = ("Tensor[(3), int32]", "Tensor[(4, 4), float32]", "int32", "(int32, bool)", "fn (int32) -> int32")


@dataclass(slots=True)
class _Drawing:
    """What was drawn so far: any part may be used again, and a wildcard of it be redirected to what is around it."""

    draw: st.DrawFn
    pool: list[Pattern] = field(default_factory=list[Pattern])
    redirected: list[WildcardPattern] = field(default_factory=list[WildcardPattern])

    def pattern(self, depth: int) -> Pattern:
        draw = self.draw
        if self.pool and draw(st.integers(0, 4)) == 0:
            return draw(st.sampled_from(self.pool))
        made = self.leaf() if depth <= 0 or draw(st.integers(0, 3)) == 0 else self.compound(depth - 1)
        self.pool.append(made)
        return made

    def some(self, depth: int, most: int = 2) -> tuple[Pattern, ...]:
        return tuple(self.pattern(depth) for _ in range(self.draw(st.integers(0, most))))

    def some_or_any(self, depth: int) -> tuple[Pattern, ...] | None:
        return self.some(depth) if self.draw(st.booleans()) else None

    def leaf(self) -> Pattern:
        draw = self.draw
        match draw(st.integers(0, 9)):
            case 0 | 1 | 2:
                return nodes.wildcard()
            case 9:
                named = (relax_words.is_gv, relax_words.is_dfv, relax_words.is_extern)
                return draw(st.sampled_from(named))(draw(st.sampled_from(("", "f0", "x"))))
            case 3:
                return nodes.is_var(draw(st.sampled_from(("", "", "x", "v1"))))
            case 4:
                return nodes.is_constant()
            case 5:
                return nodes.is_number(draw(st.sampled_from((0, 1, -1, 1.0, True))))
            case 6:
                return nodes.is_global(draw(st.sampled_from(("main", "f0", "f"))))
            case 7:
                return nodes.is_op(draw(st.sampled_from(OPERATORS)))
            case _:
                made = nodes.wildcard()
                self.redirected.append(made)
                return made

    def compound(self, depth: int) -> Pattern:
        draw = self.draw
        match draw(st.integers(0, 16)):
            case 14:
                return self.pattern(depth) & self.pattern(depth)
            case 15:
                return ~self.pattern(depth)
            case 16:
                return relax_words.is_relax_tuple(self.some(depth), unordered=True)
            case 0 | 1 | 2:
                op = nodes.is_op(draw(st.sampled_from(OPERATORS)))
                takes_more = draw(st.integers(0, 4)) == 0
                made = op(*self.some(depth), varg_default_wildcard=takes_more)
                return op.any_args() if draw(st.integers(0, 3)) == 0 else made
            case 3:
                callee = self.pattern(depth)
                return callee.any_args() if draw(st.booleans()) else callee(*self.some(depth))
            case 4:
                return draw(st.sampled_from(ARITHMETIC))(self.pattern(depth), self.pattern(depth))
            case 5:
                return nodes.is_tuple(self.some_or_any(depth))
            case 6:
                return nodes.is_tuple_get_item(self.pattern(depth), draw(st.sampled_from((None, -1, 0, 1))))
            case 7:
                return nodes.is_if(self.pattern(depth), self.pattern(depth), self.pattern(depth))
            case 8:
                return nodes.is_let(self.pattern(depth), self.pattern(depth), self.pattern(depth))
            case 9:
                return nodes.is_function(self.some_or_any(depth), self.pattern(depth))
            case 10:
                return nodes.dominates(self.pattern(depth), self.pattern(depth), self.pattern(depth))
            case 11:
                name = draw(st.sampled_from(OPERATORS))
                return self.pattern(depth).optional(lambda inner: nodes.is_op(name)(inner))
            case 12:
                return self.pattern(depth) | self.pattern(depth)
            case _:
                return self.constrained(self.pattern(depth))

    def constrained(self, part: Pattern) -> Pattern:
        draw = self.draw
        match draw(st.integers(0, 3)):
            case 0:
                return part.has_attr(draw(st.sampled_from(ATTRS)))
            case 1:
                return part.has_type(draw(st.sampled_from(TYPES)))
            case 2:
                return part.has_dtype(draw(st.sampled_from(("int32", "float32", "bool"))))
            case _:
                return part.has_shape(draw(st.sampled_from(((), (3,), (4, 4), (None,), (None, 4)))))


@st.composite
def patterns(draw: st.DrawFn, depth: int = 4) -> Pattern:
    """Draw a pattern of any kind, at most `depth` deep where no part is used again."""
    drawing = _Drawing(draw)
    made = drawing.pattern(draw(st.integers(0, depth)))
    for item in drawing.redirected:
        item.redirect_to(draw(st.sampled_from([*drawing.pool, made])))
    return made


@dataclass(slots=True)
class _Describing:
    """Describes nodes of a program: one pattern for each node, so that what is shared there is shared here."""

    draw: st.DrawFn
    pattern_of: dict[Node, Pattern] = field(default_factory=dict[Node, Pattern])

    def pattern(self, node: Expr, depth: int) -> Pattern:
        known = self.pattern_of.get(node)
        if known is None or self.draw(st.integers(0, 5)) == 0:
            known = self.pattern_of[node] = self.varied(self.described(node, depth), depth)
        return known

    def all(self, items: tuple[Expr, ...], depth: int) -> tuple[Pattern, ...]:
        return tuple(self.pattern(item, depth - 1) for item in items)

    def described(self, node: Expr, depth: int) -> Pattern:
        draw = self.draw
        is_any = draw(st.integers(0, 4)) == 0
        if depth <= 0 or is_any:
            return nodes.is_var() if isinstance(node, Var) and draw(st.booleans()) else nodes.wildcard()
        match node:
            case Var(name=name):
                return nodes.is_expr(node) if draw(st.booleans()) else nodes.is_var(name)
            case Constant():
                return draw(st.sampled_from((nodes.is_constant(), nodes.is_expr(node))))
            case Op(name=name):
                return nodes.is_op(name)
            case Call(op=op, args=args):
                callee = self.pattern(op, depth if isinstance(op, Op) else depth - 1)
                return callee.any_args() if draw(st.integers(0, 5)) == 0 else callee(*self.all(args, depth))
            case Tuple(fields=fields):
                return nodes.is_tuple(self.all(fields, depth))
            case TupleGetItem(tuple_value=value, index=index):
                return nodes.is_tuple_get_item(self.pattern(value, depth - 1), index)
            case If(condition=condition, true_branch=yes, false_branch=no):
                return nodes.is_if(*self.all((condition, yes, no), depth))
            case Let(var=var, value=value, body=body):
                return nodes.is_let(*self.all((var, value, body), depth))
            case Function(params=params, body=body):
                return nodes.is_function(self.all(params, depth), self.pattern(body, depth - 1))
            case _:
                return nodes.is_expr(node) if isinstance(node, GlobalVar) else nodes.wildcard()

    def varied(self, made: Pattern, depth: int) -> Pattern:
        """Return `made`, or a pattern around it that still may match what it does."""
        match self.draw(st.integers(0, 16)):
            case 15:
                return made & nodes.wildcard()
            case 16:
                return made & ~nodes.is_op("tanh")(nodes.wildcard())
            case 0:
                return nodes.wildcard().optional(lambda _: made)
            case 1:
                return made | nodes.is_op("tanh")(nodes.wildcard())
            case 2:
                return made.optional(nodes.is_op("negative"))
            case 3:
                return made.has_dtype("int32")
            case 4:
                return made.has_shape((None,))
            case 5 if depth > 0:
                parts = [*self.pattern_of.values()] or [nodes.wildcard()]
                return made.dominates(self.draw(st.sampled_from(parts)))
            case 6:
                around = nodes.wildcard()
                around.redirect_to(made | nodes.is_op("negative")(around))
                return around
            case _:
                return made


@st.composite
def patterns_of(draw: st.DrawFn, module: IRModule, depth: int = 4) -> Pattern:
    """Draw a pattern that describes a node of `module`, and so is likely to match."""
    found = [node for item in module.definitions for node in postorder(item.function) if isinstance(node, Expr)]
    computed = [node for node in found if not isinstance(node, Var | Op | Constant | GlobalVar)][:-1]
    return _Describing(draw).pattern(draw(st.sampled_from(computed or found)), draw(st.integers(1, depth)))
