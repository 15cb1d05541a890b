"""What stands against putting a match into a function of its own: the call would not be what the match was.

The inputs of a match are computed before the call, and all of them. That is another program if an input has an effect
and changes its place among others that have, if only a branch or a function that may never be called computes it, or
if the function would use a variable that is no parameter of it.
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
from relax_core.pattern.binders import bound_by
from relax_core.pattern.facts import is_source

CutObstacle: TypeAlias = 'Literal["capture", "branch", "effect"]'
_REFERENCES = (RefCreate, RefRead, RefWrite)


def is_unit(node: Node, root: Node) -> bool:
    """Tell whether `node` is a function that stays whole: that of the definition, or a composite or external one."""
    return node is root or (isinstance(node, Function) and is_closed(node))


class Cuts:
    """Judges the matches of one function, whose nodes are `order`; what that takes is found when it is first needed."""

    def __init__(self, root: Expr, order: Mapping[Expr, tuple[Node, ...]]) -> None:
        self._root = root
        self._order = order
        self._scopes: Scopes | None = None
        self._effects: frozenset[Node] | None = None

    def obstacle(
        self, parts_of: Mapping[Node, tuple[Node, ...]], args: tuple[Expr, ...], is_used_outside: Callable[[Expr], bool]
    ) -> tuple[CutObstacle, Expr, tuple[Node, ...]] | None:
        """Return what stands against cutting members out: the kind, the node where it shows, and the nodes behind it.

        `parts_of` are the members, parts first, each with its parts; `args` is what flows in.
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
        """Tell whether `arg` is computed in a branch or function inside the match, and may not be computed always."""
        if is_source(arg) or not any(isinstance(member, OPENERS) for member in parts_of):
            return False
        if self._scopes is None:
            self._scopes = scopes_of(self._root)
        inside = self._scopes.scope_of[root]
        return not _holds(self._scopes.scope_of[arg], inside) and not _always_ends(arg)

    def _reordered(self, root: Expr, parts_of: Mapping[Node, tuple[Node, ...]], args: tuple[Expr, ...]) -> Node | None:
        """Return a node with an effect that would come at another place among those that have one, if there is any."""
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
    """Return a variable that the members use, but that is neither an input nor bound by them."""
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
    """Return the members that bind variables and are rebuilt, since an input stands in them."""
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
    """Tell whether `expr` is made of operators and tuples, which may be computed although nothing asks for them."""
    return all(
        not isinstance(node, _REFERENCES)
        and not (isinstance(node, Call) and not (isinstance(node.op, Op) and node.op.name not in IMPURE_OPS))
        for node in postorder(expr)
    )


def _first_reached(root: Node, parts_of: Mapping[Node, tuple[Node, ...]]) -> list[Node]:
    """Return the members and what flows into them in the order in which they are computed."""
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
    """Tell whether computing `node` may do more than give a value, its parts aside."""
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
    """Return what is computed when a function is called whose body is `body`: not what its own functions hold."""
    seen: set[Node] = set()
    stack: list[Node] = [body]
    while stack:
        node = stack.pop()
        if node not in seen and not isinstance(node, Function):
            seen.add(node)
            stack += children(node)
            # A literal that is called in its place is looked into as part of the same body.
            if isinstance(node, Call) and isinstance(node.op, Function):
                stack.append(node.op.body)
    return [node for node in seen if not (isinstance(node, Call) and isinstance(node.op, Function))]


def _effectful(order: Mapping[Expr, tuple[Node, ...]]) -> frozenset[Node]:
    """Return the nodes of a function, inputs first, whose value may not be computed earlier or later."""
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
