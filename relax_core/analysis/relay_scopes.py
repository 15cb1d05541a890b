"""Scopes of Relay expressions: where a node that is shared is computed, once.

Relay's graphs share nodes. A function body, a branch of an `if` and a clause of a `match` open a scope; a node belongs
to the innermost scope that holds all its uses, and is computed there once per entry of the scope.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat

from relax_core.ir.expr import Call, Constant, DataflowVar, Expr, Function, GlobalVar, If, Op, Tuple, Var
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Constructor, Let, Match

ATOMS = (Var, GlobalVar, Constant, Constructor, Op)
"""Expressions that cost nothing and may stand anywhere: they belong to no scope."""


_ATOMS = frozenset((*ATOMS, DataflowVar))

OPENERS = (Function, If, Match)
"""Expressions that open scopes."""


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A scope; `owner` is the function, `if` or `match` that opens it, as its body, branch or clause number `slot`."""

    owner: Node | None
    slot: int
    parent: "Scope | None"
    depth: int


@dataclass(frozen=True, slots=True)
class Scopes:
    """The scope of every expression that is no atom, the scopes that an owner opens, the nodes with several uses."""

    root: Scope
    scope_of: Mapping[Node, Scope]
    inner: Mapping[Node, tuple[Scope, ...]]
    shared: frozenset[Node]


def operands(expr: Expr) -> tuple[tuple[Expr, int], ...]:
    """Return the expressions that `expr` is made of in the order of evaluation, with the scope that each stands in.

    It is -1 for the scope of `expr` itself, else the number of the scope that `expr` opens.
    """
    match expr:
        case Function(body=body):
            return ((body, 0),)
        case Let(value=value, body=body):
            return ((value, -1), (body, -1))
        case If(condition=condition, true_branch=yes, false_branch=no):
            return ((condition, -1), (yes, 0), (no, 1))
        case Match(value=value, clauses=clauses):
            return ((value, -1), *((clause.body, k) for k, clause in enumerate(clauses)))
        case _:
            return tuple((item, -1) for item in children(expr) if isinstance(item, Expr))


def scopes_of(root: Expr) -> Scopes:
    """Find the scope of every node below `root`, which is itself in the outermost scope.

    Complexity: linear in the number of edges, times the nesting of scopes.
    """
    outermost = Scope(None, 0, None, 0)
    scope_of: dict[Node, Scope] = {root: outermost}
    inner: dict[Node, tuple[Scope, ...]] = {}
    shared: set[Node] = set()
    for expr, parts in reversed(_computed(root).items()):
        here = scope_of[expr]
        scopes: Iterable[Scope] = repeat(here)
        if isinstance(expr, OPENERS):
            slots = [slot for item, slot in operands(expr) if type(item) not in _ATOMS]
            count = 1 + max((slot for _, slot in operands(expr)), default=-1)
            opened = tuple([Scope(expr, slot, here, here.depth + 1) for slot in range(count)])
            if opened:
                inner[expr] = opened
            scopes = [here if slot < 0 else opened[slot] for slot in slots]
        for item, used in zip(parts, scopes, strict=False):
            known = scope_of.get(item)
            if known is None:
                scope_of[item] = used
                continue
            shared.add(item)
            if known is not used:
                scope_of[item] = common(known, used)
    return Scopes(outermost, scope_of, inner, frozenset(shared))


def _computed(root: Expr) -> dict[Expr, tuple[Expr, ...]]:
    """Return the expressions that are no atoms, each once, with those that it is made of, which come before it."""
    found: dict[Expr, tuple[Expr, ...]] = {}
    waiting: list[tuple[Expr, tuple[Expr, ...]]] = []
    # `None` says that the last of `waiting` has had its parts.
    stack: list[Expr | None] = [root]
    while stack:
        current = stack.pop()
        if current is None:
            expr, parts = waiting.pop()
            found[expr] = parts
        elif current not in found:
            parts = tuple([item for item in _made_of(current) if type(item) not in _ATOMS])
            waiting.append((current, parts))
            stack.append(None)
            stack += parts[::-1]
    return found


def _made_of(expr: Expr) -> Iterable[Expr]:
    # Most expressions are calls of operators.
    if type(expr) is Call and type(expr.op) is Op:
        return expr.args
    return [item for item, _ in operands(expr)]


def common(a: Scope, b: Scope) -> Scope:
    """Return the innermost scope that holds both."""
    while a is not b:
        if a.depth >= b.depth:
            assert a.parent is not None, "the outermost scope holds all"
            a = a.parent
        else:
            assert b.parent is not None, "the outermost scope holds all"
            b = b.parent
    return a


def is_value(expr: Expr) -> bool:
    """Tell whether computing `expr` needs no work that could be shared: an atom, or a constructor without fields."""
    match expr:
        case Call(op=Constructor(), args=()) | Tuple(fields=()):
            return True
        case _:
            return isinstance(expr, ATOMS)
