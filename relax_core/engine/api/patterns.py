"""Dataflow patterns: finding, explaining, rewriting and partitioning by them."""

from collections.abc import Mapping

from relax_core.ir.attrs import AttrValue
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Expr
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Pass
from relax_core.passes.relax.apply_rules import with_rules
from relax_core.passes.relax.byoc.partition_by_pattern import partition_by_pattern
from relax_core.pattern.language.nodes import (
    Pattern,
    dominates,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relax_core.pattern.language.text import parse_pattern
from relax_core.pattern.matching import matcher
from relax_core.pattern.matching.matcher import Match, Miss
from relax_core.pattern.matching.search import Callback, facts_of, find, partition_matches, rewrite_matches
from relax_core.pattern.partition.groups import Check, accept
from relax_core.pattern.partition.tables import Tables, read_tables
from relax_core.pattern.rules.text import read_rules

__all__ = [
    "Match",
    "Miss",
    "Pattern",
    "Tables",
    "dominates",
    "explain",
    "is_constant",
    "is_expr",
    "is_function",
    "is_if",
    "is_let",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "match",
    "partition",
    "pattern",
    "read_tables",
    "rewrite",
    "rules",
    "wildcard",
]


def pattern(text: str) -> Pattern:
    """Read a dataflow pattern, such as `is_op("nn.relu")(is_op("nn.conv2d")(wildcard(), wildcard()))`.

    Raises:
        CompileError: PT001 to PT003, with the place in `text`.
    """
    return parse_pattern(text)


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
