"""Replace groups, by calls of functions that hold them or by what a callback returns."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.attrs import AttrValue, attrs_of
from relax_core.ir.expr import Call, Expr, Function, Type, Var
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, PatternConstructor
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.values import rebuilt, value_parts, with_parts, with_values
from relax_core.pattern.matching.binders import bound_by
from relax_core.pattern.matching.matcher import Match
from relax_core.pattern.partition.groups import Group

Make = Callable[[Group, Mapping[Expr, Expr]], Expr]


def partition(
    root: Expr, groups: tuple[Group, ...], attrs: Mapping[str, AttrValue], types: Mapping[Node, Type], log: RewriteLog
) -> tuple[Expr, Mapping[Node, Type]]:
    """Return `root` with each group replaced by a call of a function that holds it, and the types of the nodes made.

    The parameters are `FunctionVar_<group>_<k>`; the function has `PartitionedFromPattern` and `attrs`. What takes the
    place of a node has the node's type; nodes inside of the functions are not among the types.
    See: tvm/src/relay/ir/dataflow_matcher.cc, PatternPartitioner, v0.19
    """

    def make(group: Group, value_of: Mapping[Expr, Expr]) -> Expr:
        param_of: dict[Expr, Var] = {}
        for place, arg in enumerate(group.args):
            param_of[arg] = Var(f"FunctionVar_{group.number}_{place}", types.get(arg))
        body = _expr(inner(group, param_of)[group.root])
        all_attrs = attrs_of({"PartitionedFromPattern": group.name, **attrs})
        function = Function(tuple(param_of.values()), body, types.get(group.root), all_attrs)
        return Call(function, tuple(value_of.values()))

    new_of = replace_groups(root, groups, make, log, "PartitionedFromPattern")
    made = {new: types[old] for old, new in new_of.items() if new is not old and old in types}
    return _expr(new_of[root]), made


def replace_matches(
    root: Expr, groups: tuple[Group, ...], callback: Callable[[Match], Expr | None], log: RewriteLog
) -> Expr:
    """Return `root` with each group replaced by what `callback` returns for its match; `None` keeps it.

    The match holds the nodes as they are after the groups below were replaced.
    """

    def make(group: Group, value_of: Mapping[Expr, Expr]) -> Expr:
        copied = inner(group, value_of)
        node_of = {part: _expr(copied.get(node, node)) for part, node in group.match.node_of.items()}
        after = replace(group.match, root=_expr(copied[group.root]), node_of=MappingProxyType(node_of))
        result = callback(after)
        if not isinstance(cast("object", result), Expr | None):
            message = f"a callback returns an expression or None, not {type(result).__name__}"
            raise CompileError((Diagnostic("PT008", message, log.locate(group.root)),))
        return after.root if result is None else result

    return _expr(replace_groups(root, groups, make, log, "pattern")[root])


def inner(group: Group, value_of: Mapping[Expr, Expr]) -> dict[Node, Node]:
    """Rebuild the members of a group with its inputs replaced by `value_of`."""
    copied: dict[Node, Node] = {**value_of}
    for member in group.members:
        copied[member] = with_values(member, copied)
    return copied


def replace_groups(
    root: Expr, groups: tuple[Group, ...], make: Make, log: RewriteLog, rule: str
) -> Mapping[Node, Node]:
    """Return the nodes that `root` and those below become, with `make(group, value_of)` for each group.

    `value_of` maps the inputs of the group, or for one without members all nodes of its match, to what they become.
    Binders and the constructors that clauses name stay; only uses are replaced. Iterative; each node is visited once.
    """
    group_of: Mapping[Node, Group] = {item.root: item for item in groups}
    has_names = any(isinstance(item.root, Var | Constructor) for item in groups)
    new_of: dict[Node, Any] = {}
    olds: list[Node] = []
    news: list[Node] = []
    log.copied(zip(olds, news, strict=True))
    waiting: list[tuple[Node, tuple[Node, ...], Group | None]] = []
    # `None` says that the parts of the last of `waiting` were replaced.
    stack: list[Node | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            node, parts, group = waiting.pop()
            if group is None or not group.members:
                new = _with_names(node, parts, new_of) if has_names else rebuilt(node, parts, new_of)
                if group is not None:
                    known = {item: new_of[item] for item in group.match.node_of.values() if item in new_of}
                    made = make(group, {**known, group.root: _expr(new)})
                    if made is not new:
                        log.replace(node, made, rule, known=(new, *known.values()))
                    new_of[node] = made
                    continue
                new_of[node] = new
                olds.append(node)
                news.append(new)
            else:
                value_of = {arg: new_of[arg] for arg in group.args}
                new_of[node] = new = make(group, value_of)
                if new is not node:
                    log.replace(node, new, rule, known=value_of.values())
        elif node not in new_of:
            group = group_of.get(node)
            parts = value_parts(node) if group is None or not group.members else group.args
            waiting.append((node, parts, group))
            stack.append(None)
            stack += parts[::-1]
    return new_of


def _with_names(node: Node, parts: tuple[Node, ...], new_of: Mapping[Node, Any]) -> Node:
    """Rebuild `node` from its new parts, except variables that it binds and constructors that it names."""
    kept: tuple[Node, ...] = (node.constructor,) if isinstance(node, PatternConstructor) else bound_by(node)
    return with_parts(node, parts, tuple([part if part in kept else new_of[part] for part in parts]))


def _expr(node: Node) -> Expr:
    assert isinstance(node, Expr), "an expression becomes an expression"
    return node
