"""MergeComposite: what a pattern of the table matches becomes a call of a composite function.

See: tvm/src/relay/transforms/merge_composite.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from relax_core.analysis.regions import is_closed, open_postorder
from relax_core.check.infer import infer
from relax_core.ir.expr import Expr, Function
from relax_core.ir.module import Definition, IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.pattern.facts import Facts
from relax_core.pattern.groups import Grouping, Obstacle, Refusal, accept, group
from relax_core.pattern.matcher import explain
from relax_core.pattern.nodes import Pattern
from relax_core.pattern.replace import partition
from relax_core.pattern.show import show_pattern
from relax_core.pattern.tables import Check

_REASONS: Mapping[Obstacle, str] = MappingProxyType(
    {
        "overlap": "a part of it belongs to another composite",
        "inner use": "a value inside it is used outside",
        "predicate": "the table's predicate refuses it",
    }
)


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Apply the patterns of the table in order, each to all functions."""
    if not ctx.tables.patterns:
        ctx.remark(module, "note", "the table has no patterns")
    for name, pattern, *rest in ctx.tables.patterns:
        module = _merge(module, name, pattern, rest[0] if rest else accept, ctx)
    return module


def _merge(module: IRModule, name: str, pattern: Pattern, check: Check, ctx: PassContext) -> IRModule:
    facts = Facts(infer(module).types)
    changed: list[Definition] = []
    for item in module.definitions:
        if not isinstance(item.function, Function) or is_closed(item.function):
            continue
        found = group(pattern, item.function, facts, check, is_closed)
        _say(name, found, ctx)
        if not found.groups:
            _explain(name, pattern, item.function, facts, ctx)
            continue
        after = partition(item.function, found.groups, {"Composite": name}, facts.types, ctx.log)
        assert isinstance(after, Function), "a function stays a function"
        changed.append(replace(item, function=after))
    return module.with_definitions(*changed) if changed else module


def _say(name: str, found: Grouping, ctx: PassContext) -> None:
    for item in found.groups:
        ctx.remark(item.root, "applied", f"{name}: {item.name.rstrip('_')}", item.members)
    for refusal in found.refusals:
        ctx.remark(refusal.match.root, "missed", f"{name}: {_reason(refusal)}", (refusal.node, *refusal.because))


def _reason(refusal: Refusal) -> str:
    return _REASONS[refusal.obstacle]


def _explain(name: str, pattern: Pattern, function: Function, facts: Facts, ctx: PassContext) -> None:
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
        ctx.remark(node, "missed", f"{name}: {part} did not match: {miss.reason}", (miss.node,))


PASS = Pass(
    name="MergeComposite",
    summary="Puts what the table's patterns match into composite functions.",
    run=run,
    dialect="relay",
    see="tvm/src/relay/transforms/merge_composite.cc",
)
