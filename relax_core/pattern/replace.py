"""Putting something else in the place of groups: a function that holds them, or what a callback makes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.attrs import AttrValue, attrs_of
from relax_core.ir.expr import Call, Expr, Function, Var
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.rewrite import RewriteLog
from relax_core.ir.types import Type
from relax_core.pattern.groups import Group
from relax_core.pattern.matcher import Match

Make = Callable[[Group, Mapping[Expr, Expr]], Expr]


def partition(
    root: Expr, groups: tuple[Group, ...], attrs: Mapping[str, AttrValue], types: Mapping[Node, Type], log: RewriteLog
) -> Expr:
    """Return `root` with each group replaced by a call of a function that holds it.

    The parameters are `FunctionVar_<group>_<k>`; the function has `PartitionedFromPattern` and `attrs`.
    See: tvm/src/relay/ir/dataflow_matcher.cc, PatternPartitioner, v0.19
    """

    def make(group: Group, value_of: Mapping[Expr, Expr]) -> Expr:
        params = tuple(
            Var(f"FunctionVar_{group.number}_{place}", types.get(arg)) for place, arg in enumerate(group.args)
        )
        body = _expr(inner(group, dict(zip(group.args, params, strict=True)))[group.root])
        all_attrs = attrs_of({"PartitionedFromPattern": group.name, **attrs})
        function = Function(params, body, types.get(group.root), all_attrs)
        return Call(function, tuple(value_of[arg] for arg in group.args))

    return replace_groups(root, groups, make, log, "PartitionedFromPattern")


def replace_matches(
    root: Expr, groups: tuple[Group, ...], callback: Callable[[Match], Expr | None], log: RewriteLog
) -> Expr:
    """Return `root` with each group replaced by what `callback` makes of its match; with `None` it stays.

    The match that it is given holds the nodes as they are after the parts below were replaced.
    """

    def make(group: Group, value_of: Mapping[Expr, Expr]) -> Expr:
        copied = inner(group, value_of)
        node_of = {part: _expr(copied.get(node, node)) for part, node in group.match.node_of.items()}
        after = replace(group.match, root=_expr(copied[group.root]), node_of=MappingProxyType(node_of))
        result = callback(after)
        return after.root if result is None else result

    return replace_groups(root, groups, make, log, "pattern")


def inner(group: Group, value_of: Mapping[Expr, Expr]) -> dict[Node, Node]:
    """Return what the members of a group become if its inputs are replaced, with the inputs."""
    copied: dict[Node, Node] = {arg: value_of.get(arg, arg) for arg in group.args}
    for member in group.members:
        copied[member] = map_children(member, lambda child: copied.get(child, child))
    return copied


def replace_groups(root: Expr, groups: tuple[Group, ...], make: Make, log: RewriteLog, rule: str) -> Expr:
    """Return `root` with `make(group, value_of)` in the place of each group; `value_of` are the inputs as they become.

    Iterative, each node once.
    """
    group_of = {item.root: item for item in groups}
    new_of: dict[Node, Node] = {}
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if node in new_of:
            continue
        group = group_of.get(node) if isinstance(node, Expr) else None
        parts = children(node) if group is None else group.args
        if not is_ready and parts:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(parts) if part not in new_of)
        elif group is None:
            new_of[node] = map_children(node, new_of.__getitem__)
            log.rebuilt(node, new_of[node])
        else:
            after = make(group, {arg: _expr(new_of[arg]) for arg in group.args})
            new_of[node] = after
            if after is not node:
                log.replace(node, after, rule, known=[new_of[arg] for arg in group.args])
    return _expr(new_of[root])


def _expr(node: Node) -> Expr:
    assert isinstance(node, Expr), "an expression becomes an expression"
    return node
