"""Decide whether a match may be outlined into a function: whether the call computes what the match did.

A call evaluates all inputs before the body. That changes the program in three cases: an input has an effect whose order
among other effects changes; an input was evaluated only in a branch, or in a function that may never be called; or the
body would refer to a variable that is not a parameter.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from relax_core.analysis.regions import is_closed
from relax_core.analysis.relay_effects import IMPURE_OPS
from relax_core.analysis.relay_scopes import OPENERS, Scope, Scopes, scopes_of
from relax_core.ir.expr import Call, Constant, Expr, Function, Op, Var
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.relay import Constructor, Let, Match, RefCreate, RefRead, RefWrite
from relax_core.ir.values import value_parts
from relax_core.pattern.matching.binders import bound_by
from relax_core.pattern.matching.facts import is_source

CutObstacle: TypeAlias = 'Literal["capture", "branch", "effect"]'
_REFERENCES = (RefCreate, RefRead, RefWrite)


def is_unit(node: Node, root: Node) -> bool:
    """Tell whether `node` is a function that is not looked into: the definition, a composite, an external one."""
    return node is root or (isinstance(node, Function) and is_closed(node))


class Cuts:
    """Decides about the matches of one function with nodes `order`; analyses are made when first needed."""

    def __init__(self, root: Expr, order: Mapping[Expr, tuple[Node, ...]]) -> None:
        self._root = root
        self._order = order
        self._scopes: Scopes | None = None
        self._effects: frozenset[Node] | None = None

    def obstacle(
        self, parts_of: Mapping[Node, tuple[Node, ...]], args: tuple[Expr, ...], is_used_outside: Callable[[Expr], bool]
    ) -> tuple[CutObstacle, Expr, tuple[Node, ...]] | None:
        """Return the obstacle to outlining: its kind, the node where it shows, and the nodes behind it.

        `parts_of` maps the members, operands first, to their parts; `args` are the inputs.
        """
        *_, root = parts_of
        assert isinstance(root, Expr), "what matched is an expression"
        captured = _captured(parts_of, args)
        if captured is not None:
            return "capture", root, (captured,)
        if not all(type(member) is Call for member in parts_of):
            copied = next((item for item in _copied_scopes(parts_of, args) if is_used_outside(item)), None)
            if copied is not None:
                return "capture", copied, ()
            moved = next((arg for arg in args if self._leaves_branch(arg, root, parts_of)), None)
            if moved is not None:
                return "branch", root, (moved,)
        reordered = self._reordered(root, parts_of, args)
        return None if reordered is None else ("effect", root, (reordered,))

    def _leaves_branch(self, arg: Expr, root: Expr, parts_of: Mapping[Node, tuple[Node, ...]]) -> bool:
        """Tell whether `arg` is evaluated only in a branch or function of the match, and unsafe to speculate."""
        if is_source(arg) or not any(isinstance(member, OPENERS) for member in parts_of):
            return False
        if self._scopes is None:
            self._scopes = scopes_of(self._root)
        inside = self._scopes.scope_of[root]
        return not _holds(self._scopes.scope_of[arg], inside) and not _always_ends(arg)

    def _reordered(self, root: Expr, parts_of: Mapping[Node, tuple[Node, ...]], args: tuple[Expr, ...]) -> Node | None:
        """Return a node whose effect would change its order among the effects, if there is any."""
        if self._effects is None:
            self._effects = _effectful(self._order)
        effects = self._effects
        if not effects:
            return None
        before = [node for node in _first_reached(root, parts_of) if node in effects or _acts(node)]
        wanted = {*args}
        inputs = [arg for arg in args if arg in effects]
        acting = [member for member in parts_of if _acts(member)]
        order = [node for node in before if node in wanted or (node in parts_of and _acts(node))]
        return next((old for old, new in zip(order, (*inputs, *acting), strict=False) if old is not new), None)


def _captured(parts_of: Mapping[Node, tuple[Node, ...]], args: Iterable[Expr]) -> Var | None:
    """Return a variable that is free in the members and not an input, if there is any."""
    known: set[Node] = {*args}
    stack = [
        part
        for parts in parts_of.values()
        for part in parts
        if part not in parts_of and part not in known and type(part) is not Constant
    ]
    if not stack:
        return None
    free: list[Var] = []
    seen: set[Node] = {*parts_of, *known}
    bound: set[Var] = {var for member in parts_of for var in bound_by(member)}
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            bound.update(bound_by(node))
            if isinstance(node, Var):
                free.append(node)
            stack += value_parts(node)
    return next((var for var in free if var not in bound), None)


def _copied_scopes(parts_of: Mapping[Node, tuple[Node, ...]], args: Iterable[Expr]) -> list[Expr]:
    """Return the members that bind variables and have to be copied, since an input occurs in them."""
    changed: set[Node] = {*args}
    found: list[Expr] = []
    *_, root = parts_of
    for member, parts in parts_of.items():
        if not changed.isdisjoint(parts):
            changed.add(member)
            if isinstance(member, Function | Let) and member is not root:
                found.append(member)
    return found


def _holds(outer: Scope, inner: Scope | None) -> bool:
    """Tell whether `outer` is `inner`, or a scope around it."""
    while inner is not None:
        if inner is outer:
            return True
        inner = inner.parent
    return False


def _always_ends(expr: Expr) -> bool:
    """Tell whether `expr` is safe to speculate: it uses no references, and calls only operators without effects."""
    return all(
        not isinstance(node, _REFERENCES)
        and not (isinstance(node, Call) and not (isinstance(node.op, Op) and node.op.name not in IMPURE_OPS))
        for node in postorder(expr)
    )


def _first_reached(root: Node, parts_of: Mapping[Node, tuple[Node, ...]]) -> list[Node]:
    """Return the members and their inputs in the order of evaluation."""
    found: dict[Node, None] = {}
    entered: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            found[node] = None
        elif node not in entered:
            entered.add(node)
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(parts_of.get(node, ())))
    return [*found]


def _acts(node: Node) -> bool:
    """Tell whether evaluating `node`, its parts aside, may have an effect."""
    match node:
        case RefCreate() | RefRead() | RefWrite():
            return True
        case Call(op=Op(name=name)):
            return name in IMPURE_OPS
        case Call(op=Function(body=body)):
            return any(map(_acts, _called(body)))
        case Call(op=op):
            return not isinstance(op, Constructor)
        case _:
            return False


def _called(body: Expr) -> Iterable[Node]:
    """Return the nodes that a call of a function evaluates; the bodies of its inner functions are not among them."""
    seen: set[Node] = set()
    stack: list[Node] = [body]
    while stack:
        node = stack.pop()
        if node not in seen and not isinstance(node, Function):
            seen.add(node)
            stack += children(node)
            # A function literal that is called in place is part of the same body.
            if isinstance(node, Call) and isinstance(node.op, Function):
                stack.append(node.op.body)
    return [node for node in seen if not (isinstance(node, Call) and isinstance(node.op, Function))]


def _effectful(order: Mapping[Expr, tuple[Node, ...]]) -> frozenset[Node]:
    """Return the nodes of a function, operands first, whose evaluation may not be moved."""
    found: set[Node] = set()
    for node, parts in order.items():
        # Most nodes are calls of operators.
        if type(node) is Call and type(node.op) is Op:
            acts = node.op.name in IMPURE_OPS
        else:
            acts = _acts(node)
            parts = (node.value, *(clause.body for clause in node.clauses)) if isinstance(node, Match) else parts
        if acts or (found and not isinstance(node, Function) and not found.isdisjoint(parts)):
            found.add(node)
    return frozenset(found)
