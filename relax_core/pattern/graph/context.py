"""Patterns of several bindings, which are said while a context is open, and what they match in a dataflow block.

    with PatternContext() as ctx:
        x, a, b = wildcard(), wildcard(), wildcard()
        first, second = is_op("relax.matmul")(x, a), is_op("relax.matmul")(x, b)
    found = ctx.match_dfb(block)

See: tvm/python/tvm/relax/dpl/context.py
"""

from collections.abc import Iterator, Mapping

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import BindingBlock, Expr, Var, VarBinding
from relax_core.ir.module import IRModule
from relax_core.pattern.graph.plan import Step, plan
from relax_core.pattern.graph.search import GraphMatch, GraphMiss, GraphSearch
from relax_core.pattern.graph.uses import BlockUses
from relax_core.pattern.language.edges import PatternGraph
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.matching.facts import NOTHING, MatchContext
from relax_core.pattern.matching.search import asks_types, facts_of
from relax_core.pattern.matching.work import Work

PATTERN_LIMIT = 1000
"""How many patterns the edges of one graph may join."""


class PatternContext(PatternGraph):
    """Patterns with edges between them: `used_by`, `only_used_by`, and from each argument of a call pattern to it.

    A match gives each pattern that an edge joins a variable of its own, bound in the block or used there.
    """

    def __init__(self, incremental: bool = False) -> None:  # noqa: FBT001, FBT002  # as in TVM
        super().__init__(incremental)
        self.named: dict[str, Pattern] = {}
        """The patterns that a text names."""
        self.text = ""
        """The text that it was read from."""

    def match_dfb(self, block: BindingBlock, module: IRModule | None = None) -> Mapping[Pattern, Var] | None:
        """Return the variable of each pattern in the first match, `None` if there is none.

        Matches are in the order in which the block first uses the variables of patterns that use no others, and then of
        what uses these.
        `module` gives the types that patterns may ask for.

        Raises:
            CompileError: PT006, PT007, PT010, or PT011: a constraint is on a pattern that no edge joins.
        """
        found = next(self.matches(block, module), None)
        return None if found is None else found.variable_of

    def matches(self, block: BindingBlock, module: IRModule | None = None) -> Iterator[GraphMatch]:
        """Yield all matches, in order; they may overlap. Raises what `match_dfb` does."""
        return self.search(block, module).matches()

    def explain(self, block: BindingBlock, module: IRModule | None = None) -> GraphMiss | None:
        """Return what came closest to a match; `None` if there is one, or no edge. Raises what `match_dfb` does."""
        search = self.search(block, module)
        return search.miss if next(search.matches(), None) is None else None

    def search(self, block: BindingBlock, module: IRModule | None = None) -> GraphSearch:
        """Return a search of the block. Raises what `match_dfb` does."""
        steps = self.steps()
        types = NOTHING if module is None else facts_of_graph(self, module).types
        values: dict[Var, Expr] = {item.var: item.value for item in block.bindings if isinstance(item, VarBinding)}
        return GraphSearch(steps, BlockUses(block), MatchContext(types, values), Work())

    def steps(self) -> tuple[Step, ...]:
        """Return the plan of searches.

        Raises:
            CompileError: PT010, PT011.
        """
        joined = {item for edge in self.edges for item in (edge.producer, edge.consumer)}
        if len(joined) > PATTERN_LIMIT:
            message = f"the edges join {len(joined):,} patterns; at most {PATTERN_LIMIT:,} are looked for at once"
            raise CompileError((Diagnostic("PT010", message, hint="look for a part of the graph"),))
        if any(item not in joined for constraint in self.same_shapes for item in constraint.patterns):
            message = "same_shape_as names a pattern that no edge joins to another one"
            raise CompileError((Diagnostic("PT011", message, hint="say by whom it is used, or what it uses"),))
        return plan(self)


def facts_of_graph(graph: PatternGraph, module: IRModule) -> MatchContext:
    """Return the context for matching in `module`; types are inferred only if something of the graph asks for them."""
    joined = dict.fromkeys(item for edge in graph.edges for item in (edge.producer, edge.consumer))
    patterns = [item for item in joined if isinstance(item, Pattern)]
    if graph.same_shapes and not any(map(asks_types, patterns)):
        patterns.append(patterns[0].has_shape(()))
    return facts_of(module, *patterns)
