"""Groups: the matches of a pattern in a function that can be cut out, each with its inputs and members."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Op, Tuple, TupleGetItem, Var
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.relay import Let
from relax_core.pattern.facts import Facts
from relax_core.pattern.matcher import Match, match
from relax_core.pattern.nodes import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    Pattern,
    ShapePattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
    subpatterns,
)

Check = Callable[[Match], bool]
Obstacle = Literal["overlap", "inner use", "predicate"]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A match that can be cut out: `args` come in, `members` with the root go.

    `number` counts the groups from the function's result backwards.
    """

    number: int
    match: Match
    args: tuple[Expr, ...]
    members: tuple[Expr, ...]

    @property
    def root(self) -> Expr:
        """The node whose value the group computes."""
        return self.match.root

    @property
    def name(self) -> str:
        """The operators of the group in order, each with `_` behind: "nn.conv2d_nn.relu_"."""
        return "".join(map(_label, self.members))


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A match that cannot be cut out: `node` is where the obstacle shows, `because` what it is."""

    match: Match
    obstacle: Obstacle
    node: Expr
    because: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The groups of a function, the last one of the text first, and the matches that are none."""

    groups: tuple[Group, ...]
    refusals: tuple[Refusal, ...]


def accept(_: Match) -> bool:
    """Accept every match."""
    return True


def group(
    pattern: Pattern,
    root: Expr,
    facts: Facts,
    check: Check = accept,
    is_closed: Callable[[Function], bool] | None = None,
) -> Grouping:
    """Group the matches of `pattern` below `root`, from the result backwards; they do not overlap.

    A match is refused if it shares a node with a group, if a node inside it is used outside, or if `check` says so.
    Functions that are `is_closed` are not looked into. Complexity: linear in the nodes, times the size of the pattern.
    """
    order = list(_expressions(root, is_closed))
    users_of = _users(order)
    taken: set[Expr] = set()
    groups: list[Group] = []
    refusals: list[Refusal] = []
    for node in reversed(order):
        is_passed = node in taken or isinstance(node, Op) or node in facts.value_of
        found = None if is_passed else match(pattern, node, facts)
        if found is None:
            continue
        members = _members(found)
        refusal = _refusal(found, members, taken, users_of)
        if refusal is None and not check(found):
            refusal = Refusal(found, "predicate", node)
        if refusal is not None:
            refusals.append(refusal)
            continue
        groups.append(Group(len(groups), found, _inputs(found, members), members))
        taken.update(members)
    return Grouping(tuple(groups), tuple(refusals))


def _expressions(root: Expr, is_closed: Callable[[Function], bool] | None) -> Iterator[Expr]:
    """Yield the expressions below `root` once each, parts first, without those of closed functions."""
    if is_closed is None:
        yield from (node for node in postorder(root) if isinstance(node, Expr))
        return
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            if isinstance(node, Expr):
                yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            if not (isinstance(node, Function) and node is not root and is_closed(node)):
                stack.extend((child, False) for child in reversed(children(node)))


def _users(order: list[Expr]) -> dict[Node, list[Expr]]:
    users: dict[Node, list[Expr]] = {}
    for node in order:
        for child in dict.fromkeys(children(node)):
            users.setdefault(child, []).append(node)
    return users


_PLACES = (WildcardPattern, VarPattern, ConstantPattern, ExprPattern)
_CONSTRAINTS = (AltPattern, AttrPattern, TypePattern, DataTypePattern, ShapePattern, DominatorPattern)


def _members(found: Match) -> tuple[Expr, ...]:
    """Return the nodes that a match takes in, parts first: what a part of it describes from the inside."""
    described = {
        node
        for part, node in found.node_of.items()
        if not isinstance(part, _PLACES) and not isinstance(part, _CONSTRAINTS)
    }
    inside = {*described, *found.path_nodes}
    return tuple(node for node in _within(found.root, inside))


def _within(root: Expr, inside: set[Expr]) -> Iterator[Expr]:
    """Yield the nodes of `inside` that are reached from `root` over nodes of it, parts first."""
    seen: set[Node] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            yield node
        elif node in inside and node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)) if isinstance(child, Expr))


def _inputs(found: Match, members: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return what flows into a match, once each: what its leaves matched, in the pattern's order, then the rest."""
    inside = set(members)
    kept = {node for part, node in found.node_of.items() if isinstance(part, ConstantPattern | ExprPattern)}
    bound = {member.var for member in members if isinstance(member, Let)}
    inputs: dict[Expr, None] = {}
    for node in (*_leaves(found), *(child for member in members for child in children(member))):
        is_fixed = isinstance(node, Op | Function) or node in kept or node in bound
        if isinstance(node, Expr) and node not in inside and not is_fixed:
            inputs[node] = None
    return tuple(inputs)


def _leaves(found: Match) -> Iterator[Node]:
    for part in subpatterns(found.pattern):
        node = found.node_of.get(part)
        match part, node:
            case ((WildcardPattern() | VarPattern()), Expr()):
                yield node
            case CallPattern(args=None), Call(args=args):
                yield from args
            case TuplePattern(fields=None), Tuple(fields=fields):
                yield from fields
            case _:
                pass


def _refusal(
    found: Match, members: tuple[Expr, ...], taken: set[Expr], users_of: dict[Node, list[Expr]]
) -> Refusal | None:
    inside = set(members)
    shared = next((node for node in members if node in taken), None)
    if shared is not None:
        return Refusal(found, "overlap", shared)
    for node in members:
        if node is not found.root and not isinstance(node, Function | Constant | GlobalVar | Var):
            outside = tuple(user for user in users_of.get(node, ()) if user not in inside)
            if outside:
                return Refusal(found, "inner use", node, outside)
    return None


def _label(node: Expr) -> str:
    match node:
        case Call(op=Op(name=name)):
            return f"{name}_"
        case TupleGetItem(index=index):
            return f"TupleGetItem{index}_"
        case Function():
            return "Function"
        case Call() | Tuple() | Let():
            return f"{type(node).__name__}_"
        case _:
            return ""
