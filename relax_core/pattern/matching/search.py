"""Patterns over whole modules: all matches, the nearest miss, rewriting to a fixpoint."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from relax_core.analysis.regions import is_closed
from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.attrs import AttrValue
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Expr, Function, Var, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import nodes_in, postorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.pattern.language.nodes import (
    DataTypePattern,
    Pattern,
    ShapePattern,
    SubtypePattern,
    TypePattern,
    subpatterns,
)
from relax_core.pattern.matching.facts import NO_VALUES, NOTHING, MatchContext
from relax_core.pattern.matching.matcher import Match, match
from relax_core.pattern.matching.work import Work
from relax_core.pattern.partition.groups import Check, group
from relax_core.pattern.partition.replace import partition, replace_matches

ROUND_LIMIT = 100

Callback = Callable[[Match], Expr | None]


def facts_of(module: IRModule, *patterns: Pattern) -> MatchContext:
    """Return the context for matching in `module`; types are inferred only if a pattern asks for them."""
    types = infer(module).types if any(map(asks_types, patterns)) else NOTHING
    if dialect_of(module) == "relay":
        return MatchContext(types)
    return MatchContext(types, _values_in(module) or NO_VALUES)


@lru_cache(maxsize=2)
def _values_in(module: IRModule) -> Mapping[Var, Expr]:
    """Return the values of the variables of a module, kept for the latest ones: each pattern of a table asks."""
    bindings = (node for _, function in module.relax_functions for node in nodes_in(function))
    return {node.var: node.value for node in bindings if isinstance(node, VarBinding)}


def asks_types(pattern: Pattern) -> bool:
    """Tell whether some part of a pattern looks at a type."""
    return any(isinstance(part, _TYPED) for part in subpatterns(pattern))


_TYPED = (TypePattern, SubtypePattern, DataTypePattern, ShapePattern)


def find(pattern: Pattern, module: IRModule) -> tuple[Match, ...]:
    """Return every match of `pattern` in the functions of `module`, inner ones first; they may overlap."""
    facts, work = facts_of(module, pattern), Work()
    found = (
        match(pattern, node, facts, work)
        for node in _expressions(module)
        if not _stands_for(node, pattern, facts, work)
    )
    return tuple(item for item in found if item is not None)


def _stands_for(node: Expr, pattern: Pattern, facts: MatchContext, work: Work) -> bool:
    """Tell whether `node` is a variable whose value is a match of its own."""
    value = facts.value(node) if isinstance(node, Var) else node
    return value is not node and match(pattern, value, facts, work) is not None


def rewrite_matches(
    pattern: Pattern, callback: Callback, module: IRModule, log: RewriteLog, *, once: bool = False
) -> IRModule:
    """Rewrite every group of `pattern` by `callback`, up to a fixpoint.

    `callback` returns `None` to leave a match alone. With `once` there is a single iteration over the nodes that were
    there before it, so that what the callback makes is not matched again. Binders stay; only uses are replaced.

    Raises:
        CompileError: PT004 if the module still changes after a hundred iterations, or grows in them without end; PT008
            and PT009 if the callback makes no expression, or no function in the place of one of the module.
    """
    budget: int | None = None
    for _ in range(1 if once else ROUND_LIMIT):
        after, count = _round(pattern, callback, module, log)
        if after is module:
            return module
        module = after
        budget = ROUND_LIMIT * max(count, ROUND_LIMIT) if budget is None else budget - count
        if budget < 0:
            break
    if once:
        return module
    message = f"the rewrite still changes the module after {ROUND_LIMIT} rounds"
    raise CompileError((Diagnostic("PT004", message, hint="let the callback return None for what it has made"),))


def partition_matches(
    pattern: Pattern, module: IRModule, attrs: Mapping[str, AttrValue], check: Check, log: RewriteLog
) -> IRModule:
    """Return `module` with every group of `pattern` in a function literal of its own that has `attrs`, called in place.

    Composite and external functions are not looked into, and a match that holds nothing to compute is left as it is.

    Raises:
        CompileError: PS010 if the module is not Relay.
    """
    if dialect_of(module) != "relay":
        message = "a pattern partitions Relay; the module is Relax"
        raise CompileError((Diagnostic("PS010", message, hint="partition it before RelayToRelax"),))
    facts = replace(facts_of(module, pattern), types=infer(module).types)

    def change(function: Function) -> Function:
        if is_closed(function):
            return function
        groups = group(pattern, function, facts, check, into_functions=True).groups
        after, _ = partition(function, groups, attrs, facts.types, log)
        assert isinstance(after, Function), "the function itself is no group"
        return after

    return module.map_functions(change)


def _round(pattern: Pattern, callback: Callback, module: IRModule, log: RewriteLog) -> tuple[IRModule, int]:
    """Return the module after one iteration, and how many groups it had."""
    facts = facts_of(module, pattern)
    count = 0
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function):
            groups = group(pattern, item.function, facts).groups
            count += len(groups)
            after = replace_matches(item.function, groups, callback, log)
            if after is not item.function:
                if not isinstance(after, Function):
                    message = f"the callback puts no function in the place of the function @{item.var.name}"
                    hint = "let it return None for a match whose root is a function"
                    raise CompileError((Diagnostic("PT009", message, item.function.span, hint),))
                changed.append(replace(item, function=after))
    return (module.with_definitions(*changed) if changed else module), count


def _expressions(module: IRModule) -> Iterator[Expr]:
    for item in module.definitions:
        yield from (node for node in postorder(item.function) if isinstance(node, Expr))
