"""MergeComposite: what a pattern of the table matches becomes a call of a composite function.

See: tvm/src/relay/transforms/merge_composite.cc, v0.19
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from relax_core.analysis.regions import is_closed, open_postorder
from relax_core.ir.expr import Expr, Function, Type
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.remarks import UnnumberedRemark
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.matching.matcher import explain
from relax_core.pattern.partition.groups import Grouping, Obstacle, Refusal, accept, group
from relax_core.pattern.partition.replace import partition
from relax_core.pattern.partition.tables import Check

_REASONS: Mapping[Obstacle, str] = MappingProxyType(
    {
        "overlap": "a part of it belongs to another composite",
        "inner use": "a value inside it is used outside",
        "predicate": "the table's predicate refuses it",
        "nothing inside": "the pattern describes no call, tuple or other computation to put into a composite",
        "capture": "its function would use a variable that is bound outside",
        "branch": "a value that only a branch or a function inside it computes would be computed always",
        "effect": "values with effects would be computed in another order",
    }
)


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Apply the patterns of the table in order, each to all functions."""
    for name, _ in ctx.tables.graphs:
        ctx.remark(module, "note", f"{name} is a pattern of several bindings, and makes no composites")
    if not ctx.tables.patterns:
        ctx.remark(module, "note", "the table has no patterns")
    types = ctx.types_of_values(module)
    for name, pattern, *rest in ctx.tables.patterns:
        module = _Composite(name, pattern, rest[0] if rest else accept, types).merged(module, ctx)
    ctx.kept_types = types
    return module


@dataclass(frozen=True, slots=True)
class _Composite:
    """A pattern of the table; `types` are those of the nodes so far, and grow with the nodes that are made."""

    name: str
    pattern: Pattern
    check: Check
    types: dict[Node, Type]

    def merged(self, module: IRModule, ctx: PassContext) -> IRModule:
        """Return `module` with what the pattern matches in functions of its own."""
        facts = MatchContext(self.types)

        def change(function: Function) -> Function:
            if is_closed(function):
                return function
            found = group(self.pattern, function, facts, self.check, into_functions=True)
            ctx.remark_on_reading(partial(_outcomes, self.name, found))
            if not found.groups:
                # The types of later patterns' nodes are of no use to this function.
                ctx.remark_on_reading(partial(_nearest, self.name, self.pattern, function, facts))
                return function
            after, types = partition(function, found.groups, {"Composite": self.name}, self.types, ctx.log)
            assert isinstance(after, Function), "the function itself is no group"
            self.types.update(types)
            return after

        return module.map_functions(change)


def _outcomes(name: str, found: Grouping) -> Iterator[UnnumberedRemark]:
    """Say of each match of a pattern that it was put into a composite, or why not."""
    for item in found.groups:
        yield UnnumberedRemark(item.root, "applied", f"{name}: {item.name.rstrip('_')}", item.members)
    for refusal in found.refusals:
        yield UnnumberedRemark(
            refusal.match.root, "missed", f"{name}: {_reason(refusal)}", (refusal.node, *refusal.because)
        )


def _reason(refusal: Refusal) -> str:
    return _REASONS[refusal.obstacle]


def _nearest(name: str, pattern: Pattern, function: Function, facts: MatchContext) -> Iterator[UnnumberedRemark]:
    """Say of the node where a pattern that fits nowhere came furthest, and what stopped it there."""
    misses = [
        (miss.matched_count, node, miss)
        for node in open_postorder(function)
        if isinstance(node, Expr) and (miss := explain(pattern, node, facts)) is not None
    ]
    best = max(misses, key=lambda item: item[0], default=None)
    if best is not None and best[0] > 0:
        _, node, miss = best
        part = show_pattern(miss.part).splitlines()[-1]
        yield UnnumberedRemark(node, "missed", f"{name}: {part} did not match: {miss.reason}", (miss.node,))


PASS = Pass(
    name="MergeComposite",
    summary="Puts what the table's patterns match into composite functions.",
    run=run,
    dialect="relay",
    see="tvm/src/relay/transforms/merge_composite.cc",
    reads_data=False,
)
