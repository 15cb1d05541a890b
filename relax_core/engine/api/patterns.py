"""Dataflow patterns: finding, explaining, rewriting and partitioning by them."""

from collections.abc import Mapping
from typing import overload

from relax_core.ir.attrs import AttrValue
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Expr, Function, GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimExpr
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Pass
from relax_core.passes.relax.apply_rules import with_rules
from relax_core.passes.relax.byoc.partition_by_pattern import partition_by_pattern
from relax_core.pattern.graph.context import PatternContext
from relax_core.pattern.graph.search import GraphMatch, GraphMiss
from relax_core.pattern.graph.text import parse_graph
from relax_core.pattern.language.edges import PatternSeq, SameShapeConstraint
from relax_core.pattern.language.nodes import (
    Pattern,
    dominates,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relax_core.pattern.language.relax_words import (
    is_call_dps_packed,
    is_call_packed,
    is_call_tir,
    is_dfv,
    is_extern,
    is_gv,
    is_shape,
    make_fused_bias_activation_pattern,
    reject,
)
from relax_core.pattern.language.relax_words import is_relax_tuple as is_tuple
from relax_core.pattern.language.text import parse_pattern
from relax_core.pattern.matching import matcher
from relax_core.pattern.matching.results import Match, Miss
from relax_core.pattern.matching.search import Callback, facts_of, find, partition_matches, rewrite_matches
from relax_core.pattern.partition.groups import Check, accept
from relax_core.pattern.partition.tables import Tables, read_tables
from relax_core.pattern.rewriting import bindings, call
from relax_core.pattern.rewriting.bindings import BindingsCallback
from relax_core.pattern.rewriting.call import CallCallback
from relax_core.pattern.rewriting.expression import read_expression
from relax_core.pattern.rules.text import read_rules

__all__ = [
    "GraphMatch",
    "GraphMiss",
    "Match",
    "Miss",
    "Pattern",
    "PatternContext",
    "PatternSeq",
    "SameShapeConstraint",
    "Tables",
    "dominates",
    "explain",
    "expression",
    "graph_pattern",
    "is_call_dps_packed",
    "is_call_packed",
    "is_call_tir",
    "is_const",
    "is_constant",
    "is_dfv",
    "is_expr",
    "is_extern",
    "is_function",
    "is_gv",
    "is_if",
    "is_let",
    "is_op",
    "is_shape",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "make_fused_bias_activation_pattern",
    "match",
    "partition",
    "pattern",
    "read_tables",
    "reject",
    "rewrite",
    "rewrite_bindings",
    "rewrite_call",
    "rules",
    "wildcard",
]

is_const = is_constant


def pattern(text: str) -> Pattern:
    """Read a dataflow pattern, such as `is_op("nn.relu")(is_op("nn.conv2d")(wildcard(), wildcard()))`.

    Raises:
        CompileError: PT001 to PT003, with the place in `text`.
    """
    return parse_pattern(text)


def graph_pattern(text: str) -> PatternContext:
    """Read a pattern of several bindings: the lines of a `PatternContext`, whose `named` has the patterns by name.

    Raises:
        CompileError: PT001 to PT003, PT011, with the place in `text`.
    """
    return parse_graph(text)


def match(pattern: Pattern, module: IRModule) -> tuple[Match, ...]:
    """Return every match of a pattern in a module, inner ones first: `match.root`, and `match[part]` for each part."""
    return find(pattern, module)


def explain(pattern: Pattern, node: Expr, module: IRModule | None = None) -> Miss | None:
    """Return why a pattern does not fit a node, `None` if it does; `module` gives the types that it may ask for."""
    facts = matcher.NO_FACTS if module is None else facts_of(module, pattern)
    return matcher.explain(pattern, node, facts)


def rewrite(pattern: Pattern, callback: Callback, module: IRModule, *, once: bool = False) -> IRModule:
    """Return `module` with what the pattern matches replaced by `callback(match)`, until nothing changes.

    Raises:
        CompileError: PT004 if it never ends.
    """
    return rewrite_matches(pattern, callback, module, RewriteLog(), once=once)


@overload
def rewrite_call(
    pattern: Pattern, callback: CallCallback, target: IRModule, *, log: RewriteLog | None = None
) -> IRModule: ...
@overload
def rewrite_call(
    pattern: Pattern, callback: CallCallback, target: Function, *, log: RewriteLog | None = None
) -> Function: ...
def rewrite_call(
    pattern: Pattern, callback: CallCallback, target: IRModule | Function, *, log: RewriteLog | None = None
) -> IRModule | Function:
    """Return a Relax module or function in which each bound value that matches is `callback(value, match)`.

    `None` leaves a match as it is. It is repeated until nothing changes; what replaced values were computed from goes
    if nothing uses it and it has no effect. `log` takes what became of what, such as the log of a pass.

    Raises:
        CompileError: PT004 if it never ends; PT008, PT012, PT014, PT015 or an error of an operator if what the callback
            returns does not fit.
    """
    taken = log or RewriteLog()
    if isinstance(target, IRModule):
        return call.rewrite_call(pattern, callback, target, taken)
    return _function(call.rewrite_call(pattern, callback, _module(target), taken))


@overload
def rewrite_bindings(
    ctx: PatternContext, callback: BindingsCallback, target: IRModule, *, log: RewriteLog | None = None
) -> IRModule: ...
@overload
def rewrite_bindings(
    ctx: PatternContext, callback: BindingsCallback, target: Function, *, log: RewriteLog | None = None
) -> Function: ...
def rewrite_bindings(
    ctx: PatternContext, callback: BindingsCallback, target: IRModule | Function, *, log: RewriteLog | None = None
) -> IRModule | Function:
    """Return a Relax module or function with the values that `callback(variables, values)` gives to variables.

    It is called for each match of the context's patterns in a block without effects: with the variable of each pattern,
    and the values that the block binds. What it returns maps variables of the block to values; `None` leaves the match
    as it is. It is repeated until nothing changes. `log` takes what became of what.

    Raises:
        CompileError: PT004 if it never ends; PT008, PT012 to PT015 or an error of an operator if what the callback
            returns does not fit.
    """
    taken = log or RewriteLog()
    if isinstance(target, IRModule):
        return bindings.rewrite_bindings(ctx.steps(), callback, target, taken)
    return _function(bindings.rewrite_bindings(ctx.steps(), callback, _module(target), taken))


def expression(text: str, **names: Expr | PrimExpr) -> Expr:
    """Read an expression of Relax, such as `R.add(x, R.const(1, "float32"))`, in which names stand for expressions.

    Raises:
        CompileError: it is none.
    """
    return read_expression(text, names)


def _module(function: Function) -> IRModule:
    return IRModule((Definition(GlobalVar("main"), function),))


def _function(module: IRModule) -> Function:
    (item,) = module.definitions
    assert isinstance(item.function, Function), "a function stays one"
    return item.function


def partition(
    pattern: Pattern, module: IRModule, attrs: Mapping[str, AttrValue] | None = None, check: Check = accept
) -> IRModule:
    """Return `module` with what the pattern matches in functions with `attrs`, called in its place.

    In Relay these are function literals, in Relax functions of the module. A match that `check` refuses stays, and one
    of which a part is used outside: in Relax that part is a result of the function, too, unless it comes back.
    """
    if dialect_of(module) != "relay":
        return partition_by_pattern(pattern, module, attrs or {}, check)
    return partition_matches(pattern, module, attrs or {}, check, RewriteLog())


def rules(text: str) -> Pass:
    """Return the pass that applies the rewrite rules of a text, for a list of passes: `["Normalize", rc.rules(text)]`.

    `rc.pass_(rc.rules(text), once=True)` has a single round, and `names=(...)` takes some of the rules only.

    Raises:
        CompileError: the rules have errors, RW100 to RW110, with their places in `text`.
    """
    return with_rules(read_rules(text))
